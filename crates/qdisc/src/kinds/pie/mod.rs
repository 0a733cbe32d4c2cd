//! `pie` (RFC 8033, sch_pie.c, pie.h): packets are dropped or marked as they come, by a chance that a controller adapts to
//! how long they wait.
//!
//! DEVIATION: the kernel's timer begins when the qdisc is made, ours with the first packet; and it stands still after the
//! last packet, because the counters are read without a time.

mod control;
mod settings;
mod timer;

pub use settings::Settings;

use std::collections::VecDeque;

use tcplab_base::{Instant, Random};

use crate::discipline::{Configure, Discipline, Field, Named, named};
use crate::packet::Packet;
use crate::qdisc::{Dequeued, Device};
use crate::stats::Stats;
use control::{Control, Params, SCALE, TICKS_PER_S, Ticks, ticks, to_us};
use timer::Timer;

/// What it counts (`struct pie_stats`).
#[derive(Clone, Copy, Debug, Default)]
struct Own {
    packets_in: u32,
    dropped: u32,
    overlimit: u32,
    ecn_mark: u32,
    maxq: u32,
}

/// `struct tc_pie_xstats`; the chance is in parts of 2^64.
const COUNTERS: [Field<(Control, Params, Own)>; 8] = [
    ("prob", 0, 8, |(control, ..)| control.chance << 8),
    ("delay", 8, 4, |(control, ..)| to_us(control.delay).into()),
    ("avg_dq_rate", 12, 4, |(control, params, _)| {
        rate(control, params).into()
    }),
    ("pkts_in", 20, 4, |(.., own)| own.packets_in.into()),
    ("dropped", 24, 4, |(.., own)| own.dropped.into()),
    ("overlimit", 28, 4, |(.., own)| own.overlimit.into()),
    ("maxq", 32, 4, |(.., own)| own.maxq.into()),
    ("ecn_mark", 36, 4, |(.., own)| own.ecn_mark.into()),
];

/// In bytes a second.
fn rate(control: &Control, params: &Params) -> u32 {
    match params.dq_rate_estimator {
        true => ((u64::from(control.rate) * TICKS_PER_S) >> SCALE) as u32,
        false => 0,
    }
}

/// After so many adaptations without a packet, further ones are left out: the chance of an empty queue is 0 by then.
const MOST_ADAPTATIONS: u32 = 20_000;

/// The qdisc.
#[derive(Clone, Debug)]
pub(crate) struct Pie<P> {
    settings: Settings,
    params: Params,
    control: Control,
    timer: Timer,
    /// With the times at which they came.
    queue: VecDeque<(Ticks, P)>,
    stats: Stats,
    own: Own,
    draws: Random,
}

impl<P: Packet> Configure<Settings> for Pie<P> {
    fn new(settings: &Settings, device: Device, seed: u64, name: &str) -> Self {
        Self {
            settings: *settings,
            params: Params::new(settings, device.frame()),
            control: Control::default(),
            timer: Timer::default(),
            queue: VecDeque::new(),
            stats: Stats::default(),
            own: Own::default(),
            draws: Random::stream(seed, name),
        }
    }

    /// Other settings; what is beyond the limit is dropped from the head.
    fn change(&mut self, settings: &Settings, device: Device) -> bool {
        self.settings = *settings;
        self.params = Params::new(settings, device.frame());
        while self.stats.qlen > settings.limit
            && let Some((_, packet)) = self.queue.pop_front()
        {
            self.stats.takes(packet.size());
            self.stats.drops(packet.size());
        }
        true
    }
}

impl<P: Packet> Discipline<P> for Pie<P> {
    fn enqueue(&mut self, now: Instant, mut packet: P) -> bool {
        self.adapt(now);
        let len = packet.size();
        if !self.admits(&mut packet, len) {
            self.own.dropped += 1;
            self.control.on_drop();
            self.stats.drops(len);
            return false;
        }
        self.own.packets_in += 1;
        self.own.maxq = self.own.maxq.max(self.stats.qlen);
        self.stats.enters(len);
        self.queue.push_back((ticks(now), packet));
        true
    }

    fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
        self.adapt(now);
        let Some((came, packet)) = self.queue.pop_front() else {
            return Dequeued::Empty;
        };
        let len = packet.size();
        self.stats.takes(len);
        self.stats.leaves(len);
        self.control
            .on_dequeue(&self.params, ticks(now), (came, len), self.stats.backlog);
        Dequeued::Packet(packet)
    }

    fn stats(&self) -> Stats {
        self.stats
    }

    fn own(&self) -> Named {
        named(&COUNTERS, &(self.control, self.params, self.own))
    }
}

impl<P: Packet> Pie<P> {
    /// Whether a packet may enter, marked if need be.
    fn admits(&mut self, packet: &mut P, len: u32) -> bool {
        if self.stats.qlen >= self.settings.limit {
            self.own.overlimit += 1;
            return false;
        }
        let backlog = self.stats.backlog;
        let control = &mut self.control;
        if !control.strikes(&self.params, backlog, len, &mut self.draws) {
            return true;
        }
        let is_marked = self.settings.ecn && control.may_mark() && packet.set_ce();
        self.own.ecn_mark += u32::from(is_marked);
        is_marked
    }

    /// What the kernel's timer has done since the last packet.
    fn adapt(&mut self, now: Instant) {
        let tupdate_us = self.settings.tupdate_us;
        for _ in 0..MOST_ADAPTATIONS {
            if !self.timer.takes(now, tupdate_us) {
                return;
            }
            self.control.adapt(&self.params, self.stats.backlog);
        }
        self.timer.skip(now, tupdate_us);
    }
}
