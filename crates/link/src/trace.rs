//! Frames of a capture, to be put on a link again at their times.
//!
//! A capture mostly keeps the beginning of each frame. The length is the recorded one; what was not kept, and all behind
//! the first [`HEAD`] bytes, which no qdisc looks at, is zeros. The destination becomes an Ethernet address that nobody
//! has: no host takes a frame, and none answers.

use std::io::{self, Read, Write};
use std::net::IpAddr;

use tcplab_base::{Duration, Instant};
use tcplab_capture::{Body, Error, Interface, PcapngWriter, Reader};
use tcplab_qdisc::Packet;
use tcplab_wire::LinkType;

/// Bytes kept of a frame: tags, the headers of IP in IP with extensions, a full TCP header.
pub const HEAD: usize = 256;

/// Bytes that a trace may keep: a guest has no more memory to spare.
const MOST: usize = 64 << 20;

/// Bytes of an Ethernet header, and of a VLAN's tag.
const ETHERNET: usize = 14;
const TAG: usize = 4;
const TAGS: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xa8]];
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// A frame that is earlier than one before it by this much tells of a clock that stepped back; processors that take frames
/// at once are closer. `tcplab analyze` has the same bound (`capture_clock_step`).
const STEP: Duration = Duration::from_millis(100);

/// From nobody to nobody: locally administered, unlike those of hosts.
const ADDRESSES: [u8; 12] = [2, 0x77, 0xff, 0xff, 0xff, 2, 2, 0x77, 0xff, 0xff, 0xff, 1];

/// Which frames of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Those of the interface of this name.
    pub interface: Option<String>,
    /// IP packets from this address.
    pub from: Option<IpAddr>,
}

/// Why frames cannot be sent again. The words say where in the file and what helps.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file is damaged, or no capture.
    #[error("{0}")]
    Capture(#[from] Error),
    /// It cannot be done with a frame, or with any.
    #[error("{0}")]
    Wrong(String),
}

/// Chosen frames in the order of their times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    frames: Vec<Recorded>,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recorded {
    at: Instant,
    /// Where its bytes begin, and how many were kept.
    begin: usize,
    kept: usize,
    /// Bytes of the frame.
    len: u32,
}

impl Trace {
    /// Reads a capture; `mtu` is that of the link.
    ///
    /// # Errors
    /// A damaged capture; a clock that stepped back; frames without a time or of an unknown link type; frames that the link does not carry; none
    /// that was chosen.
    pub fn read<R: Read>(
        reader: &mut Reader<R>,
        choice: &Choice,
        mtu: u32,
    ) -> Result<Self, TraceError> {
        let mut trace = Self::default();
        let mut chosen: Vec<bool> = Vec::new();
        let mut latest: Option<(Instant, u64)> = None;
        while let Some(record) = reader.next()? {
            let (number, time, interface) = (record.number, record.time, record.interface);
            let Body::Frame {
                link,
                data,
                orig_len,
            } = record.body
            else {
                continue;
            };
            let Some(time) = time else {
                return Err(wrong(format!("frame {number} has no time")));
            };
            let head = trace.bytes.len();
            let len = ethernet(link, data, orig_len, &mut trace.bytes);
            let len = len.ok_or_else(|| {
                wrong(format!(
                    "frame {number} has link type {}; Ethernet, IP and `any` devices can be replayed",
                    link.number()
                ))
            })?;
            let of = interface as usize;
            if chosen.len() <= of {
                let named = |i: &Interface| {
                    choice.interface.is_none() || i.name.as_deref() == choice.interface.as_deref()
                };
                chosen = reader.interfaces().iter().map(named).collect();
            }
            let frame = &trace.bytes[head..];
            let is_from = choice.from.is_none_or(|from| source(frame) == Some(from));
            if !is_from || chosen.get(of) != Some(&true) {
                trace.bytes.truncate(head);
                continue;
            }
            check(number, frame, len, mtu)?;
            steps_back((time, number), latest)?;
            latest = latest.max(Some((time, number)));
            trace.frames.push(Recorded {
                at: time,
                begin: head,
                kept: trace.bytes.len() - head,
                len,
            });
            if trace.bytes.len() > MOST {
                let most = MOST >> 20;
                let message = format!(
                    "frame {number}: more than {most} MiB of headers to replay; cut the capture with `editcap -A -B`"
                );
                return Err(wrong(message));
            }
        }
        // Captures of several processors are not in order.
        trace.frames.sort_by_key(|frame| frame.at);
        match trace.frames.is_empty() {
            true => Err(wrong("no frame of it was chosen".into())),
            false => Ok(trace),
        }
    }

    /// How many frames there are; at least one when it was read.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether the trace has no frames.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// When frame `n` is sent, counted from the first frame; `None` beyond the last frame.
    pub fn time(&self, n: usize) -> Option<Duration> {
        let first = self.frames.first()?.at;
        Some(self.frames.get(n)?.at.since(first))
    }

