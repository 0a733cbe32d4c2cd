//! `tcplab explain FILE`: which stack sent these ACKs.

pub mod json;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueHint};
use tcplab_capture::{Body, Reader};
use tcplab_lab::explain::{self, Gather, Receiver};
use tcplab_os::say;
use tcplab_wire::{Config, Parsed, Reassembler};

use crate::analyze::asked::Asked;
use crate::args::Color;
use crate::failure::Failure;
use crate::files::Input;
use crate::progress::Watched;
use crate::{json as documents, terminal};

/// `tcplab explain`.
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes: 0 at least one receiver was identified; 2 bad input; 3 no receiver was identified (a handshake or \
a direction is missing, or no profile sends such ACKs).

Examples:
  tcplab explain slow.pcapng                 find the kernel whose rules delayed these ACKs
  tcplab explain --json slow.pcapng | jq '.receivers[].found.best'
  tcplab stacks --profiles                   list the profiles")]
pub struct ExplainArgs {
    /// Capture: pcap, pcapng or `tcpdump -n` text, optionally compressed (gzip, zstd); `-` reads standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Explain only these connections (numbered from 0 in file order), separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub stream: Vec<usize>,
    /// Show every receiver [default: the ten with the most ACKs]
    #[arg(long)]
    pub all: bool,
    /// Print one JSON document (see `tcplab schema explain`)
    #[arg(long)]
    pub json: bool,
}

/// Runs `tcplab explain`.
pub fn main(args: &ExplainArgs, color: Color) -> ExitCode {
    documents::finish(json::SCHEMA, args.json, run(args, color))
}

fn run(args: &ExplainArgs, color: Color) -> Result<ExitCode, Failure> {
    let (gather, damage) = read(args)?;
    let name = args.file.display().to_string();
    if damage.is_none() {
        let mut asked = Asked::new(args.stream.iter().map(|n| *n as u64));
        asked.capture(&name, gather.streams() as u64);
        asked.check()?;
    }
    let receivers = explain::explain(&gather, &args.stream);
    if let Some(damage) = &damage
        && receivers.is_empty()
    {
        return Err(damage.clone());
    }
    let is_explained = |r: &Receiver| r.found.as_ref().is_some_and(explain::Found::is_answer);
    let code = match (&damage, receivers.iter().any(is_explained)) {
        (Some(failure), _) => failure.code(),
        (None, true) => 0,
        (None, false) => Failure::inconclusive("").code(),
    };
    if args.json {
        documents::print(&json::Document::new(&name, &gather, receivers, damage))?;
        return Ok(ExitCode::from(code));
    }
    text::print(&receivers, args.all, &terminal::theme(color, false))?;
    if gather.left_out() > 0 {
        say(&format!(
            "tcplab: {name}: {} packets were ignored; shorten the capture with editcap or tcpdump",
            gather.left_out()
        ));
    }
    if let Some(damage) = damage {
        return Ok(damage.report());
    }
    Ok(ExitCode::from(code))
}

/// The packets; and what is wrong with the file behind them.
fn read(args: &ExplainArgs) -> Result<(Gather, Option<Failure>), Failure> {
    let name = args.file.display().to_string();
    let input = Input::open(&args.file)?;
    let bytes = Watched::new(input.bytes, &name, input.size);
    let damaged = |e: tcplab_capture::Error| Failure::input(format!("{name}: {e}"));
    let mut gather = Gather::default();
    let mut reader = Reader::new(bytes).map_err(damaged)?;
    let config = Config::default();
    let mut fragments = Reassembler::default();
    let mut parsed = Parsed::NotTcp(tcplab_wire::NotTcp::NotIp);
    loop {
        let record = match reader.next() {
            Ok(Some(record)) => record,
            Ok(None) => return Ok((gather, None)),
            Err(e) => return Ok((gather, Some(damaged(e)))),
        };
        match record.body {
            Body::Frame {
                link,
                data,
                orig_len,
            } => fragments.parse_into(link, data, orig_len, &config, &mut parsed),
            Body::Tcp(packet) => parsed = Parsed::Tcp(*packet),
            Body::Other => continue,
        }
        if let Parsed::Tcp(packet) = &parsed {
            gather.packet(record.number, record.time, packet);
        }
    }
}
