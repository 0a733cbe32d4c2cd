//! The rounds of a sender: what it sends in one round trip, and whether that is all that it may send.
//!
//! A round begins with a packet of new data; the next one with the first data that can be an answer to that packet's
//! ACK: `path_us` (from the capture to the sender and back) after the ACK passed. So rounds show at both ends of the
//! path. Rounds that follow each other at once make a run; a pause of the program ends it. A sender whose rounds grow
//! is in slow start (RFC 5681 3.1); one whose rounds stay alike for long has met something else than its congestion
//! window: the receiver's window, or its own send buffer. Allocated when two segments are in flight.

use tcplab_base::{Duration, Instant, Seq};

use super::data::At;
use super::dir::Dir;
use super::moment::Moment;

/// A flight that begins after a pause of this is one after idle time: no retransmission timeout is shorter
/// (Linux `tcp_cwnd_restart()`, RFC 5681 4.1).
const IDLE: Duration = Duration::from_millis(200);

/// New data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct New {
    pub seq: Seq,
    pub payload: u32,
    /// Its IP identification, or 0.
    pub id: u16,
}

/// The rounds of one sender.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    // The round that is going on: its first byte, frame and time, its last data, and the ACK of the first packet.
    start: Seq,
    number: u64,
    began: Instant,
    last: Instant,
    acked: Moment,
    bytes: u32,
    /// The receiver's window that the sender knew, and the one that came with that ACK.
    window: u32,
    next_window: u32,
    losses: u32,
    /// What the peer had sent: an answer to something new is no answer to an ACK.
    heard: u64,
    run: Run,
    /// The largest round of the runs before.
    largest: u32,
    /// Rounds that stay alike: now, and the longest ones at the receiver's window and far below it.
    level: Level,
    pub at_window: Level,
    pub below: Level,
    /// The first run.
    pub opening: Option<Run>,
    pub restarts: Restarts,
}

/// Rounds that follow each other without a pause of the program.
#[derive(Clone, Copy, Debug)]
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
    /// Of these: with silence for a quarter of their time.
    pub silent: u32,
    pub bytes: u32,
    /// The window that the receiver offered at the end.
    pub window: u32,
    pub time: Duration,
    pub number: u64,
}

/// Flights that began small after a pause, though larger ones had gone before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Restarts {
    pub count: u32,
    /// Time in which the sender waited for ACKs, all together.
    pub silent: Duration,
    /// Of the first one: bytes of the first round and of the largest before.
    pub first: u32,
    pub before: u32,
    pub packets: Vec<u64>,
}

/// How long a round took, and what that tells.
#[derive(Clone, Copy, Debug)]
struct Length {
    time: Duration,
    /// From its last data to its end.
    rest: Duration,
    /// That is a quarter of it or more. At the sender a busy path looks like this, too: it sends in bursts.
    is_silent: bool,
    /// The capture was taken at the sender.
    is_here: bool,
    /// At the sender: hardly longer than the shortest round trip, so nothing queued. Elsewhere a round is cut by that
    /// length.
    is_short: bool,
}

impl Length {
    fn of(round: &Rounds, tx: &Dir, rx: &Dir, now: Instant) -> Self {
        let (time, rest) = (now.since(round.began), now.since(round.last));
        let path = i64::from(tx.path_or_zero()) + i64::from(rx.path_or_zero());
        let is_here = tx.is_here(rx);
        Self {
            time,
            rest,
            is_silent: rest.as_nanos().saturating_mul(4) >= time.as_nanos(),
            is_here,
            is_short: is_here && time.as_micros() <= path + path / 20,
        }
    }
}

impl Length {
    /// Not at the sender: the silence is more than the usual distance of the round's packets.
    fn is_gap(&self, packets: u32) -> bool {
        let spread = self.time - self.rest;
        let gaps = i64::from(packets) - 1;
        let wide = self.rest.as_nanos().saturating_mul(gaps) >= spread.as_nanos().saturating_mul(3);
        !self.is_here && self.is_silent && packets >= 3 && wide
    }
}

impl Run {
    fn new(at: At, before: u32) -> Self {
        Self {
            began: at.now,
            number: at.number,
            before,
            first: 0,
            last: 0,
            bytes: 0,
            rounds: 0,
            grew: 0,
            silent: Duration::ZERO,
            length: Duration::ZERO,
            growing: true,
            harmed: false,
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
            return Some(Box::new(Self::new(
                front.seq,
                tx.flight.span(),
                first,
                (tx, rx),
            )));
        }
        // At the receiver the ACK may have passed already: the sender cannot have seen it yet.
        let near = i64::from(tx.path_or_zero());
        if before == now || now.since(tx.last_data).as_micros() >= near - near / 8 {
            return None;
        }
        let first = At {
            number: 0,
            now: tx.last_data,
        };
        let mut rounds = Self::new(tx.nxt, tx.max_payload, first, (tx, rx));
        rounds.acked.set(tx.progress);
        Some(Box::new(rounds))
    }

