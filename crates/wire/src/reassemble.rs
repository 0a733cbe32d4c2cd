//! IP packets from their fragments (RFC 791 3.2, RFC 8200 4.5), with bounded memory.
//!
//! As Wireshark does by default: the frame that completes a packet gives the packet. Fragments that overlap are taken,
//! the first bytes win. There is no timeout, because captures may be long and their clocks wrong: the oldest go.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::frame::{Layer, Walk, plain};
use crate::rest::Rest;
use crate::{Config, IcmpError, LinkType, NotTcp, Parsed};

/// Incomplete packets that are kept.
const MAX_PACKETS: usize = 256;
/// Fragments of one packet that are kept; a packet of 64 KiB over Ethernet has 45.
const MAX_PIECES: usize = 1024;
/// Bytes of one packet.
const MAX_BYTES: u32 = 65_535;
/// Limit on the held bytes of one packet: the size of a whole packet without overlaps.
const MAX_HELD: usize = MAX_BYTES as usize;
/// Packets inside packets, each of them fragmented.
const MAX_DEPTH: usize = 4;

/// What fragments of one packet have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Key {
    pub src: IpAddr,
    pub dst: IpAddr,
    pub id: u32,
    /// 0 for IPv6, where it is no part of the key.
    pub protocol: u8,
}

/// A fragment that the walk met with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragment<'a> {
    pub key: Key,
    /// Where its bytes belong.
    pub offset: u32,
    /// Others follow.
    pub more: bool,
    pub protocol: u8,
    pub bytes: &'a [u8],
}

#[derive(Default, Debug)]
struct Packet {
    pieces: BTreeMap<u32, Vec<u8>>,
    /// Bytes of the pieces: those that overlap count twice.
    held: usize,
    end: Option<u32>,
    used: u64,
}

/// Parses frames and puts fragmented IP packets together: [`parse_frame`](crate::parse_frame) with a memory of at most
/// 16 MiB.
#[derive(Default, Debug)]
pub struct Reassembler {
    packets: BTreeMap<Key, Packet>,
    frames: u64,
    icmp_error: Option<IcmpError>,
    joined: u64,
}

impl Reassembler {
    /// Reads one frame as [`parse_frame`](crate::parse_frame) does. The frame that completes a fragmented packet gives
    /// the whole packet, with [`Encap::fragments`](crate::Encap::fragments) set; those before it are
    /// [`NotTcp::Fragment`].
    pub fn parse(&mut self, link: LinkType, data: &[u8], orig_len: u32, config: &Config) -> Parsed {
        let mut parsed = Parsed::NotTcp(NotTcp::NotIp);
        self.parse_into(link, data, orig_len, config, &mut parsed);
        parsed
    }

    /// As [`Reassembler::parse`], into memory that is used again and again: faster by a copy.
    #[inline(always)]
    pub fn parse_into(
        &mut self,
        link: LinkType,
        data: &[u8],
        orig_len: u32,
        config: &Config,
        parsed: &mut Parsed,
    ) {
        if !plain(link, data, orig_len, parsed) {
            *parsed = self.walk(link, data, orig_len, config);
        }
    }

    /// Any frame, header by header.
    #[inline(never)]
    fn walk(&mut self, link: LinkType, data: &[u8], orig_len: u32, config: &Config) -> Parsed {
        let mut walk = Walk::new(config);
        self.joined = 0;
        match walk.walk(link, Rest::new(data, orig_len)) {
            Ok(packet) => {
                if walk.context.quoted {
                    self.icmp_error = walk.icmp_error;
                }
                Parsed::Tcp(packet)
            }
            Err(NotTcp::Fragment) => self.fragment(walk),
            Err(why) => {
                self.icmp_error = walk.icmp_error;
                Parsed::NotTcp(why)
            }
        }
    }

    /// The ICMP error that the last frame was, if it quotes the ports and the sequence number of a TCP header at least.
    /// Ask after a frame that gave a packet [`Standing::Quoted`](crate::Standing::Quoted) or [`NotTcp::TcpStub`]: others
    /// may leave the error of a frame before.
    pub fn icmp_error(&self) -> Option<&IcmpError> {
        self.icmp_error.as_ref()
    }

