//! What the model does not do: said of a point before it runs.

use tcplab_plan::app::AppKind;
use tcplab_plan::contract::{self, Kind};
use tcplab_plan::experiment::nearest;
use tcplab_plan::network::{narrower_link, way};
use tcplab_plan::point::{Host, Ip};
use tcplab_plan::{Point, Refusal};
use tcplab_tcp::{Clock, Sysctl, Unread, congestion_controls};

use super::replay;
use crate::events::Events;
use crate::packet::{TCP_HEADER, UDP_HEADER};

/// Everything of a point that the model does not honour and no rule of a key says, in the order of its hosts,
/// applications and links.
pub fn refusals(point: &Point) -> Vec<Refusal> {
    let sysctls = point.hosts.iter().flat_map(of_sysctls);
    let later = point.hosts.iter().flat_map(of_changes);
    sysctls.chain(later).chain(own(point)).collect()
}

/// What a world cannot run, without sysctls, which a host refuses as it sets them: cheap enough for each connection of
/// a population.
pub(super) fn obstacles(point: &Point) -> Vec<Refusal> {
    let mut found = contract::links_of_kernels(point, Kind::Model);
    found.extend(unread_traces(point));
    found.extend(own(point));
    found
}

/// Traces of rates that nobody has read: the model opens no file.
fn unread_traces(point: &Point) -> impl Iterator<Item = Refusal> + '_ {
    let ways = (point.links.iter()).flat_map(|link| [&link.a_to_b, &link.b_to_a]);
    let traces = ways.filter_map(|way| way.rate_trace.as_ref());
    traces.filter(|trace| trace.at_ms.is_empty()).map(|trace| {
        let why = format!("{} was not read", trace.file);
        Refusal::new("link.rate_trace", why, "run it with `tcplab run`")
    })
}

