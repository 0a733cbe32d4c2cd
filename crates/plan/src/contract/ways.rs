//! Keys of tcplab's own links, which real machines do not have between them.

use super::Kind;
use super::rules::{Asks, RULE, Rule};
use crate::point::{Direction, Does};

pub(crate) static MIDDLEBOX: [Rule; 1] =
    [of_our_link("middlebox", |way| !way.middlebox.is_empty())];
pub(crate) static INJECT: [Rule; 1] = [of_our_link("inject", |way| !way.injects.is_empty())];
pub(crate) static RATE_TRACE: [Rule; 1] =
    [of_our_link("rate_trace", |way| way.rate_trace.is_some())];
pub(crate) static LINK_CHANGE: [Rule; 1] = [of_our_link("change", |way| !way.changes.is_empty())];
pub(crate) static OUTAGE: [Rule; 1] = [of_our_link("outage", |way| !way.outages.is_empty())];

// Frames that a single way's key names by their number.
pub(crate) static DROP: [Rule; 1] = [of_our_link("drop", |way| {
    has_event(way, |does| matches!(does, Does::Drop))
})];
pub(crate) static DUPLICATE: [Rule; 1] = [of_our_link("duplicate", |way| {
    has_event(way, |does| matches!(does, Does::Duplicate))
})];
pub(crate) static MARK: [Rule; 1] = [of_our_link("mark", |way| {
    has_event(way, |does| matches!(does, Does::Mark))
})];
pub(crate) static LATE: [Rule; 1] = [of_our_link("late", |way| {
    has_event(way, |does| matches!(does, Does::DelayNs(_)))
})];

/// A rule about tcplab's own link, and the ways that ask for it.
const fn of_our_link(name: &'static str, has: fn(&Direction) -> bool) -> Rule {
    Rule {
        name,
        not_on: &[Kind::Ssh],
        why: "tcplab has no link of its own between two real machines",
        remedy: "run it on model:, uml: or host, or leave it out",
        tolerable: true,
        asks: Asks::Ways(has),
        ..RULE
    }
}

fn has_event(way: &Direction, is: impl Fn(&Does) -> bool) -> bool {
    way.events.iter().any(|event| is(&event.does))
}
