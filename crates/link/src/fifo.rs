//! The rate of a link and the FIFO before it.

use std::collections::VecDeque;

use tcplab_base::{Duration, Instant};
use tcplab_plan::outcome::QueueCount;
use tcplab_plan::point::Direction;

use crate::depth::Depth;
use crate::opportunities::Opportunities;

/// Bits of a byte, times nanoseconds of a second.
const SCALE: u64 = 8 * 1_000_000_000;

/// Sends frames one after another at a rate; holds at most `limit` of them.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    rate_bps: u64,
    /// Nanoseconds of a byte, at rates where that is a whole number: no division for each frame.
    byte_ns: Option<u32>,
    /// In place of the rate: when it may send.
    trace: Option<Box<Opportunities>>,
    limit: usize,
    /// Bytes of the wire beside a frame's own.
    overhead: usize,
    /// When the frames that wait or are on their way out will be out.
    out: VecDeque<Instant>,
    /// Bits x 10^9 that the last frame's time did not hold: no drift from rounding.
    carry: u64,
    /// When the last frame that entered is out: one that enters then goes on with its rest, as a qdisc's frames do,
    /// each of which is taken when the wire is free.
    busy_until: Instant,
    /// The bytes of each frame, if needed: for a limit, or because time does not give the rest (the link may stand
    /// still, or the wire needs more than a frame's bytes).
    sizes: Option<Box<Sizes>>,
    /// How long it was how long, where that is asked for and no qdisc queues in its place.
    depth: Option<Box<Depth>>,
}

/// Bytes of the frames that wait.
#[derive(Clone, Debug)]
struct Sizes {
    limit: u64,
    each: VecDeque<u32>,
    sum: u64,
}

impl Sizes {
    fn new(limit: Option<u64>) -> Box<Self> {
        Box::new(Self {
            limit: limit.unwrap_or(u64::MAX),
            each: VecDeque::new(),
            sum: 0,
        })
    }
}

impl Fifo {
    /// The FIFO of this way; none: it has no rate.
    pub(crate) fn of(way: &Direction) -> Option<Self> {
        let rate_bps = match (&way.rate_trace, way.rate_bps) {
            (Some(_), _) => 1,
            (None, rate) => rate?.max(1),
        };
        let depth = way.queue_from_ns.filter(|_| way.queue.is_none());
        let counts_bytes = way.limit_bytes.is_some()
            || way.faults.spikes.is_some()
            || way.overhead > 0
            || way.rate_trace.is_some()
            || depth.is_some();
        let sizes = counts_bytes.then(|| Sizes::new(way.limit_bytes));
        let trace = way.rate_trace.as_ref().map(Opportunities::new);
        let whole = trace.is_none() && SCALE.is_multiple_of(rate_bps);
        Some(Self {
            rate_bps,
            byte_ns: u32::try_from(SCALE / rate_bps).ok().filter(|_| whole),
            trace: trace.map(Box::new),
            limit: way.limit_pkts.max(1) as usize,
            overhead: way.overhead as usize,
            out: VecDeque::new(),
            carry: 0,
            busy_until: Instant::default(),
            sizes,
            depth: depth.map(|settle| Box::new(Depth::new(Some(settle)))),
        })
    }

    /// A frame's bytes count until its last bit is out, also in [`Fifo::holds`]; before the first frame.
    pub(crate) fn count_whole(&mut self) {
        self.sizes.get_or_insert_with(|| Sizes::new(None));
    }

    /// Somebody takes the extremes of its bytes; before the first frame.
    pub(crate) fn watch(&mut self) {
        self.count_whole();
        self.depth.get_or_insert_with(|| Box::new(Depth::new(None)));
    }

    /// Its bytes, and the fewest and the most since they were taken last, where somebody watches.
    pub(crate) fn take_extremes(&mut self, now: Instant) -> Option<[u64; 3]> {
        self.note_departed(now);
        Some(self.depth.as_mut()?.take_extremes(now))
    }

