//! One way of a link.
//!
//! A frame that enters is counted against the listed events and the chance of loss; then it waits
//! in the FIFO for the rate; then it travels for the delay. Jitter keeps the order of frames; only
//! a frame that a listed event or the chance of reordering delays may be overtaken.

mod change;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use tcplab_base::{Duration, Instant, Random};
use tcplab_plan::outcome::{QueueCount, WayCount};
use tcplab_plan::point::Direction;

use crate::choose::{self, Choice, Choose};
use crate::depth::Depth;
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

/// The place of a frame in line.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: Instant,
    number: u64,
    mark: bool,
    corrupt: bool,
}

/// A frame that is due, still in the way.
#[derive(Debug, PartialEq, Eq)]
pub struct Due<'a, F> {
    /// It shall get the ECN mark CE, when it is ECN-capable.
    pub mark: bool,
    /// It was damaged: its transport checksum shall be wrong.
    pub corrupt: bool,
    /// What entered.
    pub frame: &'a mut F,
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
    /// Frames that keep their order, sorted by time and number; what is known of each stands apart: it is looked at
    /// without its frame, and a frame is copied once.
    line: VecDeque<Place>,
    frames: VecDeque<F>,
    /// (due, number, place in `late`) of frames that may be overtaken.
    overtaken: BinaryHeap<Reverse<(Instant, u64, usize)>>,
    late: Vec<Option<Frame<F>>>,
    free: Vec<usize>,
    count: WayCount,
    /// Bytes that travel beyond those that entered: copies, less what was lost and dropped.
    more_bytes: i64,
    /// How long its queue was how long, while there is no FIFO: a later change may bring one.
    depth: Option<Box<Depth>>,
    /// Frames count with all their bytes until they are out, in a FIFO that comes later too.
    counts_whole: bool,
}

impl<F: Clone> Way<F> {
    /// A way with the draws of the streams `NAME/loss`, `NAME/jitter` and so on.
    pub fn new(way: &Direction, seed: u64, name: &str) -> Self {
        let fifo = Fifo::of(way);
        let settle = way.queue_from_ns;
        let settle = settle.filter(|_| fifo.is_none() && way.queue.is_none());
        Self {
            choose: Choose::new(way, seed, name),
            fifo,
            depth: settle.map(|settle| Box::new(Depth::new(Some(settle)))),
            counts_whole: false,
            delay: Duration::from_nanos(way.delay_ns),
            jitter: Duration::from_nanos(way.jitter_ns),
            jitter_draws: Random::stream(seed, &format!("{name}/jitter")),
            last: Instant::from_nanos(i64::MIN),
            order: 0,
            line: VecDeque::new(),
            frames: VecDeque::new(),
            overtaken: BinaryHeap::new(),
            late: Vec::new(),
            free: Vec::new(),
            count: WayCount::default(),
            more_bytes: 0,
        }
    }