    fn new(start: Seq, bytes: u32, first: At, (tx, rx): (&Dir, &Dir)) -> Self {
        Self {
            start,
            number: first.number,
            began: first.now,
            last: tx.last_data,
            acked: Moment::default(),
            bytes,
            window: rx.window,
            next_window: rx.window,
            heard: rx.unique_bytes,
            losses: tx.loss.as_deref().map_or(0, |l| l.total() as u32),
            run: Run::new(first, 0),
            largest: 0,
            level: Level::default(),
            at_window: Level::default(),
            below: Level::default(),
            opening: None,
            restarts: Restarts::default(),
        }
    }

    /// An ACK up to `ack` passed, with this window.
    #[inline]
    pub(crate) fn acked(&mut self, ack: Seq, window: u32, now: Instant) {
        if self.acked.is_none() && ack.after(self.start) {
            self.acked.set(now);
            self.next_window = window;
        }
    }

    /// New data passes. Gives whether nothing more is to be seen to: the round goes on.
    #[inline]
    pub(crate) fn goes_on(&mut self, payload: u32, now: Instant) -> bool {
        let waits = self.acked.is_none();
        if waits {
            self.bytes = self.bytes.saturating_add(payload);
            self.last = now;
        }
        waits
    }

    /// New data passes after an ACK of the round.
    pub(crate) fn data(&mut self, p: &New, tx: &Dir, rx: &Dir, at: At) {
        if let Some(acked) = self.acked.get()
            && tx.path_us != u32::MAX
        {
            let near = i64::from(tx.path_or_zero());
            let since = at.now.since(acked).as_micros();
            if since >= near - near / 8 {
                let quiet = tx.una == p.seq && (tx.is_here(rx) || tx.is_next(p.id));
                self.turn(since - near, quiet, tx, rx, at);
                (self.start, self.number, self.began) = (p.seq, at.number, at.now);
                (self.bytes, self.window) = (0, self.next_window);
                self.acked.clear();
            }
        }
        self.bytes = self.bytes.saturating_add(p.payload);
        self.last = at.now;
    }

    /// The round is over: the next one begins `late_us` later than it could. `quiet` tells that nothing of what was sent
    /// before is missing or on its way.
    fn turn(&mut self, late_us: i64, quiet: bool, tx: &Dir, rx: &Dir, at: At) {
        let near = i64::from(tx.path_or_zero());
        let losses = tx.loss.as_deref().map_or(0, |l| l.total() as u32);
        self.run.harmed |= losses != self.losses;
        self.losses = losses;
        self.run.bytes += u64::from(self.bytes);
        self.largest = self.largest.max(self.bytes);
        let asked = self.heard != rx.unique_bytes;
        let at_once = late_us <= 1_000 + near / 8 && !asked;
        self.heard = rx.unique_bytes;
        if at_once {
            let length = Length::of(self, tx, rx, at.now);
            let slack = 2 * tx.wire_mss(rx.mss).unwrap_or(1460);
            let open = self.bytes.saturating_add(slack) <= self.window;
            self.run.round(self.bytes, &length, open);
            self.keep_level(&length, slack);
        } else {
            self.end_run(quiet || asked);
            let idle = (quiet || asked) && at.now.since(self.last) >= IDLE;
            self.run = Run::new(at, if idle { self.largest } else { 0 });
        }
    }

    /// Counts rounds alike in which the path could have carried more.
    fn keep_level(&mut self, length: &Length, slack: u32) {
        let spare = length.is_short || length.is_gap(self.bytes / (slack / 2).max(1));
        let alike = self.bytes.abs_diff(self.level.bytes) <= slack.max(self.level.bytes / 16);
        if self.level.rounds == 0 || !alike || !spare || self.run.harmed {
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
        self.level.silent += u32::from(length.is_silent);
        self.level.time = self.level.time + length.time;
        self.level.window = self.window;
    }

    /// Keeps the present level if it is the longest of its kind.
    fn keep_longest(&mut self) {
        let Level {
            bytes,
            window,
            rounds,
            ..
        } = self.level;
        let kept = if u64::from(bytes) * 8 >= u64::from(window) * 7 {
            &mut self.at_window
        } else if u64::from(bytes) * 2 <= u64::from(window) {
            &mut self.below
        } else {
            return;
        };
        if rounds > kept.rounds {
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
        let small = run.first > 0 && u64::from(run.first) * 2 <= u64::from(run.before);
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

    /// No round stayed at a limit, none followed a pause, and the first run did not grow.
    pub(crate) fn is_short(&self) -> bool {
        let limited = self.at_window.rounds > 0 || self.below.rounds > 0;
        let grew = self.opening.is_some_and(|run| run.grew > 0);
        !limited && self.restarts.count == 0 && !grew
    }

    /// The connection is over. `whole` tells that all data of its sender passed.
    pub(crate) fn close(&mut self, whole: bool) {
        self.run.bytes += u64::from(self.bytes);
        self.end_run(whole);
    }
}