    /// Writes frame `n` into a buffer, whole.
    pub fn frame(&self, n: usize, into: &mut Vec<u8>) {
        into.clear();
        if let Some(frame) = self.frames.get(n) {
            into.extend_from_slice(&self.bytes[frame.begin..frame.begin + frame.kept]);
            into.resize(frame.len as usize, 0);
        }
    }

    /// Writes it as a capture that [`Trace::read`] reads as the same.
    ///
    /// # Errors
    /// Those of the output.
    pub fn write<W: Write>(&self, out: W) -> io::Result<()> {
        let mut out = PcapngWriter::new(out)?;
        out.add_interface(&Interface {
            link: LinkType::Ethernet,
            snaplen: 0,
            tsresol: 9,
            name: None,
        })?;
        for frame in &self.frames {
            let data = &self.bytes[frame.begin..frame.begin + frame.kept];
            out.packet(0, Some(frame.at), data, frame.len, &[])?;
        }
        out.finish().map(drop)
    }
}

/// `skb->priority` of a frame that a router passes on.
pub fn priority(frame: &Vec<u8>) -> u8 {
    frame.priority()
}

/// A frame much earlier than the latest before it: nobody knows when it was sent.
fn steps_back(now: (Instant, u64), latest: Option<(Instant, u64)>) -> Result<(), TraceError> {
    let Some((before, other)) = latest.filter(|(before, _)| before.since(now.0) >= STEP) else {
        return Ok(());
    };
    let (number, s) = (now.1, before.since(now.0).as_nanos() as f64 / 1e9);
    Err(wrong(format!(
        "frame {number} is {s} s earlier than frame {other}: the clock stepped back, or the file has several captures. If \
         the times are right, sort it with `reordercap IN OUT`; if not, cut it with `editcap -r IN OUT 1-{}`",
        number - 1
    )))
}

fn wrong(message: String) -> TraceError {
    TraceError::Wrong(message)
}

/// Adds the beginning of a frame with an Ethernet header; gives the whole frame's length. None: the link type has no
/// place for one.
fn ethernet(link: LinkType, data: &[u8], orig_len: u32, out: &mut Vec<u8>) -> Option<u32> {
    let two = |at: usize| data.get(at..at + 2).map(|bytes| [bytes[0], bytes[1]]);
    let by_version = |at: usize| match data.get(at).map(|byte| byte >> 4) {
        Some(6) => IPV6,
        _ => IPV4,
    };
    // Bytes before the network header, and the network protocol.
    let (before, protocol) = match link {
        LinkType::Ethernet => (ETHERNET - 2, None),
        LinkType::Raw | LinkType::Ipv4 | LinkType::Ipv6 => (0, Some(by_version(0))),
        LinkType::Null => (4, Some(by_version(4))),
        LinkType::Sll => (16, Some(two(14).unwrap_or(IPV4))),
        LinkType::Sll2 => (20, Some(two(0).unwrap_or(IPV4))),
        _ => return None,
    };
    let begin = out.len();
    out.extend_from_slice(&ADDRESSES);
    out.extend(protocol.into_iter().flatten());
    let added = out.len() - begin;
    let kept = data.get(before..).unwrap_or_default();
    out.extend_from_slice(&kept[..kept.len().min(HEAD - added)]);
    let len = orig_len
        .saturating_sub(before as u32)
        .saturating_add(added as u32);
    Some(len.max((out.len() - begin) as u32))
}

/// The bytes behind the Ethernet header and its tags, and their protocol.
fn network(frame: &[u8]) -> Option<(usize, [u8; 2])> {
    let mut at = ETHERNET;
    loop {
        let protocol = [*frame.get(at - 2)?, *frame.get(at - 1)?];
        match TAGS.contains(&protocol) {
            true => at += TAG,
            false => return Some((at, protocol)),
        }
    }
}

fn source(frame: &[u8]) -> Option<IpAddr> {
    let (at, protocol) = network(frame)?;
    match protocol {
        IPV4 => {
            let bytes: [u8; 4] = frame.get(at + 12..at + 16)?.try_into().ok()?;
            Some(bytes.into())
        }
        IPV6 => {
            let bytes: [u8; 16] = frame.get(at + 8..at + 24)?.try_into().ok()?;
            Some(bytes.into())
        }
        _ => None,
    }
}

/// Whether a link with this MTU carries a frame.
fn check(number: u64, frame: &[u8], len: u32, mtu: u32) -> Result<(), TraceError> {
    let header = network(frame).map_or(ETHERNET, |(at, _)| at) as u32;
    if len < ETHERNET as u32 {
        return Err(wrong(format!(
            "frame {number} is shorter than an Ethernet header"
        )));
    }
    let packet = len.saturating_sub(header);
    if packet > mtu {
        return Err(wrong(format!(
            "frame {number} has {packet} bytes behind its Ethernet header, and the link an mtu of {mtu}: capture where \
             segments are cut (`ethtool -K IF tso off gso off gro off`), or write a larger `mtu` at the link"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
