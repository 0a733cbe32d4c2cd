//! One direction of a link with the qdisc of the interface that sends into it.
//!
//! Without a qdisc, frames enter the [`Way`] at once and wait in its FIFO. With one, they wait in the qdisc, and the
//! wire takes the next when the last bit of the previous one has left. Losses and delays belong to the wire, behind
//! the qdisc.

mod change;

pub use change::{ChangeError, Changed};

use tcplab_base::Instant;
use tcplab_plan::outcome::{QueueCount, WayCount};
use tcplab_plan::point::{Direction, Inject};
use tcplab_qdisc::{Dequeued, Device, Packet, Qdisc, QdiscCount, Settings};
use tcplab_wire::{
    Config, LinkType, Parsed, Standing, SuperFrame, TcpPacket, parse_frame, set_tcp,
};

use crate::depth::Depth;
use crate::kind::Kind;
use crate::middlebox::Middlebox;
use crate::way::{Due, Entered, Frame, Way};

/// Listed frames and outages without effect that are told one by one.
const MOST_TOLD: usize = 10;

/// A frame that can wait in a qdisc.
pub trait Payload: Packet + Clone {
    /// What listed events of the wire count it as.
    fn kind(&self) -> Kind;

    /// The TCP segment in it, as a middle box sees it; middle boxes pass on what gives none.
    fn tcp(&self) -> Option<TcpPacket> {
        None
    }

    /// Another header and length for this segment; addresses and ports stay.
    fn set_tcp(&mut self, packet: &TcpPacket) {
        let _ = packet;
    }
}

impl Payload for Vec<u8> {
    fn kind(&self) -> Kind {
        Kind::of_ethernet(self)
    }

    fn tcp(&self) -> Option<TcpPacket> {
        let length = u32::try_from(self.len()).ok()?;
        match parse_frame(LinkType::Ethernet, self, length, &Config::default()) {
            Parsed::Tcp(packet) if packet.standing == Standing::Whole => Some(packet),
            _ => None,
        }
    }

    fn set_tcp(&mut self, packet: &TcpPacket) {
        // What was read fits: rules make no header longer.
        let _ = set_tcp(self, packet);
    }
}

impl Payload for SuperFrame {
    fn kind(&self) -> Kind {
        Kind::of_ethernet(self.bytes())
    }
}

/// The interface of this wire, as its qdisc knows it.
fn device(way: &Direction, mtu: u32) -> Device {
    Device {
        rate_bps: way.rate_bps,
        overhead: way.overhead,
        ..Device::new(mtu)
    }
}

/// A qdisc and a wire.
#[derive(Clone, Debug)]
pub struct Line<F> {
    way: Way<F>,
    queue: Option<Box<Queue<F>>>,
    /// What was counted before the qdisc was replaced.
    past: Option<Box<change::Past>>,
    /// What looks into segments before they enter.
    middlebox: Option<Box<Middlebox<F>>>,
    /// Frames go into the way as they come.
    is_plain: bool,
    /// When the run starts.
    start: Instant,
}

#[derive(Clone, Debug)]
struct Queue<F> {
    qdisc: Qdisc<F>,
    settings: Settings,
    device: Device,
    /// When the wire asks for the next frame; none: when one comes.
    wakes: Option<Instant>,
    entered: WayCount,
    /// Bytes of the frame that the wire took last.
    on_wire: u64,
    /// How long it was how long, where that is asked for.
    depth: Option<Box<Depth>>,
    /// When the run starts: the qdisc's clock counts from here. It may count in units of 1,024 ns, so where it begins
    /// decides ties, on every stack alike.
    start: Instant,
}

impl<F: Payload> Queue<F> {
    fn new(settings: &Settings, device: Device, (seed, name): (u64, &str)) -> Self {
        Self {
            qdisc: Qdisc::new(settings, device, seed, &format!("{name}/qdisc")),
            settings: settings.clone(),
            device,
            wakes: None,
            entered: WayCount::default(),
            on_wire: 0,
            depth: None,
            start: Instant::default(),
        }
    }
}

