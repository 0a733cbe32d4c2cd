//! CAKE's statistics, as `tc -s -j` has them.

use super::Cake;
use super::tin::Tin;
use crate::packet::Packet;
use crate::stats::{CakeStats, TinStats};

impl<P: Packet> Cake<P> {
    pub fn cake_stats(&self) -> CakeStats {
        let lengths = &self.overhead;
        // Nothing has come yet: the kernel shows all bits set, tc the same as 16 bits.
        let least = |n: u32| n.min(u32::from(u16::MAX));
        CakeStats {
            memory_used: self.memory.most,
            memory_limit: self.memory.limit,
            capacity_estimate: self.autorate.peak,
            min_network_size: least(lengths.min_network),
            max_network_size: lengths.max_network,
            min_adj_size: least(lengths.min_charged),
            max_adj_size: lengths.max_charged,
            avg_hdr_offset: lengths.mean_offset(),
            tins: self
                .plan
                .order
                .iter()
                .map(|n| tin(&self.tins[usize::from(*n)]))
                .collect(),
        }
    }
}

fn us(ns: u64) -> u32 {
    u32::try_from(ns / 1_000).unwrap_or(u32::MAX)
}

fn tin(tin: &Tin) -> TinStats {
    let (count, delay) = (&tin.count, &tin.delay);
    TinStats {
        threshold_rate: tin.rate.bytes,
        sent_bytes: count.bytes,
        backlog_bytes: tin.backlog,
        target_us: us(tin.params.target_ns),
        interval_us: us(tin.params.interval_ns),
        peak_delay_us: us(delay.peak),
        avg_delay_us: us(delay.mean),
        base_delay_us: us(delay.base),
        sent_packets: count.packets,
        way_indirect_hits: count.hits,
        way_misses: count.misses,
        way_collisions: count.collisions,
        drops: count.drops,
        ecn_mark: count.marks,
        ack_drops: count.ack_drops,
        sparse_flows: tin.sparse + tin.decaying,
        bulk_flows: tin.bulk,
        unresponsive_flows: count.unresponsive,
        max_pkt_len: count.longest,
        flow_quantum: tin.flow_quantum,
    }
}
