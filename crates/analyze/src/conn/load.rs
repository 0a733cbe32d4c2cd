//! The path under load: how long packets wait in its queues, and which packets arrive out of order.
//!
//! Two clocks tell of queues. At the sender: the time from a segment to its ACK, less the shortest one. Behind the
//! queue: when a segment passes, less the time stamp that its sender put on it (RFC 7323), less the smallest such
//! difference. Kept for senders of bulk only; the rest is too short to fill a queue.

use tcplab_base::{Duration, Instant, Seq};

use super::alone::Alone;
use super::bucket::Bucket;
use super::clock::TsClock;
use super::data::At;
use super::moment::Moment;
use super::passed::Passed;

/// A sender of fewer segments has no record.
pub(crate) const BULK: u32 = 16;
/// The shortest waits of stretches of at least this length are compared: one slow packet is no queue.
const STRETCH: Duration = Duration::from_millis(100);
/// A queue that stands has this wait at least, and so many times the idle round trip.
pub(crate) const STANDING_US: u32 = 100_000;
pub(crate) const TIMES: u32 = 2;
/// A sample is taken at most so often: a fast path has more packets than the queue has news.
const EVERY: Duration = Duration::from_micros(500);
/// Samples that a stretch needs, and the time between two of them.
const SAMPLES: u32 = 4;
const SPACE: Duration = Duration::from_millis(5);
/// The sender's clock is measured over at least this.
const CLOCK: Duration = Duration::from_millis(200);
/// A silence that a retransmission timer may have ended (200 ms on Linux, less what clocks blur).
pub(crate) const SILENCE: Duration = Duration::from_millis(150);

/// What was seen of the load of one sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Load {
    /// From a segment to its ACK.
    pub answered: QueueWaits,
    /// From the sender to the capture, by its time stamps.
    pub arrived: QueueWaits,
    /// From a segment to its ACK, where nothing else was in flight.
    pub alone: Option<Box<Alone>>,
    tick_ns: u32,
    /// An ACK's time stamp whose echo on data is expected, when the ACK passed, and the time that the last echo took.
    /// No packet waited longer than an echo took, even if a slow clock suggests it.
    probe: u32,
    probe_at: Moment,
    echo_us: Option<u32>,
    /// Data came after a silence: when, and how long that was.
    resumed: Moment,
    resumed_with: u32,
    silence: Duration,
    /// What the IP identifications of the ACKs say, and their time stamps.
    pub ack_ids: Ids,
    pub heard: Heard,
    /// When holes showed, and how many bytes of data had come by then.
    pub holes: Vec<(Instant, u64)>,
    /// Passed and lost packets from the first loss on; at the end the token bucket that fits them best.
    pub passed: Option<Box<Passed>>,
    pub bucket: Option<Bucket>,
    /// Times between two segments, of one in four, by their logarithms to the base of two.
    gaps: [u32; 24],
}

/// Most holes that are noted, and the time between two of them.
const HOLES: usize = 256;
const APART: Duration = Duration::from_millis(20);

/// The newest time stamps of the packets that the receiver sent, each once. An echo of one between them that the capture does
/// not show tells that the sender got a packet which the capture missed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Heard {
    stamps: [u32; 16],
    /// How many there were in all.
    count: usize,
    /// Echoes of others, each once.
    pub unseen: u32,
    last_unseen: u32,
}

impl Heard {
    #[inline]
    pub(crate) fn add(&mut self, tsval: u32) {
        let len = self.stamps.len();
        if self.count == 0 || self.stamps[(self.count - 1) % len] != tsval {
            self.stamps[self.count % len] = tsval;
            self.count += 1;
        }
    }

    pub(crate) fn newest(&self) -> Option<u32> {
        let at = self.count.checked_sub(1)?;
        self.stamps.get(at % self.stamps.len()).copied()
    }

