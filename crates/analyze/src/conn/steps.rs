//! Steps of the clock of the capturing host, while it captured.
//!
//! Back: a packet that its sender sent after others (new data, a newer time stamp, a new ACK) has an earlier time. All
//! later times are shifted, so the clock continues from where it was. A file with packets out of order soon returns to
//! the old times. Ahead: the time stamps of both ends (RFC 7323) say that much less time passed, from then on and for
//! good. A path that stood still looks like that for a moment and in one direction only.

use tcplab_base::{Duration, Instant, Seq};
use tcplab_wire::TcpPacket;

use super::Connection;
use super::dir::Dir;

/// Smaller steps back are packets of several queues, written out of order.
const BACK: Duration = Duration::from_millis(-100);
/// Smaller steps ahead are waits.
pub(super) const AHEAD: Duration = Duration::from_millis(500);
/// Most packets by which a packet of an unordered file stands behind its place.
const SOON: u32 = 8;
/// So many packets of an end show a step, of each end where it went ahead.
const SHOWN: u32 = 2;
/// Queues and interfaces of a capture are this far apart at most: a record that is later stands in the wrong place.
const JITTER: Duration = Duration::from_millis(20);
/// Clocks of processors and queues differ by so much: such records stand in the order in which they passed.
const BLUR: Duration = Duration::from_millis(1);
/// The order is lost if one in so many records stands in the wrong place.
const MANY: u32 = 8;
/// The same of records that stand far from their place.
const FAR_MANY: u32 = 1_000;
/// Longest tick that is allowed (RFC 7323 5.4), and the usual one, of an end whose time stamps are too few to measure it.
const LONGEST_TICK_NS: i64 = 1_000_000_000;
const USUAL_TICK_NS: i64 = 1_000_000;

/// What was seen of the clock; nothing, while all times are in order and no packet is long after the one before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    /// What is added to the times of packets.
    pub(super) shift: Duration,
    back: Option<Back>,
    ahead: Option<Ahead>,
    /// Packets with an earlier time than the one before.
    pub(super) out_of_order: u32,
    /// Those of them that stand in the wrong place: later than [`BLUR`].
    misplaced: u32,
    /// Those of them that are later than [`JITTER`].
    far: u32,
    /// Its end stands before the beginning of a connection that seemed to reuse its ports.
    is_before_older: bool,
    /// The times of its packets are not known.
    pub(super) untimed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Back {
    packet: u64,
    by: Duration,
    /// Packets since then.
    since: u32,
}

/// Perhaps a step ahead.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    packet: u64,
    /// When the packet before it passed.
    after: Instant,
    /// How far the clock went on.
    gap: Duration,
    ends: [Option<Before>; 2],
}

/// The newest time stamp of an end before it, and when it passed.
#[derive(Clone, Copy, Debug)]
struct Before {
    tsval: u32,
    at: Instant,
    /// A tick of its clock; `None`: not measured.
    tick_ns: Option<i64>,
    /// Packets since then, and by how much the capture's clock was ahead of this one at the first of them.
    packets: u32,
    ahead: Duration,
    /// Its time stamps went on: a device may give all packets the same.
    runs: bool,
}

/// A step that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub packet: u64,
    pub back: bool,
    /// By how much, at least.
    pub by: Duration,
    /// When the packet before it passed.
    pub after: Instant,
}

impl Connection {
    /// The time of a packet before which the clock may not have gone on as it should; `now` is the file's time.
    #[cold]
    pub(super) fn unsteady(
        &mut self,
        dir: usize,
        p: &TcpPacket,
        number: u64,
        now: Instant,
    ) -> Instant {
        let now = match self.steps.as_deref() {
            Some(steps) => now + steps.shift,
            None => now,
        };
        let gap = now.since(self.last);
        let now = if gap <= BACK || gap >= AHEAD || self.steps.is_some() {
            self.without_steps(dir, p, number, now)
        } else {
            now
        };
        if now < self.last {
            let late = self.last.since(now);
            // What its sender sent after all before it is in its place: only its time is wrong.
            let is_misplaced = late > BLUR && !self.comes_next(dir, p);
            let steps = self.steps.get_or_insert_default();
            steps.out_of_order += 1;
            steps.misplaced += u32::from(is_misplaced);
            steps.far += u32::from(is_misplaced && late > JITTER);
        }
        now
    }

