//! The flow table: maps a packet to its connection and the connection's number.
//!
//! Numbers are given as Wireshark gives `tcp.stream`: a new one for a pair of endpoints that was
//! not seen before, or for a SYN whose sequence number differs from the ISN known for its
//! direction (ports reused). A connection that was handed out leaves a tombstone of 32 bytes, so
//! that its late packets are recognised and the numbering goes on. The oldest tombstones are forgotten
//! when there are too many; how many is counted.

use std::hash::{BuildHasher, Hasher};
use std::net::{IpAddr, Ipv4Addr};

use foldhash::quality::FixedState;
use hashbrown::HashTable;
use tcplab_wire::{Endpoint, TcpPacket};

use crate::numbering::Isns;

/// A limit below this would forget what still comes.
const LEAST_TOMBSTONES: usize = 8_192;

/// A pair of endpoints in a fixed order, and which of the two sent the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key {
    pub a: Endpoint,
    pub b: Endpoint,
}

impl Key {
    /// The key of a packet, and whether `a` sent it.
    pub(crate) fn of(p: &TcpPacket) -> (Self, bool) {
        Self::between(p.src, p.dst)
    }

    /// The same of a packet from `src` to `dst`.
    pub(crate) fn between(src: Endpoint, dst: Endpoint) -> (Self, bool) {
        let in_order = match (src.ip, dst.ip) {
            // The usual case as two numbers.
            (IpAddr::V4(from), IpAddr::V4(to)) => packed(from, src.port) <= packed(to, dst.port),
            _ => (src.ip, src.port) <= (dst.ip, dst.port),
        };
        if in_order {
            (Self { a: src, b: dst }, true)
        } else {
            (Self { a: dst, b: src }, false)
        }
    }

    /// 0 when `a` sent the packet, 1 when `b` did; `None` for packets of another pair.
    #[inline]
    pub(crate) fn direction(&self, p: &TcpPacket) -> Option<usize> {
        if self.a == p.src && self.b == p.dst {
            Some(0)
        } else {
            (self.a == p.dst && self.b == p.src).then_some(1)
        }
    }
}

/// Where a connection is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// In this slot.
    Live(u32),
    /// Handed out; what its numbering still needs.
    Gone(Isns),
}

/// Something known of the pair with a fingerprint.
struct Entry<T> {
    fingerprint: u64,
    what: T,
}

type Entries<T> = HashTable<Entry<T>>;

/// The table itself. A keyed hash of 64 bits represents a pair of endpoints: in a capture with a billion pairs, two
/// pairs collide with a probability of about 3 %.
pub(crate) struct Table {
    hasher: FixedState,
    live: Entries<u32>,
    /// Tombstones: the newer ones, and those before them. The older half goes at once.
    gone: [Entries<Isns>; 2],
    /// Tombstones of one half.
    half: usize,
    forgotten: u64,
}

impl Table {
    /// `remembered` bounds the tombstones.
    pub(crate) fn new(seed: u64, remembered: Option<usize>) -> Self {
        Self {
            hasher: FixedState::with_seed(seed),
            live: HashTable::new(),
            gone: [HashTable::new(), HashTable::new()],
            half: remembered.map_or(usize::MAX, |n| (n / 2).max(LEAST_TOMBSTONES)),
            forgotten: 0,
        }
    }

    /// Tombstones that were forgotten.
    pub(crate) fn forgotten(&self) -> u64 {
        self.forgotten
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
        if let Some(index) = get(&self.live, fingerprint) {
            return Some(Place::Live(index));
        }
        let gone = self.gone.iter().find_map(|g| get(g, fingerprint));
        gone.map(Place::Gone)
    }

    /// The pair has a connection in this slot.
    pub(crate) fn begins(&mut self, fingerprint: u64, index: u32) {
        put(&mut self.live, fingerprint, index);
    }

    /// The connection of the pair was handed out.
    pub(crate) fn ends(&mut self, fingerprint: u64, isns: Isns) {
        if let Ok(entry) = self
            .live
            .find_entry(fingerprint, |e| e.fingerprint == fingerprint)
        {
            entry.remove();
        }
        let [newer, older] = &mut self.gone;
        put(newer, fingerprint, isns);
        if newer.len() >= self.half {
            let known = |f| get(newer, f).is_some() || get(&self.live, f).is_some();
            let lost = older.iter().filter(|e| !known(e.fingerprint)).count();
            self.forgotten += lost as u64;
            *older = std::mem::take(newer);
        }
    }
}

fn get<T: Copy>(entries: &Entries<T>, fingerprint: u64) -> Option<T> {
    entries
        .find(fingerprint, |e| e.fingerprint == fingerprint)
        .map(|e| e.what)
}

fn put<T>(entries: &mut Entries<T>, fingerprint: u64, what: T) {
    match entries.find_mut(fingerprint, |e| e.fingerprint == fingerprint) {
        Some(entry) => entry.what = what,
        None => {
            let entry = Entry { fingerprint, what };
            entries.insert_unique(fingerprint, entry, |e| e.fingerprint);
        }
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Table({} live pairs)", self.live.len())
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
