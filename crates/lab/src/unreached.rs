//! What a point asks for at a time that its run never came to, and what its run left under way: without a word the run
//! would seem to show its effect.

use tcplab_plan::app::{App, AppKind};
use tcplab_plan::measure::way_owner;
use tcplab_plan::outcome::{End, Flow, KEPT_LATENCIES, MOST_PINGS, WayCount};
use tcplab_plan::point::{By, Direction};
use tcplab_plan::{Outcome, Point};

/// A line for each of them. What a link saw is said by its stack.
pub(crate) fn unreached(point: &Point, outcome: &Outcome) -> Vec<String> {
    let end = outcome.virtual_ns;
    let mut found = Vec::new();
    for host in &point.hosts {
        let times = host.changes.iter().map(|change| change.at_ns);
        found.extend(late(&format!("host.{}.change", host.name), times, end));
    }
    let ways = (point.links.iter()).flat_map(|link| [&link.a_to_b, &link.b_to_a]);
    for (number, way) in ways.enumerate() {
        of_way(&way_owner(point, number), way, end, &mut found);
    }
    let apps = point.apps.iter();
    found.extend(apps.flat_map(|app| closed(app, &outcome.flows)));
    found
}

/// Options for sockets of an application that had none any more, or not yet.
fn closed(app: &App, flows: &[Flow]) -> Vec<String> {
    let own: Vec<&Flow> = flows.iter().filter(|flow| flow.app == app.name).collect();
    let mut found = Vec::new();
    for (of_clients, side) in [(true, "client"), (false, "server")] {
        let changes = app.changes.iter().filter(|it| it.of_clients == of_clients);
        let times: Vec<i64> = changes.map(|it| it.at_ns).collect();
        let line = |why: String| format!("app.{}.{side}_change: {why}", app.name);
        if own.is_empty() {
            let why = "the application opened no connection, so what is set changed nothing";
            found.extend(times.first().map(|_| line(why.to_owned())));
            continue;
        }
        let early = times
            .iter()
            .filter_map(|at| early(app, &own, of_clients, *at));
        found.extend(early.map(line));
        let closed = |flow: &Flow| match of_clients {
            true => flow.client.closed_ns,
            false => flow.server.closed_ns,
        };
        let is_over = |at: &&i64| {
            own.iter()
                .all(|flow| closed(flow).is_some_and(|closed| closed < **at))
        };
        found.extend(times.iter().filter(is_over).min().map(|at| {
            line(format!(
                "every connection was closed before {} s, so what is set for then and later changed nothing",
                *at as f64 / 1e9
            ))
        }));
    }
    found
}

/// Connections that did not exist yet at this time: at one instant, options are set before sockets open. A client's
/// socket has its options from its SYN on.
fn early(app: &App, own: &[&Flow], of_clients: bool, at: i64) -> Option<String> {
    let is_later = |flow: &&&Flow| {
        let begins = app.start_ns + app.stagger_ns.saturating_mul(flow.connection.into());
        match of_clients {
            true => begins >= at,
            false => flow.server.opened_ns.is_some_and(|opened| opened >= at),
        }
    };
    let (many, all) = (own.iter().filter(is_later).count(), own.len());
    (many > 0).then(|| {
        format!(
            "{many} of {all} connections had not begun at {} s, so what is set then did not change them",
            at as f64 / 1e9
        )
    })
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

/// Ways that still held frames of datagram senders at the run's end: what they would have dropped or let through is in
/// no figure. A TCP that ends has seen its data acknowledged. Copies that a link makes come out without having entered:
/// they can hide what is left.
pub(crate) fn undrained(point: &Point, outcome: &Outcome) -> Vec<String> {
    let is_datagrams =
        |app: &App| matches!(app.does, AppKind::UdpStream { .. } | AppKind::Replay { .. });
    if outcome.cut_short || !point.apps.iter().any(is_datagrams) {
        return Vec::new();
    }
    let links = point.links.iter().zip(&outcome.links).enumerate();
    let own = links.filter(|(_, (link, _))| link.by == By::Tcplab);
    let ways =
        own.flat_map(|(at, (_, count))| [(2 * at, &count.a_to_b), (2 * at + 1, &count.b_to_a)]);
    let has_more =
        |count: &WayCount| count.frames > count.delivered + count.queue_drops + count.lost;
    ways.filter(|(_, count)| has_more(count))
        .map(|(way, _)| {
            format!(
                "{}: frames were still under way when the run ended, so its arrivals, and drops of a queue, are too few: set a longer `run.linger`",
                way_owner(point, way)
            )
        })
        .collect()
}

fn of_way(place: &str, way: &Direction, end: i64, found: &mut Vec<String>) {
    let changes = way.changes.iter().map(|change| change.at_ns);
    found.extend(late(&format!("{place}.change"), changes, end));
    let outages = way.outages.iter().map(|outage| outage.from_ns);
    found.extend(late(&format!("{place}.outage"), outages, end));
    let injects = way.injects.iter().map(|inject| inject.at_ns);
    found.extend(late(&format!("{place}.inject"), injects, end));
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
    fn options_for_closed_connections_are_said() {
        use tcplab_plan::Experiment;
        let text = "[[app]]\nname = \"x\"\nkind = \"bulk\"\nbytes = \"1k\"\nclient_change = [{ at = \"2s\", nodelay = true }]\nserver_change = [{ at = \"2s\", nodelay = true }]\n";
        let points = Experiment::parse("x.toml", text).unwrap().points().unwrap();
        let end = |closed_ns| End {
            opened_ns: Some(0),
            closed_ns,
            ..End::default()
        };
        let flow = |client, server| Flow {
            app: "x".into(),
            client: end(client),
            server: end(server),
            ..Flow::default()
        };
        let said = |flows: &[Flow]| closed(&points[0].apps[0], flows);
        let early = Some(1_000_000_000);
        assert_eq!(
            said(&[flow(early, None), flow(early, early)]),
            [
                "app.x.client_change: every connection was closed before 2 s, so what is set for then and later changed nothing"
            ]
        );
        let none = "app.x.client_change: the application opened no connection, so what is set changed nothing";
        assert_eq!(said(&[])[0], none);
        let open = flow(Some(3_000_000_000), None);
        assert!(said(&[flow(early, early), open.clone()]).is_empty());
        let mut at_start = points[0].apps[0].clone();
        at_start.start_ns = 2_000_000_000;
        assert_eq!(
            closed(&at_start, std::slice::from_ref(&open)),
            [
                "app.x.client_change: 1 of 1 connections had not begun at 2 s, so what is set then did not change them"
            ]
        );
        let mut staggered = points[0].apps[0].clone();
        staggered.stagger_ns = 3_000_000_000;
        let later = Flow {
            connection: 1,
            ..open.clone()
        };
        assert_eq!(
            closed(&staggered, &[open, later]),
            [
                "app.x.client_change: 1 of 2 connections had not begun at 2 s, so what is set then did not change them"
            ]
        );
    }

    #[test]
    fn what_a_run_did_not_reach_is_said() {
        let outage = tcplab_plan::point::Outage {
            from_ns: 2_000_000_000,
            until_ns: None,
        };
        let way = Direction {
            outages: vec![outage],
            ..Direction::default()
        };
        let said = |end| {
            let mut found = Vec::new();
            of_way("link.a-b.a_to_b", &way, end, &mut found);
            found
        };
        assert_eq!(
            said(1_500_000_000),
            [
                "link.a-b.a_to_b.outage: the run ended before 2 s, so what is set for then and later changed nothing",
            ]
        );
        assert_eq!(said(3_000_000_000).len(), 0);
    }
}
