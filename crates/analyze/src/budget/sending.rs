//! Why a side that is in the middle of a message did not send sooner.
//!
//! All of it is the sender's view: an ACK that passes the capture lets data pass one way to the sender and back later.

use super::Class;
use super::ledger::Ledger;
use super::tracker::Event;

/// What a sender does upon an ACK it does within this, microseconds, beside the path.
const AT_ONCE_US: u64 = 500;
/// Shorter gaps belong to what the sender did before, microseconds.
const SHORT_US: u64 = 50;
/// What a continuous stream waits for is looked at so many times in a round trip.
const LOOKS: u64 = 4;

/// One sender.
#[derive(Debug)]
pub(crate) struct Side {
    /// What its last gap went to.
    class: Class,
    /// A continuous stream is looked at again from here on.
    look_at: u64,
    /// Where the window of its peer was opened last.
    pub opened_at: u64,
    /// A delayed ACK for its data: where it passed, and how long it was held.
    late_at: u64,
    late_us: u32,
    /// Its last packet with payload: the payload, what was in flight after it, and the window for that.
    len: u32,
    in_flight: u32,
    window: u32,
    /// Where a burst began, and the bytes before it.
    burst_at: u64,
    burst_from: u64,
    /// [`crate::conn::Dir::zero`]: the stalls that are booked.
    pub stalled_us: u64,
}

/// A gap between two packets with payload of one sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    pub from: u64,
}

impl Default for Side {
    fn default() -> Self {
        Self {
            class: Class::Path,
            look_at: 0,
            opened_at: 0,
            late_at: 0,
            late_us: 0,
            len: 0,
            in_flight: 0,
            window: 0,
            burst_at: 0,
            burst_from: 0,
            stalled_us: 0,
        }
    }
}

/// What the packets of one gap show.
struct Shown {
    /// Shortest round trip, and the part of it between the capture and the sender.
    round: u64,
    near: u64,
    /// The capture was taken close to the sender.
    at_sender: bool,
    /// An ACK or a window let the packet go.
    released: bool,
    /// Nothing was in flight any more.
    all_acked: bool,
    mss: u32,
}

impl Shown {
    fn of(side: &Side, gap: Gap, e: &Event<'_>) -> Self {
        let (tx, rx) = (&e.dirs[e.dir], &e.dirs[1 - e.dir]);
        let near = u64::from(tx.path_or_zero());
        let far = u64::from(rx.path_or_zero()).max(u64::from(tx.srtt_us.min(1)));
        let progress = tx.progress.since(e.start).as_micros().max(0) as u64;
        let allowed = progress.max(side.opened_at) + near;
        let slack = AT_ONCE_US.min((e.at - gap.from) / 4 + 20) + near / 8;
        let payload = e.packet.payload_len;
        Self {
            round: near + far,
            near,
            at_sender: near * 4 <= far,
            released: e.at <= allowed + slack,
            all_acked: (tx.nxt - tx.una.min(tx.nxt)) <= payload,
            mss: tx.wire_mss(rx.mss).unwrap_or(tx.max_payload).max(1),
        }
    }
}

impl Side {
    /// What its last gap went to.
    pub(crate) fn last_class(&self) -> Class {
        self.class
    }

    /// A delayed ACK for its data passed.
    pub(crate) fn acked_late(&mut self, at: u64, hold_us: u32) {
        (self.late_at, self.late_us) = (at, hold_us);
    }

    /// It sent the packet of the event.
    #[inline]
    pub(crate) fn sent(&mut self, e: &Event<'_>) {
        let tx = &e.dirs[e.dir];
        self.len = e.packet.payload_len;
        self.in_flight = tx.nxt - tx.una.min(tx.nxt);
        self.window = e.dirs[1 - e.dir].window;
    }

    /// Gives out a gap of this sender. Gives whether it had paused by itself.
    pub(crate) fn gap(&mut self, gap: Gap, e: &Event<'_>, ledger: &mut Ledger) -> bool {
        let us = e.at - gap.from;
        if e.at < self.look_at && us < SHORT_US {
            ledger.until(self.class, e.at);
            return false;
        }
        let shown = Shown::of(self, gap, e);
        let long = us * 8 > shown.round;
        if e.at < self.look_at && !long {
            ledger.until(self.class, e.at);
            return false;
        }
        self.look_at = e.at + shown.round / LOOKS;
        let class = self.judge(gap, e, &shown, long);
        if shown.released && self.late_at >= gap.from && self.late_at > 0 {
            // The path, or Nagle's algorithm, would have taken the rest of it anyway.
            let held = u64::from(self.late_us).min(us);
            ledger.until(class, e.at - held);
            ledger.until(Class::DelayedAck, e.at);
        } else {
            ledger.until(class, e.at);
        }
        if long {
            self.burst_at = e.at;
            self.burst_from = sent_before(e);
        }
        self.class = class;
        class == Class::Sender
    }

    fn judge(&self, gap: Gap, e: &Event<'_>, shown: &Shown, long: bool) -> Class {
        let tx = &e.dirs[e.dir];
        let rx = &e.dirs[1 - e.dir];
        if !tx.acks_seen {
            return Class::Unknown;
        }
        let ran_out = self.len % shown.mss != 0;
        let small = e.packet.payload_len < shown.mss;
        if shown.released && shown.all_acked && small && (e.at - gap.from) > shown.round / 2 {
            return Class::Nagle;
        }
        if ran_out && !(shown.released && !shown.all_acked && !long) {
            return Class::Sender;
        }
        if self.window_was_full(e, shown) {
            return Class::ReceiveWindow;
        }
        if !shown.at_sender && !long {
            return Class::Path;
        }
        if shown.released {
            let base = u64::from(rx.path_or_zero());
            let queued = u64::from(tx.srtt_us) > base + base / 4 + 1_000;
            return if queued && shown.at_sender {
                Class::Path
            } else {
                Class::CongestionWindow
            };
        }
        if (e.at - gap.from) * 4 <= shown.round {
            return Class::Pacing;
        }
        Class::Sender
    }

    /// The window left no room for another segment when the gap began: in flight here, or sent in the round before.
    fn window_was_full(&self, e: &Event<'_>, shown: &Shown) -> bool {
        let burst = sent_before(e).saturating_sub(self.burst_from);
        let burst = if shown.near > 0 { burst } else { 0 };
        let sent = u64::from(self.in_flight).max(burst);
        sent + 2 * u64::from(shown.mss) > u64::from(self.window) && self.window > 0
    }
}

/// Bytes that the sender had sent before the packet of the event.
fn sent_before(e: &Event<'_>) -> u64 {
    let sent = e.dirs[e.dir].nxt_rel;
    sent.saturating_sub(u64::from(e.packet.payload_len))
}
