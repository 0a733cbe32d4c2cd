//! The analyser, fed with a live connection's packets and frames between them.
//!
//! Two analysers see the connection; the first one also sees the frames. Frames that are not TCP packets must not
//! change its report: it must equal the second one's. Frames that parse as packets of that connection belong to the
//! capture (a wrong sum may come from an offload). They go to a third analyser, which must survive and stay small.

use tcplab_analyze::{Analyzer, Options, Output, Parser};
use tcplab_base::{Duration, Instant};
use tcplab_drill::packets::{Hosts, bytes_of};
use tcplab_wire::malformed::{Aim, Case, Family, Flow, Group};
use tcplab_wire::{Config, LinkType, Parsed, parse_frame};

use super::pair::{Conn, Pair};
use super::target::{Effect, NOT_BEGUN, Parse, Target};
use crate::error::InjectError;

/// Connections that the third analyser holds at most: floods make many.
const MOST: usize = 1_000;
/// Frames between two looks at the live connection.
const BETWEEN: u64 = 512;
const STEP: Duration = Duration::from_micros(10);

/// The analysers of one group.
struct Desk {
    pair: Pair,
    live: Conn,
    numbers: Hosts,
    parser: Parser,
    /// The live connection alone, the same with frames between, the frames.
    alone: Analyzer,
    between: Analyzer,
    hostile: Analyzer,
    number: u64,
    frames: u64,
}

/// The target.
pub(super) struct Analyser {
    seed: u64,
    parse: Parse,
    desk: Option<Desk>,
}

impl Analyser {
    pub(super) fn new(parse: Parse, seed: u64) -> Self {
        Self {
            seed,
            parse,
            desk: None,
        }
    }

    fn desk(&mut self) -> Result<&mut Desk, String> {
        self.desk.as_mut().ok_or_else(|| NOT_BEGUN.into())
    }
}

/// Everything that is finished, as text.
fn drain(analyser: &mut Analyzer) -> Vec<String> {
    let mut out = Vec::new();
    while let Some(output) = analyser.poll() {
        match output {
            Output::Stream(stream) => out.push(format!("{stream:?}")),
            Output::Finding(finding) => out.push(format!("{finding:?}")),
            Output::Trace(_) => {}
        }
    }
    out
}

fn analyser(max_streams: Option<usize>) -> Analyzer {
    Analyzer::new(Options {
        max_streams,
        hash_seed: 7,
        ..Options::default()
    })
}

impl Desk {
    fn new(family: Family, seed: u64) -> Result<Self, String> {
        let mut pair = Pair::new(family, seed);
        pair.log = Some(Vec::new());
        let live = pair.connect()?;
        pair.carry(&live)?;
        let mut desk = Self {
            numbers: pair.hosts(),
            parser: Parser::new(Config::default()),
            pair,
            live,
            alone: analyser(None),
            between: analyser(None),
            hostile: analyser(Some(MOST)),
            number: 0,
            frames: 0,
        };
        desk.feed();
        Ok(desk)
    }

    /// The packets that the pair has exchanged.
    fn feed(&mut self) {
        let log = self.pair.log.replace(Vec::new()).unwrap_or_default();
        for (at, segment) in log {
            let Some(packet) = bytes_of(&self.numbers, &segment) else {
                continue;
            };
            let len = packet.len() as u32;
            let parsed = parse_frame(LinkType::Raw, &packet, len, &Config::default());
            if let Parsed::Tcp(packet) = parsed {
                self.number += 1;
                for analyser in [&mut self.alone, &mut self.between] {
                    analyser.packet(self.number, Some(at), &packet);
                }
            }
        }
    }

    /// Takes a frame as `tcplab analyze` reads it: packets are put together from their fragments, and ICMP errors belong to
    /// the connection that they quote.
    fn take(&mut self, frame: &[u8], at: Instant) {
        self.number += 1;
        let len = frame.len() as u32;
        if let Parsed::NotTcp(why) = self.parser.frame(LinkType::Ethernet, frame, len) {
            self.between.other(*why);
        }
        self.hostile.feed(self.number, Some(at), &self.parser);
        // What is finished goes.
        while self.hostile.poll().is_some() {}
    }

    fn end(&mut self) -> Result<(), String> {
        self.pair.carry(&self.live)?;
        self.pair.close(&self.live);
        self.feed();
        for analyser in [&mut self.alone, &mut self.between, &mut self.hostile] {
            analyser.finish();
        }
        while self.hostile.poll().is_some() {}
        let (alone, between) = (drain(&mut self.alone), drain(&mut self.between));
        if alone.len() < 2 && !alone.first().is_some_and(|text| text.contains("3000")) {
            return Err("the live connection is missing from the report".into());
        }
        match alone.iter().zip(&between).find(|(a, b)| a != b) {
            None if alone.len() == between.len() => Ok(()),
            None => Err(format!(
                "{} reports of the live connection are {} with the frames",
                alone.len(),
                between.len()
            )),
            Some((a, b)) => Err(super::digest::difference(a, b).unwrap_or_default()),
        }
    }
}

impl Target for Analyser {
    fn begin(&mut self, group: &Group) -> Result<(), InjectError> {
        let desk = Desk::new(group.family, self.seed).map_err(InjectError::CannotRun)?;
        self.desk = Some(desk);
        Ok(())
    }

    fn flow(&mut self, _: Aim) -> Result<Flow, String> {
        let desk = self.desk()?;
        let flow = desk.pair.flow(&desk.live);
        flow.ok_or_else(|| "the connection is gone".into())
    }

    fn take(&mut self, case: &Case) -> Result<Effect, String> {
        let parse = self.parse;
        let desk = self.desk()?;
        desk.pair.pass(STEP);
        desk.frames += 1;
        if desk.frames.is_multiple_of(BETWEEN) {
            desk.pair.carry(&desk.live)?;
            desk.feed();
        }
        let at = desk.pair.now;
        for frame in case.frames() {
            parse(frame);
            desk.take(frame, at);
        }
        Ok(Effect::default())
    }

    fn end(&mut self, _: &Group) -> Result<(), String> {
        self.desk()?.end()
    }
}
