//! The structures in which qdiscs give what only they count (linux/pkt_sched.h).

use super::super::attributes::number;
use super::Named;

/// Name, place in the structure and size of a counter.
type Field = (&'static str, usize, usize);

/// `struct tc_codel_xstats`.
const CODEL: [Field; 7] = [
    ("maxpacket", 0, 4),
    ("count", 4, 4),
    ("lastcount", 8, 4),
    ("ldelay", 12, 4),
    ("drop_overlimit", 20, 4),
    ("ecn_mark", 24, 4),
    ("ce_mark", 32, 4),
];

/// `struct tc_fq_codel_xstats`: its type, then `struct tc_fq_codel_qd_stats`.
const FQ_CODEL: [Field; 9] = [
    ("maxpacket", 4, 4),
    ("drop_overlimit", 8, 4),
    ("ecn_mark", 12, 4),
    ("new_flow_count", 16, 4),
    ("new_flows_len", 20, 4),
    ("old_flows_len", 24, 4),
    ("ce_mark", 28, 4),
    ("memory_used", 32, 4),
    ("drop_overmemory", 36, 4),
];

/// `struct tc_fq_qd_stats`.
const FQ: [Field; 11] = [
    ("gc", 0, 8),
    ("highprio", 8, 8),
    ("throttled", 24, 8),
    ("flows_plimit", 32, 8),
    ("pkts_too_long", 40, 8),
    ("flows", 64, 4),
    ("inactive", 68, 4),
    ("latency", 76, 4),
    ("ce_mark", 80, 8),
    ("horizon_drops", 88, 8),
    ("horizon_caps", 96, 8),
];

/// `struct tc_red_xstats`.
const RED: [Field; 3] = [("early", 0, 4), ("pdrop", 4, 4), ("marked", 12, 4)];

/// What a qdisc of this kind counts, from its `TCA_STATS_APP`.
pub(super) fn read(kind: &str, app: &[u8]) -> Named {
    let fields: &[Field] = match kind {
        "codel" => &CODEL,
        "fq_codel" => &FQ_CODEL,
        "fq" => &FQ,
        "red" => &RED,
        _ => &[],
    };
    let value = |(name, at, size): &Field| ((*name).to_owned(), number(app, *at, *size));
    fields.iter().map(value).collect()
}
