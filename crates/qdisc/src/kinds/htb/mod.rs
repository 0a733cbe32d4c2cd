//! `htb` (sch_htb.c) with one class, through which everything goes: the bucket of its rate, that of its ceiling, and the
//! qdisc that queues. With nobody to borrow from, it sends while both have tokens; these are nanoseconds.

mod settings;

pub use settings::Settings;

use tcplab_base::{Duration, Instant};

use crate::Kind;
use crate::count::QdiscCount;
use crate::discipline::{Configure, Discipline, Named};
use crate::netlink::{handle, number};
use crate::packet::Packet;
use crate::psched::Rate;
use crate::qdisc::{Dequeued, Device, Qdisc};
use crate::stats::Stats;

/// The class through which everything goes.
pub const CLASS: u32 = handle(1);

/// The counters of a kernel's htb, with those of its class's child and of the class itself (`struct
/// tc_htb_xstats`).
pub fn with_class(mut htb: QdiscCount, child: Option<QdiscCount>, xstats: &[u8]) -> QdiscCount {
    let child = child.unwrap_or_default();
    (htb.own, htb.tins) = (child.own, child.tins);
    htb.own.insert("lended".into(), number(xstats, 0, 4));
    htb
}

/// The qdisc.
#[derive(Clone, Debug)]
pub(crate) struct Htb<P> {
    child: Qdisc<P>,
    kind: Kind,
    rate: Bucket,
    ceil: Bucket,
    /// When tokens were counted last; none: never, the buckets are full.
    counted: Option<Instant>,
    mode: Mode,
    overlimits: u64,
    lended: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Send,
    /// The rate has no tokens: looked at again then.
    Borrow(Instant),
    /// Even the ceiling lacks tokens until this time.
    Cannot(Instant),
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    rate: Rate,
    depth: i64,
    tokens: i64,
}

/// Nanoseconds of a tick (`PSCHED_TICKS2NS`).
const TICK: i64 = 64;
/// Longest time that is counted (`mbuffer`).
const LONGEST: i64 = 60_000_000_000;

impl Bucket {
    fn new(rate: Rate, ticks: u32) -> Self {
        let depth = i64::from(ticks) * TICK;
        Self {
            rate,
            depth,
            tokens: depth,
        }
    }

    /// `htb_accnt_tokens()`.
    fn charge(&mut self, len: u32, gained: i64) {
        let tokens = (self.tokens + gained).min(self.depth) - self.rate.time(len);
        self.tokens = tokens.max(1 - LONGEST);
    }
}

impl<P: Packet> Configure<Settings> for Htb<P> {
    fn new(settings: &Settings, device: Device, seed: u64, name: &str) -> Self {
        Self {
            child: Qdisc::of_kind(&settings.child, device.shaped(settings.rate), seed, name),
            kind: (*settings.child).clone(),
            rate: Bucket::new(
                Rate::new(settings.rate, settings.link),
                settings.buffer_ticks,
            ),
            ceil: Bucket::new(
                Rate::new(settings.ceil, settings.link),
                settings.cbuffer_ticks,
            ),
            counted: None,
            mode: Mode::Send,
            overlimits: 0,
            lended: 0,
        }
    }

    /// Other settings; tokens stay. False: the child is of another kind.
    fn change(&mut self, settings: &Settings, device: Device) -> bool {
        let device = device.shaped(settings.rate);
        let is_new = self.kind != *settings.child || settings.child.asks_rate();
        if is_new && !self.child.change_kind(&settings.child, device) {
            return false;
        }
        self.kind = (*settings.child).clone();
        let tokens = [self.rate.tokens, self.ceil.tokens];
        self.rate = Bucket::new(
            Rate::new(settings.rate, settings.link),
            settings.buffer_ticks,
        );
        self.ceil = Bucket::new(
            Rate::new(settings.ceil, settings.link),
            settings.cbuffer_ticks,
        );
        [self.rate.tokens, self.ceil.tokens] = tokens;
        true
    }
}

impl<P: Packet> Discipline<P> for Htb<P> {
    fn enqueue(&mut self, now: Instant, packet: P) -> bool {
        self.child.enqueue(now, packet)
    }

    fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
        if self.child.stats().qlen == 0 {
            return Dequeued::Empty;
        }
        if let Mode::Borrow(at) | Mode::Cannot(at) = self.mode {
            if at <= now {
                self.set_mode(now, self.gained(now));
            }
            if let Mode::Borrow(at) | Mode::Cannot(at) = self.mode {
                return Dequeued::Wait(at);
            }
        }
        let answer = self.child.dequeue(now);
        if let Dequeued::Packet(packet) = &answer {
            let (len, gained) = (packet.size(), self.gained(now));
            self.lended += 1;
            self.rate.charge(len, gained);
            self.ceil.charge(len, gained);
            self.counted = Some(now);
            self.set_mode(now, 0);
        }
        answer
    }

    fn stats(&self) -> Stats {
        Stats {
            overlimits: self.overlimits,
            ..self.child.stats()
        }
    }

    /// What its class counts, beside what is queued in it.
    fn own(&self) -> Named {
        let mut own = self.child.own();
        own.push(("lended", self.lended.into()));
        own
    }

    fn tins(&self) -> Vec<Named> {
        self.child.tins()
    }
}

impl<P: Packet> Htb<P> {
    fn gained(&self, now: Instant) -> i64 {
        let gained = self.counted.map_or(0, |then| now.since(then).as_nanos());
        gained.min(LONGEST)
    }

    /// `htb_change_class_mode()`; a class that cannot send is looked at again when it has tokens, a nanosecond from now at
    /// least.
    fn set_mode(&mut self, now: Instant, gained: i64) {
        let at = |tokens: i64| now + Duration::from_nanos((-tokens).max(1));
        let (rate, ceil) = (self.rate.tokens + gained, self.ceil.tokens + gained);
        let was_able = !matches!(self.mode, Mode::Cannot(_));
        self.mode = if ceil < 0 {
            self.overlimits += u64::from(was_able);
            Mode::Cannot(at(ceil))
        } else if rate < 0 {
            Mode::Borrow(at(rate))
        } else {
            Mode::Send
        };
    }
}