    /// Says when the run starts, from which outages count; without it they count from time 0.
    pub fn begin(&mut self, start: Instant) {
        self.choose.begin(start);
        if let Some(fifo) = &mut self.fifo {
            fifo.starts(start);
        }
        if let Some(depth) = &mut self.depth {
            depth.begin(start);
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
        let choice = self.choose.frame(now, kind);
        if choice.lost {
            self.count.lost += 1;
            self.more_bytes -= bytes as i64;
            return Entered::Lost;
        }
        if choice.twice {
            self.travel_first(now, bytes, choice, frame.clone());
        }
        self.travel(now, bytes, choice, frame)
    }

    /// One more of a frame, in front of it.
    #[cold]
    #[inline(never)]
    fn travel_first(&mut self, now: Instant, bytes: usize, choice: Choice, frame: F) {
        let first = Choice {
            later: Duration::ZERO,
            stall: Duration::ZERO,
            ..choice
        };
        self.more_bytes += bytes as i64;
        self.travel(now, bytes, first, frame);
    }

    /// One caller is of every frame, and the other one rare: it is part of the first.
    #[inline(always)]
    fn travel(&mut self, now: Instant, bytes: usize, choice: Choice, frame: F) -> Entered {
        let leaves = match &mut self.fifo {
            None => now + choice.stall,
            Some(fifo) => {
                let Some(leaves) = fifo.enter(now, bytes, choice.stall) else {
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
            delay = self.jittered(delay);
        }
        let at = (leaves + delay + choice.slower).max(self.last);
        let number = self.order;
        self.order += 1;
        let (mark, corrupt) = (choice.mark, choice.corrupt);
        if choice.later == Duration::ZERO {
            self.last = at;
            self.line.push_back(Place {
                at,
                number,
                mark,
                corrupt,
            });
            self.frames.push_back(frame);
        } else {
            // It does not hold up the frames behind it.
            let late = Frame {
                at: at + choice.later,
                mark,
                corrupt,
                frame,
            };
            self.overtake(number, late);
        }
        Entered::Accepted
    }

    #[inline(never)]
    fn jittered(&mut self, delay: Duration) -> Duration {
        (delay + self.jitter_draws.around(self.jitter)).max(Duration::ZERO)
    }

    #[cold]
    #[inline(never)]
    fn overtake(&mut self, number: u64, frame: Frame<F>) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.late.push(None);
            self.late.len() - 1
        });
        self.overtaken.push(Reverse((frame.at, number, place)));
        self.late[place] = Some(frame);
    }

    /// Listed events, and outages before `now`, that changed nothing: a line for each.
    pub(crate) fn unreached(&self, place: &str, now: Instant) -> Vec<String> {
        let events = self.choose.idle_events().map(|listed| listed.told(place));
        let outages = self.choose.idle_outages(now);
        let outages = outages.map(|outage| choose::told(outage, place));
        events.chain(outages).collect()
    }

    /// Whether listed events ask what kind of frame it is.
    pub(crate) fn asks_kind(&self) -> bool {
        self.choose.asks_kind()
    }

    /// A frame of `bytes` bytes is lost before it enters.
    pub(crate) fn loses(&mut self, bytes: usize) {
        self.count.frames += 1;
        self.count.bytes += bytes as u64;
        self.count.lost += 1;
        self.more_bytes -= bytes as i64;
    }

    /// A frame that is lost takes the time that it needs on the wire.
    pub(crate) fn occupy(&mut self, now: Instant, bytes: usize) {
        if let Some(fifo) = &mut self.fifo {
            fifo.enter(now, bytes, Duration::ZERO);
        }
    }

    /// When the last bit of what was sent so far leaves; none: it has left at `now`.
    pub(crate) fn busy_until(&self, now: Instant) -> Option<Instant> {
        let last = self.fifo.as_ref().and_then(Fifo::last_out);
        last.filter(|last| *last > now)
    }

    /// When the next frame comes out.
    #[inline]
    pub fn next_time(&self) -> Option<Instant> {
        let in_line = self.line.front().map(|place| place.at);
        match self.overtaken.is_empty() {
            true => in_line,
            false => self.next_of_all(in_line),
        }
    }

    #[cold]
    #[inline(never)]
    fn next_of_all(&self, in_line: Option<Instant>) -> Option<Instant> {
        let late = self.overtaken.peek().map(|Reverse((at, ..))| *at);
        in_line.into_iter().chain(late).min()
    }