    /// The sender echoes `tsecr`.
    pub(crate) fn echoed(&mut self, tsecr: u32) {
        let known = self.stamps.get(..self.count).unwrap_or(&self.stamps);
        let oldest = if self.count < self.stamps.len() {
            self.stamps[0]
        } else {
            self.stamps[self.count % self.stamps.len()]
        };
        let within = !known.is_empty() && Seq(tsecr).after(Seq(oldest));
        if within && tsecr != self.last_unseen && !known.contains(&tsecr) {
            self.unseen += 1;
            self.last_unseen = tsecr;
        }
    }
}

/// How the IP identification of one side's packets advanced, and whether a missing number took its time: lost ACKs
/// leave a gap in time, ACKs dropped from a queue by a filter do not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ids {
    /// By one, and by more.
    pub next: u32,
    pub gaps: u32,
    /// Numbers left out in the gaps, and numbers that came late.
    pub missing: u32,
    pub late: u32,
    /// Steps that no counter of one connection makes.
    pub strange: u32,
    /// ACKs of more than two full segments.
    pub stretched: u32,
    /// Steps by one since the last gap; the fewest and the most of them between two gaps.
    run: u32,
    runs: Option<(u32, u32)>,
    /// Sums over steps: of their logarithms, of those of the times between, and of squares and products.
    fit: [u64; 4],
}

/// What a packet with new ACK looks like beside the packet before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub newest: u16,
    pub id: u16,
    pub gap: Duration,
    /// It covers more than two full segments.
    pub stretched: bool,
}

/// Sixteen times the logarithm to the base of two, about.
fn log(n: u32) -> u64 {
    let n = u64::from(n.max(1));
    let whole = n.ilog2();
    let part = (n << 4 >> whole) & 15;
    u64::from(whole) * 16 + part
}

impl Ids {
    /// A packet came after another.
    pub(crate) fn step(&mut self, s: Step) {
        self.stretched += u32::from(s.stretched);
        if s.newest == 0 || s.id == 0 {
            return;
        }
        let step = s.id.wrapping_sub(s.newest) as i16;
        match step {
            1 => {
                self.next += 1;
                self.run += 1;
            }
            2..=256 => {
                let run = std::mem::take(&mut self.run);
                let (least, most) = self.runs.unwrap_or((run, run));
                // Before the first gap it is of any length.
                if self.gaps > 0 {
                    self.runs = Some((least.min(run), most.max(run)));
                }
                self.gaps += 1;
                let left_out = u32::from(step.unsigned_abs()) - 1;
                self.missing = self.missing.saturating_add(left_out);
            }
            -64..=-1 => self.late += 1,
            _ => self.strange += 1,
        }
        if (1..=256).contains(&step) {
            let x = log(step.unsigned_abs().into());
            let y = log(s.gap.as_micros_u32());
            let [sx, sy, sxx, sxy] = &mut self.fit;
            *sx += x;
            *sy += y;
            *sxx += x * x;
            *sxy += x * y;
        }
    }

    /// A packet whose ACK is older than one before it.
    pub(crate) fn comes_late(&mut self, newest: u16, id: u16) {
        let step = id.wrapping_sub(newest) as i16;
        let counted = newest != 0 && id != 0 && (-64..0).contains(&step);
        self.late += u32::from(counted);
    }

    /// One number at a time is missing, always after as many others: a capture that leaves out each tenth packet does that.
    pub(crate) fn is_regular(&self) -> bool {
        let even = self.runs.is_none_or(|(least, most)| most - least <= 1);
        self.missing == self.gaps && even
    }

    /// By which power of the step the time between grew: about one where each number that is missing had its time, about
    /// zero where it had none. `None` while the steps are too much alike.
    pub(crate) fn power(&self) -> Option<f64> {
        /// A quarter of an octave around their mean.
        const ALIKE: f64 = 16.0;
        let n = f64::from(self.next + self.gaps).max(1.0);
        let [sx, sy, sxx, sxy] = self.fit.map(|sum| sum as f64 / n);
        let spread = sxx - sx * sx;
        (spread >= ALIKE).then(|| (sxy - sx * sy) / spread)
    }
}

