//! What a file may say by a slip of the pen: told before the run, which goes on.

use std::collections::BTreeSet;

use tcplab_base::quantity::rate;
use tcplab_plan::Point;
use tcplab_plan::app::Listening;
use tcplab_plan::point::Direction;
use tcplab_qdisc::Kind;

/// Remarks of one kind at most.
const MOST: usize = 4;

/// All of them.
pub fn all(points: &[Point]) -> Vec<String> {
    let one = [over_lo(points), listeners(points)];
    let shapers = shapers(points).into_iter().take(MOST);
    one.into_iter().flatten().chain(shapers).collect()
}

/// CAKE with a bandwidth far below its wire's rate: often only one of the two was changed.
fn shapers(points: &[Point]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for point in points {
        let host = |at: usize| point.hosts.get(at).map_or("", |host| host.name.as_str());
        for link in &point.links {
            for (name, way) in [("a_to_b", &link.a_to_b), ("b_to_a", &link.b_to_a)] {
                let Some((shaped, wire)) = far_below(way) else {
                    continue;
                };
                if is_for_another(point, shaped) {
                    continue;
                }
                let (a, b, percent) = (host(link.a), host(link.b), shaped * 100 / wire);
                let (shaped, wire) = (rate(shaped as f64), rate(wire as f64));
                found.insert(format!(
                    "link {a}-{b} {name}: CAKE shapes to {shaped}, {percent} % of the link's {wire}; about 95 % is usual"
                ));
            }
        }
    }
    found
}

/// The bandwidth suits another link: a router shapes for the modem behind it.
fn is_for_another(point: &Point, shaped: u64) -> bool {
    let ways = point
        .links
        .iter()
        .flat_map(|link| [&link.a_to_b, &link.b_to_a]);
    let suits = |rate: u64| (rate / 5 * 4..=rate).contains(&shaped);
    ways.filter_map(|way| way.rate_bps).any(suits)
}

/// CAKE's bandwidth and the wire's rate, when the first is less than four fifths.
fn far_below(way: &Direction) -> Option<(u64, u64)> {
    let Kind::Cake(cake) = way.queue.as_ref()?.kind() else {
        return None;
    };
    let (shaped, wire) = (cake.bandwidth_bps?, way.rate_bps?);
    (shaped < wire / 5 * 4).then_some((shaped, wire))
}

/// A group of clients has a listener for each: its backlog is not that of one crowded server.
fn listeners(points: &[Point]) -> Option<String> {
    let plain = Listening::default();
    let crowded = points.iter().find_map(|point| {
        let apps = point.apps.iter();
        let app = apps
            .clone()
            .find(|app| app.group.is_some() && app.listening != plain)?;
        let members = apps.filter(|other| other.group == app.group && other.server == app.server);
        Some((app.group.clone()?, members.count()))
    });
    let (group, members) = crowded.filter(|(_, members)| *members > 1)?;
    Some(format!(
        "application `{group}`: each of its {members} members has a port and a listener of its own, so `backlog` and \
         `accept_every` hold for each of them; clients of one listener are `connections` of one host"
    ))
}

/// An application whose ends are one host by a slip of the pen uses no link.
fn over_lo(points: &[Point]) -> Option<String> {
    let both = |point: &Point| {
        let app = point.apps.iter().find(|app| app.client == app.server)?;
        let host = point.hosts.get(app.client)?;
        Some((app.name.clone(), host.name.clone()))
    };
    // Where some points only are so, an axis or a variant says it.
    let all: Option<Vec<_>> = points.iter().map(both).collect();
    let (app, host) = all?.into_iter().next()?;
    Some(format!(
        "application `{app}`: client and server are both host `{host}`, so it runs over lo, not over a link"
    ))
}
