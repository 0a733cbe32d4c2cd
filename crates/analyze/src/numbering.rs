//! What the numbering of streams needs to know of a connection that was handed out.

use tcplab_base::Seq;
use tcplab_wire::{TcpFlags, TcpPacket};

use crate::conn::Moment;

/// The first sequence number known for each direction (see [`crate::compat::Compat::base_seq`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Isns {
    known: [bool; 2],
    isn: [Seq; 2],
    /// When it ended, if it had been open.
    pub ended: Moment,
}

impl Isns {
    pub(crate) fn new(isns: [Option<Seq>; 2], ended: Moment) -> Self {
        Self {
            known: isns.map(|i| i.is_some()),
            isn: isns.map(|i| i.unwrap_or_default()),
            ended,
        }
    }

    /// Whether this packet begins a new stream on the same pair of endpoints: a SYN without ACK
    /// with another sequence number than the one known for its direction.
    pub(crate) fn reused_by(&self, dir: usize, p: &TcpPacket) -> bool {
        let syn_only = p.flags.has(TcpFlags::SYN) && !p.flags.has(TcpFlags::ACK);
        syn_only && self.known[dir] && self.isn[dir] != p.seq
    }
}
