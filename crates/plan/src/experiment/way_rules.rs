//! What the single keys of a way of a link cannot say of each other.

use crate::point::Direction;

/// Why a way cannot have the rate of its trace, if it cannot.
pub(crate) fn two_rates(way: &Direction) -> Option<String> {
    way.rate_trace.as_ref()?;
    let changes = way.changes.iter();
    if way.rate_bps.is_some() {
        return Some("`rate` and `rate_trace` contradict each other: remove one".to_owned());
    }
    if changes
        .filter_map(|change| change.rate_bps)
        .next()
        .is_some()
    {
        return Some("a change of `rate`: the link has a `rate_trace`".to_owned());
    }
    None
}

/// Why the changes of a way are impossible, if they are.
pub(crate) fn unchangeable(way: &Direction) -> Option<String> {
    let mut now = way.clone();
    for change in &way.changes {
        let before = now.queue.is_some();
        now = change.of(&now);
        if now.jitter_ns > now.delay_ns {
            return Some("after a change the jitter is larger than the delay".to_owned());
        }
        let Some(queue) = &now.queue else { continue };
        if !before && way.queue_from_ns.is_some() {
            return Some(
                "a change to a qdisc: `queue_from` measures one queue; begin with a qdisc (`pfifo limit N`)"
                    .to_owned(),
            );
        }
        let words = queue.words();
        if change.limit_pkts.is_some() {
            return Some(format!(
                "a change of `limit`: the qdisc `{words}` has its own limit"
            ));
        }
        if now.rate_bps.is_none() && queue.kind().asks_rate() {
            return Some(format!(
                "a change to the qdisc `{words}`: it needs a link rate"
            ));
        }
        if change.rate_bps.is_some() && change.queue.is_none() && queue.kind().asks_rate() {
            return Some(format!(
                "a change of `rate`: the qdisc `{words}` shares out the link's rate and cannot follow"
            ));
        }
    }
    None
}
