//! A tin: its queues, hosts, rate and counters.

use tcplab_base::{Instant, Random};

use super::cobalt::Params;
use super::flow::{Flow, Flows, QUEUES, Set};
use super::hosts::{End, Hosts};
use super::isolation::Isolation;
use super::rate::Rate;
use super::{Hashes, ways};

/// One tin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tin {
    pub flows: Flows,
    hosts: Hosts,
    pub rate: Rate,
    pub params: Params,
    /// Bytes that a flow may send in its turn.
    pub flow_quantum: u32,
    /// Bytes that the tin may send in its turn, without a shaper.
    pub quantum: u16,
    pub deficit: i32,
    pub time_next: Instant,
    pub backlog: u32,
    pub bulk: u32,
    pub sparse: u32,
    pub decaying: u32,
    pub count: Count,
    pub delay: Delays,
}

/// Counters of a tin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub packets: u32,
    pub bytes: u64,
    pub drops: u32,
    pub marks: u32,
    pub ack_drops: u32,
    pub unresponsive: u32,
    pub longest: u32,
    pub hits: u32,
    pub misses: u32,
    pub collisions: u32,
}

/// Moving averages of the time in the queue, in ns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delays {
    pub peak: u64,
    pub mean: u64,
    pub base: u64,
}

/// An exponentially weighted moving average, as the kernel rounds it.
pub(crate) fn ewma(average: u64, sample: u64, shift: u32) -> u64 {
    average - (average >> shift) + (sample >> shift)
}

impl Delays {
    fn add(&mut self, ns: u64) {
        let shift = |fast: bool| if fast { 2 } else { 8 };
        self.mean = ewma(self.mean, ns, 8);
        self.peak = ewma(self.peak, ns, shift(ns > self.peak));
        self.base = ewma(self.base, ns, shift(ns < self.base));
    }
}

impl Tin {
    /// Whether one of its queues is in a rotation.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    pub fn left(&mut self, sojourn_ns: u64) {
        self.delay.add(sojourn_ns);
    }

    /// The queue for a packet: that of its flow, else an empty one of its set of eight, else the first of them.
    pub fn classify(&mut self, hashes: Hashes, isolation: Isolation) -> usize {
        let direct = hashes.flow as usize % QUEUES;
        let is_own = |flow: &Flow| flow.tag == hashes.flow;
        let flow = self.flows.get(direct);
        if is_own(flow) && flow.set != Set::None {
            return direct;
        }
        let own = ways(hashes.flow).find(|n| is_own(self.flows.get(*n)));
        let (n, is_new) = match own {
            Some(n) => {
                self.count.hits += u32::from(n != direct);
                (n, self.flows.get(n).set == Set::None)
            }
            None => {
                let empty = ways(hashes.flow).find(|n| self.flows.get(*n).set == Set::None);
                match empty {
                    Some(_) => self.count.misses += 1,
                    None => {
                        self.count.collisions += 1;
                        self.count_hosts(direct, isolation, Hosts::remove);
                    }
                }
                (empty.unwrap_or(direct), true)
            }
        };
        self.flows.get_mut(n).tag = hashes.flow;
        if is_new {
            self.place_hosts(n, hashes, isolation);
        }
        n
    }

    fn place_hosts(&mut self, n: usize, hashes: Hashes, isolation: Isolation) {
        for (end, hash) in [
            (End::Source, hashes.source),
            (End::Destination, hashes.destination),
        ] {
            if isolation.counts(end) {
                let place = self.hosts.place(end, hash);
                self.flows.get_mut(n).hosts[end as usize] = place;
            }
        }
        self.count_hosts(n, isolation, Hosts::add);
    }

    /// Counts a bulk flow at its hosts; other flows are not counted.
    fn count_hosts(&mut self, n: usize, isolation: Isolation, count: fn(&mut Hosts, End, u16)) {
        let flow = self.flows.get(n);
        if flow.set != Set::Bulk {
            return;
        }
        let hosts = flow.hosts;
        for end in [End::Source, End::Destination] {
            if isolation.counts(end) {
                count(&mut self.hosts, end, hosts[end as usize]);
            }
        }
    }

    /// Bytes for the turn of a flow: less where its hosts have other bulk flows. Rounding is dithered.
    #[inline]
    pub fn quantum_of(&self, n: usize, isolation: Isolation, draws: &mut Random) -> i32 {
        let hosts = self.flows.get(n).hosts;
        let load = |end: End| match isolation.counts(end) {
            true => self.hosts.bulk_flows(end, hosts[end as usize]),
            false => 1,
        };
        let load = load(End::Source).max(load(End::Destination)).max(1);
        let share = u32::from(u16::MAX / load);
        let dither = draws.below(1 << 16) as u32;
        ((self.flow_quantum * share + dither) >> 16) as i32
    }

    /// A flow is counted as something else.
    pub fn becomes(&mut self, n: usize, set: Set, isolation: Isolation) {
        self.count_hosts(n, isolation, Hosts::remove);
        let flow = self.flows.get_mut(n);
        let before = std::mem::replace(&mut flow.set, set);
        if let Some(counter) = self.counter(before) {
            *counter -= 1;
        }
        if let Some(counter) = self.counter(set) {
            *counter += 1;
        }
        self.count_hosts(n, isolation, Hosts::add);
    }

    fn counter(&mut self, set: Set) -> Option<&mut u32> {
        match set {
            Set::None => None,
            Set::Sparse | Set::SparseWait => Some(&mut self.sparse),
            Set::Bulk => Some(&mut self.bulk),
            Set::Decaying => Some(&mut self.decaying),
        }
    }
}
