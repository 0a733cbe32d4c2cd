//! Our verdicts on a capture, by the analyser that the command uses too.
//!
//! Twice: with the trace of each packet, as `--tshark-compat` has it, and without, as `--json` has
//! it, where finished connections are handed out early and their late packets only counted.

use std::fs::File;
use std::path::Path;

use tcplab_analyze::report::{Stream, Totals};
use tcplab_analyze::trace::Rows;
use tcplab_analyze::{Analyzer, Options, Output};
use tcplab_capture::{Body, Reader};
use tcplab_wire::{Config, NotTcp, Parsed, Reassembler, Standing};

use super::Frame;

/// What we say about a capture.
pub struct Ours {
    /// One for each frame of the file, in its order.
    pub frames: Vec<Frame>,
    /// What the parser made of each, beside `frames`.
    pub kinds: Vec<Kind>,
    /// The sums of the report.
    pub sums: Sums,
    /// Where and why reading stopped early.
    pub error: Option<String>,
}

/// What our parser made of a frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    Tcp(Standing),
    NotTcp(NotTcp),
    NotAPacket,
}

/// Sums over the streams of the report that have Wireshark's meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sums {
    pub packets: u64,
    pub tcp_packets: u64,
    pub streams: u64,
    pub duplicate_acks: u64,
    pub lost_segments: u64,
    pub zero_windows: u64,
    /// Packets of connections that were handed out before; they are in none of the last three.
    pub late_packets: u64,
}

impl Sums {
    fn stream(&mut self, stream: &Stream) {
        for d in [&stream.client_to_server, &stream.server_to_client] {
            self.duplicate_acks += d.duplicate_acks;
            self.lost_segments += d.lost_segments;
            self.zero_windows += d.zero_windows;
        }
    }

    fn totals(&mut self, totals: &Totals) {
        self.packets = totals.packets;
        self.tcp_packets = totals.tcp_packets;
        self.streams = totals.tcp_streams;
        self.late_packets = totals.late_packets;
    }
}

/// The two analysers at work.
struct Pass {
    parser: Reassembler,
    traced: Analyzer,
    plain: Analyzer,
    frames: Vec<Frame>,
    kinds: Vec<Kind>,
    sums: Sums,
}

impl Pass {
    fn new() -> Self {
        let analyzer = |rows| {
            Analyzer::new(Options {
                rows,
                ..Options::default()
            })
        };
        Self {
            parser: Reassembler::default(),
            traced: analyzer(Rows::ALL),
            plain: analyzer(Rows::NONE),
            frames: Vec::new(),
            kinds: Vec::new(),
            sums: Sums::default(),
        }
    }

    fn record(&mut self, record: &tcplab_capture::Record<'_>) {
        let parsed = match record.body {
            Body::Frame {
                link,
                data,
                orig_len,
            } => self.parser.parse(link, data, orig_len, &Config::default()),
            Body::Tcp(packet) => Parsed::Tcp(*packet),
            Body::Other => Parsed::NotTcp(NotTcp::NotIp),
        };
        for analyzer in [&mut self.traced, &mut self.plain] {
            match &parsed {
                Parsed::Tcp(p) => analyzer.packet(record.number, record.time, p),
                Parsed::NotTcp(why) => analyzer.other(*why),
            }
        }
        self.frames.push(Frame {
            is_tcp: parsed.is_tcp(),
            ..Frame::default()
        });
        self.kinds.push(match (record.body, parsed) {
            (Body::Other, _) => Kind::NotAPacket,
            (_, Parsed::Tcp(p)) => Kind::Tcp(p.standing),
            (_, Parsed::NotTcp(why)) => Kind::NotTcp(why),
        });
    }

    fn drain(&mut self) {
        while let Some(output) = self.traced.poll() {
            let Output::Trace(trace) = output else {
                continue;
            };
            for row in &trace.rows {
                let at = usize::try_from(row.number).unwrap_or(usize::MAX);
                if let Some(frame) = self.frames.get_mut(at.wrapping_sub(1)) {
                    frame.stream = Some(trace.stream);
                    frame.verdicts = row.verdicts.0;
                }
            }
        }
        while let Some(output) = self.plain.poll() {
            if let Output::Stream(stream) = output {
                self.sums.stream(&stream);
            }
        }
    }

    fn finish(mut self, error: Option<String>) -> Ours {
        self.traced.finish();
        self.plain.finish();
        self.drain();
        self.sums.totals(self.plain.totals());
        Ours {
            frames: self.frames,
            kinds: self.kinds,
            sums: self.sums,
            error,
        }
    }
}

/// Reads a capture to its end, or to the damage.
pub fn read(path: &Path) -> anyhow::Result<Ours> {
    let mut pass = Pass::new();
    let mut reader = match Reader::new(File::open(path)?) {
        Ok(reader) => reader,
        Err(e) => return Ok(pass.finish(Some(e.to_string()))),
    };
    loop {
        match reader.next() {
            Ok(Some(record)) => pass.record(&record),
            Ok(None) => return Ok(pass.finish(None)),
            Err(e) => return Ok(pass.finish(Some(e.to_string()))),
        }
        pass.drain();
    }
}
