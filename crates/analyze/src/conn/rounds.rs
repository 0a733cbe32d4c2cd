//! The rounds of a sender: what it sends in one round trip, and whether that is all that it may send.
//!
//! A round begins with a packet of new data; the next one with the first data that can be an answer to that packet's
//! ACK: `path_us` (from the capture to the sender and back) after the ACK passed. So rounds show at both ends of the
//! path. Rounds that follow each other at once make a run; a pause of the program ends it. A sender whose rounds grow
//! is in slow start (RFC 5681 3.1); one whose rounds stay alike for long has met something else than its congestion
//! window: the receiver's window, or its own send buffer. Allocated when two segments are in flight.

use tcplab_base::{Duration, Instant, Seq};

use super::data::{At, SANE};
use super::dir::Dir;
use super::hidden::STEADY;
use super::moment::Moment;
use super::window::scale_known;

/// A flight that begins after a pause of this is one after idle time: no retransmission timeout is shorter
/// (Linux `tcp_cwnd_restart()`, RFC 5681 4.1).
const IDLE: Duration = Duration::from_millis(200);

/// So many rounds below the window are a transfer.
const LONG: u32 = 8;

/// Linux delays an ACK so long (`TCP_DELACK_MIN`), and a tick.
const DELAYED_US: i64 = 45_000;

/// New data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct New {
    pub seq: Seq,
    /// Its IP identification; 0 for IPv6.
    pub id: u16,
    /// The time stamp that it echoes.
    pub echo: Option<u32>,
}

/// The rounds of one sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    // The round that is going on: its first byte, frame and time, its last data, and the ACK of the first packet.
    start: Seq,
    number: u64,
    began: Instant,
    last: Instant,
    /// The longest time between two packets of its data.
    gap: Duration,
    acked: Moment,
    /// The time stamp of that ACK; 0: it had none.
    stamp: u32,
    bytes: u32,
    /// The receiver's window that the sender knew, and the one that came with that ACK.
    window: u32,
    next_window: u32,
    two_segments: u32,
    losses: u32,
    /// Data that the peer had sent: an answer to new data does not answer an ACK.
    heard: u64,
    run: Run,
    /// The largest round since something was sent again.
    pub largest: u32,
    /// Rounds that stay alike: now, and the longest ones at the receiver's window and far below it.
    level: Level,
    pub at_window: Level,
    pub below: Level,
    pub flat: Flat,
    /// The first run.
    pub opening: Option<Run>,
    pub restarts: Restarts,
}

/// Rounds that follow each other without a pause of the program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    pub began: Instant,
    pub number: u64,
    /// The largest round before, when the sender had been idle; else 0.
    pub before: u32,
    /// Bytes of the first round, of the last whole one, and of all.
    pub first: u32,
    pub last: u32,
    pub bytes: u64,
    /// Rounds but the last, those of them while it grew, and the time in them in which nothing was sent.
    pub rounds: u32,
    pub grew: u32,
    pub silent: Duration,
    /// How long it took in all.
    pub length: Duration,
    growing: bool,
    /// Something was lost in it, or its end is missing.
    pub harmed: bool,
}

/// Rounds alike.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Level {
    pub rounds: u32,
    /// Of these: with silence for a quarter of their time, and twice as long as between their packets. A program that
    /// writes at times of its own leaves gaps that are alike.
    pub silent: u32,
    pub bytes: u32,
    /// The window that the receiver offered at the end.
    pub window: u32,
    pub time: Duration,
    pub number: u64,
    /// What had been sent again by then.
    losses: u32,
}

/// Rounds that reach nearly the same size again and again, with silence for half of their time, but do not follow each
/// other closely: jitter may hide that they do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flat {
    pub rounds: u32,
    /// The largest of them, bytes.
    pub most: u32,
    /// How long after the ACKs the rounds after them began, all together, microseconds.
    pub late_us: u64,
}

/// Flights that began small after a pause, though larger ones had gone before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Restarts {
    pub count: u32,
    /// All flights after a pause.
    pub starts: u32,
    /// Time in which the sender waited for ACKs, all together.
    pub silent: Duration,
    /// Of the first one: bytes of the first round and of the largest before.
    pub first: u32,
    pub before: u32,
    pub packets: Vec<u64>,
}

/// The length of a round, and its meaning.
#[derive(Clone, Copy, Debug)]
struct Length {
    time: Duration,
    /// From its last data to its end.
    rest: Duration,
    /// That is a quarter of it or more. At the sender a busy path looks like this, too: it sends in bursts.
    is_silent: bool,
    /// The capture was taken at the sender.
    is_here: bool,
    /// At the sender: hardly longer than the shortest round trip, so nothing queued. Or longer, as with jitter, but all was
    /// sent in its first quarter: a busy path lets data go all the time. Elsewhere a round is cut by that length.
    is_short: bool,
    /// The same, but for an ACK that was delayed.
    is_late: bool,
}

