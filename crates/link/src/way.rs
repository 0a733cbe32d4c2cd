//! One way of a link.
//!
//! A frame that enters is counted against the listed events and the chance of loss; then it waits
//! in the FIFO for the rate; then it travels for the delay. Jitter keeps the order of frames; only
//! a frame that a listed event delays may be overtaken.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tcplab_base::{Duration, Instant, Random};
use tcplab_plan::outcome::WayCount;
use tcplab_plan::point::Direction;

use crate::choose::Choose;
use crate::fifo::Fifo;
use crate::kind::Kind;

/// What became of a frame that entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entered {
    /// It will come out.
    Accepted,
    /// The link lost it: by its chance or by a listed event.
    Lost,
    /// The queue was full.
    QueueFull,
}

/// A frame that comes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<F> {
    /// When it was due. A driver that is late uses this as the time of arrival.
    pub at: Instant,
    /// It shall get the ECN mark CE, when it is ECN-capable.
    pub mark: bool,
    /// What entered.
    pub frame: F,
}

/// One way of a link, for frames of the type `F` (bytes on a kernel, segments in the simulator).
#[derive(Clone, Debug)]
pub struct Way<F> {
    choose: Choose,
    fifo: Option<Fifo>,
    delay: Duration,
    jitter: Duration,
    jitter_draws: Random,
    last: Instant,
    order: u64,
    /// (due, order of entering, place in `frames`).
    due: BinaryHeap<Reverse<(Instant, u64, usize)>>,
    frames: Vec<Option<(F, bool)>>,
    free: Vec<usize>,
    count: WayCount,
}

impl<F: Clone> Way<F> {
    /// A way with the draws of the streams `NAME/loss` and `NAME/jitter`.
    pub fn new(way: &Direction, seed: u64, name: &str) -> Self {
        Self {
            choose: Choose::new(way, Random::stream(seed, &format!("{name}/loss"))),
            fifo: way.rate_bps.map(|rate| Fifo::new(rate, way.limit_pkts)),
            delay: Duration::from_nanos(way.delay_ns),
            jitter: Duration::from_nanos(way.jitter_ns),
            jitter_draws: Random::stream(seed, &format!("{name}/jitter")),
            last: Instant::from_nanos(i64::MIN),
            order: 0,
            due: BinaryHeap::new(),
            frames: Vec::new(),
            free: Vec::new(),
            count: WayCount::default(),
        }
    }

    /// A frame of `bytes` bytes enters.
    pub fn enter(&mut self, now: Instant, bytes: usize, kind: Kind, frame: F) -> Entered {
        self.count.frames += 1;
        self.count.bytes += bytes as u64;
        let choice = self.choose.frame(kind);
        if choice.lost {
            self.count.lost += 1;
            return Entered::Lost;
        }
        if choice.twice {
            self.travel(now, bytes, Duration::ZERO, choice.mark, frame.clone());
        }
        self.travel(now, bytes, choice.later, choice.mark, frame)
    }

    fn travel(
        &mut self,
        now: Instant,
        bytes: usize,
        later: Duration,
        mark: bool,
        frame: F,
    ) -> Entered {
        let leaves = match &mut self.fifo {
            None => now,
            Some(fifo) => {
                let Some(leaves) = fifo.enter(now, bytes) else {
                    self.count.queue_drops += 1;
                    return Entered::QueueFull;
                };
                let frames = u32::try_from(fifo.frames()).unwrap_or(u32::MAX);
                self.count.peak_pkts = self.count.peak_pkts.max(frames);
                leaves
            }
        };
        let mut delay = self.delay;
        if self.jitter > Duration::ZERO {
            delay = (delay + self.jitter_draws.around(self.jitter)).max(Duration::ZERO);
        }
        let at = (leaves + delay).max(self.last);
        let due = at + later;
        // What a listed event delays does not hold up the frames behind it.
        if later == Duration::ZERO {
            self.last = at;
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.frames.push(None);
            self.frames.len() - 1
        });
        self.frames[place] = Some((frame, mark));
        self.due.push(Reverse((due, self.order, place)));
        self.order += 1;
        Entered::Accepted
    }

    /// When the next frame comes out.
    pub fn next_time(&self) -> Option<Instant> {
        self.due.peek().map(|Reverse((at, ..))| *at)
    }

    /// The next frame that is due at `now`.
    pub fn poll(&mut self, now: Instant) -> Option<Frame<F>> {
        let Reverse((at, _, place)) = *self.due.peek().filter(|Reverse((at, ..))| *at <= now)?;
        self.due.pop();
        self.free.push(place);
        let (frame, mark) = self.frames[place].take()?;
        self.count.delivered += 1;
        Some(Frame { at, mark, frame })
    }

    /// What it has done so far.
    pub fn count(&self) -> WayCount {
        self.count
    }
}
