//! What one point has over time, as samples.

use std::collections::BTreeMap;

use tcplab_plan::measure::{goodput_over_time, jain_over_time};
use tcplab_plan::outcome::{Flow, LINK_SERIES};
use tcplab_plan::point::{Direction, Link};
use tcplab_plan::qdisc::Kind;
use tcplab_plan::result::PointResult;
use tcplab_plan::{App, AppKind, Point};

use super::band::{Band, Sample};
use super::{FlowLine, GroupLines, Lines, MAX_FLOWS, WayLines};

/// Header bytes of an Ethernet frame.
const HEADER: f64 = 14.0;

/// The samples of a point.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// By name, in the order of the file.
    pub ways: Vec<(String, Way)>,
    pub groups: BTreeMap<String, Group>,
    /// When the last sample was.
    pub end_ns: i64,
    /// The longest time between two.
    pub every_ns: i64,
}

#[derive(Debug)]
pub(super) struct Way {
    /// Seconds that the longest queue takes to drain, and its bytes.
    pub peak: (f64, f64),
    queue: Vec<Sample>,
    rate: Vec<Sample>,
    drain_bps: Option<f64>,
}

#[derive(Debug, Default)]
pub(super) struct Group {
    /// Name, bytes, and bits a second of each flow that is shown.
    flows: Vec<(String, u64, Vec<Sample>)>,
    flows_left_out: usize,
    jain: Vec<Sample>,
    pings: Vec<Sample>,
}

impl Gathered {
    pub fn of(point: &Point, result: &PointResult) -> Self {
        let mut out = Self::default();
        for (link, series) in point.links.iter().zip(&result.link_series) {
            out.way(point, link, &link.a_to_b, &series.a_to_b);
            out.way(point, link, &link.b_to_a, &series.b_to_a);
        }
        if !out.ways.is_empty() {
            out.every_ns = point.link_every_ns.unwrap_or(0);
        }
        // What goes the other way competes with others.
        let mut owners: BTreeMap<&str, [Vec<&App>; 2]> = BTreeMap::new();
        for app in &point.apps {
            let owner = app.group.as_ref().unwrap_or(&app.name);
            let ways = owners.entry(owner).or_default();
            ways[usize::from(is_reverse(app))].push(app);
        }
        for (owner, ways) in owners {
            let both = ways.iter().all(|apps| !apps.is_empty());
            for apps in &ways {
                let Some(first) = apps.first() else { continue };
                let name = match both {
                    true => format!("{owner}, {}", direction(point, first)),
                    false => owner.to_owned(),
                };
                out.group(point, &name, apps, &result.flows);
            }
        }
        out
    }

    pub fn is_empty(&self) -> bool {
        self.ways.is_empty() && self.groups.is_empty()
    }

    fn way(&mut self, point: &Point, link: &Link, way: &Direction, samples: &[(i64, Vec<i64>)]) {
        let Some((end, _)) = samples.last() else {
            return;
        };
        let host = |i: usize| point.hosts.get(i).map_or("", |host| host.name.as_str());
        let (from, to) = match std::ptr::eq(way, &raw const link.a_to_b) {
            true => (link.a, link.b),
            false => (link.b, link.a),
        };
        let field = |name: &str| LINK_SERIES.iter().position(|known| *known == name);
        let value = |values: &[i64], name| field(name).and_then(|at| values.get(at)).copied();
        let number = |values: &[i64], name| value(values, name).map(|n| n as f64);
        let queue = samples.iter().filter_map(|(at, values)| {
            let bytes = number(values, "queue_bytes")?;
            // A result of an older version has no extremes.
            let least = number(values, "queue_min_bytes").unwrap_or(bytes);
            let most = number(values, "queue_max_bytes").unwrap_or(bytes);
            Some((*at, [bytes, least, most]))
        });
        let queue: Vec<Sample> = queue.collect();
        let mut before = (0, 0.0);
        let rate = samples.iter().filter_map(|(at, values)| {
            let bytes = number(values, "delivered_bytes")?;
            let (since, had) = std::mem::replace(&mut before, (*at, bytes));
            (*at > since).then(|| (*at, [(bytes - had) * 8e9 / (at - since) as f64; 3]))
        });
        let rate: Vec<Sample> = rate.collect();
        self.end_ns = self.end_ns.max(*end);
        let bytes = queue.iter().map(|(_, [.., most])| *most);
        let bytes = bytes.fold(0.0, f64::max);
        let drain_bps = drain(link, way);
        self.ways.push((
            format!("{} → {}", host(from), host(to)),
            Way {
                peak: (drain_bps.map_or(0.0, |bps| bytes * 8.0 / bps), bytes),
                queue,
                rate,
                drain_bps,
            },
        ));
    }

