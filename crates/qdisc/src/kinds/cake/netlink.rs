//! `TCA_OPTIONS` of cake (sch_cake.c, cake_change()).

use super::settings::{AckFilter, Settings};
use crate::netlink::Attributes;

/// `enum TCA_CAKE_*` (linux/pkt_sched.h).
const BASE_RATE64: u16 = 2;
const DIFFSERV_MODE: u16 = 3;
const ATM: u16 = 4;
const FLOW_MODE: u16 = 5;
const OVERHEAD: u16 = 6;
const RTT: u16 = 7;
const TARGET: u16 = 8;
const AUTORATE: u16 = 9;
const MEMORY: u16 = 10;
const NAT: u16 = 11;
const RAW: u16 = 12;
const WASH: u16 = 13;
const MPU: u16 = 14;
const INGRESS: u16 = 15;
const ACK_FILTER: u16 = 16;
const SPLIT_GSO: u16 = 17;
const FWMARK: u16 = 18;

/// In tc's order. What is not said has no value for "none", or 0 for it; NAT is refused even as 0 by a kernel without
/// connection tracking.
pub(super) fn options(cake: &Settings) -> Vec<u8> {
    let mut out = Attributes::default();
    out.u64(BASE_RATE64, cake.bandwidth_bps.unwrap_or(0) / 8);
    out.u32(DIFFSERV_MODE, cake.tins as u32);
    out.u32(ATM, cake.framing as u32);
    out.u32(FLOW_MODE, cake.flows as u32);
    out.maybe(OVERHEAD, cake.overhead.map(i32::cast_unsigned));
    out.maybe(RAW, cake.raw.then_some(0));
    out.maybe(MPU, Some(cake.mpu).filter(|bytes| *bytes > 0));
    out.u32(RTT, us(cake.interval_ns));
    out.u32(TARGET, us(cake.target_ns));
    out.u32(AUTORATE, cake.autorate.into());
    out.maybe(MEMORY, cake.memlimit_bytes);
    out.maybe(FWMARK, Some(cake.fwmark).filter(|mask| *mask > 0));
    out.maybe(NAT, cake.nat.then_some(1));
    out.u32(WASH, cake.wash.into());
    out.u32(SPLIT_GSO, cake.split_gso.into());
    out.u32(INGRESS, cake.ingress.into());
    out.maybe(ACK_FILTER, filter(cake.ack_filter));
    out.bytes()
}

fn us(ns: i64) -> u32 {
    u32::try_from(ns / 1_000).unwrap_or(u32::MAX)
}

/// `CAKE_ACK_*`; `None` for filters that the kernel lacks.
fn filter(filter: AckFilter) -> Option<u32> {
    match filter {
        AckFilter::Off => Some(0),
        AckFilter::Conservative => Some(1),
        AckFilter::Aggressive => Some(2),
        AckFilter::First | AckFilter::FirstAggressive | AckFilter::Naive => None,
    }
}
