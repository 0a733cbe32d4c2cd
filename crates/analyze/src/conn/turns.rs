//! Turns of a conversation: how long each side let the other one wait for its first byte.
//!
//! A turn begins with the first data of one side after data of the other. Its wait runs from the last data of the
//! other side to that byte, at the capture point; `path_us` of it is the way to the speaker and back. Waits that a
//! retransmission, a hole or unACKed data may explain are not counted. A speaker that stops in the middle, with all of
//! its data ACKed, pauses: that is counted separately. The connection stores the last speaker; the rest is allocated
//! with the first turn.

use tcplab_base::{Duration, Instant};
use tcplab_wire::TcpPacket;

use super::data::At;
use super::dir::Dir;

/// A wait of at least this, less the path, is slow.
pub(crate) const SLOW_US: u32 = 20_000;
/// A silence of a speaker that is looked at.
pub(crate) const SILENT: Duration = Duration::from_micros(SLOW_US as i64);
/// A slower answer may have been lost and sent again: this is the shortest retransmission timer in use.
const TIMER_US: u32 = 150_000;
/// No receiver holds an ACK until an answer that comes later than this (Linux `TCP_DELACK_MAX`, with a tick): the path held
/// the request, or an ACK is missing.
const HELD_US: u32 = 220_000;
/// A larger request may still be queued in the path when its last packet has passed the capture.
const SHORT: u64 = 14_600;
/// Data after a longer pause is a message of its own.
const OWN_US: u32 = 3_000_000;
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
    /// What its speaker had sent before it began, or before it went on after a pause.
    from: u64,
    /// The wait that is booked when it is known how the answer went on.
    late: Option<Box<Late>>,
    /// Pauses of this turn.
    within: Option<Box<Within>>,
    /// The answer was over when the speaker stopped: who waited for it went on at once.
    over: bool,
    /// By side, as in `Connection::dirs`.
    pub sides: [Waits; 2],
}

/// Pauses in the middle of a turn, and the frame after the first one.
#[derive(Clone, Copy, Debug)]
struct Within {
    pauses: Slow,
    number: u64,
}

/// How one side answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    /// Turns whose wait is known.
    pub turns: u32,
    slow: Option<Box<SlowWaits>>,
    /// Waits that may have been slow, if the packets told more.
    pub unclear: u32,
    /// Shortest and longest wait of all turns, and the sum; with the path.
    pub shortest_us: Option<u32>,
    pub longest_us: u32,
    pub all_us: u64,
    /// How long the other side waited for the whole answer, over the same turns.
    pub waited_us: u64,
}

/// The slow waits, which most connections lack.
#[derive(Clone, Debug, Default)]
struct SlowWaits {
    answers: Slow,
    pauses: Slow,
    packets: Vec<u64>,
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
    /// Those of `proven` before which packets of the speaker are not there: the same, if the capture missed some.
    pub gapped: u32,
    pub gapped_us: u64,
}

/// A slow turn, or a pause.
#[derive(Clone, Copy, Debug)]
struct Late {
    pause: bool,
    us: u32,
    /// So much of it is proven.
    proven_us: Option<u32>,
    /// It may have been a timer, for what is known so far: something was lost.
    lost: bool,
    here: bool,
    unsure: bool,
    losses: u64,
    /// Its first segment: its time, and the bytes sent up to its end.
    at: Instant,
    sent: u64,
    number: u64,
}

/// The state of a turn before its first packet is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    /// When the other side had all of its data acknowledged, and whether it had.
    pub acked: Option<Instant>,
    /// The packet follows what its sender sent before, all of which is acknowledged.
    pub in_order: bool,
    /// It follows the sender's packet before it by one IP identification: none was lost between.
    pub next_id: bool,
    /// It ACKs only data of the other side that the capture has seen.
    pub heard_all: bool,
    /// The sender's last data, how much it had sent, and the last packet of the other side.
    pub last: Instant,
    pub sent: u64,
    pub heard: Instant,
    /// How long the sender had been silent, by its own clock.
    pub silence: Option<Duration>,
}

/// Whether a retransmission timer can have ended a wait of `net_us`, less the path: after one timeout, or several that
/// each doubled the previous one (RFC 6298 5.5). Linux's timer is at least the round trip plus 200 ms, with or without
/// a probe before it (RFC 8985 7.2). Windows uses at least 300 ms, RFC 6298 2.4 one second.
fn may_be_timer(net_us: u32, tx: &Dir, rx: &Dir) -> bool {
    const LEAST_US: [u64; 3] = [200_000, 300_000, 1_000_000];
    /// A tick of a coarse clock, and the usual variation of round trips.
    const BLUR_US: u64 = 12_000;
    let net = u64::from(net_us);
    let path = u64::from(tx.path_or_zero()) + u64::from(rx.path_or_zero());
    let probe = 2 * path + LEAST_US[0] + BLUR_US;
    let fits = |least: u64| {
        let before = if least == LEAST_US[0] { probe } else { 0 };
        let longest = least + 3 * path + BLUR_US;
        let waits = |k: u32| (1_u64 << k) - 1;
        let ladder = |k| (least - least / 32) * waits(k)..=longest * waits(k) + before;
        (1..=6).any(|k| ladder(k).contains(&net))
    };
    net_us >= TIMER_US && (net <= probe || LEAST_US.into_iter().any(fits))
}

