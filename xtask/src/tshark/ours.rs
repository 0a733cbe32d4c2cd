//! Our verdicts on a capture, frame by frame, by the libraries that the command uses too.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use tcplab_analyze::compat::{Compat, Verdicts};
use tcplab_base::Instant;
use tcplab_capture::{Body, Reader};
use tcplab_wire::{Config, Endpoint, NotTcp, Parsed, Standing, TcpPacket, parse_frame};

use super::Frame;

/// What we say about a capture.
pub struct Ours {
    /// One for each frame of the file, in its order.
    pub frames: Vec<Frame>,
    /// Why each frame is no TCP packet, or a special one; beside `frames`.
    pub kinds: Vec<Kind>,
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

/// Streams by their pair of ends, the lower one first.
#[derive(Default)]
struct Streams {
    by_ends: BTreeMap<(Endpoint, Endpoint), (u32, Compat)>,
    count: u32,
}

impl Streams {
    fn packet(&mut self, time: Instant, number: u64, p: &TcpPacket) -> (u32, Verdicts, u32) {
        let from_a = p.src > p.dst;
        let key = if from_a {
            (p.dst, p.src)
        } else {
            (p.src, p.dst)
        };
        let (stream, compat) = self.by_ends.entry(key).or_insert_with(|| {
            self.count += 1;
            (self.count - 1, Compat::default())
        });
        if compat.reuses(from_a, p) {
            (*stream, *compat) = (self.count, Compat::after_reuse());
            self.count += 1;
        }
        let verdicts = compat.packet(time, number, from_a, p);
        let repetition = if verdicts.has(Verdicts::DUPLICATE_ACK) {
            compat.duplicate_ack(from_a).0
        } else {
            0
        };
        (*stream, verdicts, repetition)
    }
}

/// Reads a capture to its end, or to the damage.
pub fn read(path: &Path) -> anyhow::Result<Ours> {
    let mut ours = Ours {
        frames: Vec::new(),
        kinds: Vec::new(),
        error: None,
    };
    let mut reader = match Reader::new(File::open(path)?) {
        Ok(reader) => reader,
        Err(e) => {
            ours.error = Some(e.to_string());
            return Ok(ours);
        }
    };
    let mut streams = Streams::default();
    loop {
        let record = match reader.next() {
            Ok(Some(record)) => record,
            Ok(None) => break,
            Err(e) => {
                ours.error = Some(e.to_string());
                break;
            }
        };
        let parsed = match record.body {
            Body::Frame {
                link,
                data,
                orig_len,
            } => Some(parse_frame(link, data, orig_len, &Config::default())),
            Body::Tcp(packet) => Some(Parsed::Tcp(packet)),
            Body::Other => None,
        };
        let mut frame = Frame {
            is_tcp: parsed.is_some_and(|p| p.is_tcp()),
            ..Frame::default()
        };
        ours.kinds.push(match parsed {
            Some(Parsed::Tcp(p)) => {
                let time = record.time.unwrap_or_default();
                let (stream, verdicts, repetition) = streams.packet(time, record.number, &p);
                frame.stream = Some(stream);
                frame.verdicts = verdicts.0;
                frame.repetition = repetition;
                Kind::Tcp(p.standing)
            }
            Some(Parsed::NotTcp(why)) => Kind::NotTcp(why),
            None => Kind::NotAPacket,
        });
        ours.frames.push(frame);
    }
    Ok(ours)
}
