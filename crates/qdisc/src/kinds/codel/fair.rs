//! `fq_codel` (RFC 8290, sch_fq_codel.c): a queue for each hash of a flow, CoDel on each, new ones first.

use std::collections::VecDeque;

use tcplab_base::{Instant, Random};

use super::settings::FairSettings as Settings;
use super::{Codel, Count, Params, Source};
use crate::discipline::{Configure, Discipline, Field, Named, named};
use crate::packet::Packet;
use crate::qdisc::{Dequeued, Device};
use crate::stats::Stats;
use crate::store::{Chain, Store, Waiting};

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    chain: Chain,
    backlog: u32,
    deficit: i32,
    codel: Codel,
    /// Stands in one of the two lists.
    is_listed: bool,
}

/// What it counts beside what CoDel counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Own {
    /// Packets dropped at a limit.
    drop_overlimit: u32,
    /// Packets dropped at the memory limit.
    drop_overmemory: u32,
    /// How often a queue became a new one.
    new_flow_count: u32,
    memory_used: u32,
    new_flows_len: u32,
    old_flows_len: u32,
}

/// `struct tc_fq_codel_xstats`: its type, then `struct tc_fq_codel_qd_stats`.
pub(super) const COUNTERS: [Field<(Own, Count)>; 9] = [
    ("maxpacket", 4, 4, |(_, count)| count.maxpacket.into()),
    ("drop_overlimit", 8, 4, |(own, _)| own.drop_overlimit.into()),
    ("ecn_mark", 12, 4, |(_, count)| count.ecn_mark.into()),
    ("new_flow_count", 16, 4, |(own, _)| {
        own.new_flow_count.into()
    }),
    ("new_flows_len", 20, 4, |(own, _)| own.new_flows_len.into()),
    ("old_flows_len", 24, 4, |(own, _)| own.old_flows_len.into()),
    ("ce_mark", 28, 4, |(_, count)| count.ce_mark.into()),
    ("memory_used", 32, 4, |(own, _)| own.memory_used.into()),
    ("drop_overmemory", 36, 4, |(own, _)| {
        own.drop_overmemory.into()
    }),
];

/// The qdisc.
#[derive(Clone, Debug)]
pub(crate) struct FqCodel<P> {
    settings: Settings,
    quantum: i32,
    params: Params,
    count: Count,
    flows: Vec<Flow>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    store: Store<P>,
    memory: u32,
    stats: Stats,
    own: Own,
    key: u64,
}

impl<P: Packet> Configure<Settings> for FqCodel<P> {
    fn new(settings: &Settings, device: Device, seed: u64, name: &str) -> Self {
        Self {
            settings: *settings,
            quantum: quantum(settings, device.frame()),
            params: Params::new(&settings.codel, device.frame()),
            count: Count::default(),
            flows: vec![Flow::default(); settings.flows as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
            store: Store::default(),
            memory: 0,
            stats: Stats::default(),
            own: Own::default(),
            key: Random::stream(seed, name).below(u64::MAX),
        }
    }

    /// Other settings; false: the number of flows cannot change. What is beyond the limits is dropped.
    fn change(&mut self, settings: &Settings, device: Device) -> bool {
        if settings.flows != self.settings.flows {
            return false;
        }
        self.settings = *settings;
        self.quantum = quantum(settings, device.frame());
        self.params = Params::new(&settings.codel, device.frame());
        while self.stats.qlen > 0 && self.is_over() {
            // Packets without a byte make no queue fat.
            let mut flows = self.flows.iter();
            let any = flows.position(|flow| !flow.chain.is_empty());
            self.drop_from_fattest(any.unwrap_or(0) as u32);
        }
        true
    }
}

impl<P: Packet> Discipline<P> for FqCodel<P> {
    fn enqueue(&mut self, now: Instant, packet: P) -> bool {
        let len = packet.size();
        let hash = u64::from(packet.flow_keys().hash(self.key));
        let n = ((hash * u64::from(self.settings.flows)) >> 32) as u32;
        let waiting = Waiting {
            len,
            truesize: packet.truesize(),
            charged: len,
            since: now,
            packet,
        };
        self.memory = self.memory.saturating_add(waiting.truesize);
        self.stats.enters(len);
        let flow = &mut self.flows[n as usize];
        flow.backlog += len;
        self.store.push(&mut flow.chain, waiting);
        if !flow.is_listed {
            (flow.is_listed, flow.deficit) = (true, self.quantum);
            self.new.push_back(n);
            self.own.new_flow_count += 1;
        }
        if !self.is_over() {
            return true;
        }
        let over_memory = self.memory > self.settings.memory_limit;
        let (from, dropped) = self.drop_from_fattest(n);
        self.own.drop_overlimit += dropped;
        self.own.drop_overmemory += if over_memory { dropped } else { 0 };
        from != n
    }

    fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let Some(n) = list.front().copied() else {
                return Dequeued::Empty;
            };
            let flow = &mut self.flows[n as usize];
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                list.pop_front();
                self.old.push_back(n);
                continue;
            }
            let mut from = Source {
                store: &mut self.store,
                chain: &mut flow.chain,
                backlog: &mut flow.backlog,
                memory: &mut self.memory,
                stats: &mut self.stats,
            };
            let head = flow
                .codel
                .dequeue(now, &self.params, &mut self.count, &mut from);
            if let Some(waiting) = head {
                flow.deficit -= waiting.len as i32;
                self.stats.leaves(waiting.len);
                return Dequeued::Packet(waiting.packet);
            }
            list.pop_front();
            // A new flow that is empty passes through the old ones, lest it starve them.
            match is_new && !self.old.is_empty() {
                true => self.old.push_back(n),
                false => flow.is_listed = false,
            }
        }
    }

    fn stats(&self) -> Stats {
        self.stats
    }

    fn own(&self) -> Named {
        let own = Own {
            memory_used: self.memory,
            new_flows_len: self.new.len() as u32,
            old_flows_len: self.old.len() as u32,
            ..self.own
        };
        named(&COUNTERS, &(own, self.count))
    }
}

impl<P: Packet> FqCodel<P> {
    fn is_over(&self) -> bool {
        self.stats.qlen > self.settings.codel.limit || self.memory > self.settings.memory_limit
    }

    /// Half of the fattest queue, a batch at most (`fq_codel_drop()`). Gives the queue and the number of packets; when all
    /// have no bytes, it is `own`.
    fn drop_from_fattest(&mut self, own: u32) -> (u32, u32) {
        let (mut fattest, mut most) = (own, 0);
        for (n, flow) in self.flows.iter().enumerate() {
            if flow.backlog > most {
                (fattest, most) = (n as u32, flow.backlog);
            }
        }
        let flow = &mut self.flows[fattest as usize];
        let (mut bytes, mut packets) = (0, 0);
        loop {
            let mut from = Source {
                store: &mut self.store,
                chain: &mut flow.chain,
                backlog: &mut flow.backlog,
                memory: &mut self.memory,
                stats: &mut self.stats,
            };
            let Some(waiting) = from.pop() else { break };
            self.stats.drops(waiting.len);
            packets += 1;
            bytes += waiting.len;
            if packets >= self.settings.drop_batch || bytes >= most / 2 {
                break;
            }
        }
        flow.codel.count = flow.codel.count.wrapping_add(packets);
        (fattest, packets)
    }
}

/// Bytes of a turn; the longest frame, unless the words say another.
fn quantum(settings: &Settings, frame: u32) -> i32 {
    const MOST: u32 = 1 << 20;
    settings.quantum.unwrap_or(frame.clamp(256, MOST)) as i32
}
