//! `codel` (sch_codel.c): one queue.

use tcplab_base::Instant;

use super::settings::Settings;
use super::{Codel, Count, Params, Source, to_us};
use crate::discipline::{Configure, Discipline, Field, Named, named};
use crate::packet::Packet;
use crate::qdisc::{Dequeued, Device};
use crate::stats::Stats;
use crate::store::{Chain, Store, Waiting};

/// `struct tc_codel_xstats`.
pub(super) const COUNTERS: [Field<(Codel, Count, u32)>; 7] = [
    ("maxpacket", 0, 4, |(_, count, _)| count.maxpacket.into()),
    ("count", 4, 4, |(state, ..)| state.count.into()),
    ("lastcount", 8, 4, |(state, ..)| state.lastcount.into()),
    ("ldelay", 12, 4, |(state, ..)| to_us(state.ldelay).into()),
    ("drop_overlimit", 20, 4, |(.., overlimit)| {
        (*overlimit).into()
    }),
    ("ecn_mark", 24, 4, |(_, count, _)| count.ecn_mark.into()),
    ("ce_mark", 32, 4, |(_, count, _)| count.ce_mark.into()),
];

/// The qdisc.
#[derive(Clone, Debug)]
pub(crate) struct CodelQueue<P> {
    limit: u32,
    params: Params,
    state: Codel,
    count: Count,
    store: Store<P>,
    chain: Chain,
    stats: Stats,
    drop_overlimit: u32,
}

impl<P: Packet> Configure<Settings> for CodelQueue<P> {
    fn new(settings: &Settings, device: Device, _seed: u64, _name: &str) -> Self {
        Self {
            limit: settings.limit,
            params: Params::new(settings, device.frame()),
            state: Codel::default(),
            count: Count::default(),
            store: Store::default(),
            chain: Chain::default(),
            stats: Stats::default(),
            drop_overlimit: 0,
        }
    }

    /// Other settings; what is beyond the limit is dropped from the head.
    fn change(&mut self, settings: &Settings, device: Device) -> bool {
        self.limit = settings.limit;
        self.params = Params::new(settings, device.frame());
        while self.stats.qlen > self.limit
            && let Some(waiting) = self.store.pop(&mut self.chain)
        {
            self.stats.takes(waiting.len);
            self.stats.drops(waiting.len);
        }
        true
    }
}

impl<P: Packet> Discipline<P> for CodelQueue<P> {
    fn enqueue(&mut self, now: Instant, packet: P) -> bool {
        let len = packet.size();
        if self.stats.qlen >= self.limit {
            self.drop_overlimit += 1;
            self.stats.drops(len);
            return false;
        }
        self.stats.enters(len);
        let waiting = Waiting {
            len,
            truesize: 0,
            charged: len,
            since: now,
            packet,
        };
        self.store.push(&mut self.chain, waiting);
        true
    }

    fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
        let mut from = Source {
            store: &mut self.store,
            chain: &mut self.chain,
            backlog: &mut 0,
            memory: &mut 0,
            stats: &mut self.stats,
        };
        let head = self
            .state
            .dequeue(now, &self.params, &mut self.count, &mut from);
        head.map_or(Dequeued::Empty, |waiting| {
            self.stats.leaves(waiting.len);
            Dequeued::Packet(waiting.packet)
        })
    }

    fn stats(&self) -> Stats {
        self.stats
    }

    fn own(&self) -> Named {
        named(&COUNTERS, &(self.state, self.count, self.drop_overlimit))
    }
}
