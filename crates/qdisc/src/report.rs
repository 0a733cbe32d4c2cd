//! Counters as plain data, by tc's names.

use std::collections::BTreeMap;

use tcplab_plan::outcome::QdiscCount;

use crate::stats::{CakeStats, Stats, TinStats, Xstats};

/// All that a qdisc of this kind counted.
pub(crate) fn of(kind: &str, stats: Stats, xstats: &Xstats) -> QdiscCount {
    let mut count = QdiscCount {
        kind: kind.to_owned(),
        bytes: stats.bytes,
        packets: stats.packets,
        drops: stats.drops,
        overlimits: stats.overlimits,
        backlog: stats.backlog,
        qlen: u64::from(stats.qlen),
        ..QdiscCount::default()
    };
    match xstats {
        Xstats::None => {}
        Xstats::Cake(cake) => {
            count.own = named(&whole(cake));
            count.tins = cake.tins.iter().map(|tin| named(&one(tin))).collect();
        }
    }
    count
}

fn named(list: &[(&str, u64)]) -> BTreeMap<String, u64> {
    let owned = |(name, value): &(&str, u64)| ((*name).to_owned(), *value);
    list.iter().map(owned).collect()
}

fn whole(cake: &CakeStats) -> [(&'static str, u64); 8] {
    [
        ("memory_used", cake.memory_used.into()),
        ("memory_limit", cake.memory_limit.into()),
        ("capacity_estimate", cake.capacity_estimate),
        ("min_network_size", cake.min_network_size.into()),
        ("max_network_size", cake.max_network_size.into()),
        ("min_adj_size", cake.min_adj_size.into()),
        ("max_adj_size", cake.max_adj_size.into()),
        ("avg_hdr_offset", cake.avg_hdr_offset.into()),
    ]
}

fn one(tin: &TinStats) -> [(&'static str, u64); 20] {
    [
        ("threshold_rate", tin.threshold_rate),
        ("sent_bytes", tin.sent_bytes),
        ("backlog_bytes", tin.backlog_bytes.into()),
        ("target_us", tin.target_us.into()),
        ("interval_us", tin.interval_us.into()),
        ("peak_delay_us", tin.peak_delay_us.into()),
        ("avg_delay_us", tin.avg_delay_us.into()),
        ("base_delay_us", tin.base_delay_us.into()),
        ("sent_packets", tin.sent_packets.into()),
        ("way_indirect_hits", tin.way_indirect_hits.into()),
        ("way_misses", tin.way_misses.into()),
        ("way_collisions", tin.way_collisions.into()),
        ("drops", tin.drops.into()),
        ("ecn_mark", tin.ecn_mark.into()),
        ("ack_drops", tin.ack_drops.into()),
        ("sparse_flows", tin.sparse_flows.into()),
        ("bulk_flows", tin.bulk_flows.into()),
        ("unresponsive_flows", tin.unresponsive_flows.into()),
        ("max_pkt_len", tin.max_pkt_len.into()),
        ("flow_quantum", tin.flow_quantum.into()),
    ]
}
