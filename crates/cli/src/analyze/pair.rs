//! `--pair A B`: reads both captures, matches their packets, shows each ACK from both ends.

use std::io::Write;
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_analyze::pair::{Capture, Pair, compare};
use tcplab_analyze::trace::Rows;
use tcplab_analyze::{Analyzer, Options, Output};
use tcplab_capture::{Body, Reader, Record};
use tcplab_os::say;
use tcplab_report::terminal::{self, style};
use tcplab_wire::{NotTcp, Parsed};

use crate::analyze::asked::Asked;
use crate::analyze::run;
use crate::args::{AnalyzeArgs, Color};
use crate::failure::Failure;
use crate::files::{Input, Out};
use crate::progress::Watched;
use crate::screen;

/// Document of `tcplab analyze --pair --json`, also if a capture is damaged.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// What both captures show together.
    #[serde(flatten)]
    pub pair: Pair,
    /// First failure; the exit code is not 0 then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// Runs `--pair`.
pub fn main(args: &AnalyzeArgs, color: Color) -> Result<ExitCode, Failure> {
    let [a, b] = args.pair.as_slice() else {
        return Err(Failure::usage("--pair needs two captures"));
    };
    let mut failure = None;
    let mut read = |path: &std::path::Path| {
        let (capture, streams, damage) = read(args, path)?;
        if let Some(damage) = damage {
            damage.report();
            failure.get_or_insert(damage);
        }
        Ok::<_, Failure>((capture, streams))
    };
    let ((in_a, streams), (in_b, _)) = (read(a)?, read(b)?);
    if in_a.is_copy_of(&in_b) {
        return Err(Failure::input(format!(
            "{} and {} are the same capture (equal packet times): give one capture from each end of the connection",
            a.display(),
            b.display()
        )));
    }
    let mut pair = compare(in_a, in_b);
    pair.a = a.display().to_string();
    pair.b = b.display().to_string();
    pair.streams.retain(|s| args.wants(s.stream_a));
    if failure.is_none()
        && let Err(missing) = asked(args, &pair, streams)
    {
        missing.report();
        failure = Some(missing);
    }
    let code = failure.as_ref().map_or(0, Failure::code);
    let mut out = Out::open(args.output.as_deref())?;
    if args.json {
        let document = Document {
            pair,
            error: failure,
        };
        serde_json::to_writer(screen::json(&mut out), &document).map_err(std::io::Error::from)?;
        out.write_all(b"\n")?;
    } else {
        let theme = crate::terminal::theme(color, args.output.is_some());
        let text = terminal::pair::render(&theme, &pair, args.all);
        out.write_all(style::screen(&text, theme.color).as_bytes())?;
    }
    out.close()?;
    Ok(ExitCode::from(code))
}

/// Says which of the streams that were asked for are not in A (an error), or in A only.
fn asked(args: &AnalyzeArgs, pair: &Pair, streams: u64) -> Result<(), Failure> {
    let numbers = args.stream.iter().map(|n| u64::from(*n));
    let mut asked = Asked::new(numbers.clone());
    asked.capture(&pair.a, streams);
    for number in numbers.filter(|n| *n < streams) {
        if !pair.streams.iter().any(|s| u64::from(s.stream_a) == number) {
            say(&format!(
                "tcplab: stream {number} of {} has no packet in {}",
                pair.a, pair.b
            ));
        }
    }
    asked.check()
}

/// Reads one capture: its packets with the analyser's verdicts on them, the number of its streams, and
/// where it is damaged.
fn read(
    args: &AnalyzeArgs,
    path: &std::path::Path,
) -> Result<(Capture, u64, Option<Failure>), Failure> {
    let name = path.display().to_string();
    let damage = |e: tcplab_capture::Error| {
        Failure::input(format!("{name}: offset {}: {}", e.offset, e.message))
    };
    let input = Input::open(path)?;
    let bytes = Watched::new(input.bytes, &name, input.size);
    let mut reader = Reader::new(bytes).map_err(damage)?;
    let mut parser = run::parser(args);
    let mut analyzer = Analyzer::new(Options {
        rows: Rows::ALL,
        ..run::options(args)
    });
    let mut capture = Capture::new(args.max_packets.0);
    let error = loop {
        let record = match reader.next() {
            Ok(Some(record)) => record,
            Ok(None) => break None,
            Err(e) => break Some(damage(e)),
        };
        match parser.record(&record) {
            Parsed::Tcp(packet) => {
                capture.packet(record.number, record.time, packet);
                analyzer.packet(record.number, record.time, packet);
            }
            Parsed::NotTcp(NotTcp::Truncated | NotTcp::TcpStub) if is_cut(&record) => {
                capture.cut(record.time);
            }
            Parsed::NotTcp(_) => capture.frame(record.time),
        }
        drain(&mut analyzer, &mut capture);
    };
    analyzer.finish();
    drain(&mut analyzer, &mut capture);
    Ok((capture, analyzer.totals().tcp_streams, error))
}

/// Whether the capture has less of the frame than passed.
fn is_cut(record: &Record<'_>) -> bool {
    matches!(record.body, Body::Frame { data, orig_len, .. } if data.len() < orig_len as usize)
}

fn drain(analyzer: &mut Analyzer, capture: &mut Capture) {
    while let Some(output) = analyzer.poll() {
        if let Output::Trace(trace) = output {
            capture.trace(&trace);
        }
    }
}