impl Length {
    fn of(round: &Rounds, tx: &Dir, rx: &Dir, now: Instant) -> Self {
        let (time, rest) = (now.since(round.began), now.since(round.last));
        let path = i64::from(tx.path_or_zero()) + i64::from(rx.path_or_zero());
        let is_here = tx.is_here(rx);
        let is_idle = rest.as_nanos().saturating_mul(4) >= time.as_nanos().saturating_mul(3)
            && time.as_micros() * 2 <= path * 3;
        Self {
            time,
            rest,
            is_silent: rest.as_nanos().saturating_mul(4) >= time.as_nanos(),
            is_here,
            is_short: is_here && (time.as_micros() <= path + path / 20 || is_idle),
            is_late: is_here && delays(rx) && time.as_micros() <= path + path / 20 + DELAYED_US,
        }
    }
}

/// It delays ACKs.
fn delays(rx: &Dir) -> bool {
    rx.acks.as_ref().is_some_and(|a| a.delayed > 0)
}

impl Length {
    /// Not at the sender: the silence is more than the usual distance of the round's packets, and this part of the round.
    fn has_gap(&self, packets: u32, part: i64) -> bool {
        let spread = self.time - self.rest;
        let gaps = i64::from(packets) - 1;
        let wide = self.rest.as_nanos().saturating_mul(gaps) >= spread.as_nanos().saturating_mul(3);
        let long = self.rest.as_nanos().saturating_mul(part) >= self.time.as_nanos();
        !self.is_here && long && packets >= 3 && wide
    }
}

/// The soonest that an answer passes which takes `near_us` at best as far as is known: jitter, and at the sender itself
/// the few microseconds that its first answer took longer than later ones.
fn sooner(near_us: i64) -> i64 {
    near_us - near_us / 8 - 20
}

/// The sender used nearly all of the window: 7/8 of it, or all but the segment whose ACK is delayed.
fn is_full(bytes: u32, window: u32, two_segments: u32) -> bool {
    let (bytes, window) = (u64::from(bytes), u64::from(window));
    let but_one = bytes + u64::from(two_segments / 2) >= window && bytes * 4 >= window * 3;
    bytes * 8 >= window * 7 || but_one
}

/// Retransmissions of both sides. A capture behind a loss may show only those of the peer, which got no
/// answer.
fn losses(tx: &Dir, rx: &Dir) -> u32 {
    let of = |d: &Dir| d.loss.as_deref().map_or(0, |l| l.total() as u32);
    of(tx).wrapping_add(of(rx))
}

impl Run {
    fn new(at: At, before: u32) -> Self {
        Self {
            began: at.now,
            number: at.number,
            before,
            growing: true,
            ..Self::default()
        }
    }

    /// A round of `bytes` is over and another one follows. `open` tells that the receiver's window had room for more.
    fn round(&mut self, bytes: u32, length: &Length, open: bool) {
        let grows = self.first == 0 || u64::from(bytes) * 4 >= u64::from(self.last) * 5;
        let waits = length.is_silent && (length.is_short || !length.is_here);
        self.growing &= grows && waits && open && !self.harmed;
        if self.first == 0 {
            self.first = bytes;
        }
        self.last = bytes;
        self.rounds += 1;
        if self.growing {
            self.grew += 1;
            self.silent = self.silent + length.rest;
        }
    }
}

impl Rounds {
    /// New data of `tx` is about to pass: does it share a round with what went before?
    pub(crate) fn begin(tx: &Dir, rx: &Dir, now: Instant) -> Option<Box<Self>> {
        let before = tx.first_data.get()?;
        if let Some(front) = tx.flight.front() {
            let first = At {
                number: front.number,
                now: front.first,
            };
            return Some(Box::new(Self::new(front.seq, first, (tx, rx))));
        }
        // In a capture at the receiver, the ACK passes before the sender can have seen it.
        let near = i64::from(tx.path_or_zero());
        if before == now || now.since(tx.last_data).as_micros() >= sooner(near) {
            return None;
        }
        let first = At {
            number: 0,
            now: tx.last_data,
        };
        let start = Seq(tx.nxt.0.wrapping_sub(tx.max_payload));
        let mut rounds = Self::new(start, first, (tx, rx));
        rounds.acked.set(tx.progress);
        Some(Box::new(rounds))
    }

    fn new(start: Seq, first: At, (tx, rx): (&Dir, &Dir)) -> Self {
        Self {
            start,
            number: first.number,
            began: first.now,
            last: tx.last_data,
            window: rx.window,
            next_window: rx.window,
            heard: rx.unique_bytes,
            losses: losses(tx, rx),
            run: Run::new(first, 0),
            ..Self::default()
        }
    }