    /// When the last frame will be out.
    pub(crate) fn last_out(&self) -> Option<Instant> {
        self.out.back().copied()
    }

    /// When what waits or is on its way out will be out.
    pub(crate) fn not_out(&self, now: Instant) -> impl Iterator<Item = Instant> {
        self.out.iter().copied().filter(move |at| *at > now)
    }

    /// Takes out what waits behind the frame on its way out; returns how many frames.
    pub(crate) fn drop_waiting(&mut self, now: Instant) -> usize {
        self.note_departed(now);
        let stay = self.out.partition_point(|at| *at <= now) + 1;
        let gone = self.out.len().saturating_sub(stay);
        self.out.truncate(stay);
        if let Some(sizes) = &mut self.sizes {
            let left = sizes.each.len().saturating_sub(gone);
            sizes.sum -= sizes.each.drain(left..).map(u64::from).sum::<u64>();
        }
        gone
    }

    /// Goes on behind a frame of `bytes` bytes that is on its way out.
    pub(crate) fn begin(&mut self, first: Instant, bytes: usize) {
        self.out.push_back(first);
        self.count(bytes);
    }

    /// When the last bit of the next frame will have left; it has been let in before.
    pub(crate) fn sends(&mut self, bytes: usize) -> Instant {
        let begins = self.out.back().copied().unwrap_or_default();
        let leaves = begins + Duration::from_nanos(self.takes(begins, bytes));
        self.out.push_back(leaves);
        self.count(bytes);
        leaves
    }

    /// When the last bit of this frame will have left, if the link pauses for `stall` before it; `None` when the queue
    /// is full.
    #[inline(always)]
    pub(crate) fn enter(&mut self, now: Instant, bytes: usize, stall: Duration) -> Option<Instant> {
        if self.depth.is_some() {
            self.note_departed(now);
        }
        while self.out.front().is_some_and(|at| *at <= now) {
            self.out.pop_front();
        }
        if self.out.len() >= self.limit {
            return None;
        }
        if self.sizes.is_some() && !self.take_room(bytes) {
            return None;
        }
        let begins = match self.out.back() {
            Some(last) => *last,
            None => {
                if self.busy_until != now {
                    self.carry = 0;
                }
                now
            }
        };
        let begins = begins + stall;
        let leaves = begins + Duration::from_nanos(self.takes(begins, bytes));
        self.busy_until = leaves;
        self.out.push_back(leaves);
        if let Some(depth) = &mut self.depth {
            depth.add(now, bytes as i64);
        }
        Some(leaves)
    }

