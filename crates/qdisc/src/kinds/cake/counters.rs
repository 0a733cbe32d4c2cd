//! CAKE's counters, as `tc -s -j` has them and as kernels give them (cake_dump_stats()): attributes, and those of each
//! tin, lowest priority first.

use super::Memory;
use super::overhead::Overhead;
use super::tin::Tin;
use crate::discipline::Named;
use crate::netlink::{number, read as attributes};

/// `TCA_CAKE_STATS_TIN_STATS` (linux/pkt_sched.h).
const TIN_STATS: u16 = 10;

/// An attribute, tc's name, and the value here.
type Counter<T> = (u16, &'static str, fn(&T) -> u64);

/// `TCA_CAKE_STATS_*`, as memory, sizes and the capacity in bytes a second give them.
pub(super) const WHOLE: [Counter<(Memory, Overhead, u64)>; 8] = [
    (2, "capacity_estimate", |(.., bytes_a_second)| {
        *bytes_a_second
    }),
    (3, "memory_limit", |(memory, ..)| memory.limit.into()),
    (4, "memory_used", |(memory, ..)| memory.most.into()),
    (5, "avg_hdr_offset", |(_, of, _)| of.mean_offset().into()),
    (6, "min_network_size", |(_, of, _)| least(of.min_network)),
    (7, "max_network_size", |(_, of, _)| of.max_network.into()),
    (8, "min_adj_size", |(_, of, _)| least(of.min_charged)),
    (9, "max_adj_size", |(_, of, _)| of.max_charged.into()),
];

/// `TCA_CAKE_TIN_STATS_*`. `sent_packets` counts what was put into the tin, ACKs that the filter took included.
pub(super) const TIN: [Counter<Tin>; 20] = [
    (2, "sent_packets", |tin| tin.count.packets.into()),
    (3, "sent_bytes", |tin| tin.count.bytes),
    (4, "drops", |tin| tin.count.drops.into()),
    (6, "ack_drops", |tin| tin.count.ack_drops.into()),
    (8, "ecn_mark", |tin| tin.count.marks.into()),
    (11, "backlog_bytes", |tin| tin.backlog.into()),
    (12, "threshold_rate", |tin| tin.rate.bytes),
    (13, "target_us", |tin| us(tin.params.target_ns)),
    (14, "interval_us", |tin| us(tin.params.interval_ns)),
    (15, "way_indirect_hits", |tin| tin.count.hits.into()),
    (16, "way_misses", |tin| tin.count.misses.into()),
    (17, "way_collisions", |tin| tin.count.collisions.into()),
    (18, "peak_delay_us", |tin| us(tin.delay.peak)),
    (19, "avg_delay_us", |tin| us(tin.delay.mean)),
    (20, "base_delay_us", |tin| us(tin.delay.base)),
    (21, "sparse_flows", |tin| (tin.sparse + tin.decaying).into()),
    (22, "bulk_flows", |tin| tin.bulk.into()),
    (23, "unresponsive_flows", |tin| {
        tin.count.unresponsive.into()
    }),
    (24, "max_pkt_len", |tin| tin.count.longest.into()),
    (25, "flow_quantum", |tin| tin.flow_quantum.into()),
];

/// Nothing has come yet: the kernel shows all bits set, tc the same as 16 bits.
fn least(bytes: u32) -> u64 {
    bytes.min(u16::MAX.into()).into()
}

/// Microseconds of 32 bits.
fn us(ns: u64) -> u64 {
    (ns / 1_000).min(u32::MAX.into())
}

/// The counters of ours.
pub(super) fn named<T>(counters: &[Counter<T>], of: &T) -> Named {
    let one = |(_, name, value): &Counter<T>| (*name, value(of));
    counters.iter().map(one).collect()
}

/// The kernel's: those of the whole, and of the tins.
pub(super) fn read(app: &[u8]) -> (Named, Vec<Named>) {
    let tins = attributes(app).filter(|(kind, _)| *kind == TIN_STATS);
    let tins = tins.flat_map(|(_, all)| attributes(all));
    let tins = tins.map(|(_, tin)| known(&TIN, tin)).collect();
    (known(&WHOLE, app), tins)
}

fn known<T>(counters: &[Counter<T>], bytes: &[u8]) -> Named {
    let known = attributes(bytes).filter_map(|(kind, value)| {
        let (_, name, _) = counters.iter().find(|(is, ..)| *is == kind)?;
        Some((*name, number(value, 0, value.len())))
    });
    known.collect()
}
