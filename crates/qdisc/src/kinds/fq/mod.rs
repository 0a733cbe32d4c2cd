//! `fq` (sch_fq.c): flows take turns, each packet leaves no earlier than its time of departure, each flow keeps to a rate.
//!
//! DEVIATION: times are nanoseconds where the kernel counts jiffies (refill delay, age of flows); sockets have no pacing
//! rate of their own (TCP's is in its packets' times); flows are looked up in one tree.

mod flows;
mod settings;

pub use settings::Settings;

use std::collections::{BTreeSet, VecDeque};

use tcplab_base::{Duration, Instant, Random};

use crate::discipline::{Configure, Discipline, Field, Named, named};
use crate::packet::Packet;
use crate::qdisc::{Dequeued, Device};
use crate::stats::Stats;
use crate::timed::Timed;
use flows::{Flows, Place};

/// What it counts.
#[derive(Clone, Copy, Debug, Default)]
struct Own {
    /// Flows that are known.
    flows: u32,
    /// Flows without packets.
    inactive: u32,
    /// Flows forgotten.
    gc: u64,
    /// Packets of the highest priority.
    highprio: u64,
    /// How often a flow had to wait for its time.
    throttled: u64,
    /// Nanoseconds that flows were late, as a moving mean.
    latency: u64,
    /// Packets that passed `ce_threshold`; those that cannot be marked are counted too.
    ce_mark: u64,
    /// Packets dropped at the limit of their flow.
    flows_plimit: u64,
    /// Packets that would have taken more than a second.
    pkts_too_long: u64,
    /// Packets dropped beyond the horizon.
    horizon_drops: u64,
    /// Packets brought to the horizon.
    horizon_caps: u64,
}

/// `struct tc_fq_qd_stats`.
const COUNTERS: [Field<Own>; 11] = [
    ("gc", 0, 8, |own| own.gc),
    ("highprio", 8, 8, |own| own.highprio),
    ("throttled", 24, 8, |own| own.throttled),
    ("flows_plimit", 32, 8, |own| own.flows_plimit),
    ("pkts_too_long", 40, 8, |own| own.pkts_too_long),
    ("flows", 64, 4, |own| own.flows.into()),
    ("inactive", 68, 4, |own| own.inactive.into()),
    ("latency", 76, 4, |own| own.latency),
    ("ce_mark", 80, 8, |own| own.ce_mark),
    ("horizon_drops", 88, 8, |own| own.horizon_drops),
    ("horizon_caps", 96, 8, |own| own.horizon_caps),
];

/// The qdisc.
#[derive(Clone, Debug)]
pub(crate) struct Fq<P> {
    settings: Settings,
    quantum: i32,
    initial_quantum: i32,
    flows: Flows<P>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// Flows that wait for their time, by it and then by the order in which they began to wait.
    delayed: BTreeSet<(Instant, u64, u32)>,
    next_delayed: Option<Instant>,
    /// Packets of the highest priority: they pass all others.
    internal: Timed<P>,
    /// The time when it was last looked at.
    now: Instant,
    stats: Stats,
    own: Own,
    key: u64,
}

/// `TC_PRIO_CONTROL`.
const CONTROL: u8 = 7;
const SECOND: u64 = 1_000_000_000;

