//! What the kernel's qdiscs counted (`TCA_STATS2`), by tc's names and those of our own.

mod cake;
mod dump;
mod own;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;

use netlink_packet_route::tc::TcHandle;
use tcplab_qdisc::QdiscCount;

use super::super::error::{Context, RunError};
use super::super::netlink::{Netlink, index};
use super::attributes::{find, number};
use super::htb;

/// linux/rtnetlink.h.
const TCA_KIND: u16 = 1;
const TCA_STATS2: u16 = 7;

/// linux/gen_stats.h.
const BASIC: u16 = 1;
const QUEUE: u16 = 3;
const APP: u16 = 4;
const PKT64: u16 = 8;

/// The qdisc of an interface in the current network namespace; none: frames do not queue there.
pub(crate) fn of(netlink: &Netlink, interface: &str) -> Result<Option<QdiscCount>, RunError> {
    let index = index(interface).context(|| format!("no interface {interface}"))?;
    let index = i32::try_from(index).unwrap_or(i32::MAX);
    ask(netlink, index).context(|| format!("cannot read the qdisc of {interface}"))
}

fn ask(netlink: &Netlink, index: i32) -> io::Result<Option<QdiscCount>> {
    let all = dump::qdiscs(netlink, index)?;
    let at = |parent| all.iter().find(|one| one.parent == parent);
    let Some(root) = at(TcHandle::ROOT) else {
        return Ok(None);
    };
    let Some(mut count) = read(&root.attributes) else {
        return Ok(None);
    };
    if count.kind == "htb" {
        let child = at(htb::CLASS).and_then(|child| read(&child.attributes));
        let child = child.unwrap_or_default();
        (count.own, count.tins) = (child.own, child.tins);
        let classes = dump::classes(netlink, index)?;
        let class = classes.iter().find(|class| class.handle == htb::CLASS);
        let app = class.and_then(|class| find(&find(&class.attributes, TCA_STATS2)?, APP));
        // struct tc_htb_xstats
        let lended = number(&app.unwrap_or_default(), 0, 4);
        count.own.insert("lended".into(), lended);
    }
    Ok(Some(count))
}

/// The attributes of one qdisc; none: it is `noqueue`, or not known.
fn read(attributes: &[u8]) -> Option<QdiscCount> {
    let kind = find(attributes, TCA_KIND)?;
    let kind = String::from_utf8_lossy(&kind);
    let kind = kind.trim_end_matches('\0');
    if kind == "noqueue" {
        return None;
    }
    let stats = find(attributes, TCA_STATS2)?;
    // struct gnet_stats_basic, and its packets in 64 bits where a kernel gives them.
    let basic = find(&stats, BASIC).unwrap_or_default();
    let packets = find(&stats, PKT64).map(|value| number(&value, 0, 8));
    // struct gnet_stats_queue
    let queue = find(&stats, QUEUE).unwrap_or_default();
    let mut count = QdiscCount {
        kind: kind.to_owned(),
        bytes: number(&basic, 0, 8),
        packets: packets.unwrap_or_else(|| number(&basic, 8, 4)),
        qlen: number(&queue, 0, 4),
        backlog: number(&queue, 4, 4),
        drops: number(&queue, 8, 4),
        overlimits: number(&queue, 16, 4),
        ..QdiscCount::default()
    };
    if kind == "netem" {
        count.own.insert("requeues".into(), number(&queue, 12, 4));
    }
    let app = find(&stats, APP).unwrap_or_default();
    match kind {
        "cake" => (count.own, count.tins) = cake::read(&app),
        _ => count.own.extend(own::read(kind, &app)),
    }
    Some(count)
}

/// Counters by name.
type Named = BTreeMap<String, u64>;
