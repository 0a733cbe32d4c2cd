//! `TCA_OPTIONS` of red (sch_red.c, red_init()).

use super::settings::Settings;
use crate::netlink::Attributes;

/// `enum TCA_RED_*` and `TC_RED_*` (linux/pkt_sched.h).
const PARMS: u16 = 1;
const STAB: u16 = 2;
const MAX_P: u16 = 3;
const FLAGS: u16 = 4;
const FLAG_ECN: u8 = 1;
const FLAG_HARDDROP: u8 = 2;
const FLAG_ADAPTIVE: u8 = 4;
const FLAG_NODROP: u8 = 8;
const ALL_FLAGS: u32 = 15;

pub(super) fn options(red: &Settings) -> Vec<u8> {
    // The kernel starts its timer by the flags of the structure alone, and takes those or the attribute's, which `nodrop`
    // needs: not both (`Settings::not_in_kernels`).
    let in_structure = red.adaptive;
    let flags = flags(red);
    let mut parms = Vec::new();
    for bytes in [red.limit, red.min, red.max] {
        parms.extend_from_slice(&bytes.to_ne_bytes());
    }
    let said = if in_structure { flags } else { 0 };
    parms.extend_from_slice(&[red.wlog, plog(red), red.scell_log, said]);
    let mut out = Attributes::default();
    out.put(PARMS, &parms);
    out.put(STAB, &*red.damping);
    out.u32(MAX_P, red.max_p);
    if !in_structure {
        // struct nla_bitfield32
        out.words(FLAGS, &[flags.into(), ALL_FLAGS]);
    }
    out.bytes()
}

fn flags(red: &Settings) -> u8 {
    let list = [
        (red.ecn, FLAG_ECN),
        (red.harddrop, FLAG_HARDDROP),
        (red.adaptive, FLAG_ADAPTIVE),
        (red.nodrop, FLAG_NODROP),
    ];
    list.iter().filter(|(is, _)| *is).map(|(_, bit)| bit).sum()
}

/// Doublings until the chance by byte is above 1; kernels that know `TCA_RED_MAX_P` do not use it.
fn plog(red: &Settings) -> u8 {
    let chance = f64::from(red.max_p) / 4_294_967_296.0;
    let by_byte = chance / f64::from((red.max - red.min).max(1));
    let mut doublings = (0..32_u8).skip_while(|n| by_byte * f64::from(1_u32 << n) <= 1.0);
    doublings.next().unwrap_or(31)
}
