//! `TCA_OPTIONS` of codel and fq_codel (sch_codel.c, sch_fq_codel.c).

use tcplab_qdisc::kinds::codel::settings::{Codel, FqCodel};

use super::attributes::Attributes;

/// `enum TCA_CODEL_*`; the first four of fq_codel are the same.
const TARGET: u16 = 1;
const LIMIT: u16 = 2;
const INTERVAL: u16 = 3;
const ECN: u16 = 4;
const CE_THRESHOLD: u16 = 5;

/// `enum TCA_FQ_CODEL_*`.
const FLOWS: u16 = 5;
const QUANTUM: u16 = 6;
const FQ_CE_THRESHOLD: u16 = 7;
const DROP_BATCH: u16 = 8;
const MEMORY_LIMIT: u16 = 9;

/// Number of queues when nobody says another; it can be said of a new qdisc only, not when one is changed.
const DEFAULT_FLOWS: u32 = 1_024;

pub(super) fn codel(codel: &Codel) -> Vec<u8> {
    let mut out = Attributes::default();
    out.u32(LIMIT, codel.limit);
    out.u32(INTERVAL, codel.interval_us);
    out.u32(TARGET, codel.target_us);
    out.u32(ECN, codel.ecn.into());
    if let Some(us) = codel.ce_threshold_us {
        out.u32(CE_THRESHOLD, us);
    }
    out.bytes()
}

pub(super) fn fq_codel(fq: &FqCodel) -> Vec<u8> {
    let mut out = Attributes::default();
    out.u32(LIMIT, fq.codel.limit);
    if fq.flows != DEFAULT_FLOWS {
        out.u32(FLOWS, fq.flows);
    }
    if let Some(bytes) = fq.quantum {
        out.u32(QUANTUM, bytes);
    }
    out.u32(INTERVAL, fq.codel.interval_us);
    out.u32(TARGET, fq.codel.target_us);
    out.u32(ECN, fq.codel.ecn.into());
    if let Some(us) = fq.codel.ce_threshold_us {
        out.u32(FQ_CE_THRESHOLD, us);
    }
    out.u32(MEMORY_LIMIT, fq.memory_limit);
    out.u32(DROP_BATCH, fq.drop_batch);
    out.bytes()
}