    /// An ACK up to `ack` passed, with this window.
    #[inline]
    pub(crate) fn acked(&mut self, ack: Seq, window: u32, stamp: u32, now: Instant) {
        if self.acked.is_none() && ack.after(self.start) {
            self.acked.set(now);
            self.stamp = stamp;
            self.next_window = window;
        }
    }

    /// The sender had the ACK of the round when it sent this, as far as its time stamp tells (RFC 7323 4.3).
    fn is_heard(&self, echo: Option<u32>) -> bool {
        echo.is_none_or(|echo| self.stamp == 0 || Seq(echo).at_or_after(Seq(self.stamp)))
    }

    /// New data passes. Gives whether nothing more is to be seen to: the round goes on.
    #[inline]
    pub(crate) fn goes_on(&mut self, now: Instant) -> bool {
        let waits = self.acked.is_none();
        if waits {
            self.goes_on_at(now);
        }
        waits
    }

    #[inline]
    fn goes_on_at(&mut self, now: Instant) {
        self.gap = self.gap.max(now.since(self.last));
        self.last = now;
    }

    /// New data passes after an ACK of the round.
    pub(crate) fn data(&mut self, p: &New, tx: &Dir, rx: &Dir, at: At) {
        if let Some(acked) = self.acked.get()
            && tx.path_us != u32::MAX
        {
            let near = i64::from(tx.path_or_zero());
            let since = at.now.since(acked).as_micros();
            if since >= sooner(near) && self.is_heard(p.echo) {
                let quiet = tx.una == p.seq && (tx.is_here(rx) || tx.is_next(p.id));
                let lost = tx.id_run >= STEADY && p.id != 0 && !tx.is_next(p.id);
                self.sent_to(p.seq);
                self.turn(since - near, quiet, tx, rx, at);
                // A flight of which the first packets were lost before the capture looks like a small one.
                self.run.harmed |= lost && self.run.began == at.now;
                (self.start, self.number, self.began) = (p.seq, at.number, at.now);
                self.window = self.next_window;
                self.acked.clear();
                (self.last, self.gap) = (at.now, Duration::ZERO);
            }
        }
        self.goes_on_at(at.now);
    }

    /// The data of the round ends before `end`. What the capture missed was sent, too; a jump of the numbers was not.
    fn sent_to(&mut self, end: Seq) {
        let bytes = end - self.start;
        self.bytes = if bytes <= SANE { bytes } else { 0 };
    }

    /// The round is over: the next one begins `late_us` later than it could. `quiet`: no earlier data is missing or in
    /// flight.
    fn turn(&mut self, late_us: i64, quiet: bool, tx: &Dir, rx: &Dir, at: At) {
        let near = i64::from(tx.path_or_zero());
        let slack = 2 * tx.wire_mss(rx.mss).unwrap_or(1460);
        self.two_segments = slack;
        let losses = losses(tx, rx);
        let harmed = losses != self.losses;
        self.losses = losses;
        self.run.harmed |= harmed;
        self.run.bytes += u64::from(self.bytes);
        // RFC 5681 3.1: a loss shrinks the congestion window, so earlier flights do not predict the next one.
        self.largest = match harmed {
            true => 0,
            false => self.largest.max(self.bytes),
        };
        let asked = self.heard != rx.unique_bytes;
        let path = near + i64::from(rx.path_or_zero());
        let soon = !asked && late_us * 2 <= path;
        self.keep_flat(harmed, soon.then_some(late_us), at.now);
        let at_once = late_us <= 1_000 + near / 8 && !asked;
        self.heard = rx.unique_bytes;
        if at_once {
            let length = Length::of(self, tx, rx, at.now);
            let full = self.bytes.saturating_add(slack) > self.window;
            let open = !full || !scale_known(rx, tx);
            self.run.round(self.bytes, &length, open);
            self.keep_level(&length, slack);
        } else {
            self.end_run(quiet || asked);
            let idle = (quiet || asked) && at.now.since(self.last) >= IDLE;
            self.run = Run::new(at, if idle { self.largest } else { 0 });
        }
    }

    /// Counts a round that is nearly as large as the largest; one that is clearly larger begins anew.
    fn keep_flat(&mut self, harmed: bool, late_us: Option<i64>, now: Instant) {
        let (time, rest) = (now.since(self.began), now.since(self.last));
        if harmed || self.bytes > self.flat.most.saturating_add(self.two_segments) {
            let most = if harmed { 0 } else { self.bytes };
            self.flat = Flat {
                most,
                ..Flat::default()
            };
        }
        let alike = u64::from(self.bytes) * 4 >= u64::from(self.flat.most) * 3;
        let silent = rest.as_nanos().saturating_mul(2) >= time.as_nanos();
        if let Some(late_us) = late_us.filter(|_| alike && silent) {
            self.flat.rounds += 1;
            self.flat.late_us += late_us.max(0).unsigned_abs();
        }
    }

