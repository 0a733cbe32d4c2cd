//! `TCA_OPTIONS` of fq (sch_fq.c, fq_change()).

use tcplab_qdisc::kinds::fq::Settings as Fq;

use super::attributes::Attributes;

/// `enum TCA_FQ_*` (linux/pkt_sched.h).
const PLIMIT: u16 = 1;
const FLOW_PLIMIT: u16 = 2;
const QUANTUM: u16 = 3;
const INITIAL_QUANTUM: u16 = 4;
const RATE_ENABLE: u16 = 5;
const FLOW_MAX_RATE: u16 = 7;
const BUCKETS_LOG: u16 = 8;
const FLOW_REFILL_DELAY: u16 = 9;
const ORPHAN_MASK: u16 = 10;
const LOW_RATE_THRESHOLD: u16 = 11;
const CE_THRESHOLD: u16 = 12;
const TIMER_SLACK: u16 = 13;
const HORIZON: u16 = 14;
const HORIZON_DROP: u16 = 15;

pub(super) fn options(fq: &Fq) -> Vec<u8> {
    let mut out = Attributes::default();
    out.u32(BUCKETS_LOG, fq.buckets_log);
    out.u32(PLIMIT, fq.limit);
    out.u32(FLOW_PLIMIT, fq.flow_limit);
    if let Some(bytes) = fq.quantum {
        out.u32(QUANTUM, bytes);
    }
    if let Some(bytes) = fq.initial_quantum {
        out.u32(INITIAL_QUANTUM, bytes);
    }
    out.u32(RATE_ENABLE, fq.pacing.into());
    if let Some(rate) = fq.max_rate {
        // The largest is no limit.
        out.u32(FLOW_MAX_RATE, u32::try_from(rate).unwrap_or(u32::MAX));
    }
    out.u32(LOW_RATE_THRESHOLD, fq.low_rate_threshold);
    out.u32(FLOW_REFILL_DELAY, fq.refill_delay_us);
    out.u32(ORPHAN_MASK, fq.orphan_mask);
    out.u32(CE_THRESHOLD, fq.ce_threshold_us);
    out.u32(TIMER_SLACK, fq.timer_slack_ns);
    out.u32(HORIZON, fq.horizon_us);
    out.put(HORIZON_DROP, &[fq.horizon_drop.into()]);
    out.bytes()
}
