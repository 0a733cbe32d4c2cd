//! ICMP errors about the packets of one side (RFC 792, RFC 1191, RFC 4443).
//!
//! An error belongs to this connection if it quotes a segment that was sent, as hosts check (RFC 5927 4.1), or if the
//! capture does not show this side's packets.

use std::net::IpAddr;

use tcplab_base::{Instant, Seq};
use tcplab_wire::IcmpError;

use super::dir::Dir;

/// Frame numbers that are kept of each kind of error.
const KEPT: usize = 8;

/// The errors about one side's packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Icmp {
    /// A packet was larger than a link carries.
    pub too_big: Option<TooBig>,
    /// Anything else: the newest one.
    pub refused: Option<Refused>,
}

/// Packets larger than a link carries.
#[derive(Clone, Debug)]
pub(crate) struct TooBig {
    /// The smallest MTU that was told, bytes; 0 when none was.
    pub mtu: u32,
    /// Who told it.
    pub from: IpAddr,
    /// How many errors came.
    pub count: u32,
    /// Frame numbers of the first.
    pub packets: Vec<u64>,
    /// The lowest and the highest sequence number that errors quoted, of what was not ACKed when they came.
    quoted: (Seq, Seq),
}

/// A packet did not reach its receiver for another reason.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    pub error: IcmpError,
    /// How many such errors came, of any kind.
    pub count: u32,
    /// Frame numbers of the first.
    pub packets: Vec<u64>,
}

impl Icmp {
    fn too_big(&mut self, error: &IcmpError, una: Seq, number: u64) {
        let too_big = self.too_big.get_or_insert_with(|| TooBig {
            mtu: error.mtu,
            from: error.from,
            count: 0,
            packets: Vec::new(),
            quoted: (error.seq, error.seq),
        });
        too_big.add(error, una, number);
    }

    fn refused(&mut self, error: &IcmpError, number: u64) {
        let refused = self.refused.get_or_insert_with(|| Refused {
            error: *error,
            count: 0,
            packets: Vec::new(),
        });
        refused.error = *error;
        refused.count += 1;
        keep(&mut refused.packets, number);
    }

    /// Bytes that it takes, about.
    pub(crate) fn weight(&self) -> usize {
        let numbers = |list: &Vec<u64>| size_of_val(list.as_slice());
        let too_big = self.too_big.as_ref().map_or(0, |t| numbers(&t.packets));
        let refused = self.refused.as_ref().map_or(0, |r| numbers(&r.packets));
        size_of::<Self>() + too_big + refused
    }
}

impl TooBig {
    /// Whether errors named the segment that begins here, or segments on both sides of it.
    pub(crate) fn names(&self, seq: Seq) -> bool {
        seq.at_or_after(self.quoted.0) && seq.at_or_before(self.quoted.1)
    }

    fn add(&mut self, error: &IcmpError, una: Seq, number: u64) {
        if error.mtu > 0 && (self.mtu == 0 || error.mtu < self.mtu) {
            (self.mtu, self.from) = (error.mtu, error.from);
        }
        self.count += 1;
        keep(&mut self.packets, number);
        let (low, high) = self.quoted;
        self.quoted = if high.before(una) {
            (error.seq, error.seq)
        } else {
            (low.min(error.seq), high.max(error.seq))
        };
    }
}

fn keep(numbers: &mut Vec<u64>, number: u64) {
    if numbers.len() < KEPT {
        numbers.push(number);
    }
}

impl Dir {
    /// What ICMP errors say about this side's packets.
    pub(crate) fn icmp(&self) -> Option<&Icmp> {
        self.seldom()?.icmp.as_deref()
    }

    /// An error quotes a packet of this side, whose peer announced `peer_mss`.
    pub(crate) fn icmp_error(&mut self, error: &IcmpError, peer_mss: Option<u16>, number: u64) {
        let shown = self.started && self.last_packet > Instant::default();
        if shown && !error.seq.before(self.nxt) {
            return;
        }
        let una = self.una;
        let icmp = self.seldom_mut().icmp.get_or_insert_default();
        if !error.is_too_big() {
            icmp.refused(error, number);
            return;
        }
        icmp.too_big(error, una, number);
        let ip = if error.from.is_ipv6() { 40 } else { 20 };
        self.learn_mtu(error.mtu, ip, peer_mss);
        let open = self.loss.as_deref().and_then(|l| l.episodes.open.as_ref());
        if open.is_some_and(|o| self.is_too_big(o.seq)) {
            let open = self.loss().episodes.open.as_deref_mut();
            open.into_iter().for_each(|o| o.record.too_big = true);
        }
    }

    /// Whether ICMP errors named the segment that begins here as too big.
    pub(super) fn is_too_big(&self, seq: Seq) -> bool {
        let too_big = self.icmp().and_then(|i| i.too_big.as_ref());
        too_big.is_some_and(|t| t.names(seq))
    }
}