    fn group(&mut self, point: &Point, name: &str, apps: &[&App], flows: &[Flow]) {
        let ours = |flow: &&Flow| apps.iter().any(|app| app.name == flow.app);
        let flows: Vec<&Flow> = flows.iter().filter(ours).collect();
        let mut group = Group::default();
        for (sent, rtt) in flows.iter().flat_map(|flow| &flow.client.pings) {
            let Some(rtt) = rtt else { continue };
            group.pings.push((*sent, [*rtt as f64 / 1e9; 3]));
            self.end_ns = self.end_ns.max(*sent);
        }
        if let Some(every) = point.tcp_info_every_ns {
            for flow in &flows {
                let goodput = goodput_over_time(flow, every).into_iter();
                let goodput: Vec<Sample> = goodput.map(|(at, bps)| (at, [bps; 3])).collect();
                let Some((end, _)) = goodput.last() else {
                    continue;
                };
                self.end_ns = self.end_ns.max(*end);
                self.every_ns = self.every_ns.max(every);
                let several = flows
                    .iter()
                    .any(|other| other.app == flow.app && other.connection > 0);
                let name = match several {
                    true => format!("{} {}", flow.app, flow.connection + 1),
                    false => flow.app.clone(),
                };
                let bytes = flow.client.read_bytes.max(flow.server.read_bytes);
                group.flows.push((name, bytes, goodput));
            }
            group.jain = jain_over_time(&flows, every)
                .into_iter()
                .map(|(at, jain)| (at, [jain; 3]))
                .collect();
        }
        group.shorten();
        if !(group.flows.is_empty() && group.pings.is_empty()) {
            self.groups.insert(name.to_owned(), group);
        }
    }

    /// Bands that it will have.
    pub fn bands(&self, ways: &[String], groups: &[String]) -> usize {
        let ways = self.ways.iter().filter(|(name, _)| ways.contains(name));
        let groups = groups.iter().filter_map(|name| self.groups.get(name));
        2 * ways.count() + groups.map(|group| group.flows.len() + 2).sum::<usize>()
    }

    pub fn lines(self, at: Vec<usize>, ways: &[String], groups: &[String], bin_ns: i64) -> Lines {
        let Self {
            ways: own,
            groups: mut apps,
            ..
        } = self;
        let way = |name: &String| {
            let (_, way) = own.iter().find(|(known, _)| known == name)?;
            Some(WayLines {
                queue: Band::of(&way.queue, bin_ns)?,
                rate: Band::of(&way.rate, bin_ns),
                drain_bps: way.drain_bps,
            })
        };
        Lines {
            at,
            ways: ways.iter().map(way).collect(),
            groups: (groups.iter())
                .map(|name| apps.remove(name).map(|group| group.lines(bin_ns)))
                .collect(),
        }
    }
}

impl Group {
    /// Leaves out the flows with the fewest bytes; the others keep their order.
    fn shorten(&mut self) {
        if self.flows.len() <= MAX_FLOWS {
            return;
        }
        let mut sizes: Vec<u64> = self.flows.iter().map(|(_, bytes, _)| *bytes).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let least = sizes[MAX_FLOWS - 1];
        let above = sizes.iter().filter(|bytes| **bytes > least).count();
        let mut room = MAX_FLOWS - above;
        let all = self.flows.len();
        self.flows.retain(|(_, bytes, _)| {
            let takes_room = *bytes == least && room > 0;
            room -= usize::from(takes_room);
            *bytes > least || takes_room
        });
        self.flows_left_out = all - self.flows.len();
    }

    fn lines(self, bin_ns: i64) -> GroupLines {
        let flow = |(name, _, samples): (String, u64, Vec<Sample>)| {
            let goodput = Band::of(&samples, bin_ns)?;
            Some(FlowLine { name, goodput })
        };
        GroupLines {
            flows: self.flows.into_iter().filter_map(flow).collect(),
            flows_left_out: self.flows_left_out,
            jain: Band::of(&self.jain, bin_ns),
            pings: Band::of(&self.pings, bin_ns),
        }
    }
}

/// Whether its server sends.
fn is_reverse(app: &App) -> bool {
    match &app.does {
        AppKind::Bulk { reverse, .. } => *reverse,
        _ => false,
    }
}

/// Who sends to whom.
fn direction(point: &Point, app: &App) -> String {
    let name = |i: usize| {
        let host = point.hosts.get(i);
        host.map_or("", |host| host.group.as_ref().unwrap_or(&host.name))
    };
    match is_reverse(app) {
        true => format!("{} → {}", name(app.server), name(app.client)),
        false => format!("{} → {}", name(app.client), name(app.server)),
    }
}

/// Bits of frames a second at most: by the wire, whose overhead no frame has, or by a shaper in front of it.
fn drain(link: &Link, way: &Direction) -> Option<f64> {
    let frame = f64::from(link.mtu) + HEADER;
    let part = frame / (frame + f64::from(way.overhead));
    let wire = way.rate_bps.map(|bps| bps as f64 * part);
    let shaper = way.queue.as_ref().and_then(|queue| match queue.kind() {
        Kind::Cake(cake) if !cake.autorate => cake.bandwidth_bps.map(|bps| bps as f64),
        Kind::Tbf(tbf) => Some(tbf.rate as f64 * 8.0),
        Kind::Htb(htb) => Some(htb.rate as f64 * 8.0),
        _ => None,
    });
    match (wire, shaper) {
        (Some(wire), Some(shaper)) => Some(wire.min(shaper)),
        (wire, shaper) => wire.or(shaper),
    }
}