/// Segments that came late though nobody had asked for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reordered {
    pub segments: u32,
    /// Others that may have been sent again: without the handshake nothing tells how soon that can be.
    pub perhaps: u32,
    /// Others that came so late that their sender must have sent them again, though the capture does not show it.
    pub unseen: u32,
    /// Bytes that overtook the one that came latest, and the longest time that a hole was open.
    pub bytes: u32,
    pub longest: Duration,
    pub packets: Vec<u64>,
}

/// Waits of one kind.
#[derive(Clone, Debug)]
pub(crate) struct QueueWaits {
    /// Shortest, microseconds; `i64::MAX` before the first.
    pub least: i64,
    /// The newest four, and when the newest was taken.
    recent: [i64; 4],
    next: u8,
    last: Instant,
    samples: u32,
    /// Longest wait that four in a row had at least.
    pub most: i64,
    /// The most that a wait grew from one sample to the next, faster than a queue fills.
    pub leap: i64,
    /// The stretch that goes on.
    from: Moment,
    stretch_least: i64,
    stretch_samples: u32,
    /// When the last sample that counts was taken: a burst after a standstill counts once.
    counted: Moment,
    pub stretches: u32,
    /// Stretches with a standing queue in a row now, the most of them so far, all of them.
    row: u32,
    pub longest_row: u32,
    pub standing: u32,
    /// Shortest wait of the worst stretch, and the first packet of the first one.
    pub worst: i64,
    pub packet: u64,
}

impl Default for QueueWaits {
    fn default() -> Self {
        Self {
            least: i64::MAX,
            recent: [0; 4],
            next: 0,
            last: Instant::from_nanos(i64::MIN),
            samples: 0,
            most: i64::MIN,
            leap: 0,
            from: Moment::default(),
            stretch_least: i64::MAX,
            stretch_samples: 0,
            counted: Moment::default(),
            stretches: 0,
            row: 0,
            longest_row: 0,
            standing: 0,
            worst: 0,
            packet: 0,
        }
    }
}

/// How long packets waited when something happened, microseconds: the newest four of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Queued {
    pub least: u32,
    pub most: u32,
    /// What was taken for no wait then; a path that was never idle before shows more than that later.
    pub base: i64,
}

impl Queued {
    /// The same, when so much turned out to be no wait.
    pub(crate) fn above(self, base: i64) -> Self {
        let more = u32::try_from(self.base - base).unwrap_or(0);
        Self {
            least: self.least.saturating_add(more),
            most: self.most.saturating_add(more),
            base,
        }
    }
}

impl QueueWaits {
    /// Whether it is time for another sample.
    #[inline]
    fn due(&self, now: Instant) -> bool {
        now.since(self.last) >= EVERY
    }

    /// One more wait; `idle_us` is the round trip of the idle path as far as it is known.
    fn add(&mut self, us: i64, idle_us: u32, now: Instant, number: u64) {
        // A queue that others fill between two packets of this sender grows no faster than they send. If nearly all of
        // the time between two samples is the wait, the path became longer or stood still.
        let leap = us - self.recent[usize::from(self.next.wrapping_sub(1) & 3)];
        let gap = now.since(self.last).as_micros();
        if leap > self.leap && leap.saturating_mul(5) >= gap.saturating_mul(4) && self.samples > 0 {
            self.leap = leap;
        }
        self.last = now;
        self.least = self.least.min(us);
        self.recent[usize::from(self.next & 3)] = us;
        self.next = self.next.wrapping_add(1);
        self.samples = self.samples.saturating_add(1);
        if self.samples >= 4 {
            let [a, b, c, d] = self.recent;
            self.most = self.most.max(a.min(b).min(c.min(d)));
        }
        let Some(from) = self.from.get() else {
            self.begin(now, us);
            return;
        };
        self.stretch_least = self.stretch_least.min(us);
        if self
            .counted
            .get()
            .is_none_or(|last| now.since(last) >= SPACE)
        {
            self.stretch_samples += 1;
            self.counted.set(now);
            let length = now.since(from);
            let long = length >= STRETCH && length.as_micros() >= i64::from(idle_us);
            if long && self.stretch_samples > SAMPLES {
                self.end(idle_us, length, number);
                self.begin(now, us);
            }
        }
    }

