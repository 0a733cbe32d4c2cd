//! The flow table: which connection a packet belongs to, and what number it has.
//!
//! Numbers are given as Wireshark gives `tcp.stream`: a new one for a pair of endpoints that was
//! not seen before, or for a SYN whose sequence number differs from the ISN known for its
//! direction (ports reused). A connection that was handed out leaves a tombstone of 32 bytes, so
//! that its late packets are recognised and the numbering goes on.

use std::hash::{BuildHasher, Hasher};
use std::net::{IpAddr, Ipv4Addr};

use foldhash::quality::FixedState;
use hashbrown::HashTable;
use tcplab_wire::{Endpoint, TcpPacket};

use crate::numbering::Isns;

/// A pair of endpoints in a fixed order, and which of the two sent the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key {
    pub a: Endpoint,
    pub b: Endpoint,
}

impl Key {
    /// The key of a packet, and whether `a` sent it.
    pub(crate) fn of(p: &TcpPacket) -> (Self, bool) {
        let in_order = match (p.src.ip, p.dst.ip) {
            // The usual case as two numbers.
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                packed(src, p.src.port) <= packed(dst, p.dst.port)
            }
            _ => (p.src.ip, p.src.port) <= (p.dst.ip, p.dst.port),
        };
        if in_order {
            (Self { a: p.src, b: p.dst }, true)
        } else {
            (Self { a: p.dst, b: p.src }, false)
        }
    }
}

/// Where a connection is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// In this slot.
    Live(u32),
    /// Handed out; what its numbering still needs.
    Gone { stream: u32, isns: Isns },
}

struct Entry {
    fingerprint: u64,
    place: Place,
}

/// The table itself. 64 bits of a keyed hash stand for a pair of endpoints: two pairs of a
/// capture with a billion pairs share one with a probability of about 3 %.
pub(crate) struct Table {
    hasher: FixedState,
    entries: HashTable<Entry>,
}

impl Table {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            hasher: FixedState::with_seed(seed),
            entries: HashTable::new(),
        }
    }

    /// The fingerprint of a pair.
    pub(crate) fn fingerprint(&self, key: &Key) -> u64 {
        let mut h = self.hasher.build_hasher();
        match (key.a.ip, key.b.ip) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                h.write_u64(packed(a, key.a.port));
                h.write_u64(packed(b, key.b.port));
            }
            (a, b) => {
                write_ip(&mut h, a);
                write_ip(&mut h, b);
                h.write_u32(u32::from(key.a.port) << 16 | u32::from(key.b.port));
            }
        }
        h.finish()
    }

    /// Where the pair with this fingerprint is.
    pub(crate) fn find(&self, fingerprint: u64) -> Option<Place> {
        self.entries
            .find(fingerprint, |e| e.fingerprint == fingerprint)
            .map(|e| e.place)
    }

    /// Puts the pair at a place.
    pub(crate) fn put(&mut self, fingerprint: u64, place: Place) {
        let same = |e: &Entry| e.fingerprint == fingerprint;
        match self.entries.find_mut(fingerprint, same) {
            Some(entry) => entry.place = place,
            None => {
                let entry = Entry { fingerprint, place };
                self.entries
                    .insert_unique(fingerprint, entry, |e| e.fingerprint);
            }
        }
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Table({} pairs)", self.entries.len())
    }
}

/// Address and port as one number, in their order.
fn packed(ip: Ipv4Addr, port: u16) -> u64 {
    u64::from(ip.to_bits()) << 16 | u64::from(port)
}

fn write_ip(h: &mut impl Hasher, ip: IpAddr) {
    match ip {
        IpAddr::V4(v4) => h.write_u32(v4.to_bits()),
        IpAddr::V6(v6) => h.write_u128(v6.to_bits()),
    }
}
