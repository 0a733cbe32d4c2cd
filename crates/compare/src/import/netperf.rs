//! netperf's tables for people: a banner that names the test, a heading of several lines, a line of figures.
//!
//! UDP_STREAM has two lines: what the client sent, what the server received. With `-c` or `-C` both have two columns more,
//! the processors' use and the service demand, which are not read.

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
        } else if let Some(open) = &mut open
            && open.line(line, &mut builder).is_none()
        {
            let place = format!("line {}", at + 1);
            return Err(unexpected(input, place, open));
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

fn unexpected(input: &Input, place: String, open: &Open) -> ImportError {
    let what = match open.sent {
        None => "is not what a client sent (6 figures, 8 with CPU columns)",
        Some(_) => {
            "is not what the server received (4 figures, 6 if the client's line has CPU columns)"
        }
    };
    ImportError::new(
        input,
        place,
        format!("this line of {} {what}", open.name),
        "give netperf's complete output, or its omni output (`-- -o`)",
    )
}

/// A test whose banner was read.
struct Open {
    name: String,
    unit: String,
    /// UDP_STREAM: the client's line, once it was read.
    sent: Option<Sent>,
}

/// What a client of UDP_STREAM sent.
struct Sent {
    message: f64,
    /// Whether the lines have CPU columns.
    with_cpu: bool,
}

impl Open {
    /// Reads a line; `None`: its figures are not those of the test.
    fn line(&mut self, line: &str, builder: &mut Builder) -> Option<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let figures: Vec<f64> = words.iter().filter_map(|word| word.parse().ok()).collect();
        if figures.len() != words.len() || figures.iter().any(|f| !f.is_finite()) {
            self.heading(&words);
            return Some(());
        }
        if self.name.starts_with("UDP_STREAM") {
            return self.datagrams(&figures, builder);
        }
        let metric = |of: &str, unit: &str| Metric::new(of, unit, Better::Higher);
        match (self.name.as_str(), figures.as_slice()) {
            (name, [_, _, request, response, _, rate, ..]) if name.ends_with("RR") => {
                let metric = metric(&format!("{name} {request}/{response} B"), "1/s");
                builder.value(metric, Some(*rate));
            }
            (name, [_, _, message, _, rate, ..]) => {
                let metric = metric(&format!("{name} {}", binary(*message)), &self.unit);
                builder.value(metric, Some(*rate));
            }
            _ => {}
        }
        Some(())
    }

    /// A line of UDP_STREAM: the client's, then the server's.
    fn datagrams(&mut self, figures: &[f64], builder: &mut Builder) -> Option<()> {
        let unit = &self.unit;
        let mut add = |message: f64, role, rate: f64| {
            let name = format!("UDP_STREAM {}", binary(message));
            let metric = Metric::new(name, unit, Better::Higher);
            builder.value(metric.at(role), Some(rate));
        };
        match (self.sent.as_ref(), figures) {
            // Nothing, or a number of a script's own.
            (_, [] | [_]) => {}
            // Size of the socket, size of a message, time, sent, errors, rate.
            (None, [_, message, _, _, _, rate, cpu @ ..]) if [0, 2].contains(&cpu.len()) => {
                add(*message, Role::Client, *rate);
                self.sent = Some(Sent {
                    message: *message,
                    with_cpu: !cpu.is_empty(),
                });
            }
            // Size of the socket, time, received, rate.
            (Some(sent), [_, _, _, rate, cpu @ ..])
                if cpu.len() == if sent.with_cpu { 2 } else { 0 } =>
            {
                add(sent.message, Role::Server, *rate);
                self.sent = None;
            }
            _ => return None,
        }
        Some(())
    }

    /// The unit stands in the last line of the heading, such as `10^6bits/sec`.
    fn heading(&mut self, words: &[&str]) {
        let is_unit = |word: &&&str| word.contains("bits/s") || word.contains("Bytes/s");
        if let Some(unit) = words.iter().find(is_unit) {
            self.unit = format!("{}/s", unit.split("/s").next().unwrap_or_default());
        }
    }
}
