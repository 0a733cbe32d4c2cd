//! Packets ahead of their side's data: the sender sent the bytes between, which are yet to pass the capture.

use tcplab_base::{Duration, Instant, Seq};
use tcplab_wire::TcpPacket;

use super::data::At;
use super::dir::Dir;

/// The oldest hole in front of the first unACKed byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead {
    /// Where it begins: the first unACKed byte.
    from: Seq,
    /// The furthest sequence number that was told.
    to: Seq,
    /// When the first packet passed that told of it.
    pub since: Instant,
    /// How long this side had been silent before that packet.
    pub silent: Duration,
    /// Frame number of that packet, and of the newest that told more.
    pub packets: [u64; 2],
}

impl Dir {
    /// A packet that is ahead of all that passed.
    #[cold]
    pub(super) fn ahead(&mut self, p: &TcpPacket, at: At) {
        if !self.started {
            return;
        }
        let new = Ahead {
            from: self.una,
            to: p.seq,
            since: at.now,
            silent: at.now.since(self.last_packet),
            packets: [at.number; 2],
        };
        let ahead = self.seldom_mut().ahead.get_or_insert(new);
        if ahead.from == new.from {
            ahead.to = ahead.to.max(new.to);
            ahead.packets[1] = at.number;
        } else {
            *ahead = new;
        }
    }

    /// The hole in front of the first unACKed byte that was never filled, with its length in bytes.
    pub(crate) fn never_filled(&self) -> Option<(&Ahead, u32)> {
        let ahead = self.seldom()?.ahead.as_ref()?;
        let end = self
            .flight
            .front()
            .map_or(ahead.to, |s| s.seq.min(ahead.to));
        let is_open = ahead.from == self.una && end.after(self.una);
        is_open.then(|| (ahead, end - self.una))
    }
}
