//! `TCA_OPTIONS` of tbf (sch_tbf.c, tbf_change()).

use tcplab_qdisc::kinds::tbf::Settings as Tbf;

use super::attributes::Attributes;
use super::rate;

/// `enum TCA_TBF_*` (linux/pkt_sched.h).
const PARMS: u16 = 1;
const RATE64: u16 = 4;
const PRATE64: u16 = 5;
const BURST: u16 = 6;
const PBURST: u16 = 7;

pub(super) fn options(tbf: &Tbf) -> Vec<u8> {
    // struct tc_tbf_qopt; the buckets as times are for kernels before 3.14, which the attributes in bytes are not for.
    let mut parms = rate::spec(tbf.rate, tbf.link);
    match tbf.peak {
        Some(peak) => parms.extend(rate::spec(peak.rate, tbf.link)),
        None => parms.extend([0; 12]),
    }
    let peak = tbf.peak.map_or(0, |peak| ticks(peak.rate, peak.burst));
    for word in [tbf.limit, ticks(tbf.rate, tbf.burst), peak] {
        parms.extend_from_slice(&word.to_ne_bytes());
    }
    let mut out = Attributes::default();
    out.put(PARMS, &parms);
    out.u32(BURST, tbf.burst);
    if rate::is_high(tbf.rate) {
        out.u64(RATE64, tbf.rate);
    }
    if let Some(peak) = tbf.peak {
        out.u32(PBURST, peak.burst);
        if rate::is_high(peak.rate) {
            out.u64(PRATE64, peak.rate);
        }
    }
    out.bytes()
}

/// Time that a bucket takes at this rate, cut to 32 bits, microseconds and then ticks of 64 ns, as tc does it.
fn ticks(rate: u64, bytes: u32) -> u32 {
    let us = u64::from(bytes) * 1_000_000 / u64::from(rate::low(rate).max(1));
    u32::try_from(us * 1_000 / 64).unwrap_or(u32::MAX)
}