    /// Takes out what has left by `now`, each frame at its time.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_departed(&mut self, now: Instant) {
        let (Some(depth), Some(sizes)) = (&mut self.depth, &mut self.sizes) else {
            return;
        };
        while let Some(at) = self.out.front().copied().filter(|at| *at <= now) {
            let bytes = sizes.each.pop_front().unwrap_or(0);
            sizes.sum -= u64::from(bytes);
            depth.add(at, -i64::from(bytes));
            self.out.pop_front();
        }
    }

    /// The run starts at this time.
    pub(crate) fn starts(&mut self, start: Instant) {
        if let Some(depth) = &mut self.depth {
            depth.begin(start);
        }
        if let Some(trace) = &mut self.trace {
            trace.starts(start);
        }
    }

    /// The applications have ended.
    pub(crate) fn programs_end(&mut self, now: Instant) {
        if let Some(depth) = &mut self.depth {
            depth.ends(now);
        }
    }

    /// Goes on with the times of the FIFO that it takes the place of, and counts bytes as that did.
    pub(crate) fn follows(&mut self, old: &mut Self) {
        if let (Some(trace), Some(old)) = (&mut self.trace, old.trace.take()) {
            *trace = old;
        }
        if old.sizes.is_some() {
            self.count_whole();
        }
    }

    /// Gives away what it knows of how long it was: another queue takes its place.
    pub(crate) fn take_depth(&mut self, now: Instant) -> Option<Box<Depth>> {
        self.note_departed(now);
        self.depth.take()
    }

    /// Goes on with what is known of how long another queue was; it counts whole frames already.
    pub(crate) fn take_over(&mut self, now: Instant, mut depth: Box<Depth>) {
        depth.set(now, self.sizes.as_ref().map_or(0, |sizes| sizes.sum));
        self.depth = Some(depth);
    }

    /// How long it was until `now`, where that is asked for.
    pub(crate) fn depth(&self, now: Instant) -> Option<QueueCount> {
        let (depth, sizes) = (self.depth.as_ref()?, self.sizes.as_ref()?);
        let mut depth = depth.as_ref().clone();
        let left = self.out.iter().zip(&sizes.each);
        for (at, bytes) in left.take_while(|(at, _)| **at <= now) {
            depth.add(*at, -i64::from(*bytes));
        }
        depth.until(now)
    }

    /// Whether the bytes of a frame fit; they count from now on.
    #[inline(never)]
    fn take_room(&mut self, bytes: usize) -> bool {
        let Some(sizes) = &mut self.sizes else {
            return true;
        };
        while sizes.each.len() > self.out.len() {
            sizes.sum -= u64::from(sizes.each.pop_front().unwrap_or(0));
        }
        let fits = sizes.sum + bytes as u64 <= sizes.limit;
        if fits {
            self.count(bytes);
        }
        fits
    }

    /// The bytes of a frame count, where they are asked for.
    fn count(&mut self, bytes: usize) {
        if let Some(sizes) = &mut self.sizes {
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            sizes.each.push_back(bytes);
            sizes.sum += u64::from(bytes);
        }
    }

    /// Nanoseconds from `begins` until a frame has left.
    #[inline]
    fn takes(&mut self, begins: Instant, bytes: usize) -> i64 {
        let bytes = bytes + self.overhead;
        match self.byte_ns {
            Some(ns) => (bytes as i64).saturating_mul(i64::from(ns)),
            None => self.takes_a_part(begins, bytes),
        }
    }

    #[inline(never)]
    fn takes_a_part(&mut self, begins: Instant, bytes: usize) -> i64 {
        if let Some(trace) = &mut self.trace {
            return trace.leaves(begins, bytes).since(begins).as_nanos();
        }
        let bits = (bytes as u64)
            .checked_mul(SCALE)
            .and_then(|bits| bits.checked_add(self.carry));
        // A word is enough for all frames that there are; a division of two words is slow.
        if let Some(bits) = bits {
            self.carry = bits % self.rate_bps;
            return i64::try_from(bits / self.rate_bps).unwrap_or(i64::MAX);
        }
        let bits = bytes as u128 * u128::from(SCALE) + u128::from(self.carry);
        let rate = u128::from(self.rate_bps);
        self.carry = (bits % rate) as u64;
        i64::try_from(bits / rate).unwrap_or(i64::MAX)
    }

    /// Frames in it after the last [`Fifo::enter`], the one on its way out included.
    pub(crate) fn frames(&self) -> usize {
        self.out.len()
    }

    /// Frames that wait or are on their way out at `now`, and the bytes of them that are not out yet.
    pub(crate) fn holds(&self, now: Instant) -> (i64, i64) {
        let gone = self.out.partition_point(|at| *at <= now);
        let Some(last) = self.out.back().filter(|at| **at > now) else {
            return (0, 0);
        };
        if let Some(sizes) = &self.sizes {
            // Bytes do not follow from times. `each` may be behind by those that left since.
            let before = sizes.each.len() - (self.out.len() - gone);
            let gone_bytes: u64 = sizes.each.iter().take(before).map(|n| u64::from(*n)).sum();
            return (
                (self.out.len() - gone) as i64,
                (sizes.sum - gone_bytes) as i64,
            );
        }
        let bits = i128::from(last.since(now).as_nanos()) * i128::from(self.rate_bps);
        let bytes = (bits + 8_000_000_000 - 1) / 8_000_000_000;
        ((self.out.len() - gone) as i64, bytes as i64)
    }
}