    /// Frames before the last one that were [`NotTcp::Fragment`], and of which it made a whole packet. Ask after a frame
    /// with [`Encap::fragments`](crate::Encap::fragments), or without TCP: others may leave the number of a frame before.
    pub fn joined(&self) -> u64 {
        self.joined
    }

    #[cold]
    fn fragment(&mut self, mut walk: Walk<'_>) -> Parsed {
        self.frames += 1;
        let mut fragment = walk.fragment.take().map(Owned::from);
        for _ in 0..MAX_DEPTH {
            let Some(found) = fragment.filter(|_| !walk.context.quoted) else {
                break;
            };
            let Some((whole, pieces)) = self.add(&found) else {
                break;
            };
            self.joined += pieces as u64 - 1;
            let mut inner = walk.with_lifetime();
            inner.context.encap.fragments = u16::try_from(pieces).unwrap_or(u16::MAX);
            match inner.run(Layer::Protocol(found.protocol), Rest::new(&whole, 0)) {
                Ok(packet) => {
                    self.icmp_error = inner.icmp_error;
                    return Parsed::Tcp(packet);
                }
                Err(NotTcp::Fragment) => {}
                Err(why) => {
                    self.icmp_error = inner.icmp_error;
                    return Parsed::NotTcp(why);
                }
            }
            fragment = inner.fragment.take().map(Owned::from);
            walk = inner.with_lifetime();
        }
        Parsed::NotTcp(NotTcp::Fragment)
    }

    /// Keeps a fragment. The packet's bytes and number of pieces when it is complete.
    fn add(&mut self, f: &Owned) -> Option<(Vec<u8>, usize)> {
        let end = f.offset.saturating_add(f.bytes.len() as u32);
        if f.bytes.is_empty() || end > MAX_BYTES {
            return None;
        }
        if !self.packets.contains_key(&f.key) {
            self.make_room();
        }
        let packet = self.packets.entry(f.key).or_default();
        packet.used = self.frames;
        if packet.pieces.len() < MAX_PIECES {
            let piece = packet.pieces.entry(f.offset).or_default();
            // The longer of two at the same place.
            let more = f.bytes.len().saturating_sub(piece.len());
            if more > 0 && packet.held + more <= MAX_HELD {
                packet.held += more;
                *piece = f.bytes.clone();
            }
        }
        if !f.more {
            packet.end = Some(end);
        }
        let whole = packet.assemble()?;
        let pieces = packet.pieces.len();
        self.packets.remove(&f.key);
        Some((whole, pieces))
    }

    /// Forgets the packet that waits longest.
    fn make_room(&mut self) {
        if self.packets.len() < MAX_PACKETS {
            return;
        }
        let oldest = self
            .packets
            .iter()
            .min_by_key(|(_, p)| p.used)
            .map(|(k, _)| *k);
        if let Some(key) = oldest {
            self.packets.remove(&key);
        }
    }
}

impl Packet {
    fn assemble(&self) -> Option<Vec<u8>> {
        let end = self.end? as usize;
        let mut whole = Vec::new();
        for (offset, piece) in &self.pieces {
            let known = whole.len().checked_sub(*offset as usize)?;
            whole.extend_from_slice(piece.get(known..).unwrap_or_default());
        }
        (whole.len() >= end).then(|| {
            whole.truncate(end);
            whole
        })
    }
}

/// A fragment that no longer borrows its frame.
struct Owned {
    key: Key,
    offset: u32,
    more: bool,
    protocol: u8,
    bytes: Vec<u8>,
}

impl From<Fragment<'_>> for Owned {
    fn from(f: Fragment<'_>) -> Self {
        Self {
            key: f.key,
            offset: f.offset,
            more: f.more,
            protocol: f.protocol,
            bytes: f.bytes.to_vec(),
        }
    }
}
