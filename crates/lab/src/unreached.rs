//! What a point asks for at a time, or of a frame, that its run never came to: without a word the run would seem to show
//! its effect.

use tcplab_plan::measure::link_names;
use tcplab_plan::outcome::{End, Flow, KEPT_LATENCIES, LinkCount, MOST_PINGS, WayCount};
use tcplab_plan::point::{Direction, Does, Event};
use tcplab_plan::{Outcome, Point};

/// A line for each of them.
pub(crate) fn unreached(point: &Point, outcome: &Outcome) -> Vec<String> {
    let end = outcome.virtual_ns;
    let mut found = Vec::new();
    for host in &point.hosts {
        let times = host.changes.iter().map(|change| change.at_ns);
        found.extend(late(&format!("host.{}.change", host.name), times, end));
    }
    for (link, count) in point.links.iter().zip(&outcome.links) {
        let [name, _] = link_names(point, link);
        let LinkCount { a_to_b, b_to_a, .. } = count;
        for (way, settings, count) in [
            ("a_to_b", &link.a_to_b, a_to_b),
            ("b_to_a", &link.b_to_a, b_to_a),
        ] {
            of_way(
                &format!("link.{name}.{way}"),
                settings,
                count,
                end,
                &mut found,
            );
        }
    }
    found
}

/// A line for each application of whose transactions not all have a latency.
pub(crate) fn bounded(outcome: &Outcome) -> Vec<String> {
    let mut apps: Vec<&str> = Vec::new();
    let stopped = |flow: &&Flow| flow.client.pings.len() == MOST_PINGS;
    let mut found: Vec<String> = (outcome.flows.iter().filter(stopped))
        .map(|flow| format!("{}: no pings after the first 1,000,000", flow.app))
        .collect();
    for flow in &outcome.flows {
        let is_bounded = |end: &End| {
            end.latency_ns.len() >= KEPT_LATENCIES && end.completed > KEPT_LATENCIES as u64
        };
        if (is_bounded(&flow.client) || is_bounded(&flow.server))
            && !apps.contains(&flow.app.as_str())
        {
            apps.push(&flow.app);
        }
    }
    let say = |app: &str| {
        format!("{app}.latency_us: of the first 100,000 transactions of each connection only")
    };
    found.extend(apps.into_iter().map(say));
    found
}

fn of_way(place: &str, way: &Direction, count: &WayCount, end: i64, found: &mut Vec<String>) {
    let changes = way.changes.iter().map(|change| change.at_ns);
    found.extend(late(&format!("{place}.change"), changes, end));
    let outages = way.outages.iter().map(|outage| outage.from_ns);
    found.extend(late(&format!("{place}.outage"), outages, end));
    let injects = way.injects.iter().map(|inject| inject.at_ns);
    found.extend(late(&format!("{place}.inject"), injects, end));
    // Frames of one kind are at most all frames.
    let beyond = |event: &&Event| event.first > count.frames;
    if let Some(event) = way.events.iter().find(beyond) {
        let word = match event.does {
            Does::Drop => "drop",
            Does::DelayNs(_) => "late",
            Does::Duplicate => "duplicate",
            Does::Mark => "mark",
        };
        found.push(format!(
            "{place}.{word}: fewer frames passed, so number {} changed nothing",
            event.first
        ));
    }
}

/// Times at or after the end of the run. The end itself is not said: it differs from run to run, and one line is enough.
fn late(place: &str, times: impl Iterator<Item = i64>, end: i64) -> Option<String> {
    let first = times.filter(|at| *at >= end).min()?;
    let first = first as f64 / 1e9;
    Some(format!(
        "{place}: the run ended before {first} s, so what is set for then and later changed nothing"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_did_not_reach_is_said() {
        let mut way = Direction::default();
        let event = |first| Event {
            of: tcplab_plan::point::Of::Data,
            first,
            last: first,
            does: Does::Drop,
        };
        way.events = vec![event(7), event(12)];
        way.outages = vec![tcplab_plan::point::Outage {
            from_ns: 2_000_000_000,
            until_ns: None,
        }];
        let count = WayCount {
            frames: 10,
            ..WayCount::default()
        };
        let said = |end| {
            let mut found = Vec::new();
            of_way("link.a-b.a_to_b", &way, &count, end, &mut found);
            found
        };
        assert_eq!(
            said(1_500_000_000),
            [
                "link.a-b.a_to_b.outage: the run ended before 2 s, so what is set for then and later changed nothing",
                "link.a-b.a_to_b.drop: fewer frames passed, so number 12 changed nothing",
            ]
        );
        assert_eq!(said(3_000_000_000).len(), 1);
    }
}
