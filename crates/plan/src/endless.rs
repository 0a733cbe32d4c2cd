//! Applications that cannot end in virtual time: they go on until a time that never comes, because nothing that they do
//! takes any.

use crate::app::{App, AppKind};
use crate::network::first_hops;
use crate::point::{By, Direction, Faults, Host, Link, Point};

/// Bytes of IP and TCP headers with time stamps.
const HEADERS: u64 = 52;

/// Why a point would never end in virtual time, and the remedy; `None` if no reason is known. In real time every step
/// takes some time.
pub fn endless(point: &Point) -> Option<String> {
    point.apps.iter().find_map(|app| why(point, app))
}

fn why(point: &Point, app: &App) -> Option<String> {
    let way = Way::of(point, app)?;
    let (what, remedy) = goes_on(app, &way)?;
    let name = |host: usize| point.hosts.get(host).map_or("", |h| h.name.as_str());
    let there = match app.client == app.server {
        true => format!(
            "its client and server are both host `{}`, and lo has no delay; name two hosts, or {remedy}",
            name(app.client)
        ),
        false if way.is_instant => format!(
            "no link between `{}` and `{}` has a rate or a delay, so time stands still; give a link a `rate` or a `delay`, \
             or {remedy}",
            name(app.client),
            name(app.server)
        ),
        false => format!("sending takes no time; {remedy}"),
    };
    Some(format!(
        "application `{}` would never end in virtual time: it {what}, and {there}",
        app.name
    ))
}

/// The way of an application's packets.
struct Way {
    /// Nothing on it takes time, there and back.
    is_instant: bool,
    /// The client's first link is the kernel's, with a rate or a delay: its queue holds the sender back.
    holds_up: bool,
    /// Payload of the largest segment.
    mss: u64,
}

impl Way {
    /// None: there is no way.
    fn of(point: &Point, app: &App) -> Option<Self> {
        let hosts = [app.client, app.server];
        let cards = hosts
            .iter()
            .filter_map(|host| point.hosts.get(*host))
            .any(|host: &Host| host.card.is_some());
        if app.client == app.server {
            return Some(Self {
                is_instant: !cards,
                holds_up: false,
                mss: 65_536 - HEADERS,
            });
        }
        let [there, back] = [
            links(point, app.client, app.server)?,
            links(point, app.server, app.client)?,
        ];
        let both = || there.iter().chain(&back);
        let (first, direction) = there.first()?;
        let mtu = both().map(|(link, _)| u64::from(link.mtu)).min()?;
        Some(Self {
            is_instant: !cards && both().all(|(_, direction)| is_instant(direction)),
            holds_up: first.by == By::Kernel && !is_instant(direction),
            mss: mtu.saturating_sub(HEADERS),
        })
    }

    /// Whether a transaction of these sizes takes no time: a message of one segment waits for no ACK.
    fn is_instant_for(&self, sizes: [u64; 2]) -> bool {
        self.is_instant && sizes.iter().all(|size| *size <= self.mss)
    }
}

/// The links from one host to another, each with its direction.
fn links(point: &Point, from: usize, to: usize) -> Option<Vec<(&Link, &Direction)>> {
    let mut found = Vec::new();
    let mut at = from;
    while at != to {
        let number = (*first_hops(point, at).get(to)?)?;
        let link = point.links.get(number)?;
        let (next, direction) = match link.a == at {
            true => (link.b, &link.a_to_b),
            false => (link.a, &link.b_to_a),
        };
        found.push((link, direction));
        if found.len() > point.links.len() {
            return None;
        }
        at = next;
    }
    Some(found)
}

/// Whether each frame is at the other end at once. Lost frames take time: somebody waits for them.
pub(crate) fn is_instant(way: &Direction) -> bool {
    let takes_time = way.rate_bps.is_some() || way.rate_trace.is_some();
    let takes_time = takes_time || way.queue.is_some() || way.qdisc.is_some();
    let waits = way.delay_ns > 0 || way.jitter_ns > 0 || way.faults != Faults::default();
    let loses = way.loss_ppb > 0 || !way.events.is_empty() || !way.outages.is_empty();
    let loses = loses || !way.changes.is_empty() || !way.middlebox.is_empty();
    let loses = loses || !way.injects.is_empty();
    !(takes_time || waits || loses)
}

/// What an application does without an end on such a way, and how it would have one.
fn goes_on(app: &App, way: &Way) -> Option<(&'static str, &'static str)> {
    const ASKS: &str = "repeats its request again and again without a pause";
    const PAUSE: &str = "give it a `count` or a `pause`";
    let is_uncounted = app.does.until().is_some_and(|until| until.count.is_none());
    let asks = |sizes| {
        let pauses = app.does.pause_ns() != Some(0);
        (is_uncounted && !pauses && way.is_instant_for(sizes)).then_some((ASKS, PAUSE))
    };
    match &app.does {
        AppKind::Stream {
            every_ns: 0,
            late_ns: 0,
            ..
        } if is_uncounted && way.is_instant => Some((
            "writes without a pause",
            "give the application an `every` or a `count`",
        )),
        AppKind::Bulk { bytes: None, .. } if way.is_instant => Some((
            "sends as much as the connection takes",
            "give the application `bytes`",
        )),
        AppKind::UdpStream { every_ns: 0, .. } if is_uncounted && !way.holds_up => Some((
            "sends datagrams without a pause",
            "give the application an `every` or a `count`",
        )),
        AppKind::Echo { size, .. } => asks([*size, *size]),
        AppKind::RequestResponse {
            request, response, ..
        }
        | AppKind::ConnectRequestResponse {
            request, response, ..
        } => asks([*request, *response]),
        AppKind::UdpRr { .. } => asks([0, 0]),
        _ => None,
    }
}