    fn begin(&mut self, now: Instant, us: i64) {
        self.from.set(now);
        self.counted.set(now);
        self.stretch_least = us;
        self.stretch_samples = 1;
    }

    /// Judges the stretch that ends. One that was much longer than asked for had a pause in it.
    fn end(&mut self, idle_us: u32, length: Duration, number: u64) {
        let pause = length.as_micros() > 4 * STRETCH.as_micros().max(i64::from(idle_us));
        if pause {
            self.row = 0;
            return;
        }
        self.stretches += 1;
        let wait = self.stretch_least - self.least;
        if wait < i64::from(STANDING_US.max(idle_us.saturating_mul(TIMES))) {
            self.row = 0;
            return;
        }
        if self.standing == 0 {
            self.packet = number;
        }
        self.standing += 1;
        self.row += 1;
        self.longest_row = self.longest_row.max(self.row);
        self.worst = self.worst.max(wait);
    }

    /// The waits of the newest four; `None` before there were as many.
    pub(crate) fn queued(&self) -> Option<Queued> {
        let least = self.recent.iter().min()?;
        let most = self.recent.iter().max()?;
        let us = |wait: &i64| u32::try_from(wait - self.least).unwrap_or(0);
        (self.samples >= 4).then(|| Queued {
            least: us(least),
            most: us(most),
            base: self.least,
        })
    }

    /// The same, unless all of them were told before `since`. ACKs from long before a pause do not show the queue that
    /// the burst after it meets.
    pub(crate) fn queued_since(&self, since: Instant) -> Option<Queued> {
        self.queued().filter(|_| self.last >= since)
    }

    /// The shortest wait so far: packets that wait no longer meet no queue.
    pub(crate) fn base(&self) -> i64 {
        self.least
    }

    /// Longest wait that several packets in a row had, microseconds.
    pub(crate) fn longest_us(&self) -> u32 {
        u32::try_from(self.most.saturating_sub(self.least)).unwrap_or(0)
    }
}

impl Load {
    /// An ACK came `us` after its segment while more was in flight.
    #[inline]
    pub(crate) fn answered(&mut self, us: u32, now: Instant, number: u64) {
        if !self.answered.due(now) {
            return;
        }
        let idle = u32::try_from(self.answered.least.min(u32::MAX.into())).unwrap_or(0);
        self.answered.add(us.into(), idle, now, number);
    }

    /// Bytes that it takes.
    pub(crate) fn weight(&self) -> usize {
        let passed = self.passed.as_deref().map_or(0, Passed::weight);
        let alone = self.alone.as_deref().map_or(0, size_of_val);
        let holes = self.holes.capacity() * size_of::<(Instant, u64)>();
        size_of::<Self>() + passed + alone + holes
    }

    /// An ACK came `us` after its segment, and a timer may have held it back.
    #[inline]
    pub(crate) fn answered_alone(&mut self, us: u32, now: Instant, number: u64) {
        let before = u32::try_from(self.answered.least).unwrap_or(u32::MAX);
        let alone = self
            .alone
            .get_or_insert_with(|| Box::new(Alone::new(before)));
        alone.answered(us, now, number);
    }

    /// An ACK passes with this time stamp.
    #[inline]
    pub(crate) fn acks(&mut self, tsval: u32, now: Instant) {
        if self.probe_at.is_none() {
            self.probe = tsval;
            self.probe_at.set(now);
        }
    }