    /// The next frame that is due at `now`, still in the way: [`Way::remove`] takes it out.
    #[inline]
    pub fn due(&mut self, now: Instant) -> Option<Due<'_, F>> {
        if self.next_is_late() {
            return self.late_due(now);
        }
        let place = self.line.front().filter(|place| place.at <= now)?;
        Some(Due {
            mark: place.mark,
            corrupt: place.corrupt,
            frame: self.frames.front_mut()?,
        })
    }

    #[cold]
    #[inline(never)]
    fn late_due(&mut self, now: Instant) -> Option<Due<'_, F>> {
        let Reverse((.., place)) = *self.overtaken.peek()?;
        let late = self.late.get_mut(place)?.as_mut()?;
        (late.at <= now).then_some(Due {
            mark: late.mark,
            corrupt: late.corrupt,
            frame: &mut late.frame,
        })
    }

    /// Drops the frame that is next.
    #[inline]
    pub fn remove(&mut self) {
        self.count.delivered += 1;
        if self.next_is_late() {
            self.take_late();
        } else {
            self.line.pop_front();
            self.frames.pop_front();
        }
    }

    #[cold]
    #[inline(never)]
    fn take_late(&mut self) -> Option<Frame<F>> {
        let Reverse((.., place)) = self.overtaken.pop()?;
        self.free.push(place);
        self.late.get_mut(place)?.take()
    }

    /// Whether the next frame is one of those that others may overtake.
    #[inline]
    fn next_is_late(&self) -> bool {
        !self.overtaken.is_empty() && self.late_is_before_line()
    }

    #[cold]
    #[inline(never)]
    fn late_is_before_line(&self) -> bool {
        let Some(Reverse((at, number, _))) = self.overtaken.peek() else {
            return false;
        };
        let line = self.line.front().map(|place| (place.at, place.number));
        line.is_none_or(|line| (*at, *number) < line)
    }

    /// Takes out the next frame that is due at `now`.
    pub fn poll(&mut self, now: Instant) -> Option<Frame<F>> {
        if self.next_time()? > now {
            return None;
        }
        self.count.delivered += 1;
        if self.next_is_late() {
            return self.take_late();
        }
        let (place, frame) = (self.line.pop_front()?, self.frames.pop_front()?);
        Some(Frame {
            at: place.at,
            mark: place.mark,
            corrupt: place.corrupt,
            frame,
        })
    }

    /// A frame's bytes count in [`Way::sample`] until its last bit has left: say so before the first frame.
    pub(crate) fn count_whole(&mut self) {
        self.counts_whole = true;
        if let Some(fifo) = &mut self.fifo {
            fifo.count_whole();
        }
    }

    /// Its queue's extremes will be sampled: say so before the first frame. Nobody else pays for them.
    pub(crate) fn watch(&mut self) {
        match &mut self.fifo {
            Some(fifo) => fifo.watch(),
            None => {
                let depth = &mut self.depth;
                depth.get_or_insert_with(|| Box::new(Depth::new(None)));
            }
        }
    }

    /// The bytes of its queue, and the fewest and the most since the last call; `None` if it has no rate, or is not
    /// watched.
    pub(crate) fn take_extremes(&mut self, now: Instant) -> Option<[u64; 3]> {
        self.fifo.as_mut()?.take_extremes(now)
    }

    /// The first values of [`LINK_SERIES`](tcplab_plan::outcome::LINK_SERIES) at `now`; `len` gives the bytes of a
    /// frame. Costs O(frames on their way): what is not asked for costs nothing.
    pub fn sample(&self, now: Instant, len: impl Fn(&F) -> usize) -> [i64; 3] {
        let (pkts, bytes) = match &self.fifo {
            Some(fifo) => fifo.holds(now),
            None => (0, 0),
        };
        let in_line = self.line.iter().map(|place| place.at).zip(&self.frames);
        let late = self
            .late
            .iter()
            .flatten()
            .map(|late| (late.at, &late.frame));
        let coming: i64 = in_line
            .chain(late)
            .filter(|(at, _)| *at > now)
            .map(|(_, frame)| len(frame) as i64)
            .sum();
        let delivered = self.count.bytes as i64 + self.more_bytes - coming;
        [pkts, bytes, delivered]
    }

    /// Frames that have entered and not come out.
    pub fn on_the_way(&self) -> usize {
        self.line.len() + self.overtaken.len()
    }

    /// The applications have ended.
    pub(crate) fn programs_end(&mut self, now: Instant) {
        if let Some(fifo) = &mut self.fifo {
            fifo.programs_end(now);
        }
        if let Some(depth) = &mut self.depth {
            depth.ends(now);
        }
    }

    /// How long its queue was until `now`, by time; none: it has no rate, or nobody asked for it.
    pub fn depth(&self, now: Instant) -> Option<QueueCount> {
        self.fifo.as_ref()?.depth(now)
    }

    /// What it has done so far.
    pub fn count(&self) -> WayCount {
        self.count
    }
}