    /// The same, with the steps back taken out; `now` is the file's time, moved by those before.
    fn without_steps(&mut self, dir: usize, p: &TcpPacket, number: u64, now: Instant) -> Instant {
        let gap = now.since(self.last);
        if gap <= BACK {
            let by = self.last.since(now);
            if !self.is_newer(dir, p, now) {
                return now;
            }
            let steps = self.steps.get_or_insert_default();
            // The last ones before it may have had earlier times because of the step.
            steps.misplaced = steps.misplaced.saturating_sub(SHOWN);
            steps.far = steps.far.saturating_sub(SHOWN);
            steps.shift = steps.shift + by;
            steps.back = Some(Back {
                packet: number,
                by,
                since: 1,
            });
            return self.last;
        }
        if gap >= AHEAD && self.steps.as_deref().is_none_or(|s| s.ahead.is_none()) {
            let ends = [0, 1].map(|d| before(&self.dirs[d], &self.dirs[1 - d]));
            let ahead = Ahead {
                packet: number,
                after: self.last,
                gap,
                ends,
            };
            if ends.iter().all(Option::is_some) {
                self.steps.get_or_insert_default().ahead = Some(ahead);
            }
        }
        let Some(steps) = self.steps.as_deref_mut() else {
            return now;
        };
        if let Some(back) = &mut steps.back {
            // Out of order in the file, and now it goes on where it was.
            if back.since < SOON && gap.as_nanos() >= back.by.as_nanos() / 10 * 9 {
                let by = back.by;
                steps.shift = Duration::from_nanos(steps.shift.as_nanos() - by.as_nanos());
                (steps.back, steps.ahead) = (None, None);
                steps.out_of_order += 1;
                return Instant::from_nanos(now.as_nanos().saturating_sub(by.as_nanos()));
            }
            back.since = back.since.saturating_add(1);
        }
        if let (Some(ahead), Some((tsval, _))) = (&mut steps.ahead, p.options.timestamps)
            && !ahead.goes_on(dir, tsval, now)
        {
            steps.ahead = None;
        }
        now
    }

    /// Its sender sent it after all that was seen of it, and its time is earlier.
    fn is_newer(&self, dir: usize, p: &TcpPacket, now: Instant) -> bool {
        now < self.dirs[dir].last_packet && self.comes_next(dir, p)
    }

    /// Its sender sent it after all that was seen of it.
    fn comes_next(&self, dir: usize, p: &TcpPacket) -> bool {
        let (own, peer) = (&self.dirs[dir], &self.dirs[1 - dir]);
        let data = p.payload_len > 0 && p.seq.at_or_after(own.nxt);
        let stamp = p.options.timestamps.is_some_and(|(tsval, _)| {
            own.clock.runs() && Seq(tsval).after(Seq(own.clock.newest()))
        });
        let ack = peer.acks_seen && p.ack.after(peer.una) && p.ack.at_or_before(peer.nxt);
        own.packets > 0 && own.started && (data || stamp || ack)
    }

    /// Packets whose time is earlier than that of the packet before them in the file.
    pub(crate) fn out_of_order(&self) -> u32 {
        self.steps.as_deref().map_or(0, |s| {
            let lone = s.back.is_some_and(|b| b.since <= SHOWN);
            s.out_of_order.saturating_add(lone.into())
        })
    }

