//! What cake counts (cake_dump_stats()): attributes, and those of each tin, lowest priority first.

use super::super::attributes::{number, read as attributes};
use super::Named;

/// `TCA_CAKE_STATS_TIN_STATS` (linux/pkt_sched.h).
const TIN_STATS: u16 = 10;

/// `TCA_CAKE_STATS_*` by tc's names.
const WHOLE: [(u16, &str); 8] = [
    (2, "capacity_estimate"),
    (3, "memory_limit"),
    (4, "memory_used"),
    (5, "avg_hdr_offset"),
    (6, "min_network_size"),
    (7, "max_network_size"),
    (8, "min_adj_size"),
    (9, "max_adj_size"),
];

/// `TCA_CAKE_TIN_STATS_*` by tc's names.
const TIN: [(u16, &str); 20] = [
    (2, "sent_packets"),
    (3, "sent_bytes"),
    (4, "drops"),
    (6, "ack_drops"),
    (8, "ecn_mark"),
    (11, "backlog_bytes"),
    (12, "threshold_rate"),
    (13, "target_us"),
    (14, "interval_us"),
    (15, "way_indirect_hits"),
    (16, "way_misses"),
    (17, "way_collisions"),
    (18, "peak_delay_us"),
    (19, "avg_delay_us"),
    (20, "base_delay_us"),
    (21, "sparse_flows"),
    (22, "bulk_flows"),
    (23, "unresponsive_flows"),
    (24, "max_pkt_len"),
    (25, "flow_quantum"),
];

/// Those of the whole, and of the tins.
pub(super) fn read(app: &[u8]) -> (Named, Vec<Named>) {
    let tins = attributes(app).filter(|(kind, _)| *kind == TIN_STATS);
    let tins = tins.flat_map(|(_, all)| attributes(&all).collect::<Vec<_>>());
    (
        named(app, &WHOLE),
        tins.map(|(_, tin)| named(&tin, &TIN)).collect(),
    )
}

fn named(bytes: &[u8], names: &[(u16, &str)]) -> Named {
    let known = attributes(bytes).filter_map(|(kind, value)| {
        let (_, name) = names.iter().find(|(is, _)| *is == kind)?;
        Some(((*name).to_owned(), number(&value, 0, value.len())))
    });
    known.collect()
}
