//! The loop: passes records of a capture to the analyser, and its output to the caller.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;

use tcplab_analyze::report::{ReadError, Totals};
use tcplab_analyze::{Analyzer, Options, Output, Parser};
use tcplab_capture::Reader;
use tcplab_wire::Config;

use crate::analyze::Source;
use crate::args::AnalyzeArgs;
use crate::failure::Failure;
use crate::files::Input;
use crate::progress::Watched;

/// Takes what the analyser hands out.
pub type Take<'a> = dyn FnMut(Output) -> io::Result<()> + 'a;

/// How frames are read, as the arguments say.
pub fn parser(args: &AnalyzeArgs) -> Parser {
    Parser::new(Config {
        caqm_ethertype: args.caqm_ethertype,
        gre: !args.no_gre,
        ..Config::default()
    })
}

/// What the analyser shall know.
#[expect(
    clippy::disallowed_methods,
    reason = "the key of a hash table: it guards against chosen addresses and never shows"
)]
pub fn options(args: &AnalyzeArgs) -> Options {
    Options {
        rows: args.rows(),
        max_rows: args.max_packets.0,
        max_streams: args.max_streams.0,
        // So that nobody can choose addresses that all meet in one place of the table.
        hash_seed: RandomState::new().build_hasher().finish(),
        caqm: args.caqm(),
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
    let mut analyzer = Analyzer::new(options(args)).only(&args.stream);
    let error = analyzer.read(Reader::new(bytes), parser(args), take)?;
    let mut totals = analyzer.totals().clone();
    totals.error = error.map(|e| ReadError {
        offset: e.offset,
        message: e.message,
    });
    Ok(Ok(totals))
}
