//! `TCA_OPTIONS` of netem (sch_netem.c, netem_change()).
//!
//! A seed is known to kernels from 6.7 on; an older one draws from its own randomness.

use super::settings::{Distribution, Every, Loss, Rate, Settings, Slot};
use super::table;
use crate::netlink::Attributes;

/// `enum TCA_NETEM_*` (linux/pkt_sched.h).
const CORR: u16 = 1;
const DELAY_DIST: u16 = 2;
const REORDER: u16 = 3;
const CORRUPT: u16 = 4;
const LOSS: u16 = 5;
const RATE: u16 = 6;
const ECN: u16 = 7;
const RATE64: u16 = 8;
const LATENCY64: u16 = 10;
const JITTER64: u16 = 11;
const SLOT: u16 = 12;
const SLOT_DIST: u16 = 13;
const PRNG_SEED: u16 = 14;
const LOSS_GI: u16 = 1;
const LOSS_GE: u16 = 2;
const NESTED: u16 = 1 << 15;

/// Nanoseconds of one of the kernel's ticks.
const TICK_NS: i64 = 64;

pub(super) fn options(netem: &Settings) -> Vec<u8> {
    let (loss, loss_correlation) = match netem.loss {
        Loss::Random(chance) => (chance.probability, chance.correlation),
        _ => (0, 0),
    };
    // struct tc_netem_qopt
    let mut out = Attributes::behind(&[
        ticks(netem.latency_ns),
        netem.limit,
        loss,
        netem.gap,
        netem.duplicate.probability,
        ticks(netem.jitter_ns),
    ]);
    // What ticks are too coarse or too few for.
    for (kind, ns) in [(LATENCY64, netem.latency_ns), (JITTER64, netem.jitter_ns)] {
        if i64::from(ticks(ns)) * TICK_NS != ns {
            out.put(kind, &ns.to_ne_bytes());
        }
    }
    if let Some(slot) = &netem.slot {
        out.put(SLOT, &self::slot(slot));
    }
    let correlations = [
        netem.delay_correlation,
        loss_correlation,
        netem.duplicate.correlation,
    ];
    let others = [netem.reorder.correlation, netem.corrupt.correlation];
    if correlations.iter().chain(&others).any(|c| *c > 0) {
        out.words(CORR, &correlations);
    }
    for (kind, chance) in [(REORDER, netem.reorder), (CORRUPT, netem.corrupt)] {
        if chance.probability > 0 {
            out.words(kind, &[chance.probability, chance.correlation]);
        }
    }
    out.maybe(ECN, netem.ecn.then_some(1));
    put_loss(&mut out, netem.loss);
    if let Some(rate) = &netem.rate {
        put_rate(&mut out, rate);
    }
    put_tables(&mut out, netem);
    if let Some(seed) = netem.seed {
        out.u64(PRNG_SEED, seed);
    }
    out.bytes()
}

fn ticks(ns: i64) -> u32 {
    u32::try_from(ns / TICK_NS).unwrap_or(u32::MAX)
}

fn put_loss(out: &mut Attributes, loss: Loss) {
    let mut inner = Attributes::default();
    match loss {
        Loss::Random(_) => return,
        // struct tc_netem_gimodel
        Loss::State {
            p13,
            p31,
            p32,
            p23,
            p14,
        } => inner.words(LOSS_GI, &[p13, p31, p32, p14, p23]),
        // struct tc_netem_gemodel
        Loss::Gemodel { p, r, h, k1 } => inner.words(LOSS_GE, &[p, r, h, k1]),
    }
    out.put(LOSS | NESTED, &inner.bytes());
}

/// `struct tc_netem_rate`.
fn put_rate(out: &mut Attributes, rate: &Rate) {
    let low = u32::try_from(rate.bytes).unwrap_or(u32::MAX);
    if low == u32::MAX {
        out.u64(RATE64, rate.bytes);
    }
    let words = [
        low,
        rate.packet_overhead.cast_unsigned(),
        rate.cell_size,
        rate.cell_overhead.cast_unsigned(),
    ];
    out.words(RATE, &words);
}

/// `struct tc_netem_slot`.
fn slot(slot: &Slot) -> Vec<u8> {
    let (min_ns, max_ns, delay_ns, jitter_ns) = match slot.every {
        Every::Between { min_ns, max_ns } => (min_ns, max_ns, 0, 0),
        Every::Distributed {
            delay_ns,
            jitter_ns,
            ..
        } => (0, 0, delay_ns, jitter_ns),
    };
    let mut bytes = Vec::new();
    for ns in [min_ns, max_ns] {
        bytes.extend_from_slice(&ns.to_ne_bytes());
    }
    for most in [slot.packets, slot.bytes] {
        bytes.extend_from_slice(&most.to_ne_bytes());
    }
    for ns in [delay_ns, jitter_ns] {
        bytes.extend_from_slice(&ns.to_ne_bytes());
    }
    bytes
}

fn put_tables(out: &mut Attributes, netem: &Settings) {
    let of_slot = match netem.slot.map(|slot| slot.every) {
        Some(Every::Distributed { by, .. }) => by,
        _ => Distribution::Uniform,
    };
    for (kind, by) in [(DELAY_DIST, netem.distribution), (SLOT_DIST, of_slot)] {
        if let Some(table) = table::of(by) {
            let bytes: Vec<u8> = table.iter().flat_map(|n| n.to_ne_bytes()).collect();
            out.put(kind, &bytes);
        }
    }
}
