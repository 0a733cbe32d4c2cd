//! netperf's tables for people: a banner that names the test, a heading of several lines, a line of figures.
//!
//! UDP_STREAM has two lines: what the client sent, what the server received.

use tcplab_base::quantity::binary;

use super::builder::Builder;
use super::{ImportError, Input};
use crate::metrics::{Arm, Better, Metric, RemarkKind, Role};

pub(super) fn is(text: &str) -> bool {
    text.lines().any(|line| test(line).is_some())
}

/// The test that a banner names.
pub(super) fn test(line: &str) -> Option<String> {
    let (title, rest) = line.split_once(" TEST")?;
    if !(rest.starts_with(" from ") || rest.starts_with(" to ")) {
        return None;
    }
    let title = title.trim().trim_start_matches("MIGRATED ").to_uppercase();
    let title = title
        .replace("CONNECT/REQUEST/RESPONSE", "CRR")
        .replace("REQUEST/RESPONSE", "RR")
        .replace("UNIDIRECTIONAL SEND", "STREAM");
    Some(title.replace([' ', '|'], "_"))
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    let mut builder = Builder::new(input);
    "netperf".clone_into(&mut builder.source().tool);
    let mut open: Option<Open> = None;
    for (at, line) in input.text.lines().enumerate() {
        if let Some(name) = test(line) {
            open = Some(Open {
                name,
                unit: String::new(),
                sent: None,
            });
        } else if line.starts_with("!!! Confidence intervals: Throughput") {
            let percent = line.rsplit(':').next().unwrap_or_default().trim();
            let text =
                format!("netperf reports a confidence interval of {percent} for the throughput");
            let place = format!("{}: line {}", input.name, at + 1);
            builder.arm.remark(RemarkKind::Note, place, text);
        } else if let Some(open) = &mut open {
            open.line(line, &mut builder);
        }
    }
    if builder.arm.metrics.is_empty() {
        return Err(ImportError::new(
            input,
            "",
            "no line of numbers after netperf's banner",
            "give netperf's complete output; brief output (`-v 0`) does not name the test",
        ));
    }
    Ok(builder.done())
}

/// A test whose banner was read.
struct Open {
    name: String,
    unit: String,
    /// UDP_STREAM: the size of what the client sent, once its line was read.
    sent: Option<f64>,
}

impl Open {
    fn line(&mut self, line: &str, builder: &mut Builder) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let figures: Vec<f64> = words.iter().filter_map(|word| word.parse().ok()).collect();
        if figures.len() != words.len() || figures.iter().any(|f| !f.is_finite()) {
            self.heading(&words);
            return;
        }
        let unit = self.unit.clone();
        let metric = |of: &str| Metric::new(of, unit.clone(), Better::Higher);
        match (self.name.as_str(), figures.as_slice()) {
            (name, [_, message, _, _, _, sent]) if name.starts_with("UDP_STREAM") => {
                self.sent = Some(*message);
                let metric = metric(&format!("UDP_STREAM {}", binary(*message)));
                builder.value(metric.at(Role::Client), Some(*sent));
            }
            (name, [_, _, _, received]) if name.starts_with("UDP_STREAM") => {
                if let Some(message) = self.sent.take() {
                    let metric = metric(&format!("UDP_STREAM {}", binary(message)));
                    builder.value(metric.at(Role::Server), Some(*received));
                }
            }
            (name, [_, _, request, response, _, rate, ..]) if name.ends_with("RR") => {
                let metric = Metric::new(
                    format!("{name} {request}/{response} B"),
                    "1/s",
                    Better::Higher,
                );
                builder.value(metric, Some(*rate));
            }
            (name, [_, _, message, _, rate, ..]) if !name.starts_with("UDP_STREAM") => {
                builder.value(metric(&format!("{name} {}", binary(*message))), Some(*rate));
            }
            _ => {}
        }
    }

    /// The unit stands in the last line of the heading, such as `10^6bits/sec`.
    fn heading(&mut self, words: &[&str]) {
        let is_unit = |word: &&&str| word.contains("bits/s") || word.contains("Bytes/s");
        if let Some(unit) = words.iter().find(is_unit) {
            self.unit = format!("{}/s", unit.split("/s").next().unwrap_or_default());
        }
    }
}
