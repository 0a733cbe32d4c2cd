//! Whose turn it is to speak: how long each side let the other one wait for its first byte.
//!
//! A turn begins with the first data of one side after data of the other. Its wait runs from the last data of the
//! other side to that byte, at the capture point; `path_us` of it is the way to the speaker and back. What a
//! retransmission, a hole or data that still waited for its ACK may explain is not counted. Who spoke last stands in
//! the connection; the rest is allocated with the first turn.

use tcplab_base::Instant;
use tcplab_wire::TcpPacket;

use super::data::At;
use super::dir::Dir;

/// A wait of at least this, less the path, is slow.
pub(crate) const SLOW_US: u32 = 20_000;
/// From here on an answer may be one that was lost and sent again: no retransmission timer in use is shorter.
const TIMER_US: u32 = 150_000;
/// A request of more than this may still lie in a queue of the path when its last packet has passed.
const SHORT: u64 = 14_600;
/// Most packets shown.
const SHOWN: usize = 8;

/// The turns of both sides.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    /// The turn that is going on: when it was asked for, how much the other side had sent and lost when it began.
    asked: Instant,
    bytes: [u64; 2],
    losses: u64,
    counted: bool,
    /// By side, as in `Connection::dirs`.
    pub sides: [Waits; 2],
}

/// How one side answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    /// Turns whose wait is known.
    pub turns: u32,
    /// The slow ones, by what the packets prove.
    pub slow: Slow,
    /// Shortest and longest wait less the path, of all turns.
    pub shortest_us: Option<u32>,
    pub longest_us: u32,
    /// How long the other side waited for the whole answer, over the same turns.
    pub waited_us: u64,
    pub packets: Vec<u64>,
}

/// Slow turns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slow {
    /// All of them, and the sum of their waits less the path.
    pub all: u32,
    pub us: u64,
    /// Seen at the speaker, or the speaker had acknowledged the question that much earlier.
    pub proven: u32,
    pub proven_us: u64,
    /// So late that the first answer may have been lost before the capture.
    pub doubtful: u32,
    pub doubtful_us: u64,
}

/// A turn that begins: what of it is known before the packet is taken in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    /// When the other side had all of its data acknowledged, and whether it had.
    pub acked: Option<Instant>,
    /// The packet follows what its sender sent before, all of which is acknowledged.
    pub in_order: bool,
    /// It follows the sender's packet before it by one IP identification: none was lost between.
    pub next_id: bool,
}

impl Before {
    pub(crate) fn look(tx: &Dir, rx: &Dir, p: &TcpPacket) -> Self {
        let acked = rx.una == rx.nxt && rx.progress >= rx.last_data;
        Self {
            acked: acked.then_some(rx.progress),
            in_order: p.seq == tx.nxt && tx.flight.is_empty(),
            next_id: tx.is_next(p.ip_id.unwrap_or(0)),
        }
    }
}

impl Turns {
    /// Side `d` begins to speak with `at`.
    pub(crate) fn begin(&mut self, d: usize, dirs: &[Dir; 2], before: Before, at: At) {
        let (tx, rx) = (&dirs[d], &dirs[1 - d]);
        self.end(1 - d, dirs);
        let losses = losses(dirs);
        let harmed = losses != self.losses;
        let asked_bytes = rx.unique_bytes - self.bytes[1 - d];
        self.losses = losses;
        self.bytes = [dirs[0].unique_bytes, dirs[1].unique_bytes];
        self.asked = rx.last_data;
        let known = tx.path_us != u32::MAX && rx.window > 0;
        self.counted = before.in_order && !harmed && known && at.now >= rx.last_data;
        if !self.counted {
            return;
        }
        let waits = &mut self.sides[d];
        waits.turns += 1;
        let net = at.now.since(rx.last_data).as_micros_u32();
        let net = net.saturating_sub(tx.path_us);
        waits.shortest_us = Some(waits.shortest_us.map_or(net, |s| s.min(net)));
        waits.longest_us = waits.longest_us.max(net);
        if net < SLOW_US {
            return;
        }
        let near = tx.is_here(rx);
        let acked = before.acked.map(|a| at.now.since(a).as_micros_u32());
        let proven = near || acked.is_some_and(|a| a >= SLOW_US && a >= net / 4);
        let lost = !near && net >= TIMER_US && !before.next_id;
        let unsure = !proven && asked_bytes > SHORT;
        waits.slow.all += 1;
        waits.slow.us += u64::from(net);
        if lost || unsure {
            waits.slow.doubtful += 1;
            waits.slow.doubtful_us += u64::from(net);
        } else if proven {
            waits.slow.proven += 1;
            // The ACK may have been delayed, too.
            let sure = acked.filter(|a| !near && *a < net / 2).unwrap_or(net);
            waits.slow.proven_us += u64::from(sure);
        }
        if waits.packets.len() < SHOWN {
            waits.packets.push(at.number);
        }
    }

    /// The turn of side `d` is over.
    fn end(&mut self, d: usize, dirs: &[Dir; 2]) {
        if self.counted {
            // The way to the side that waits is a part of it.
            let far = u64::from(dirs[1 - d].path_or_zero());
            let waited = dirs[d].last_data.since(self.asked).as_micros().max(0);
            self.sides[d].waited_us += waited.unsigned_abs() + far;
            self.counted = false;
        }
    }

    /// The connection is over; side `d` spoke last.
    pub(crate) fn close(&mut self, d: usize, dirs: &[Dir; 2]) {
        self.end(d, dirs);
    }
}

/// Segments that both sides sent again.
fn losses(dirs: &[Dir; 2]) -> u64 {
    let of = |d: &Dir| {
        d.loss
            .as_deref()
            .map_or(0, |l| l.total() - u64::from(l.syn))
    };
    of(&dirs[0]) + of(&dirs[1])
}

impl Dir {
    /// The capture was taken at this side: its answers come four times sooner than those of `peer`.
    pub(crate) fn is_here(&self, peer: &Self) -> bool {
        peer.path_us != u32::MAX && u64::from(self.path_us) * 4 < u64::from(peer.path_us)
    }
}