impl<F: Payload> Queue<F> {
    /// The qdisc's time.
    fn clock(&self, now: Instant) -> Instant {
        let since = now.since(self.start).as_nanos();
        Instant::from_nanos(since.max(0))
    }

    /// When it is that by the qdisc's time.
    fn at(&self, clock: Instant) -> Instant {
        self.start + clock.since(Instant::default())
    }

    /// The wire is free, and takes nothing.
    fn stands(&mut self, now: Instant) {
        if let Some(depth) = &mut self.depth {
            depth.set(now, self.qdisc.stats().backlog);
        }
    }
}

impl<F: Payload> Line<F> {
    /// The line of this direction of a link with this MTU. Its random streams are those of a [`Way`], and
    /// `NAME/qdisc`.
    pub fn new(way: &Direction, mtu: u32, seed: u64, name: &str) -> Self {
        let queue = way.queue.as_ref();
        let device = device(way, mtu);
        let depth = (way.queue_from_ns).map(|settle| Box::new(Depth::new(Some(settle))));
        let queue = queue.map(|settings| Queue {
            depth,
            ..Queue::new(settings, device, (seed, name))
        });
        Self {
            way: Way::new(way, seed, name),
            queue: queue.map(Box::new),
            past: None,
            middlebox: None,
            is_plain: true,
            start: Instant::default(),
        }
        .with_middlebox(way)
    }

    fn with_middlebox(mut self, way: &Direction) -> Self {
        self.middlebox = Middlebox::of(way);
        self.is_plain = self.middlebox.is_none() && self.queue.is_none();
        self
    }

    /// The run starts at this time: outages count from it.
    pub fn begin(&mut self, start: Instant) {
        self.way.begin(start);
        self.start = start;
        let Some(queue) = &mut self.queue else {
            return;
        };
        queue.start = start;
        if let Some(depth) = &mut queue.depth {
            depth.begin(start);
        }
    }

    /// A frame's bytes count in [`Line::holds`] until its last bit has left, in a line without a qdisc too: say so before
    /// the first frame.
    pub fn count_whole(&mut self) {
        self.way.count_whole();
    }

    /// Its queue's extremes will be sampled: say so before the first frame. Nobody else pays for them.
    pub fn watch(&mut self) {
        match &mut self.queue {
            None => self.way.watch(),
            Some(queue) => {
                let depth = &mut queue.depth;
                depth.get_or_insert_with(|| Box::new(Depth::new(None)));
            }
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
        match self.is_plain {
            true => self.way.enter(now, bytes, kind, frame),
            false => self.look_into(now, bytes, frame),
        }
    }

    /// A middle box sees the frame, then it enters.
    #[cold]
    #[inline(never)]
    fn look_into(&mut self, now: Instant, bytes: usize, mut frame: F) -> Entered {
        let Some(middlebox) = &mut self.middlebox else {
            return self.enqueue(now, bytes, frame);
        };
        if !middlebox.passes(&mut frame) {
            self.way.loses(bytes);
            if let Some(queue) = &mut self.queue {
                queue.entered.frames += 1;
                queue.entered.bytes += bytes as u64;
            }
            return Entered::Lost;
        }
        self.goes_in(now, frame)
    }

    /// A frame enters the qdisc, or the wire's own FIFO.
    fn goes_in(&mut self, now: Instant, frame: F) -> Entered {
        let bytes = frame.size() as usize;
        if self.queue.is_some() {
            return self.enqueue(now, bytes, frame);
        }
        let kind = match self.way.asks_kind() {
            true => frame.kind(),
            false => Kind::default(),
        };
        self.way.enter(now, bytes, || kind, frame)
    }

    /// Segments that nobody sent enter behind the middle box: one for each connection that has passed.
    pub(crate) fn inject(&mut self, now: Instant, inject: &Inject) {
        let frames = self.middlebox.as_mut().map(|it| it.inject(inject));
        for frame in frames.into_iter().flatten() {
            self.goes_in(now, frame);
        }
    }

    #[cold]
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, bytes: usize, frame: F) -> Entered {
        self.advance(now);
        let Some(queue) = &mut self.queue else {
            return Entered::Lost;
        };
        queue.entered.frames += 1;
        queue.entered.bytes += bytes as u64;
        let accepted = queue.qdisc.enqueue(queue.clock(now), frame);
        let peak = &mut queue.entered.peak_pkts;
        *peak = (*peak).max(queue.qdisc.stats().qlen);
        self.take(now);
        match accepted {
            true => Entered::Accepted,
            false => Entered::QueueFull,
        }
    }

