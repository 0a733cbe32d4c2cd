//! The loop: records of a capture to the analyser, its answers to whoever wants them.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;

use tcplab_analyze::report::{ReadError, Totals};
use tcplab_analyze::{Analyzer, Options, Output};
use tcplab_base::Instant;
use tcplab_capture::{Body, Reader, Record};
use tcplab_wire::{Config, LinkType, NotTcp, Parsed, Reassembler};

use crate::analyze::Source;
use crate::args::AnalyzeArgs;
use crate::failure::Failure;
use crate::files::Input;
use crate::progress::Watched;

/// Takes what the analyser hands out.
pub type Take<'a> = dyn FnMut(Output) -> io::Result<()> + 'a;

/// From frames to TCP packets, with what is needed to put fragments together.
pub struct Parser {
    config: Config,
    fragments: Reassembler,
    parsed: Parsed,
}

impl Parser {
    /// As the arguments say.
    pub fn new(args: &AnalyzeArgs) -> Self {
        Self {
            config: Config {
                caqm_ethertype: args.caqm_ethertype,
                gre: !args.no_gre,
                ..Config::default()
            },
            fragments: Reassembler::default(),
            parsed: Parsed::NotTcp(NotTcp::NotIp),
        }
    }

    /// Reads a frame.
    #[inline(always)]
    pub fn frame(&mut self, link: LinkType, data: &[u8], orig_len: u32) -> &Parsed {
        let Self {
            config,
            fragments,
            parsed,
        } = self;
        fragments.parse_into(link, data, orig_len, config, parsed);
        parsed
    }

    /// Reads a record of a file.
    #[inline(always)]
    pub fn record(&mut self, record: &Record<'_>) -> &Parsed {
        match record.body {
            Body::Frame {
                link,
                data,
                orig_len,
            } => return self.frame(link, data, orig_len),
            Body::Tcp(packet) => self.parsed = Parsed::Tcp(*packet),
            Body::Other => self.parsed = Parsed::NotTcp(NotTcp::NotIp),
        }
        &self.parsed
    }
}

/// Gives what was read to the analyser.
#[inline(always)]
pub fn feed(analyzer: &mut Analyzer, number: u64, time: Option<Instant>, parsed: &Parsed) {
    match parsed {
        Parsed::Tcp(packet) => analyzer.packet(number, time, packet),
        Parsed::NotTcp(why) => analyzer.other(*why),
    }
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
    let error = match Reader::new(bytes) {
        Ok(mut reader) => pump(args, &mut reader, &mut analyzer, take)?,
        Err(e) => Some(e),
    };
    analyzer.finish();
    drain(&mut analyzer, take)?;
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
    let mut parser = Parser::new(args);
    loop {
        match reader.next() {
            Ok(Some(record)) => {
                let parsed = parser.record(&record);
                feed(analyzer, record.number, record.time, parsed);
            }
            Ok(None) => return Ok(None),
            Err(e) => return Ok(Some(e)),
        }
        drain(analyzer, take)?;
    }
}

/// Hands out what is finished.
#[inline]
pub fn drain(analyzer: &mut Analyzer, take: &mut Take<'_>) -> io::Result<()> {
    while let Some(output) = analyzer.poll() {
        take(output)?;
    }
    Ok(())
}