    /// Data passes. `idle_us` is the idle round trip, 0 when it is not known.
    pub(crate) fn arrives(
        &mut self,
        clock: &TsClock,
        (tsval, tsecr): (u32, u32),
        idle_us: u32,
        at: At,
    ) {
        let (now, number) = (at.now, at.number);
        if let Some(acked) = self.probe_at.get()
            && Seq(tsecr).at_or_after(Seq(self.probe))
        {
            self.echo_us = Some(now.since(acked).as_micros_u32());
            self.probe_at.clear();
        }
        let Some(echo_us) = self.echo_us.filter(|_| self.arrived.due(now)) else {
            return;
        };
        let Some((first, began)) = clock.began() else {
            return;
        };
        let since = now.since(began);
        if self.tick_ns == 0 {
            if since < CLOCK {
                return;
            }
            self.tick_ns = tick(clock, tsval, now);
            if self.tick_ns == 0 {
                return;
            }
            // The first segment met an idle path.
            self.arrived.least = 0;
        }
        let ticks = i64::from(Seq(tsval).distance(Seq(first)));
        let sent_us = ticks * i64::from(self.tick_ns) / 1000;
        let most = self.arrived.least.saturating_add(echo_us.into());
        let wait = (since.as_micros() - sent_us).min(most);
        self.arrived.add(wait, idle_us, now, number);
    }

    /// A hole shows: `bytes` of data have come by now.
    pub(crate) fn hole_shows(&mut self, bytes: u64, now: Instant) {
        let apart = self.holes.last().is_none_or(|h| now.since(h.0) >= APART);
        if apart && self.holes.len() < HOLES {
            self.holes.push((now, bytes));
        }
    }

    /// Share of the segments that came less than `us` after the one before, about.
    pub(crate) fn closer_than(&self, us: u32) -> f64 {
        let all: u32 = self.gaps.iter().sum();
        let whole = us.max(1).ilog2() as usize;
        let close: u32 = self.gaps.iter().take(whole).sum();
        f64::from(close) / f64::from(all.max(1))
    }

    /// The data that passes ends a silence; it is the sender's segment number `ordinal`, or the one after.
    pub(crate) fn after(&mut self, silence: Duration, ordinal: u32, now: Instant) {
        let gap = silence.as_micros_u32().max(1).ilog2();
        let last = self.gaps.len() - 1;
        self.gaps[last.min(gap as usize)] += 1;
        if silence >= SILENCE {
            self.resumed.set(now);
            (self.silence, self.resumed_with) = (silence, ordinal);
        }
    }

    /// The sender was silent, and went on less than `lately` ago.
    pub(crate) fn resumed_lately(&self, now: Instant, lately: Duration) -> bool {
        self.resumed.get().is_some_and(|at| now.since(at) <= lately)
    }

    /// A hole shows behind the losses. Was it a timeout that ended the silence before? Its sender repeats one segment
    /// and, a round trip later, sends new data before it repeats the rest (RFC 5682). Gives the silence.
    pub(crate) fn timed_out(&self, ordinal: u32, near: Duration, now: Instant) -> Option<Duration> {
        let since = now.since(self.resumed.get()?);
        let one = ordinal.saturating_sub(self.resumed_with) <= 1;
        let half = Duration::from_nanos(near.as_nanos() / 2).max(Duration::from_micros(500));
        (one && since >= half && since <= near + near + near).then_some(self.silence)
    }
}

/// Length of a tick of the sender's clock in nanoseconds, 0 when it cannot be told. A queue that grows makes it look
/// longer: up to 2.6 times (with 4 ms the next one in use).
fn tick(clock: &TsClock, tsval: u32, now: Instant) -> u32 {
    let Some((first, at)) = clock.began() else {
        return 0;
    };
    let ticks = Seq(tsval).distance(Seq(first));
    let per_tick = now.since(at).as_nanos() / i64::from(ticks.max(1));
    if (700_000..2_600_000).contains(&per_tick) {
        return 1_000_000;
    }
    let tick = clock.tick_length(tsval, now).unwrap_or(0);
    u32::try_from(tick).unwrap_or(0)
}

