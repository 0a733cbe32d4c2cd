//! `codel` (sch_codel.c): one queue.

use super::settings::Codel as Settings;
use tcplab_base::Instant;

use super::{Codel, Count, Params, Source, time, to_us};
use crate::packet::Packet;
use crate::qdisc::Dequeued;
use crate::stats::{CodelStats, Stats};
use crate::store::{Chain, Store, Waiting};

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
    last: Instant,
}

impl<P: Packet> CodelQueue<P> {
    pub fn new(settings: &Settings, frame: u32) -> Self {
        Self {
            limit: settings.limit,
            params: Params::new(settings, frame),
            state: Codel::default(),
            count: Count::default(),
            store: Store::default(),
            chain: Chain::default(),
            stats: Stats::default(),
            drop_overlimit: 0,
            last: Instant::from_nanos(0),
        }
    }

    /// Other settings; what is beyond the limit is dropped from the head.
    pub fn change(&mut self, settings: &Settings, frame: u32) {
        self.limit = settings.limit;
        self.params = Params::new(settings, frame);
        while self.stats.qlen > self.limit
            && let Some(waiting) = self.store.pop(&mut self.chain)
        {
            self.stats.takes(waiting.len);
            self.stats.drops(waiting.len);
        }
    }

    pub fn enqueue(&mut self, now: Instant, packet: P) -> bool {
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

    pub fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
        self.last = now;
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

    pub fn stats(&self) -> Stats {
        self.stats
    }

    pub fn codel_stats(&self) -> CodelStats {
        let ahead = self.state.drop_next.wrapping_sub(time(self.last)) as i32;
        let us = to_us(ahead.unsigned_abs()) as i32;
        CodelStats {
            count: self.state.count,
            lastcount: self.state.lastcount,
            ldelay: to_us(self.state.ldelay),
            dropping: self.state.dropping,
            drop_next: match self.state.dropping {
                true => us * ahead.signum(),
                false => 0,
            },
            maxpacket: self.count.maxpacket,
            ecn_mark: self.count.ecn_mark,
            drop_overlimit: self.drop_overlimit,
            ce_mark: self.count.ce_mark,
        }
    }
}
