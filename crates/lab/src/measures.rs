//! The measures that a run shows when its experiment names none.

use tcplab_plan::Point;
use tcplab_plan::app::{App, AppKind};
use tcplab_plan::measure::Measure;
use tcplab_plan::network::direct_link;

use crate::error::LabError;

/// Those of the applications: what each completed, how long it took, and which ACKs were late.
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
    for app in point.apps.iter().filter(|app| !is_in_set(app)) {
        let name = app.group.as_ref().unwrap_or(&app.name);
        add(format!("{name}.completed"));
        if let (true, Some(link)) = (
            app.does.is_replay(),
            direct_link(&point.links, app.client, app.server),
        ) {
            of_way(point, link, app.client).for_each(&mut add);
            continue;
        }
        match app.does {
            AppKind::Bulk { .. } => add(format!("{name}.goodput_bps")),
            AppKind::Stream { .. } | AppKind::Sink { .. } | AppKind::UdpStream { .. } => {}
            _ => {
                add(format!("{name}.latency_us.p50"));
                add(format!("{name}.latency_us.max"));
            }
        }
        if app.does.is_udp() {
            continue;
        }
        for host in [app.client, app.server] {
            let host = &point.hosts[host];
            let host = host.group.as_ref().unwrap_or(&host.name);
            add(format!("{host}.acks.delayed"));
            add(format!("{host}.retransmissions.total"));
        }
    }
    names
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
