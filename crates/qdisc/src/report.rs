//! Counters as plain data, by tc's names.

use std::collections::BTreeMap;

use crate::count::QdiscCount;

use crate::stats::{
    CakeStats, CaqmStats, CodelStats, FqCodelStats, FqStats, NetemStats, RedStats, Stats, TinStats,
    Xstats,
};

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
    add(&mut count, xstats);
    count
}

fn add(count: &mut QdiscCount, xstats: &Xstats) {
    count.own = match xstats {
        Xstats::None => BTreeMap::new(),
        Xstats::Cake(cake) => {
            count.tins = cake.tins.iter().map(|tin| named(&one(tin))).collect();
            named(&whole(cake))
        }
        Xstats::Netem(netem) => named(&of_netem(netem)),
        Xstats::Codel(codel) => named(&of_codel(codel)),
        Xstats::FqCodel(fq) => named(&of_fq_codel(fq)),
        Xstats::Fq(fq) => named(&of_fq(fq)),
        Xstats::Red(red) => named(&of_red(red)),
        Xstats::Caqm(caqm) => named(&of_caqm(caqm)),
        Xstats::Htb(htb) => {
            // What its class counts, beside what is queued in it.
            add(count, &htb.child);
            count.own.insert("lended".to_owned(), htb.lended.into());
            return;
        }
    };
}

fn of_netem(netem: &NetemStats) -> [(&'static str, u64); 4] {
    [
        ("requeues", netem.requeues),
        ("ecn_mark", netem.marked),
        ("duplicated", netem.duplicated),
        ("corrupted", netem.corrupted),
    ]
}

fn of_codel(codel: &CodelStats) -> [(&'static str, u64); 7] {
    [
        ("count", codel.count.into()),
        ("lastcount", codel.lastcount.into()),
        ("ldelay", codel.ldelay.into()),
        ("maxpacket", codel.maxpacket.into()),
        ("ecn_mark", codel.ecn_mark.into()),
        ("drop_overlimit", codel.drop_overlimit.into()),
        ("ce_mark", codel.ce_mark.into()),
    ]
}

fn of_fq_codel(fq: &FqCodelStats) -> [(&'static str, u64); 9] {
    [
        ("maxpacket", fq.maxpacket.into()),
        ("drop_overlimit", fq.drop_overlimit.into()),
        ("new_flow_count", fq.new_flow_count.into()),
        ("ecn_mark", fq.ecn_mark.into()),
        ("ce_mark", fq.ce_mark.into()),
        ("memory_used", fq.memory_used.into()),
        ("drop_overmemory", fq.drop_overmemory.into()),
        ("new_flows_len", fq.new_flows_len.into()),
        ("old_flows_len", fq.old_flows_len.into()),
    ]
}

fn of_fq(fq: &FqStats) -> [(&'static str, u64); 11] {
    [
        ("flows", fq.flows.into()),
        ("inactive", fq.inactive.into()),
        ("throttled", fq.throttled),
        ("gc", fq.gc),
        ("highprio", fq.highprio),
        ("latency", fq.latency),
        ("ce_mark", fq.ce_mark),
        ("flows_plimit", fq.flows_plimit),
        ("pkts_too_long", fq.pkts_too_long),
        ("horizon_drops", fq.horizon_drops),
        ("horizon_caps", fq.horizon_caps),
    ]
}

fn of_red(red: &RedStats) -> [(&'static str, u64); 3] {
    [
        ("marked", red.marked.into()),
        ("early", red.early.into()),
        ("pdrop", red.pdrop.into()),
    ]
}

/// Counters have no sign: a negative credit is `debt`.
fn of_caqm(caqm: &CaqmStats) -> [(&'static str, u64); 14] {
    [
        ("granted", caqm.granted),
        ("shuffled", caqm.shuffled),
        ("refused", caqm.refused),
        ("marked", caqm.marked),
        ("already_marked", caqm.already_marked),
        ("already_refused", caqm.already_refused),
        ("feedback", caqm.feedback),
        ("other_type", caqm.other_type),
        ("untagged", caqm.untagged),
        ("granted_bytes", caqm.granted_bytes),
        ("refused_bytes", caqm.refused_bytes),
        ("credit", caqm.credit.max(0) as u64),
        ("debt", (-caqm.credit).max(0) as u64),
        ("max_backlog", caqm.max_backlog),
    ]
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