    /// Its packets are not in the order in which they passed: what follows from that order would be wrong.
    pub(crate) fn is_shuffled(&self) -> bool {
        // Its end stands before its beginning, where the SYN seemed to reuse the ports.
        let older = self.handshake.ports_free.get();
        let is_late = |steps: &Steps| {
            let packets: u32 = self.dirs.iter().map(|d| d.packets).sum();
            let often = steps.misplaced.saturating_mul(MANY) > packets;
            let far = steps.far.saturating_mul(FAR_MANY) > packets;
            steps.is_before_older || far || (often && steps.misplaced > SHOWN)
        };
        older.is_some_and(|ended| ended.since(self.start) > JITTER)
            || self.steps.as_deref().is_some_and(is_late)
    }

    /// A SYN follows in the file that seems to reuse its ports, and passed at `now`.
    #[cold]
    pub(crate) fn precedes(&mut self, now: Instant) {
        if self.file_time(self.last).since(now) > JITTER {
            self.steps.get_or_insert_default().is_before_older = true;
        }
    }

    /// A time of the connection as the file has it, without the steps of the capture's clock that were taken out.
    pub(crate) fn file_time(&self, at: Instant) -> Instant {
        match self.steps.as_deref() {
            Some(steps) => at - steps.shift,
            None => at,
        }
    }

    /// Nothing is known against the capture's clock and order.
    pub(crate) fn is_steady(&self) -> bool {
        self.steps.is_none() && !self.is_shuffled()
    }

    /// The clock of the capture was set while this connection was captured.
    pub(crate) fn clock_step(&self) -> Option<Step> {
        let steps = self.steps.as_deref()?;
        let back = steps.back.filter(|b| b.since > SHOWN).map(|b| Step {
            packet: b.packet,
            back: true,
            by: b.by,
            after: self.start,
        });
        back.or_else(|| steps.ahead?.found())
    }
}

/// The newest time stamp of `own`: on data, or on the ACKs that a sender of bulk got; or else the one of its soonest packet.
fn before(own: &Dir, peer: &Dir) -> Option<Before> {
    let (tsval, at) = match peer.load().and_then(|l| l.heard.newest()) {
        Some(tsval) if !own.clock.runs() => (tsval, own.last_packet),
        _ if own.clock.runs() => (own.clock.newest(), own.last_data),
        _ => own.one_way.soonest()?,
    };
    let tick_ns = own.clock.tick_length(tsval, at);
    Some(Before {
        tsval,
        at,
        tick_ns: tick_ns.or_else(|| own.one_way.tick_length(tsval, at)),
        packets: 0,
        ahead: Duration::ZERO,
        runs: false,
    })
}

impl Ahead {
    /// A packet with this time stamp passes: may it still be a step?
    fn goes_on(&mut self, dir: usize, tsval: u32, now: Instant) -> bool {
        let Some(end) = self.ends.get_mut(dir).and_then(Option::as_mut) else {
            return true;
        };
        let ticks = i64::from(Seq(tsval).distance(Seq(end.tsval)));
        let passed = now.since(end.at).as_nanos();
        let [longest, usual] = [LONGEST_TICK_NS, USUAL_TICK_NS].map(|otherwise| {
            let tick = end.tick_ns.unwrap_or(otherwise);
            passed.saturating_sub(ticks.saturating_mul(tick))
        });
        if end.packets == 0 {
            end.ahead = Duration::from_nanos(usual);
        }
        end.packets = end.packets.saturating_add(1);
        end.runs |= ticks > 0;
        longest >= self.gap.as_nanos() / 2
    }

    fn found(self) -> Option<Step> {
        let [Some(a), Some(b)] = self.ends else {
            return None;
        };
        let by = a.ahead.min(b.ahead).min(self.gap);
        let shown = |end: Before| end.packets >= SHOWN && end.runs;
        (shown(a) && shown(b) && by >= AHEAD).then_some(Step {
            packet: self.packet,
            back: false,
            by,
            after: self.after,
        })
    }
}
