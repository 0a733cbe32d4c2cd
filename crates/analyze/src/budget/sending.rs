//! Why a side that is in the middle of a message did not send sooner.
//!
//! All of it is the sender's view: an ACK that passes the capture lets data pass one way to the sender and back later.

use tcplab_base::Seq;
use tcplab_wire::{TcpFlags, TcpPacket};

use super::Class;
use super::ledger::Ledger;
use super::tracker::Event;
use crate::conn::{Dir, scale_known};

/// What a sender does upon an ACK it does within this, microseconds, beside the path.
const AT_ONCE_US: u64 = 500;
/// Shorter gaps belong to what the sender did before, microseconds.
const SHORT_US: u64 = 250;
/// The wait of a continuous stream is checked `LOOKS` times a round trip, at most once per `LOOK_US`
/// microseconds.
const LOOKS: u64 = 4;
const LOOK_US: u64 = 1_000;
/// Longer gaps are not judged before the sender's distance is known, microseconds.
const LONG: u64 = 8;
/// Longer gaps are not judged while nobody knows how far away the sender is, microseconds.
const UNPLACED_US: u64 = 5_000;
/// No retransmission timer in use fires earlier after a round trip, microseconds (see `conn/loss.rs`).
const RTO_FLOOR_US: u64 = 150_000;
/// A probe of a single segment waits this much longer for a delayed ACK, microseconds (Linux `tcp_schedule_loss_probe()`,
/// with what the clocks blur).
const PROBE_WAITS_US: u64 = 100_000;
/// No stack in use holds an ACK longer, microseconds (Linux `TCP_DELACK_MAX`, with a tick; RFC 1122 4.2.3.2 allows 500 ms).
const LONGEST_HOLD_US: u64 = 220_000;
/// No queue is longer, microseconds: its sender would have sent again (RFC 6298).
const LONGEST_QUEUE_US: u64 = 10_000_000;
/// Round trips after which a constant flight means that the send buffer limits it: without losses, a congestion window
/// in use grows by 5 % or more in each round trip (Linux `bictcp_update()`, before the first loss).
const PLATEAU: u32 = 6;

/// One sender.
#[derive(Debug, Default)]
pub(crate) struct Side {
    /// What its last gap went to.
    class: Class,
    /// Its last packet with payload was pushed: nothing more was behind it (RFC 9293 3.9.1.2).
    pushed: bool,
    /// A continuous stream is looked at again from here on.
    look_at: u64,
    /// Where the window of its peer was opened last.
    pub opened_at: u64,
    /// A delayed ACK for its data: where it passed, and how long it was held.
    late_at: u64,
    late_us: u32,
    /// Its last packet with payload: the payload, time stamp, what was in flight after it, and the window for that.
    len: u32,
    tsval: u32,
    in_flight: u32,
    window: u32,
    /// How far its data went, bytes.
    sent_to: u64,
    /// Where it last sent a short segment: it had nothing more to send then.
    short_at: Option<u64>,
    /// Where a burst began, the bytes before it, and the window then.
    burst: Mark,
    burst_window: u32,
    /// The round trip that is measured, and bytes in the one before.
    round: Mark,
    per_round: u64,
    plateau: Plateau,
    echo: Echo,
    /// [`crate::conn::Dir::zero`]: the stalls that are booked.
    pub stalled_us: u64,
}

/// The time from an ACK to the data that it lets go, by the echo of its time stamp: the round trip, seen at the receiver.
#[derive(Clone, Copy, Debug, Default)]
struct Echo {
    /// A time stamp of the peer that waits for its echo, and where it passed.
    tsval: u32,
    at: Option<u64>,
    /// Newest and shortest round trip, microseconds.
    us: u32,
    least: Option<u32>,
}

/// A place in time and in the bytes of a sender.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    at: u64,
    sent: u64,
}

/// Rounds of one size.
#[derive(Clone, Copy, Debug, Default)]
struct Plateau {
    bytes: u64,
    rounds: u32,
    /// Where it began, and the time that had gone to the congestion window by then.
    from: u64,
    window_us: u64,
}

/// A gap between two packets with payload of one sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    pub from: u64,
}