impl Before {
    pub(crate) fn look(tx: &Dir, rx: &Dir, p: &TcpPacket, now: Instant) -> Self {
        let acked = rx.una == rx.nxt && rx.last_acked() >= rx.last_data;
        let missed = rx.rare.as_deref().map(|r| &r.missed);
        let missed = missed.is_some_and(|m| m.bytes > 0 && m.at > rx.last_data);
        let stamp = p.options.timestamps.map(|t| t.0);
        Self {
            acked: acked.then(|| rx.last_acked()),
            in_order: p.seq == tx.nxt && tx.flight.is_empty(),
            next_id: tx.is_next(p.ip_id.unwrap_or(0)),
            heard_all: p.ack.at_or_before(rx.nxt) && !missed,
            last: tx.last_data,
            sent: tx.unique_bytes,
            heard: rx.last_packet,
            silence: stamp.and_then(|t| tx.clock.between(tx.clock.newest(), t, now)),
        }
    }

    /// The sender's clock says that it was not the sender who waited so long: the path held the packet.
    fn was_held(&self, us: u32, now: Instant) -> Option<bool> {
        let missing = now.since(self.last).as_micros() - self.silence?.as_micros();
        Some(missing > i64::from(us / 2))
    }
}

impl Waits {
    /// None of them was slow, or may have been.
    pub(crate) fn are_short(&self) -> bool {
        let prompt = self.shortest_us.is_none_or(|us| us < SLOW_US);
        prompt && self.slow.is_none() && self.unclear == 0
    }
}

impl Turns {
    /// Side `d` begins to speak with `at`.
    pub(crate) fn begin(&mut self, d: usize, dirs: &[Dir; 2], before: Before, at: At) {
        let (tx, rx) = (&dirs[d], &dirs[1 - d]);
        let gross = at.now.since(rx.last_data).as_micros_u32();
        let net = gross.saturating_sub(tx.path_or_zero());
        self.over |= net < SLOW_US;
        self.end(1 - d, dirs);
        let losses = losses(dirs);
        let harmed = losses != self.losses;
        let asked_bytes = rx.unique_bytes - self.bytes[1 - d];
        self.losses = losses;
        self.bytes = [dirs[0].unique_bytes, dirs[1].unique_bytes];
        self.from = before.sent;
        self.asked = rx.last_data;
        let known = tx.path_us != u32::MAX && rx.window > 0 && before.heard_all;
        self.counted = before.in_order && !harmed && known && at.now >= rx.last_data;
        let waits = &mut self.sides[d];
        if !self.counted {
            waits.unclear += u32::from(net >= SLOW_US);
            return;
        }
        waits.count(gross);
        if net < SLOW_US {
            return;
        }
        let here = tx.is_here(rx);
        let acked = before.acked.map(|a| at.now.since(a).as_micros_u32());
        let proven = here || acked.is_some_and(|a| a >= SLOW_US && a >= net / 4);
        // The ACK may have been delayed, too.
        let sure = acked.filter(|a| !here && *a < net / 2).unwrap_or(net);
        let late = Late {
            pause: false,
            us: net,
            proven_us: proven.then_some(sure),
            lost: !before.next_id && may_be_timer(net, tx, rx),
            here,
            unsure: !proven && (asked_bytes > SHORT || net > HELD_US)
                || before.was_held(net, at.now) == Some(true),
            losses,
            at: at.now,
            sent: tx.unique_bytes,
            number: at.number,
        };
        self.late = Some(Box::new(late));
    }

    /// Side `d`, which spoke last, goes on with `at` after a silence.
    pub(crate) fn go_on(&mut self, d: usize, dirs: &[Dir; 2], before: Before, at: At) {
        let (tx, rx) = (&dirs[d], &dirs[1 - d]);
        self.book(d, dirs, (before.last, before.sent));
        let from = std::mem::replace(&mut self.from, before.sent);
        // Since its last data, and since anything came that may have let it go on.
        let since = at.now.since(before.last.max(before.heard));
        let net = since.as_micros_u32().saturating_sub(tx.path_or_zero());
        if net < SLOW_US || !self.counted || rx.zero.is_some() {
            return;
        }
        let here = tx.is_here(rx);
        // A short segment ends what the program had to send. In a stream of full ones the path may have stood still.
        let full = u64::from(tx.full_payload(rx.mss));
        let ended = !(before.sent - from).is_multiple_of(full);
        let us = if ended {
            at.now.since(before.last).as_micros_u32()
        } else {
            net
        };
        let held = before.was_held(net, at.now).unwrap_or(!ended) && !here;
        let own = us > OWN_US;
        if !before.in_order || !before.heard_all || held || own || losses(dirs) != self.losses {
            self.sides[d].unclear += 1;
            return;
        }
        let late = Late {
            pause: true,
            us,
            proven_us: Some(us),
            lost: !before.next_id && may_be_timer(net, tx, rx),
            here,
            unsure: false,
            losses: self.losses,
            at: at.now,
            sent: tx.unique_bytes,
            number: at.number,
        };
        self.late = Some(Box::new(late));
    }

