//! Keys of tcplab's own links, which real machines do not have between them.

use super::Kind;
use super::rules::{Rule, name_of};
use crate::point::{Direction, Does, Point};

// The rules that stand against a key.
pub(crate) const MIDDLEBOX: &[&Rule] = &[&MIDDLEBOX_RULE];
pub(crate) const INJECT: &[&Rule] = &[&INJECT_RULE];
pub(crate) const RATE_TRACE: &[&Rule] = &[&RATE_TRACE_RULE];
pub(crate) const LINK_CHANGE: &[&Rule] = &[&LINK_CHANGE_RULE];
pub(crate) const DROP: &[&Rule] = &[&DROP_RULE];
pub(crate) const DUPLICATE: &[&Rule] = &[&DUPLICATE_RULE];
pub(crate) const MARK: &[&Rule] = &[&MARK_RULE];
pub(crate) const LATE: &[&Rule] = &[&LATE_RULE];
pub(crate) const OUTAGE: &[&Rule] = &[&OUTAGE_RULE];

const REAL_NETWORK: &str = "tcplab has no link of its own between two real machines";
const OUR_NETWORK: &str = "run it on model:, uml: or host, or leave it out";

/// What the rules about tcplab's own link have in common.
const OF_OUR_LINK: Rule = Rule {
    name: "",
    not_on: &[Kind::Ssh],
    when: "",
    why: REAL_NETWORK,
    remedy: OUR_NETWORK,
    tolerable: true,
    asks: |_| Vec::new(),
};

pub(super) static MIDDLEBOX_RULE: Rule = Rule {
    name: "middlebox",
    asks: |point| of_ways(point, "middlebox", |way| !way.middlebox.is_empty()),
    ..OF_OUR_LINK
};

pub(super) static INJECT_RULE: Rule = Rule {
    name: "inject",
    asks: |point| of_ways(point, "inject", |way| !way.injects.is_empty()),
    ..OF_OUR_LINK
};

pub(super) static RATE_TRACE_RULE: Rule = Rule {
    name: "rate_trace",
    asks: |point| of_ways(point, "rate_trace", |way| way.rate_trace.is_some()),
    ..OF_OUR_LINK
};

pub(super) static LINK_CHANGE_RULE: Rule = Rule {
    name: "change",
    asks: |point| of_ways(point, "change", |way| !way.changes.is_empty()),
    ..OF_OUR_LINK
};

/// Frames that a single way's key names by their number.
fn of_events(point: &Point, key: &str, does: impl Fn(&Does) -> bool) -> Vec<(String, String)> {
    of_ways(point, key, |way| {
        way.events.iter().any(|event| does(&event.does))
    })
}

pub(super) static DROP_RULE: Rule = Rule {
    name: "drop",
    asks: |point| of_events(point, "drop", |does| matches!(does, Does::Drop)),
    ..OF_OUR_LINK
};

pub(super) static DUPLICATE_RULE: Rule = Rule {
    name: "duplicate",
    asks: |point| of_events(point, "duplicate", |does| matches!(does, Does::Duplicate)),
    ..OF_OUR_LINK
};

pub(super) static MARK_RULE: Rule = Rule {
    name: "mark",
    asks: |point| of_events(point, "mark", |does| matches!(does, Does::Mark)),
    ..OF_OUR_LINK
};

pub(super) static LATE_RULE: Rule = Rule {
    name: "late",
    asks: |point| of_events(point, "late", |does| matches!(does, Does::DelayNs(_))),
    ..OF_OUR_LINK
};

pub(super) static OUTAGE_RULE: Rule = Rule {
    name: "outage",
    asks: |point| of_ways(point, "outage", |way| !way.outages.is_empty()),
    ..OF_OUR_LINK
};

/// `link A-B.WAY.KEY` of the ways that have it.
fn of_ways(point: &Point, key: &str, has: impl Fn(&Direction) -> bool) -> Vec<(String, String)> {
    let ways = point.links.iter().flat_map(|link| {
        [("a_to_b", &link.a_to_b), ("b_to_a", &link.b_to_a)].map(|(way, at)| (link, way, at))
    });
    let found = ways.filter(|(.., at)| has(at));
    let place = |(link, way, _)| format!("{}.{way}.{key}", name_of(point, link));
    found.map(|found| (place(found), String::new())).collect()
}