impl<P: Packet> Configure<Settings> for Fq<P> {
    fn new(settings: &Settings, device: Device, seed: u64, name: &str) -> Self {
        let mut fq = Self {
            settings: *settings,
            quantum: 0,
            initial_quantum: 0,
            flows: Flows::default(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            delayed: BTreeSet::new(),
            next_delayed: None,
            internal: Timed::default(),
            now: Instant::from_nanos(0),
            stats: Stats::default(),
            own: Own::default(),
            key: Random::stream(seed, name).below(u64::MAX),
        };
        fq.set(settings, device.frame());
        fq
    }

    /// Other settings; what is beyond the limit is dropped.
    fn change(&mut self, settings: &Settings, device: Device) -> bool {
        self.set(settings, device.frame());
        while self.stats.qlen > self.settings.limit {
            let packet = self.internal.pop().or_else(|| self.flows.pop_any());
            let Some(packet) = packet else { break };
            self.stats.takes(packet.size());
            self.stats.drops(packet.size());
        }
        true
    }
}

impl<P: Packet> Discipline<P> for Fq<P> {
    fn enqueue(&mut self, now: Instant, packet: P) -> bool {
        let len = packet.size();
        if self.stats.qlen >= self.settings.limit {
            self.stats.drops(len);
            return false;
        }
        let Some(at) = self.time_to_send(now, &packet) else {
            self.own.horizon_drops += 1;
            self.stats.drops(len);
            return false;
        };
        if packet.priority() & 15 == CONTROL {
            self.own.highprio += 1;
            self.stats.enters(len);
            self.internal.push(at, packet);
            return true;
        }
        let n = self.classify(now, &packet);
        let flow = self.flows.get_mut(n);
        if flow.queue.len() as u64 >= u64::from(self.settings.flow_limit) {
            self.own.flows_plimit += 1;
            self.stats.drops(len);
            return false;
        }
        self.stats.enters(len);
        if let Place::Detached(since) = flow.place {
            let idle = now.since(since).as_nanos() / 1_000;
            if idle > i64::from(self.settings.refill_delay_us) {
                // The kernel compares as unsigned: a flow in debt stays there.
                flow.credit = (flow.credit as u32).max(self.quantum as u32) as i32;
            }
            flow.place = Place::Listed;
            self.new.push_back(n);
            self.flows.inactive -= 1;
        }
        self.flows.get_mut(n).queue.push(at, packet);
        true
    }

    fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
        if self.stats.qlen == 0 {
            return Dequeued::Empty;
        }
        if let Some(packet) = self.internal.pop() {
            return self.leaves(packet);
        }
        self.now = now;
        self.check_throttled(now);
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let Some(n) = list.front().copied() else {
                // The kernel's timer fires at the end of its slack when nothing else wakes it.
                let slack = Duration::from_nanos(i64::from(self.settings.timer_slack_ns));
                let next = self.next_delayed.map(|at| at + slack);
                return next.map_or(Dequeued::Empty, Dequeued::Wait);
            };
            let flow = self.flows.get_mut(n);
            if flow.credit <= 0 {
                flow.credit = flow.credit.saturating_add(self.quantum);
                list.pop_front();
                self.old.push_back(n);
                continue;
            }
            let Some(first) = flow.queue.first() else {
                list.pop_front();
                self.ran_dry(n, is_new, now);
                continue;
            };
            let at = flow.next.map_or(first, |next| next.max(first));
            if now < at {
                list.pop_front();
                self.throttle(n, at);
                continue;
            }
            let Some(packet) = self.take(n, at, now) else {
                continue;
            };
            return self.leaves(packet);
        }
    }

    fn stats(&self) -> Stats {
        self.stats
    }

    fn own(&self) -> Named {
        let own = Own {
            flows: self.flows.len(),
            inactive: self.flows.inactive,
            ..self.own
        };
        named(&COUNTERS, &own)
    }
}

impl<P: Packet> Fq<P> {
    fn set(&mut self, settings: &Settings, frame: u32) {
        const MOST: u32 = 1 << 20;
        let frame = frame.clamp(1, MOST);
        self.settings = *settings;
        self.quantum = settings.quantum.unwrap_or((2 * frame).min(MOST)) as i32;
        self.initial_quantum = settings.initial_quantum.unwrap_or((10 * frame).min(MOST)) as i32;
    }

    /// When a packet may leave; none: beyond the horizon.
    fn time_to_send(&mut self, now: Instant, packet: &P) -> Option<Instant> {
        let Some(at) = packet.departure() else {
            self.now = now;
            return Some(now);
        };
        let horizon = Duration::from_micros(i64::from(self.settings.horizon_us));
        // The time of the last look is good enough when it lets the packet pass.
        if at <= self.now + horizon {
            return Some(at);
        }
        self.now = now;
        if at <= now + horizon {
            return Some(at);
        }
        if self.settings.horizon_drop {
            return None;
        }
        self.own.horizon_caps += 1;
        Some(now + horizon)
    }

