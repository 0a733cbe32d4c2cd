//! `red` (sch_red.c, red.h): packets are marked or dropped at random by the mean length of the queue, in bytes.

mod average;
mod netlink;
mod settings;

pub use settings::Settings;

use tcplab_base::{Duration, Instant, Random};

use crate::discipline::{Configure, Discipline, Field, Named, named};
use crate::kinds::fifo::{Fifo, Limit};
use crate::packet::Packet;
use crate::qdisc::{Dequeued, Device};
use crate::stats::Stats;
use average::Average;

/// What it counts.
#[derive(Clone, Copy, Debug, Default)]
struct Own {
    /// Packets marked.
    marked: u32,
    /// Packets dropped by the mean.
    early: u32,
    /// Packets dropped at the limit.
    pdrop: u32,
}

/// `struct tc_red_xstats`.
const COUNTERS: [Field<Own>; 3] = [
    ("early", 0, 4, |own| own.early.into()),
    ("pdrop", 4, 4, |own| own.pdrop.into()),
    ("marked", 12, 4, |own| own.marked.into()),
];

/// The qdisc.
#[derive(Clone, Debug)]
pub(crate) struct Red<P> {
    settings: Settings,
    average: Average,
    chance: Chance,
    queue: Fifo<P>,
    early: Stats,
    own: Own,
    draws: Random,
}

/// What is to be done with a packet that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    /// By chance.
    Early,
    /// The mean is above the maximum.
    Forced,
}

/// The chance at the maximum, and the draw that decides on the next mark.
#[derive(Clone, Copy, Debug)]
struct Chance {
    max_p: u32,
    /// Of each byte above the minimum, in parts of 2^32.
    by_byte: u32,
    /// Packets since the last mark; -1: the mean is not between the thresholds.
    packets: i64,
    drawn: u32,
    /// When it is adapted next; none: no packet has come.
    next: Option<Instant>,
}

impl Chance {
    fn new(settings: &Settings) -> Self {
        Self {
            max_p: settings.max_p,
            by_byte: (settings.max_p / delta(settings)).max(1),
            packets: -1,
            drawn: 0,
            next: None,
        }
    }
}

/// Bytes between the thresholds.
fn delta(settings: &Settings) -> u32 {
    (settings.max - settings.min).max(1)
}

/// Time from one adaptation to the next (`red_adaptative_timer()`).
const ADAPT: Duration = Duration::from_millis(500);
/// After so many of them without a packet, the chance is at one of its ends.
const MOST_ADAPTATIONS: u32 = 1_000;
/// `RED_ONE_PERCENT`, and the bounds of an adapted chance.
const PERCENT: u32 = 42_949_673;
const MAX_P_MIN: u32 = PERCENT;
const MAX_P_MAX: u32 = 50 * PERCENT;

impl<P: Packet> Configure<Settings> for Red<P> {
    fn new(settings: &Settings, _device: Device, seed: u64, name: &str) -> Self {
        Self {
            average: Average::new(settings),
            chance: Chance::new(settings),
            queue: Fifo::new(Limit::Bytes(settings.limit)),
            early: Stats::default(),
            own: Own::default(),
            draws: Random::stream(seed, name),
            settings: settings.clone(),
        }
    }

    /// Other settings. The kernel makes a new queue for them: what waits is dropped.
    fn change(&mut self, settings: &Settings, _device: Device) -> bool {
        self.average = Average::new(settings);
        self.chance = Chance::new(settings);
        self.settings = settings.clone();
        self.queue.set_limit(Limit::Bytes(settings.limit));
        self.queue.clear();
        true
    }
}

impl<P: Packet> Discipline<P> for Red<P> {
    fn enqueue(&mut self, now: Instant, mut packet: P) -> bool {
        if self.settings.adaptive {
            self.adapt(now);
        }
        self.average.on_packet(now, self.queue.stats.backlog);
        let verdict = self.verdict();
        let may_pass = verdict == Verdict::Pass || {
            self.early.overlimits += 1;
            let hard = verdict == Verdict::Forced && self.settings.harddrop;
            self.settings.ecn && !hard && self.mark(&mut packet)
        };
        if !may_pass {
            self.own.early += 1;
            self.early.drops(packet.size());
            return false;
        }
        let fits = self.queue.push(packet);
        self.own.pdrop += u32::from(!fits);
        fits
    }

    fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
        match self.queue.pop() {
            Some(packet) => Dequeued::Packet(packet),
            None => {
                self.average.idle(now);
                Dequeued::Empty
            }
        }
    }

    fn stats(&self) -> Stats {
        let queue = self.queue.stats;
        Stats {
            drops: queue.drops + self.early.drops,
            dropped_bytes: queue.dropped_bytes + self.early.dropped_bytes,
            overlimits: self.early.overlimits,
            ..queue
        }
    }

    fn own(&self) -> Named {
        named(&COUNTERS, &self.own)
    }
}

impl<P: Packet> Red<P> {
    /// Marks a packet; false: it cannot be marked, and is to be dropped.
    fn mark(&mut self, packet: &mut P) -> bool {
        let is_marked = packet.set_ce();
        self.own.marked += u32::from(is_marked);
        is_marked || self.settings.nodrop
    }

    /// `red_action()`.
    fn verdict(&mut self) -> Verdict {
        let mean = self.average.scaled();
        let [min, max] = [self.settings.min, self.settings.max].map(|at| self.average.scale(at));
        if mean < min || mean >= max {
            self.chance.packets = -1;
            return match mean < min {
                true => Verdict::Pass,
                false => Verdict::Forced,
            };
        }
        let chance = &mut self.chance;
        chance.packets += 1;
        let above = (mean - min) >> self.settings.wlog;
        let is_due = above.wrapping_mul(chance.packets as u64) >= u64::from(chance.drawn);
        if chance.packets > 0 && !is_due {
            return Verdict::Pass;
        }
        // A uniform number up to 1 / the chance of each byte.
        chance.drawn = (self.draws.below(1 << 32) as u32) / chance.by_byte;
        match chance.packets {
            0 => Verdict::Pass,
            _ => {
                chance.packets = 0;
                Verdict::Early
            }
        }
    }

    /// What the kernel's timer has done since the last packet.
    fn adapt(&mut self, now: Instant) {
        let mut at = *self.chance.next.get_or_insert(now + ADAPT);
        let mut done = 0;
        while at <= now && done < MOST_ADAPTATIONS {
            self.adapt_once(at);
            at = at + ADAPT;
            done += 1;
        }
        self.chance.next = Some(if at <= now { now + ADAPT } else { at });
    }

    /// `red_adaptative_algo()` (Floyd, Gummadi, Shenker: Adaptive RED, 2001).
    fn adapt_once(&mut self, at: Instant) {
        let mean = self.average.at(at) >> self.settings.wlog;
        let fifth = u64::from(delta(&self.settings) / 5);
        let min = u64::from(self.settings.min);
        let chance = &mut self.chance;
        if mean > min + 3 * fifth && chance.max_p <= MAX_P_MAX {
            chance.max_p += MAX_P_MIN.min(chance.max_p / 4);
        } else if mean < min + 2 * fifth && chance.max_p >= MAX_P_MIN {
            chance.max_p = chance.max_p / 10 * 9;
        }
        let delta = delta(&self.settings);
        let rounded = (u64::from(chance.max_p) + u64::from(delta) / 2) / u64::from(delta);
        chance.by_byte = (rounded as u32).max(1);
    }
}