fn own(point: &Point) -> Vec<Refusal> {
    let mut found = Vec::new();
    of_congestion(point, &mut found);
    of_mtus(point, &mut found);
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
    let each = host.sysctls().filter_map(|(name, value)| {
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

/// Tags are what cards know as well, and they are told once.
fn of_changes(host: &Host) -> impl Iterator<Item = Refusal> + '_ {
    let of_caqm = host.changes.iter().filter(|it| it.name.contains("caqm"));
    of_caqm.map(|change| {
        let place = format!("host.{}.change", host.name);
        let why = format!("{} cannot change during a run", change.name);
        Refusal::new(place, why, "set it with `sysctl`")
    })
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

/// TCP_RTO_MIN_US or TCP_DELACK_MAX_US that is shorter than two ticks of this host's kernel.
pub(crate) fn refused_timers(point: &Point, host: usize, clock: &Clock) -> Option<Refusal> {
    let mut ours = point.socket_tables().filter(|table| table.host == host);
    ours.find_map(|table| {
        let options = table.options;
        let values = [
            ("rto_min", options.rto_min_ns),
            ("delack_max", options.delack_max_ns),
        ];
        let is_short = |ns: i64| clock.timer_bound(ns).is_none();
        let mut short = values
            .into_iter()
            .filter(|(_, ns)| ns.is_some_and(is_short));
        let (key, _) = short.next()?;
        let ms = clock.tick_ns() as f64 * 2e-6;
        let why = format!("it is shorter than two ticks of this host, {ms} ms");
        let remedy = "set more, or run it at 1000 Hz (`@1000` behind the profile)";
        Some(Refusal::new(table.place(key), why, remedy))
    })
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
        let place = || format!("host.{}.route (congctl)", host.name);
        look(&place, host.route.congctl.as_ref());
    }
    for table in point.socket_tables() {
        look(
            &|| table.place("congestion"),
            table.options.congestion.as_ref(),
        );
    }
}

fn is_congestion(name: &str) -> bool {
    congestion_controls().any(|known| known == name)
}

/// Sizes by which Linux would fragment packets, and lives of packets after which it would send ICMP errors.
fn of_mtus(point: &Point, found: &mut Vec<Refusal>) {
    for (index, host) in point.hosts.iter().enumerate() {
        if host.forward && host.route.mtu.is_some() {
            let place = format!("host.{}.route (mtu)", host.name);
            let why = "the model's routers do not apply it to the packets that they pass on, as Linux does";
            found.push(Refusal::new(
                place,
                why,
                "set the `mtu` of the link behind it",
            ));
        }
        for (_, ttl) in host.sysctls().filter(|(name, _)| *name == TTL) {
            found.extend(of_ttl(point, index, ttl));
        }
        for (name, value) in host.sysctls().filter(|(name, _)| *name == LEAST_MSS) {
            let mut sysctl = Sysctl::default();
            if sysctl.set(name, value).is_ok() {
                found.extend(of_least_mss(point, index, sysctl.tcp_min_snd_mss));
            }
        }
    }
}

const TTL: &str = "net.ipv4.ip_default_ttl";

/// Packets of a host that a router drops because their time to live is over: the model's routers do not say so, as Linux's
/// do (ICMP time exceeded, RFC 1812 5.3.1).
fn of_ttl(point: &Point, host: usize, ttl: &str) -> Option<Refusal> {
    let ttl: usize = ttl.parse().ok().filter(|_| point.ip == Ip::V4)?;
    let ends = point
        .apps
        .iter()
        .flat_map(|app| [(app.client, app.server), (app.server, app.client)]);
    let own = ends.filter(|(from, _)| *from == host);
    let routers = own
        .filter_map(|(from, to)| way(point, from, to))
        .map(|way| way.len().saturating_sub(1))
        .max()?;
    (ttl <= routers).then(|| {
        let why = format!("{ttl}: packets expire at router {ttl} of {routers} on their way, and the model sends no ICMP time exceeded");
        let place = place_of(&point.hosts[host].name, TTL);
        Refusal::new(place, why, &format!("set more than {routers}, or run it on uml:"))
    })
}

const LEAST_MSS: &str = "net.ipv4.tcp_min_snd_mss";

/// Segments of a host that are never smaller than this, and do not fit into a link.
fn of_least_mss(point: &Point, host: usize, mss: u32) -> Option<Refusal> {
    let headers = point.ip.header_bytes() + TCP_HEADER;
    let bytes = mss.saturating_add(headers);
    let apps = point.apps.iter().filter(|app| !app.does.is_udp());
    let ends = apps.flat_map(|app| [(app.client, app.server), (app.server, app.client)]);
    let mut own = ends.filter(|(from, _)| *from == host);
    let link = own.find_map(|ends| narrower_link(point, ends, bytes))?;
    let mtu = point.links[link].mtu;
    let why = format!(
        "{mss}: packets of {bytes} bytes do not fit into the MTU of {mtu} bytes, and the model does not fragment packets"
    );
    let remedy = format!("set at most {}", mtu.saturating_sub(headers));
    let place = place_of(&point.hosts[host].name, LEAST_MSS);
    Some(Refusal::new(place, why, &remedy))
}

fn of_links(point: &Point, found: &mut Vec<Refusal>) {
    let name = |host: usize| point.hosts.get(host).map_or("?", |h| h.name.as_str());
    let place = |a: usize, b: usize| format!("link {}-{}", name(a), name(b));
    let mut refuse = |link: usize, why: String| {
        let link = &point.links[link];
        found.push(Refusal::new(place(link.a, link.b), why, ""));
    };
    for app in &point.apps {
        let ends = (app.client, app.server);
        let both = [ends, (ends.1, ends.0)];
        let [there, back] = datagrams(&app.does);
        let largest = there.max(back) + u64::from(point.ip.header_bytes() + UDP_HEADER);
        let largest = u32::try_from(largest).unwrap_or(u32::MAX);
        if there.max(back) > 0 && ends.0 != ends.1 {
            let narrow = both
                .iter()
                .find_map(|&ends| narrower_link(point, ends, largest));
            if let Some(link) = narrow {
                let mtu = point.links[link].mtu;
                refuse(
                    link,
                    format!(
                        "its mtu of {mtu} bytes is smaller than the packets of {largest} bytes of `{}`; the model does not \
                         fragment packets",
                        app.name
                    ),
                );
            }
        } else if let Some(link) = narrow_behind(point, both) {
            refuse(
                link,
                format!(
                    "its mtu is smaller than {LEAST_PATH_MTU} bytes, the least that Linux takes from a router \
                     (net.ipv4.route.min_pmtu), and the model does not fragment packets"
                ),
            );
        }
    }
}

/// `net.ipv4.route.min_pmtu`.
const LEAST_PATH_MTU: u32 = 552;

/// A link that a router would have to fragment packets for: narrower than what an end takes from it, and than its own link.
fn narrow_behind(point: &Point, ends: [(usize, usize); 2]) -> Option<usize> {
    let mut narrow = ends.iter().filter_map(|&(from, to)| {
        let way = way(point, from, to)?;
        let first = point.links.get(*way.first()?)?.mtu;
        way.into_iter()
            .find(|&number| point.links[number].mtu < first.min(LEAST_PATH_MTU))
    });
    narrow.next()
}

/// Bytes of an application's datagrams, to its server and back; 0 where it sends no datagrams.
fn datagrams(does: &AppKind) -> [u64; 2] {
    match does {
        AppKind::UdpStream { size, .. } => [*size, 0],
        AppKind::UdpRr {
            request, response, ..
        } => [*request, *response],
        AppKind::Ping { size, .. } => [*size, *size],
        _ => [0, 0],
    }
}