    /// Moves frames from the qdisc to the wire, each at its time, up to `now`.
    fn advance(&mut self, now: Instant) {
        while let Some(at) = self.wakes().filter(|at| *at <= now) {
            self.take(at);
        }
    }

    fn wakes(&self) -> Option<Instant> {
        self.queue.as_ref().and_then(|queue| queue.wakes)
    }

    /// The wire takes what it can at `now`.
    fn take(&mut self, now: Instant) {
        let Some(queue) = &mut self.queue else { return };
        loop {
            if let Some(free) = self.way.busy_until(now) {
                queue.wakes = (queue.qdisc.stats().qlen > 0).then_some(free);
                if let Some(depth) = &mut queue.depth {
                    let waiting = queue.qdisc.stats().backlog;
                    depth.set_until(now, waiting + queue.on_wire, (free, waiting));
                }
                return;
            }
            match queue.qdisc.dequeue(queue.clock(now)) {
                Dequeued::Packet(frame) => {
                    let kind = match self.way.asks_kind() {
                        true => frame.kind(),
                        false => Kind::default(),
                    };
                    let bytes = frame.size() as usize;
                    queue.on_wire = bytes as u64;
                    if self.way.enter(now, bytes, || kind, frame) == Entered::Lost {
                        // It was sent all the same.
                        self.way.occupy(now, bytes);
                    }
                }
                Dequeued::Wait(at) => {
                    queue.wakes = Some(queue.at(at));
                    queue.stands(now);
                    return;
                }
                Dequeued::Empty => {
                    queue.wakes = None;
                    queue.stands(now);
                    return;
                }
            }
        }
    }

    /// When the next frame comes out, or is to be taken from the qdisc.
    #[inline]
    pub fn next_time(&self) -> Option<Instant> {
        match self.queue.is_some() {
            false => self.way.next_time(),
            true => self.next_of_both(),
        }
    }

    #[cold]
    #[inline(never)]
    fn next_of_both(&self) -> Option<Instant> {
        let times = [self.way.next_time(), self.wakes()];
        times.into_iter().flatten().min()
    }