/// What the packets of one gap show.
struct Shown {
    /// Its length.
    us: u64,
    /// Shortest round trip, and its part between the capture and the sender.
    round: u64,
    near: u32,
    /// The capture was taken close to the sender.
    at_sender: bool,
    /// It is no part of a continuous stream.
    long: bool,
    /// An ACK or a window let the packet go.
    released: bool,
    /// An ACK of everything let it go.
    let_go: bool,
    mss: u32,
    echo_us: u32,
    /// How far the sender is away from the capture is known.
    placed: bool,
}

impl Shown {
    fn of(side: &Side, gap: Gap, e: &Event<'_>) -> Self {
        let (tx, rx) = (&e.dirs[e.dir], &e.dirs[1 - e.dir]);
        // A side that only sends data shows how far away it is by echoes alone.
        let known = tx.knows_path().then_some(tx.path_us);
        let shortest = [known, side.echo.least];
        let placed = shortest.into_iter().flatten().min();
        let near = u64::from(placed.unwrap_or(0));
        let far = u64::from(rx.path_or_zero());
        let progress = tx.progress.since(e.start).as_micros().max(0) as u64;
        let allowed = progress.max(side.opened_at) + near;
        let us = e.at.saturating_sub(gap.from);
        let slack = AT_ONCE_US.min(us / 4 + 20) + near / 8;
        Self {
            us,
            round: near + far,
            near: placed.unwrap_or(0),
            at_sender: near * 4 <= far,
            long: us * LONG > near + far,
            released: e.at <= allowed + slack,
            let_go: rx
                .acks
                .as_ref()
                .is_some_and(|a| a.let_go == e.number && a.peer_waits()),
            mss: mss(e),
            echo_us: side.echo.us,
            placed: placed.is_some(),
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

    /// When an ACK showed that all its data had arrived, less the time that its receiver held that ACK. The last data
    /// passed at `sent_at`. If the data that the peer sends now is the first to show it: the earliest possible time.
    /// 0: nothing shows it.
    pub(crate) fn arrived(&self, sent_at: u64, e: &Event<'_>) -> u64 {
        let own = &e.dirs[1 - e.dir];
        let missed = e
            .dirs
            .iter()
            .any(|d| d.rare.as_deref().is_some_and(|r| r.missed.bytes > 0));
        if own.una != own.nxt || missed {
            return 0;
        }
        if own.progress >= e.now {
            let earliest = e.at.saturating_sub(LONGEST_HOLD_US);
            // A sender without an ACK for so long would have sent again: the capture's clock was set, or packets are missing.
            return if earliest > sent_at + LONGEST_QUEUE_US {
                0
            } else {
                earliest
            };
        }
        let at = own.last_acked().since(e.start).as_micros().max(0) as u64;
        let held = if at == self.late_at { self.late_us } else { 0 };
        at.saturating_sub(held.into())
    }

    /// It waits for a time stamp of its peer.
    #[inline]
    pub(crate) fn listens(&self) -> bool {
        self.echo.at.is_none() && self.tsval != 0
    }

    /// Its peer sent a packet without payload.
    #[inline]
    pub(crate) fn heard(&mut self, e: &Event<'_>) {
        if let (None, Some((tsval, _))) = (self.echo.at, e.packet.options.timestamps) {
            (self.echo.tsval, self.echo.at) = (tsval, Some(e.at));
        }
    }

    /// It sent a packet with payload at `at`; `tx` is the sender's side after it, `rx` its peer's.
    #[inline(always)]
    pub(crate) fn sent(&mut self, (tx, rx): (&Dir, &Dir), p: &TcpPacket, at: u64) {
        self.len = p.payload_len;
        self.pushed = p.flags.has(TcpFlags::PSH);
        self.sent_to = tx.nxt_rel;
        if let Some((tsval, tsecr)) = p.options.timestamps {
            self.tsval = tsval;
            if let Some(acked) = self.echo.at
                && Seq(tsecr).at_or_after(Seq(self.echo.tsval))
            {
                let us = u32::try_from(at.saturating_sub(acked)).unwrap_or(u32::MAX);
                let least = self.echo.least.map_or(us, |least| least.min(us));
                (self.echo.us, self.echo.least, self.echo.at) = (us, Some(least), None);
            }
        }
        self.in_flight = tx.nxt - tx.una.min(tx.nxt);
        self.window = rx.window;
    }

    /// The event's packet (perhaps a retransmission) brings data that is new to the capture.
    pub(crate) fn is_fresh(&self, e: &Event<'_>) -> bool {
        e.dirs[e.dir].nxt_rel > self.sent_to
    }

    /// The packet of the event, which brings new data, leaves out some before it.
    pub(crate) fn leaves_out(&self, e: &Event<'_>) -> bool {
        self.sent_to > 0 && self.is_fresh(e) && sent_before(e) > self.sent_to
    }

    /// A message of it begins.
    pub(crate) fn begins(&mut self, e: &Event<'_>) {
        self.class = Class::Path;
        self.look_at = e.at;
        self.short_at = None;
        self.burst = Mark {
            at: e.at,
            sent: sent_before(e),
        };
        self.burst_window = e.dirs[1 - e.dir].window;
        self.round = self.burst;
        self.per_round = 0;
        self.plateau = Plateau::default();
    }

    /// Whether a packet at `at` plainly belongs to the stretch that goes to `cursor`.
    #[inline]
    pub(crate) fn goes_on(&self, cursor: u64, at: u64) -> bool {
        at < self.look_at && at.saturating_sub(cursor) < SHORT_US
    }

    /// Gives out a gap of this sender. Gives whether it had paused by itself.
    pub(crate) fn gap(&mut self, gap: Gap, e: &Event<'_>, ledger: &mut Ledger) -> bool {
        let shown = Shown::of(self, gap, e);
        if self.pushed && !self.len.is_multiple_of(shown.mss) {
            self.short_at = Some(gap.from);
        }
        if e.at < self.look_at && !shown.long && !shown.let_go {
            ledger.until(self.class, e.at);
            return false;
        }
        self.look_at = e.at + (shown.round / LOOKS).max(LOOK_US);
        self.measure(e, &shown, ledger);
        let mut class = self.judge(e, &shown);
        // Marks keep a congestion window in place as well.
        let rare = |dir: usize| e.dirs[dir].rare.as_deref();
        let marked = rare(e.dir).is_some_and(|r| r.ecn_ce > 0)
            || rare(1 - e.dir).is_some_and(|r| r.ecn_ece > 0);
        let same = class == Class::CongestionWindow && self.plateau.rounds >= PLATEAU && !marked;
        if same && (shown.at_sender || !queued(e, &shown, false)) {
            class = Class::Sender;
            ledger.turn_since(
                self.plateau.from,
                self.plateau.window_us,
                Class::CongestionWindow,
                class,
            );
        }
        if class == Class::Pacing {
            self.plateau.rounds = 0;
        }
        if shown.let_go && self.late_at >= gap.from && self.late_at > 0 {
            // The path, or Nagle's algorithm, would have taken the rest of it anyway.
            let held = u64::from(self.late_us).min(shown.us);
            ledger.until(class, e.at.saturating_sub(held));
            ledger.until(Class::DelayedAck, e.at);
        } else {
            ledger.until(class, e.at);
        }
        if shown.long {
            self.burst = Mark {
                at: e.at,
                sent: sent_before(e),
            };
            self.burst_window = e.dirs[1 - e.dir].window;
        }
        self.class = class;
        class == Class::Sender || (class == Class::Unknown && !shown.at_sender)
    }

    /// The class of the gap, as far as the capture shows it.
    fn judge(&self, e: &Event<'_>, shown: &Shown) -> Class {
        // Without its scale a window looks smaller than it is: it may have been full, or not.
        let scaled = scale_known(&e.dirs[1 - e.dir], &e.dirs[e.dir]);
        let class = self.likely(e, shown, scaled);
        let own = matches!(class, Class::Sender | Class::CongestionWindow);
        if own && !scaled && self.window_looks_full(e, shown) {
            return Class::Unknown;
        }
        class
    }

    /// The same; `scaled` tells that the receiver's window is in bytes.
    fn likely(&self, e: &Event<'_>, shown: &Shown, scaled: bool) -> Class {
        let tx = &e.dirs[e.dir];
        if !tx.acks_seen {
            return Class::Unknown;
        }
        let small = e.packet.payload_len < shown.mss;
        if shown.let_go && small && shown.us > shown.round / 2 {
            return Class::Nagle;
        }
        if let Some(class) = self.hidden(e, shown).or_else(|| self.probed(e, shown)) {
            return class;
        }
        // Less than a segment: a sender waits for more room, or for its timer (RFC 9293 3.8.6.2.1).
        let filled = u64::from(e.packet.payload_len) * 4 >= u64::from(self.window) * 3;
        if scaled && (1..shown.mss).contains(&self.window) && filled {
            return Class::ReceiveWindow;
        }
        // Nagle's algorithm may hold the end of each write: one short segment stands for a few writes.
        let lately = |at: u64| e.at.saturating_sub(at) <= shown.us + 2 * shown.round;
        let ran_out = self.short_at.is_some_and(lately);
        if ran_out && (shown.long || !shown.released) {
            return Class::Sender;
        }
        if !shown.placed && shown.us > UNPLACED_US {
            return Class::Unknown;
        }
        if scaled && self.window_looks_full(e, shown) {
            return Class::ReceiveWindow;
        }
        if !shown.at_sender && !shown.long {
            return Class::Path;
        }
        if shown.released || (!shown.at_sender && shown.us <= 2 * shown.round) {
            // The first burst of a round trip queues behind itself.
            return if queued(e, shown, shown.long) {
                Class::Path
            } else {
                Class::CongestionWindow
            };
        }
        if shown.us * 4 <= shown.round {
            return Class::Pacing;
        }
        // Far from the sender, a window, pacing or a full way back look the same as a program that had nothing to send.
        if shown.at_sender {
            Class::Sender
        } else {
            Class::Unknown
        }
    }

    /// New data may serve as a tail loss probe (RFC 8985 7.3): nothing was ACKed since the data before it, and that for longer
    /// than ACKs take.
    fn probed(&self, e: &Event<'_>, shown: &Shown) -> Option<Class> {
        let tx = &e.dirs[e.dir];
        // For one segment in flight the probe timer allows for a delayed ACK (tcp_schedule_loss_probe(): tcp_rto_min).
        let is_alone = self.in_flight <= shown.mss;
        let waits = if is_alone || !self.len.is_multiple_of(shown.mss) {
            RTO_FLOOR_US
        } else {
            shown.round / 4
        };
        let silent = shown.at_sender
            && self.in_flight > 0
            && tx.nxt - tx.una == self.in_flight.saturating_add(e.packet.payload_len)
            && shown.us > u64::from(tx.srtt_us) + shown.round + waits + 2_000
            && tx.may_sack();
        silent.then_some(Class::Tlp)
    }

    /// What happened between the sender and a capture that is not close to it: the path stood still, or packets were lost
    /// and sent again. The sender's clock and its IP identification tell.
    fn hidden(&self, e: &Event<'_>, shown: &Shown) -> Option<Class> {
        if shown.at_sender || shown.us <= shown.round + shown.round / 4 + 10_000 {
            return None;
        }
        let tx = &e.dirs[e.dir];
        if let Some((tsval, _)) = e.packet.options.timestamps
            && let Some(own) = tx.clock.between(self.tsval, tsval, e.now)
            && (own.as_micros().max(0) as u64) < shown.us / 2
        {
            return Some(Class::Path);
        }
        if e.packet.header_truncated {
            // The time stamps, which would tell whether the sender or the path stood still, were cut off.
            return Some(Class::Unknown);
        }
        let by_timer = shown.us >= shown.round + RTO_FLOOR_US;
        match self.skipped(e, shown.mss) {
            Some(0) => None,
            Some(_) => Some(timer(e, shown.us, shown.round)),
            None if by_timer && self.len.is_multiple_of(shown.mss) => Some(Class::Unknown),
            None => None,
        }
    }

    /// How many packets of the sender before this one did not come so far, by its IP identification; `None` when it does
    /// not count them.
    fn skipped(&self, e: &Event<'_>, mss: u32) -> Option<u32> {
        let newest = e.dirs[e.dir].newest_id;
        let id = e.packet.ip_id.unwrap_or(0);
        let step = u32::from(id.wrapping_sub(newest));
        let counts = id != 0 && newest != 0 && (1..1000).contains(&step);
        counts.then(|| step.saturating_sub(self.len.div_ceil(mss).max(1)))
    }

    /// Whether packets before a retransmission did not come so far.
    pub(crate) fn lost_before(&self, e: &Event<'_>) -> bool {
        self.skipped(e, mss(e)).is_some_and(|lost| lost > 0)
    }

    /// The class of the `us` microseconds (without the path) before a message's first packet. It is the timer that
    /// repaired a loss if packets were lost and their timers explain the whole wait.
    pub(crate) fn begins_after_loss(&self, e: &Event<'_>, us: u64) -> Option<Class> {
        let round = e.dirs.iter().map(|d| u64::from(d.path_or_zero())).sum();
        let lost = self.skipped(e, mss(e)).filter(|lost| *lost > 0)?;
        let backed_off = first_timer(round) << lost.min(7);
        let in_time = us > round.max(10_000) && us < backed_off;
        in_time.then(|| timer(e, us, round))
    }

    /// Measures what is sent in a round trip.
    fn measure(&mut self, e: &Event<'_>, shown: &Shown, ledger: &mut Ledger) {
        let sent = sent_before(e);
        let elapsed = e.at.saturating_sub(self.round.at);
        if elapsed < shown.round.max(1) {
            return;
        }
        let bytes = sent - self.round.sent.min(sent);
        self.per_round = bytes.saturating_mul(shown.round) / elapsed;
        self.round = Mark { at: e.at, sent };
        let flight = u64::from(self.in_flight).max(self.per_round);
        // The bytes that passed here in a round trip are less exact than the sender's flight.
        let blur = if shown.at_sender { 0 } else { flight / 10 };
        let few = blur.max(2 * u64::from(shown.mss));
        let same = flight.abs_diff(self.plateau.bytes) <= few;
        if same && elapsed < 2 * shown.round && e.dirs[e.dir].loss.is_none() {
            self.plateau.rounds += 1;
        } else {
            self.plateau = Plateau {
                bytes: flight,
                rounds: 0,
                from: e.at,
                window_us: ledger.booked(Class::CongestionWindow),
            };
        }
    }

    /// The window left no room for another segment when the gap began: in flight here, or sent in the round before.
    fn window_looks_full(&self, e: &Event<'_>, shown: &Shown) -> bool {
        let room = |window: u32, used: u64| {
            window > 0 && used.saturating_add(2 * u64::from(shown.mss)) > u64::from(window)
        };
        if room(self.window, self.in_flight.into()) {
            return true;
        }
        if shown.at_sender {
            return false;
        }
        let burst = sent_before(e) - self.burst.sent.min(sent_before(e));
        let fresh = e.at.saturating_sub(self.burst.at) <= 2 * shown.round;
        let (window, sent) = if shown.long && fresh {
            (self.burst_window, burst.max(self.per_round))
        } else {
            (self.window, self.per_round)
        };
        // Bytes that passed here in a round trip are less exact than the sender's flight; a steady value gets a margin.
        let steady = self.plateau.rounds >= 2;
        room(window, sent + if steady { sent / 8 } else { 0 })
    }
}

/// Bytes that the sender had sent before the packet of the event.
fn sent_before(e: &Event<'_>) -> u64 {
    let sent = e.dirs[e.dir].nxt_rel;
    sent.saturating_sub(u64::from(e.packet.payload_len))
}

/// Largest payload of a packet of the sender.
fn mss(e: &Event<'_>) -> u32 {
    let (tx, rx) = (&e.dirs[e.dir], &e.dirs[1 - e.dir]);
    tx.wire_mss(rx.mss).unwrap_or(tx.max_payload).max(1)
}

/// Whether the round trip is longer than the path alone makes it; `much`: clearly so.
fn queued(e: &Event<'_>, shown: &Shown, much: bool) -> bool {
    let (tx, rx) = (&e.dirs[e.dir], &e.dirs[1 - e.dir]);
    // Data to ACK, or ACK to data: whichever crosses the path here. Time stamps are coarse.
    let (base, now, coarse) = if shown.at_sender {
        (rx.path_or_zero(), tx.srtt_us, 0)
    } else {
        (shown.near, shown.echo_us, 2_000)
    };
    let queue = if much {
        base / 4 + 1_000
    } else {
        base / 16 + 500
    };
    now.saturating_sub(coarse) > base.saturating_add(queue)
}

/// The first timer after a loss has fired by then.
fn first_timer(round: u64) -> u64 {
    2 * round + RTO_FLOOR_US + PROBE_WAITS_US
}

/// Which timer ended a silence of `us` after a loss. With SACK, the probe timer (RFC 8985 7.2) never
/// expires after the retransmission timer.
fn timer(e: &Event<'_>, us: u64, round: u64) -> Class {
    let sack = e.dirs.iter().all(Dir::may_sack);
    if sack && us < first_timer(round) {
        Class::Tlp
    } else {
        Class::Rto
    }
}
