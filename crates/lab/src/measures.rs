//! The measures that a run shows when its experiment names none.

use tcplab_plan::Point;
use tcplab_plan::app::{App, AppKind};
use tcplab_plan::measure::{Measure, is_behind_own_qdisc};
use tcplab_plan::network::direct_link;
use tcplab_plan::point::{By, Link};

use crate::error::LabError;

/// Default measures of an experiment: results of applications, then of the network and the hosts.
pub fn of_applications(point: &Point) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: String| {
        if !names.contains(&name) {
            names.push(name);
        }
    };
    for set in &point.sets {
        set.headline().into_iter().for_each(&mut add);
    }
    let is_in_set = |app: &&App| {
        let names = [Some(&app.name), app.group.as_ref()];
        let mut names = names.into_iter().flatten();
        names.any(|name| point.sets.iter().any(|set| set.uses(name)))
    };
    let apps: Vec<&App> = point.apps.iter().filter(|app| !is_in_set(app)).collect();
    for app in &apps {
        let name = app.group.as_ref().unwrap_or(&app.name);
        for field in fields(app, point) {
            add(format!("{name}.{field}"));
        }
        if let (true, Some(link)) = (
            app.does.is_replay(),
            direct_link(&point.links, app.client, app.server),
        ) {
            of_way(point, link, app.client).for_each(&mut add);
        }
    }
    if apps.iter().any(|app| !app.does.is_replay()) {
        narrowest(point).for_each(&mut add);
    }
    for app in apps {
        of_hosts(app, point).into_iter().for_each(&mut add);
    }
    names
}

/// What an application is asked first.
fn fields(app: &App, point: &Point) -> Vec<&'static str> {
    let is_several = app.connections > 1 || app.group.is_some();
    match app.does {
        AppKind::Replay { .. } => vec!["completed"],
        AppKind::Ping { .. } => vec!["latency_us.p50", "latency_us.p99", "lost"],
        AppKind::Bulk { bytes, .. } => {
            let mut names = vec!["goodput_bps"];
            if bytes.is_some() {
                names.push("duration_us");
            }
            if is_several {
                names.push("connection_bps.min");
            }
            if is_several && point.tcp_info_every_ns.is_some() {
                names.push("jain.mean");
            }
            names
        }
        AppKind::Stream { .. } | AppKind::Sink { .. } | AppKind::UdpStream { .. } => {
            vec!["completed", "goodput_bps"]
        }
        AppKind::Web { .. } => vec![
            "latency_us.p50",
            "latency_us.p99",
            "duration_us",
            "completed",
        ],
        AppKind::UdpRr { .. } => vec!["latency_us.p50", "latency_us.p99", "completed", "lost"],
        _ => vec!["latency_us.p50", "latency_us.p99", "completed"],
    }
}

/// What the segments of its hosts tell: from the packets, or from the counters where nothing is captured.
fn of_hosts(app: &App, point: &Point) -> Vec<String> {
    if app.does.is_udp() {
        return Vec::new();
    }
    let name = |host: usize| {
        let host = &point.hosts[host];
        host.group.clone().unwrap_or_else(|| host.name.clone())
    };
    let ends = [app.client, app.server].map(name);
    if !point.captures {
        return ends.map(|host| format!("{host}.TcpRetransSegs")).to_vec();
    }
    let mut names = Vec::new();
    if let AppKind::Bulk { reverse, .. } = app.does {
        let sender = &ends[usize::from(reverse)];
        if is_behind_own_qdisc(point, sender) {
            names.push(format!("{sender}.tcpi_rtt"));
        } else {
            names.extend(["p50", "p95"].map(|part| format!("{sender}.rtt_us.{part}")));
        }
    }
    names.extend(ends.iter().map(|host| {
        let behind = is_behind_own_qdisc(point, host);
        let counted = if behind {
            "TcpRetransSegs"
        } else {
            "retransmissions.total"
        };
        format!("{host}.{counted}")
    }));
    names.extend(ends.iter().map(|host| format!("{host}.acks.delayed")));
    names
}

/// The queues of the narrowest link that tcplab forwards, where they are measured.
fn narrowest(point: &Point) -> impl Iterator<Item = String> {
    let is_named = |host: usize| point.hosts[host].group.is_none();
    let own = point.links.iter().filter(|link| link.by == By::Tcplab);
    let own = own.filter(|link| is_named(link.a) && is_named(link.b));
    let rate = |link: &&Link| {
        let ways = [&link.a_to_b, &link.b_to_a];
        ways.into_iter().filter_map(|way| way.rate_bps).min()
    };
    let found = own.filter(|link| rate(link).is_some()).min_by_key(rate);
    found.into_iter().flat_map(|link| {
        let [a, b] = [link.a, link.b].map(|host| &point.hosts[host].name);
        let ways = [("a_to_b", &link.a_to_b), ("b_to_a", &link.b_to_a)];
        let measured = ways
            .into_iter()
            .filter(|(_, way)| way.queue_from_ns.is_some());
        measured.map(move |(way, _)| format!("link.{a}-{b}.{way}.queue_p99_bytes"))
    })
}

/// What a link did with the frames that a host sent into it.
fn of_way(point: &Point, link: usize, from: usize) -> impl Iterator<Item = String> {
    let link = &point.links[link];
    let [a, b] = [link.a, link.b].map(|host| &point.hosts[host].name);
    let way = match link.a == from {
        true => "a_to_b",
        false => "b_to_a",
    };
    let names = ["drops", "ecn_mark", "ack_drops"];
    names
        .map(|name| format!("link.{a}-{b}.{way}.{name}"))
        .into_iter()
}

/// Checks names against a point.
///
/// # Errors
/// The first name that nothing has, with the nearest one.
pub fn check(names: &[String], point: &Point) -> Result<(), LabError> {
    for name in names {
        Measure::parse(name, point).map_err(|e| LabError::Wrong(e.to_string()))?;
    }
    Ok(())
}
