//! htb with its one class and what queues in it: three messages (sch_htb.c).

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::TcHandle;
use tcplab_qdisc::kinds::htb::Settings as Htb;

use super::attributes::Attributes;
use super::{message, qdisc, rate};

/// `enum TCA_HTB_*` (linux/pkt_sched.h).
const PARMS: u16 = 1;
const INIT: u16 = 2;
const RATE64: u16 = 6;
const CEIL64: u16 = 7;

/// `struct tc_htb_glob`: the protocol's version, r2q, the default class.
const GLOBAL: [u32; 5] = [3, 10, 1, 0, 0];

/// `1:` and the class `1:1`.
pub(super) const ROOT: TcHandle = TcHandle { major: 1, minor: 0 };
pub(super) const CLASS: TcHandle = TcHandle { major: 1, minor: 1 };

pub(super) fn messages(index: i32, htb: &Htb) -> Result<Vec<RouteNetlinkMessage>, String> {
    let mut global = Attributes::default();
    global.words(INIT, &GLOBAL);
    let mut root = message(index, TcHandle::ROOT, "htb", Some(global.bytes()));
    root.header.handle = ROOT;
    let mut class = message(index, ROOT, "htb", Some(options(htb)));
    class.header.handle = CLASS;
    Ok(vec![
        RouteNetlinkMessage::NewQueueDiscipline(root),
        RouteNetlinkMessage::NewTrafficClass(class),
        qdisc(index, CLASS, &htb.child)?,
    ])
}

/// The class.
pub(super) fn options(htb: &Htb) -> Vec<u8> {
    let mut out = Attributes::default();
    for (kind, rate) in [(RATE64, htb.rate), (CEIL64, htb.ceil)] {
        if rate::is_high(rate) {
            out.u64(kind, rate);
        }
    }
    // struct tc_htb_opt; the quantum, the level and the priority are nothing to one class.
    let mut parms = rate::spec(htb.rate, htb.link);
    parms.extend(rate::spec(htb.ceil, htb.link));
    for word in [htb.buffer_ticks, htb.cbuffer_ticks, 0, 0, 0] {
        parms.extend_from_slice(&word.to_ne_bytes());
    }
    out.put(PARMS, &parms);
    out.bytes()
}