    /// Books the wait of side `d`, which has sent so much since, and that last at this time.
    fn book(&mut self, d: usize, dirs: &[Dir; 2], (last, sent): (Instant, u64)) {
        let Some(late) = self.late.take() else {
            return;
        };
        let near = i64::from(dirs[d].path_or_zero());
        // A timer sends one segment again, and the next one only after its ACK (RFC 5681 3.1).
        let together = sent > late.sent && last.since(late.at).as_micros() * 4 < near * 3;
        let lost = late.lost && !together;
        let waits = &mut self.sides[d];
        if late.pause && !late.here && losses(dirs) != late.losses {
            waits.unclear += 1;
            return;
        }
        if late.pause {
            let new = || {
                Box::new(Within {
                    pauses: Slow::default(),
                    number: late.number,
                })
            };
            let within = self.within.get_or_insert_with(new);
            within.pauses.add(&late, lost);
        } else {
            let slow = waits.slow.get_or_insert_default();
            slow.answers.add(&late, lost);
            slow.show(late.number);
        }
    }

    /// Side `d` sends its FIN: it had waited for what the other side said, or had said everything.
    pub(crate) fn fin(
        &mut self,
        d: usize,
        talker: usize,
        dirs: &[Dir; 2],
        p: &TcpPacket,
        now: Instant,
    ) {
        let since = now.since(dirs[talker].last_data).as_micros_u32();
        let path = if d == talker {
            0
        } else {
            dirs[d].path_or_zero()
        };
        self.over |= p.payload_len > 0 || since.saturating_sub(path) < SLOW_US;
    }

    /// The turn of side `d` is over.
    fn end(&mut self, d: usize, dirs: &[Dir; 2]) {
        self.book(d, dirs, (dirs[d].last_data, dirs[d].unique_bytes));
        if self.counted {
            // The wait includes the path to the side that waits.
            let far = u64::from(dirs[1 - d].path_or_zero());
            let waited = dirs[d].last_data.since(self.asked).as_micros().max(0);
            self.sides[d].waited_us += waited.unsigned_abs() + far;
            self.counted = false;
        }
        // Otherwise later data may be a message of its own, which nobody waited for.
        let within = self.within.take();
        if std::mem::take(&mut self.over)
            && let Some(within) = within
        {
            let slow = self.sides[d].slow.get_or_insert_default();
            slow.pauses.join(&within.pauses);
            slow.show(within.number);
        }
    }

    /// The connection is over; side `d` spoke last.
    pub(crate) fn close(&mut self, d: usize, dirs: &[Dir; 2]) {
        self.end(d, dirs);
    }
}

impl Waits {
    fn count(&mut self, us: u32) {
        self.turns += 1;
        self.shortest_us = Some(self.shortest_us.map_or(us, |s| s.min(us)));
        self.longest_us = self.longest_us.max(us);
        self.all_us += u64::from(us);
    }

    /// The slow ones, by what the packets prove.
    pub(crate) fn answers(&self) -> Slow {
        self.slow
            .as_deref()
            .map_or_else(Slow::default, |s| s.answers)
    }

    /// Pauses in the middle of an answer, in which nothing kept the speaker from going on.
    pub(crate) fn pauses(&self) -> Slow {
        self.slow
            .as_deref()
            .map_or_else(Slow::default, |s| s.pauses)
    }

    /// Frames that show them.
    pub(crate) fn packets(&self) -> &[u64] {
        self.slow.as_deref().map_or(&[], |s| &s.packets)
    }
}

impl SlowWaits {
    fn show(&mut self, number: u64) {
        if self.packets.len() < SHOWN {
            self.packets.push(number);
        }
    }
}

impl Slow {
    fn add(&mut self, late: &Late, lost: bool) {
        let us = u64::from(late.us);
        self.all += 1;
        self.us += us;
        if (lost && !late.here) || late.unsure {
            self.doubtful += 1;
            self.doubtful_us += us;
        } else if let Some(sure) = late.proven_us {
            self.proven += 1;
            self.proven_us += u64::from(sure);
            if lost {
                self.gapped += 1;
                self.gapped_us += u64::from(sure);
            }
        }
    }

    fn join(&mut self, other: &Self) {
        self.all += other.all;
        self.us += other.us;
        self.proven += other.proven;
        self.proven_us += other.proven_us;
        self.doubtful += other.doubtful;
        self.doubtful_us += other.doubtful_us;
        self.gapped += other.gapped;
        self.gapped_us += other.gapped_us;
    }

    /// The same, where the capture missed packets: what is not there may have come in between.
    pub(crate) fn with_drops(mut self) -> Self {
        self.doubtful += self.gapped;
        self.doubtful_us += self.gapped_us;
        self.proven -= self.gapped;
        self.proven_us -= self.gapped_us;
        (self.gapped, self.gapped_us) = (0, 0);
        self
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
