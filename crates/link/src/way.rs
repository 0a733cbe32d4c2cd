//! One way of a link.
//!
//! A frame that enters is counted against the listed events and the chance of loss; then it waits
//! in the FIFO for the rate; then it travels for the delay. Jitter keeps the order of frames; only
//! a frame that a listed event or the chance of reordering delays may be overtaken.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use tcplab_base::{Duration, Instant, Random};
use tcplab_plan::outcome::WayCount;
use tcplab_plan::point::Direction;

use crate::choose::{Choice, Choose};
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
    /// It was damaged: its transport checksum shall be wrong.
    pub corrupt: bool,
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
    /// Frames that keep their order, and the number of each: sorted by time and number.
    line: VecDeque<(u64, Frame<F>)>,
    /// (due, number, place in `late`) of frames that may be overtaken.
    overtaken: BinaryHeap<Reverse<(Instant, u64, usize)>>,
    late: Vec<Option<Frame<F>>>,
    free: Vec<usize>,
    count: WayCount,
    /// Bytes that travel beyond those that entered: copies, less what was lost and dropped.
    more_bytes: i64,
}

impl<F: Clone> Way<F> {
    /// A way with the draws of the streams `NAME/loss`, `NAME/jitter` and so on.
    pub fn new(way: &Direction, seed: u64, name: &str) -> Self {
        Self {
            choose: Choose::new(way, seed, name),
            fifo: way.rate_bps.map(|rate| Fifo::new(rate, way.limit_pkts)),
            delay: Duration::from_nanos(way.delay_ns),
            jitter: Duration::from_nanos(way.jitter_ns),
            jitter_draws: Random::stream(seed, &format!("{name}/jitter")),
            last: Instant::from_nanos(i64::MIN),
            order: 0,
            line: VecDeque::new(),
            overtaken: BinaryHeap::new(),
            late: Vec::new(),
            free: Vec::new(),
            count: WayCount::default(),
            more_bytes: 0,
        }
    }

    /// A frame of `bytes` bytes enters. Its kind is asked for when listed events count it.
    #[inline]
    pub fn enter(
        &mut self,
        now: Instant,
        bytes: usize,
        kind: impl FnOnce() -> Kind,
        frame: F,
    ) -> Entered {
        self.count.frames += 1;
        self.count.bytes += bytes as u64;
        let choice = self.choose.frame(kind);
        if choice.lost {
            self.count.lost += 1;
            self.more_bytes -= bytes as i64;
            return Entered::Lost;
        }
        if choice.twice {
            let first = Choice {
                later: Duration::ZERO,
                ..choice
            };
            self.more_bytes += bytes as i64;
            self.travel(now, bytes, first, frame.clone());
        }
        self.travel(now, bytes, choice, frame)
    }

    #[inline]
    fn travel(&mut self, now: Instant, bytes: usize, choice: Choice, frame: F) -> Entered {
        let leaves = match &mut self.fifo {
            None => now,
            Some(fifo) => {
                let Some(leaves) = fifo.enter(now, bytes) else {
                    self.count.queue_drops += 1;
                    self.more_bytes -= bytes as i64;
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
        let mut out = Frame {
            at: (leaves + delay).max(self.last),
            mark: choice.mark,
            corrupt: choice.corrupt,
            frame,
        };
        let number = self.order;
        self.order += 1;
        if choice.later == Duration::ZERO {
            self.last = out.at;
            self.line.push_back((number, out));
        } else {
            // It does not hold up the frames behind it.
            out.at = out.at + choice.later;
            self.overtake(number, out);
        }
        Entered::Accepted
    }

    fn overtake(&mut self, number: u64, frame: Frame<F>) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.late.push(None);
            self.late.len() - 1
        });
        self.overtaken.push(Reverse((frame.at, number, place)));
        self.late[place] = Some(frame);
    }

    /// When the next frame comes out.
    #[inline]
    pub fn next_time(&self) -> Option<Instant> {
        let in_line = self.line.front().map(|(_, frame)| frame.at);
        match (in_line, self.overtaken.peek()) {
            (Some(at), Some(Reverse((late, ..)))) => Some(at.min(*late)),
            (None, Some(Reverse((late, ..)))) => Some(*late),
            (in_line, None) => in_line,
        }
    }

    /// The next frame that is due at `now`, still in the way: [`Way::remove`] takes it out.
    #[inline]
    pub fn due(&mut self, now: Instant) -> Option<&mut Frame<F>> {
        let frame = match self.next_is_late() {
            true => {
                let Reverse((.., place)) = *self.overtaken.peek()?;
                self.late.get_mut(place)?.as_mut()?
            }
            false => &mut self.line.front_mut()?.1,
        };
        (frame.at <= now).then_some(frame)
    }

    /// Takes out the frame that is due next.
    #[inline]
    pub fn remove(&mut self) -> Option<Frame<F>> {
        let frame = match self.next_is_late() {
            true => {
                let Reverse((.., place)) = self.overtaken.pop()?;
                self.free.push(place);
                self.late.get_mut(place)?.take()?
            }
            false => self.line.pop_front()?.1,
        };
        self.count.delivered += 1;
        Some(frame)
    }

    /// Whether the next frame is one of those that may be overtaken.
    #[inline]
    fn next_is_late(&self) -> bool {
        let Some(Reverse((at, number, _))) = self.overtaken.peek() else {
            return false;
        };
        let line = self.line.front().map(|(number, f)| (f.at, *number));
        line.is_none_or(|line| (*at, *number) < line)
    }

    /// The next frame that is due at `now`.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Frame<F>> {
        self.due(now)?;
        self.remove()
    }

    /// The values of [`LINK_SERIES`](tcplab_plan::outcome::LINK_SERIES) at `now`; `len` gives the bytes of a frame.
    /// Costs O(frames on their way): what is not asked for costs nothing.
    pub fn sample(&self, now: Instant, len: impl Fn(&F) -> usize) -> [i64; 3] {
        let (pkts, bytes) = match &self.fifo {
            Some(fifo) => fifo.holds(now),
            None => (0, 0),
        };
        let in_line = self.line.iter().map(|(_, frame)| frame);
        let under_way = in_line.chain(self.late.iter().flatten());
        let coming: i64 = under_way
            .filter(|frame| frame.at > now)
            .map(|frame| len(&frame.frame) as i64)
            .sum();
        let delivered = self.count.bytes as i64 + self.more_bytes - coming;
        [pkts, bytes, delivered]
    }

    /// What it has done so far.
    pub fn count(&self) -> WayCount {
        self.count
    }
}