    /// The next frame that is due at `now`, still in the way: [`Line::remove`] takes it out.
    #[inline]
    pub fn due(&mut self, now: Instant) -> Option<Due<'_, F>> {
        if self.queue.is_some() {
            self.advance(now);
        }
        self.way.due(now)
    }

    /// Drops the frame that is next.
    #[inline]
    pub fn remove(&mut self) {
        self.way.remove();
    }

    /// Takes out the next frame that is due at `now`.
    pub fn poll(&mut self, now: Instant) -> Option<Frame<F>> {
        self.advance(now);
        self.way.poll(now)
    }

    /// The values of [`LINK_SERIES`](tcplab_plan::outcome::LINK_SERIES) at `now`; `len` gives the bytes of a frame. The
    /// extremes are those since the last sample, at each packet, of a line that is [watched](Line::watch); of others,
    /// of this moment.
    pub fn sample(&mut self, now: Instant, len: impl Fn(&F) -> usize) -> [i64; 5] {
        let [pkts, bytes, delivered] = self.holds(now, len);
        let watched = match &mut self.queue {
            None => self.way.take_extremes(now),
            Some(queue) => {
                let depth = queue.depth.as_mut();
                depth.map(|depth| depth.take_extremes(now))
            }
        };
        let [bytes, least, most] = watched.map_or([bytes; 3], |watched| watched.map(|n| n as i64));
        [pkts, bytes, delivered, least, most]
    }

    /// The first values of [`LINK_SERIES`](tcplab_plan::outcome::LINK_SERIES) at `now`: frames and bytes in the queue, and
    /// bytes that came out; `len` gives the bytes of a frame. Nobody sees that it was asked.
    pub fn holds(&self, now: Instant, len: impl Fn(&F) -> usize) -> [i64; 3] {
        let [mut pkts, mut bytes, delivered] = self.way.sample(now, len);
        if let Some(queue) = &self.queue {
            let stats = queue.qdisc.stats();
            pkts += i64::from(stats.qlen);
            bytes += stats.backlog as i64;
        }
        [pkts, bytes, delivered]
    }

    /// Frames that have left the queue, and not come out.
    pub fn on_the_way(&self) -> usize {
        self.way.on_the_way()
    }

    /// The applications have ended: from now on the queue's depth counts until the queue is empty.
    pub fn programs_end(&mut self, now: Instant) {
        match &mut self.queue {
            None => self.way.programs_end(now),
            Some(queue) => {
                if let Some(depth) = &mut queue.depth {
                    depth.ends(now);
                }
            }
        }
    }

    /// How long its queue was until `now` by time, the frame on the wire included; none: nobody asked for it, or there is
    /// no queue.
    pub fn depth(&self, now: Instant) -> Option<QueueCount> {
        match &self.queue {
            None => self.way.depth(now),
            Some(queue) => queue.depth.as_ref()?.until(now),
        }
    }

    /// What it has done so far.
    pub fn count(&self) -> WayCount {
        let wire = self.way.count();
        let count = match &self.queue {
            None => wire,
            Some(queue) => WayCount {
                queue_drops: queue.qdisc.stats().drops + wire.queue_drops,
                delivered: wire.delivered,
                lost: wire.lost,
                ..queue.entered
            },
        };
        match &self.past {
            None => count,
            Some(past) => past.and(count),
        }
    }

    /// What was set for before `now` and changed nothing, a line for each, and one for those beyond ten; `place`: the
    /// line's.
    pub fn unreached(&self, place: &str, now: Instant) -> Vec<String> {
        let mut found = self.way.unreached(place, now);
        let more = found.len().saturating_sub(MOST_TOLD);
        if more > 0 {
            found.truncate(MOST_TOLD);
            found.push(format!(
                "{place}: {more} more listed frames and outages changed nothing"
            ));
        }
        let middlebox = self.middlebox.as_ref();
        let inject = middlebox.and_then(|it| it.injected_nothing).map(|inject| {
            let at = inject.at_ns as f64 / 1e9;
            format!("{place}.inject: no connection had passed before {at} s, so nothing was injected then")
        });
        found.extend(inject);
        found
    }

    /// The counters of its qdisc; `None` without a qdisc.
    pub fn qdisc(&self) -> Option<QdiscCount> {
        self.queue.as_ref().map(|queue| queue.qdisc.report())
    }

    /// The counters of all qdiscs that it had; what has no sum is that of the last.
    pub fn qdiscs(&self) -> Option<QdiscCount> {
        let earlier = self.past.as_ref().and_then(|past| past.qdiscs.as_ref());
        match (self.qdisc(), earlier) {
            (Some(mut now), Some(earlier)) => {
                now.add_earlier(earlier);
                Some(now)
            }
            (now, earlier) => now.or_else(|| earlier.cloned()),
        }
    }
}