    /// Counts rounds alike in which the path could have carried more.
    fn keep_level(&mut self, length: &Length, slack: u32) {
        let full = is_full(self.bytes, self.window, slack);
        // A window in each round trip leaves no room for a queue: any gap tells of the sender.
        let part = if full { 8 } else { 4 };
        let spare = length.is_short
            || length.is_late
            || length.has_gap(self.bytes / (slack / 2).max(1), part);
        let alike = self.bytes.abs_diff(self.level.bytes) <= slack.max(self.level.bytes / 16);
        // Later ACKs may spread the window over the round trip.
        let spread = !length.is_here && full;
        let goes_on = self.level.rounds > 0 && alike && (spare || spread);
        if !goes_on || self.run.harmed {
            self.keep_longest();
            self.level = Level {
                bytes: self.bytes,
                number: self.number,
                ..Level::default()
            };
            if !spare || self.run.harmed {
                return;
            }
        }
        self.level.rounds += 1;
        let alone = length.rest.as_nanos() >= 2 * self.gap.as_nanos();
        self.level.silent += u32::from(length.is_silent && alone);
        self.level.time = self.level.time + length.time;
        (self.level.window, self.level.losses) = (self.window, self.losses);
    }

    /// Keeps the present level if it is the longest of its kind.
    fn keep_longest(&mut self) {
        let Level {
            bytes,
            window,
            rounds,
            ..
        } = self.level;
        let full = is_full(bytes, window, self.two_segments);
        let kept = if full {
            &mut self.at_window
        } else if u64::from(bytes) * 2 <= u64::from(window) {
            &mut self.below
        } else {
            return;
        };
        let alike = u64::from(kept.bytes.abs_diff(bytes)) * 4 <= u64::from(bytes);
        let same = alike && kept.rounds > 0 && kept.losses == self.level.losses;
        // A program that pauses, or a packet that the capture missed, parts what is one. Below the window a few rounds may be
        // a message each.
        let long = full || rounds.min(kept.rounds) >= LONG;
        if same && long {
            // The longer part says how large a round was, and which window it met.
            let (longer, other) = match rounds > kept.rounds {
                true => (self.level, *kept),
                false => (*kept, self.level),
            };
            *kept = Level {
                rounds: longer.rounds + other.rounds,
                silent: longer.silent + other.silent,
                time: longer.time + other.time,
                ..longer
            };
        } else if rounds > kept.rounds {
            *kept = self.level;
        }
    }

    /// The program paused, or the connection is over. `whole` tells that the run's last data is there.
    fn end_run(&mut self, whole: bool) {
        self.keep_longest();
        self.level = Level::default();
        let run = &mut self.run;
        run.length = self.last.since(run.began);
        run.harmed |= !whole;
        if self.opening.is_none() {
            self.opening = Some(*run);
        }
        self.restarts.starts += u32::from(run.before > 0);
        // No restart is as small as one segment (RFC 5681 4.1): that is what a timeout leaves (3.1).
        let restarts = run.first >= self.two_segments;
        // The congestion window lets whole segments go; a flight with a short one at its end waited for Nagle, or had no more.
        let whole = run.first.is_multiple_of((self.two_segments / 2).max(1));
        let small = restarts && whole && u64::from(run.first) * 2 <= u64::from(run.before);
        if small && run.grew > 0 && !run.harmed {
            let r = &mut self.restarts;
            if r.count == 0 {
                (r.first, r.before) = (run.first, run.before);
            }
            r.count += 1;
            r.silent = r.silent + run.silent;
            if r.packets.len() < 8 {
                r.packets.push(run.number);
            }
        }
    }

    /// The largest flight so far, with the one that goes on; `nxt`: the highest sequence number.
    pub(crate) fn flight(&self, nxt: Seq) -> u32 {
        let now = nxt - self.start;
        self.largest.max(if now <= SANE { now } else { 0 })
    }

    /// No round stayed at a limit, none followed a pause, and the first run did not grow.
    pub(crate) fn is_short(&self) -> bool {
        let limited =
            self.at_window.rounds > 0 || self.below.rounds > 0 || self.flat.rounds >= LONG;
        let grew = self.opening.is_some_and(|run| run.grew > 0);
        !limited && self.restarts.count == 0 && !grew
    }

    /// The connection is over, its sender's data ended before `end`. `whole` tells that all of it passed.
    pub(crate) fn close(&mut self, end: Seq, whole: bool) {
        self.sent_to(end);
        self.run.bytes += u64::from(self.bytes);
        self.end_run(whole);
    }
}