    fn classify(&mut self, now: Instant, packet: &P) -> u32 {
        let key = match packet.socket() {
            Some(socket) => socket << 1,
            None => {
                let hash = packet.flow_keys().hash(self.key) & self.settings.orphan_mask;
                u64::from(hash) << 1 | 1
            }
        };
        self.own.gc += u64::from(self.flows.collect(key, now, self.settings.buckets_log));
        self.flows.find(key, now, self.initial_quantum)
    }

    /// A flow whose turn it is has no packet: a new one passes through the old ones, lest it starve them.
    fn ran_dry(&mut self, n: u32, is_new: bool, now: Instant) {
        if is_new && !self.old.is_empty() {
            self.old.push_back(n);
        } else {
            self.flows.get_mut(n).place = Place::Detached(now);
            self.flows.inactive += 1;
        }
    }

    fn throttle(&mut self, n: u32, at: Instant) {
        self.own.throttled += 1;
        let flow = self.flows.get_mut(n);
        (flow.next, flow.place) = (Some(at), Place::Throttled);
        self.delayed.insert((at, self.own.throttled, n));
        self.next_delayed = Some(self.next_delayed.map_or(at, |next| next.min(at)));
    }

    /// Flows whose time has come go to the end of the old ones (`fq_check_throttled()`).
    fn check_throttled(&mut self, now: Instant) {
        let Some(next) = self.next_delayed.filter(|next| *next <= now) else {
            return;
        };
        let sample = now.since(next).as_nanos() as u64;
        let mean = &mut self.own.latency;
        *mean = *mean - (*mean >> 3) + (sample >> 3);
        self.next_delayed = None;
        while let Some((at, _, n)) = self.delayed.first().copied() {
            if at > now {
                self.next_delayed = Some(at);
                break;
            }
            self.delayed.pop_first();
            self.flows.get_mut(n).place = Place::Listed;
            self.old.push_back(n);
        }
    }

    /// The first packet of a flow, which could leave at `at`; the time of the next follows from the flow's rate.
    fn take(&mut self, n: u32, at: Instant, now: Instant) -> Option<P> {
        let flow = self.flows.get_mut(n);
        let mut packet = flow.queue.pop()?;
        let late = now.since(at).as_nanos();
        if late > i64::from(self.settings.ce_threshold_us) * 1_000 {
            packet.set_ce();
            self.own.ce_mark += 1;
        }
        let len = packet.size();
        flow.credit = flow.credit.saturating_sub_unsigned(len);
        if !self.settings.pacing {
            return Some(packet);
        }
        let mut bytes = len;
        if packet.departure().is_none() {
            let rate = self.settings.max_rate.unwrap_or(u64::MAX);
            if rate <= u64::from(self.settings.low_rate_threshold) {
                flow.credit = 0;
            } else {
                bytes = bytes.max(self.quantum as u32);
                if flow.credit > 0 {
                    return Some(packet);
                }
            }
        }
        if let Some(rate) = self.settings.max_rate {
            let mut time = u64::from(bytes) * SECOND / rate;
            if time > SECOND {
                time = SECOND;
                self.own.pkts_too_long += 1;
            }
            // It may have left late: the next one makes up for it.
            if let Some(next) = flow.next {
                let late = now.since(next).as_nanos().max(0) as u64;
                time -= late.min(time / 2);
            }
            flow.next = Some(now + Duration::from_nanos(time as i64));
        }
        Some(packet)
    }

    fn leaves(&mut self, packet: P) -> Dequeued<P> {
        let len = packet.size();
        self.stats.takes(len);
        self.stats.leaves(len);
        Dequeued::Packet(packet)
    }
}
