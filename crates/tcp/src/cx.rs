//! What a call into an endpoint uses beside the endpoint's own state.

use tcplab_base::Instant;

use crate::host::HostConfig;
use crate::jiffies::Clock;
use crate::metrics::Metrics;
use crate::mib::{Counter, Mib};
use crate::segment::Segment;
use crate::timers::Wheel;

/// A time in the units that a host asks for many times a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick {
    now: Instant,
    since_boot_ns: u64,
    jiffies: u64,
}

impl Tick {
    fn new(clock: &Clock, now: Instant) -> Self {
        Self {
            now,
            since_boot_ns: (now.as_nanos() + clock.boot_ns) as u64,
            jiffies: clock.jiffies(now),
        }
    }
}

/// The time of the last call, and when its jiffy began: the next call is often in the same one, and which one it is
/// takes a division.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    last: Tick,
    began: Instant,
}

impl Ticks {
    pub(crate) fn new(clock: &Clock, now: Instant) -> Self {
        let last = Tick::new(clock, now);
        let began = clock.time_of(last.jiffies);
        Self { last, began }
    }

    #[inline]
    pub(crate) fn at(&mut self, clock: &Clock, now: Instant) -> Tick {
        let into = now.since(self.began).as_nanos();
        if (0..clock.tick_ns()).contains(&into) {
            self.last.now = now;
            self.last.since_boot_ns = (now.as_nanos() + clock.boot_ns) as u64;
        } else {
            self.moves(clock, now);
        }
        self.last
    }

    #[cold]
    #[inline(never)]
    fn moves(&mut self, clock: &Clock, now: Instant) {
        *self = Self::new(clock, now);
    }
}

/// The time, the host, and where segments and counts go. Every entry of [`Endpoint`](crate::Endpoint) takes one.
#[derive(Debug)]
pub struct Cx<'a> {
    /// Now; [`Cx::set_now`] moves it.
    pub(crate) now: Instant,
    /// The host's settings.
    pub host: &'a HostConfig,
    /// The host's counters.
    pub mib: &'a mut Mib,
    /// Segments that leave, in their order.
    pub out: &'a mut Vec<Segment>,
    /// How many of `out` there were when the socket's owner was told of news ([`Cx::tells`]).
    pub(crate) told: usize,
    /// What the host remembers of its peers.
    pub(crate) metrics: &'a mut Metrics,
    /// The host's timer wheel.
    pub(crate) wheel: &'a Wheel,
    tick: Tick,
}

impl<'a> Cx<'a> {
    #[inline]
    pub(crate) fn new(
        tick: Tick,
        host: &'a HostConfig,
        mib: &'a mut Mib,
        out: &'a mut Vec<Segment>,
        metrics: &'a mut Metrics,
        wheel: &'a Wheel,
    ) -> Self {
        Self {
            now: tick.now,
            host,
            mib,
            out,
            told: usize::MAX,
            metrics,
            wheel,
            tick,
        }
    }

    /// Another time from here on; gives the one before.
    pub(crate) fn set_now(&mut self, now: Instant) -> Instant {
        self.tick = Tick::new(&self.host.clock, now);
        std::mem::replace(&mut self.now, now)
    }

    /// Runs what does not read the clock again (`tcp_mstamp`): it acts as at an earlier time, in the tick that it is.
    pub(crate) fn at_mstamp(&mut self, since_boot_ns: u64, run: impl FnOnce(&mut Self)) {
        let (now, tick) = (self.now, self.tick);
        let stale = since_boot_ns.min(tick.since_boot_ns);
        self.tick.since_boot_ns = stale;
        self.now = Instant::from_nanos(stale as i64 - self.host.clock.boot_ns);
        run(self);
        (self.now, self.tick) = (now, tick);
    }

    /// `sk_data_ready()`, `sk_state_change()`: what leaves from here on comes after the news. Where a call does not say
    /// it, the news come last.
    #[inline]
    pub(crate) fn tells(&mut self) {
        self.told = self.out.len();
    }

    /// Counts one event.
    #[inline]
    pub fn count(&mut self, counter: Counter) {
        self.mib.add(counter, 1);
    }

    /// `tcp_jiffies32`.
    #[inline]
    pub fn jiffies32(&self) -> u32 {
        self.tick.jiffies as u32
    }

    /// The tick's number.
    #[inline]
    pub fn jiffies(&self) -> u64 {
        self.tick.jiffies
    }

    /// `ktime_get_seconds()`: whole seconds since boot.
    #[inline]
    pub fn seconds(&self) -> u32 {
        (self.tick.since_boot_ns / 1_000_000_000) as u32
    }

    /// `tcp_mstamp` in microseconds: time on virtual stacks does not move while a packet is handled.
    #[inline]
    pub fn now_us(&self) -> u64 {
        self.tick.since_boot_ns / 1000
    }

    /// `tcp_clock_cache`: the same in nanoseconds.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.tick.since_boot_ns
    }
}
