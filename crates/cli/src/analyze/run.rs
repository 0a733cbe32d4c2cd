//! The loop: records of a capture to the analyser, its answers to whoever wants them.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;

use tcplab_analyze::report::{ReadError, Totals};
use tcplab_analyze::{Analyzer, Options, Output};
use tcplab_capture::{Body, Reader, Record};
use tcplab_wire::{Config, NotTcp, Parsed, parse_frame};

use crate::analyze::Source;
use crate::args::AnalyzeArgs;
use crate::failure::Failure;
use crate::files::Input;
use crate::progress::Watched;

/// Takes what the analyser hands out.
pub type Take<'a> = dyn FnMut(Output) -> io::Result<()> + 'a;

/// What the parser shall know.
pub fn config(args: &AnalyzeArgs) -> Config {
    Config {
        caqm_ethertype: args.caqm_ethertype,
        gre: !args.no_gre,
    }
}

/// What the analyser shall know.
#[expect(
    clippy::disallowed_methods,
    reason = "the key of a hash table: it guards against chosen addresses and never shows"
)]
pub fn options(args: &AnalyzeArgs) -> Options {
    Options {
        trace: args.needs_trace(),
        max_streams: args.max_streams,
        // So that nobody can choose addresses that all meet in one place of the table.
        hash_seed: RandomState::new().build_hasher().finish(),
    }
}

/// Analyses one file. The outer error is about the outputs, the inner one about the file.
pub fn file(
    args: &AnalyzeArgs,
    source: &Source,
    take: &mut Take<'_>,
) -> Result<Result<Totals, Failure>, Failure> {
    let input = match Input::open(&source.path) {
        Ok(input) => input,
        Err(failure) => return Ok(Err(failure)),
    };
    let bytes = Watched::new(input.bytes, &source.name, input.size);
    let mut analyzer = Analyzer::new(options(args));
    let error = match Reader::new(bytes) {
        Ok(mut reader) => pump(args, &mut reader, &mut analyzer, take)?,
        Err(e) => Some(e),
    };
    analyzer.finish();
    drain(args, &mut analyzer, take)?;
    let mut totals = analyzer.totals().clone();
    totals.error = error.map(|e| ReadError {
        offset: e.offset,
        message: e.message,
    });
    Ok(Ok(totals))
}

/// Reads to the end, or to the damage.
fn pump<R: io::Read>(
    args: &AnalyzeArgs,
    reader: &mut Reader<R>,
    analyzer: &mut Analyzer,
    take: &mut Take<'_>,
) -> io::Result<Option<tcplab_capture::Error>> {
    let config = config(args);
    loop {
        match reader.next() {
            Ok(Some(record)) => feed(analyzer, &record, &config),
            Ok(None) => return Ok(None),
            Err(e) => return Ok(Some(e)),
        }
        drain(args, analyzer, take)?;
    }
}

/// Gives one record to the analyser.
#[inline]
fn feed(analyzer: &mut Analyzer, record: &Record<'_>, config: &Config) {
    match &record.body {
        Body::Frame {
            link,
            data,
            orig_len,
        } => match parse_frame(*link, data, *orig_len, config) {
            Parsed::Tcp(packet) => analyzer.packet(record.number, record.time, &packet),
            Parsed::NotTcp(why) => analyzer.other(why),
        },
        Body::Tcp(packet) => analyzer.packet(record.number, record.time, packet),
        Body::Other => analyzer.other(NotTcp::NotIp),
    }
}

/// Hands out what is finished, as far as `--stream` wants it.
#[inline]
pub fn drain(args: &AnalyzeArgs, analyzer: &mut Analyzer, take: &mut Take<'_>) -> io::Result<()> {
    while let Some(output) = analyzer.poll() {
        let stream = match &output {
            Output::Stream(s) => s.stream,
            Output::Finding(f) => f.stream,
            Output::Trace(t) => t.stream,
        };
        if args.wants(stream) {
            take(output)?;
        }
    }
    Ok(())
}
