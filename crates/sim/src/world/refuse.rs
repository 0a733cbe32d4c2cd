//! What the model does not do: said of a point before it runs.

use tcplab_plan::contract::{self, Kind};
use tcplab_plan::experiment::nearest;
use tcplab_plan::network::narrow_link;
use tcplab_plan::point::Host;
use tcplab_plan::{Point, Refusal};
use tcplab_tcp::{Sysctl, Unread, congestion_controls};

use super::replay;
use crate::events::Events;

/// Everything of a point that the model does not honour and no rule of a key says, in the order of its hosts,
/// applications and links.
pub fn refusals(point: &Point) -> Vec<Refusal> {
    let sysctls = point.hosts.iter().flat_map(of_sysctls);
    sysctls.chain(own(point)).collect()
}

/// What a world cannot run, without sysctls, which a host refuses as it sets them: cheap enough for each connection of
/// a population.
pub(super) fn obstacles(point: &Point) -> Vec<Refusal> {
    let mut found = contract::links_of_kernels(point, Kind::Model);
    found.extend(own(point));
    found
}

fn own(point: &Point) -> Vec<Refusal> {
    let mut found = Vec::new();
    of_congestion(point, &mut found);
    of_links(point, &mut found);
    found.extend(replay::obstacles(point));
    let ends: u64 = point.apps.iter().map(|a| u64::from(a.connections)).sum();
    if ends * 2 > Events::MOST as u64 {
        let most = Events::MOST / 2;
        let why = format!("{ends} connections are more than the model's {most}");
        found.push(Refusal::new("connections", why, ""));
    }
    found
}

fn of_sysctls(host: &Host) -> Vec<Refusal> {
    let mut sysctl = Sysctl::default();
    let each = host.sysctl.iter().filter_map(|(name, value)| {
        if let Err(why) = sysctl.set(name, value) {
            return Some(refused_sysctl(&host.name, (name, value), &why));
        }
        let unread = Unread::of(name, value)?;
        let why = format!(
            "{value} changes nothing: the model does not honour it and acts as with {} ({})",
            unread.acts_as,
            unread.does()
        );
        let place = place_of(&host.name, name);
        Some(Refusal::new(place, why, "run it on uml:").tolerable(name))
    });
    each.collect()
}

/// A sysctl that could not be set.
pub(crate) fn refused_sysctl(host: &str, (name, value): (&str, &str), why: &str) -> Refusal {
    let why = format!("{value} was not set: {why}");
    let known = Sysctl::NAMES.iter().copied().filter(|known| *known != name);
    let remedy = match nearest(name, known) {
        Some(near) if !Sysctl::NAMES.contains(&name) => {
            format!("did you mean `{near}`? If not, leave it out")
        }
        _ => "leave it out".to_owned(),
    };
    Refusal::new(place_of(host, name), why, &remedy).tolerable(name)
}

fn place_of(host: &str, sysctl: &str) -> String {
    format!("host.{host}.sysctl.\"{sysctl}\"")
}

fn of_congestion(point: &Point, found: &mut Vec<Refusal>) {
    let mut look = |place: &dyn Fn() -> String, name: Option<&String>| {
        let Some(name) = name.filter(|name| !is_congestion(name)) else {
            return;
        };
        let known: Vec<&str> = congestion_controls().collect();
        let why = format!(
            "no congestion control `{name}`; the model has {}",
            known.join(", ")
        );
        found.push(Refusal::new(place(), why, ""));
    };
    for host in &point.hosts {
        let of = |key: &str| format!("host.{}.{key}", host.name);
        look(&|| of("route (congctl)"), host.route.congctl.as_ref());
        look(&|| of("socket.congestion"), host.socket.congestion.as_ref());
    }
    for app in &point.apps {
        let of = |key: &str| format!("app.{}.{key}.congestion", app.name);
        look(
            &|| of("client_socket"),
            app.client_socket.congestion.as_ref(),
        );
        look(
            &|| of("server_socket"),
            app.server_socket.congestion.as_ref(),
        );
    }
}

fn is_congestion(name: &str) -> bool {
    congestion_controls().any(|known| known == name)
}

fn of_links(point: &Point, found: &mut Vec<Refusal>) {
    let name = |host: usize| point.hosts.get(host).map_or("?", |h| h.name.as_str());
    let place = |a: usize, b: usize| format!("link {}-{}", name(a), name(b));
    for app in point.apps.iter().filter(|app| !app.does.is_udp()) {
        let [a, b] = [app.client, app.server];
        if let Some(link) = narrow_link(point, a, b).or_else(|| narrow_link(point, b, a)) {
            let link = &point.links[link];
            found.push(Refusal::new(
                place(link.a, link.b),
                "its mtu is smaller than those at both ends of the way; the model has no path MTU discovery",
                "",
            ));
        }
    }
}