impl Reordered {
    /// A segment came after `bytes` that were sent later, `late` after the first of these.
    pub(crate) fn add(&mut self, bytes: u32, late: Duration, number: u64) {
        self.segments += 1;
        self.bytes = self.bytes.max(bytes);
        self.longest = self.longest.max(late);
        if self.packets.len() < 8 {
            self.packets.push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_comes_late_is_not_missing() {
        let mut ids = Ids::default();
        let step = |newest, id| Step {
            newest,
            id,
            gap: Duration::from_millis(1),
            stretched: false,
        };
        ids.step(step(7, 8));
        ids.step(step(8, 10));
        // Its ACK is older than the one before it.
        ids.comes_late(10, 9);
        ids.comes_late(10, 11);
        assert_eq!((ids.missing, ids.late), (1, 1));
    }

    fn fill(waits: impl Fn(i64) -> i64) -> Load {
        let mut load = Load::default();
        for i in 0..200 {
            let now = Instant::from_nanos(i * 10_000_000);
            let us = u32::try_from(waits(i)).expect("a wait");
            load.answered(us, now, u64::try_from(i).expect("a number"));
        }
        load
    }

    #[test]
    fn a_queue_that_stands_is_told_from_a_spike() {
        let queue = fill(|i| if i < 20 { 40_000 } else { 240_000 });
        assert!(queue.answered.longest_row >= 10, "{:?}", queue.answered);
        assert_eq!(queue.answered.worst, 200_000);
        // Each third packet comes late; 20 in a row do, once.
        let spikes = fill(|i| {
            if i % 3 == 0 || (50..70).contains(&i) {
                700_000
            } else {
                40_000
            }
        });
        assert!(spikes.answered.longest_row <= 2, "{:?}", spikes.answered);
        // Twice the idle round trip is no more than a buffer of one such trip.
        let full = fill(|i| if i < 20 { 150_000 } else { 300_000 });
        assert_eq!(full.answered.standing, 0);
    }

    /// ACKs of which `kept` says after how many numbers the next one comes, each `gap` microseconds later.
    fn numbered(kept: &[u16], gap: impl Fn(u16) -> i64) -> Ids {
        let mut ids = Ids::default();
        let mut newest = 1_u16;
        for step in kept.iter().cycle().take(200) {
            let id = newest.wrapping_add(*step);
            ids.step(Step {
                newest,
                id,
                gap: Duration::from_micros(gap(*step)),
                stretched: *step > 1,
            });
            newest = id;
        }
        ids
    }

    #[test]
    fn a_lost_ack_leaves_its_place_and_a_filtered_one_does_not() {
        let kept = [1, 3, 1, 2, 5, 1, 2];
        let lost = numbered(&kept, |step| 250 * i64::from(step));
        assert!((lost.power().expect("they differ") - 1.0).abs() < 0.1);
        let filtered = numbered(&kept, |_| 2112);
        assert!(filtered.power().expect("they differ").abs() < 0.01);
        assert_eq!(lost.next + lost.gaps, 200);
        assert_eq!(numbered(&[2], |_| 500).power(), None);
    }

    #[test]
    fn echo_of_an_unheard_stamp_is_told() {
        let mut heard = Heard::default();
        heard.echoed(5);
        (0..40).for_each(|n| heard.add(100 + 10 * n));
        // Older than what is kept, kept, and the newest.
        for echo in [100, 340, 350, 490] {
            heard.echoed(echo);
        }
        assert_eq!(heard.unseen, 0);
        // One between, twice, and one that is newer.
        for echo in [455, 455, 500] {
            heard.echoed(echo);
        }
        assert_eq!(heard.unseen, 2);
    }

    #[test]
    fn the_newest_waits_are_kept() {
        let load = fill(|i| {
            if i < 196 {
                10_000
            } else {
                10_000 + (i - 190) * 1000
            }
        });
        let newest = Queued {
            least: 6_000,
            most: 9_000,
            base: 10_000,
        };
        // The path was never idle before: all of them waited longer.
        let later = newest.above(7_000);
        assert_eq!((later.least, later.most), (9_000, 12_000));
        assert_eq!(load.answered.queued(), Some(newest));
        let at = |ms: i64| Instant::from_nanos(ms * 1_000_000);
        let since = [1_990, 1_991].map(|ms| load.answered.queued_since(at(ms)));
        assert_eq!(since, [Some(newest), None]);
        assert_eq!(load.answered.longest_us(), 6_000);
        assert_eq!(Load::default().answered.queued(), None);
    }
}
