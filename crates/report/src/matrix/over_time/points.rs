//! What one run sampled, and by which names.

use std::collections::BTreeMap;

use tcplab_plan::outcome::Flow;
use tcplab_plan::point::{Direction, Link};
use tcplab_plan::result::PointResult;
use tcplab_plan::{App, AppKind, Point};
use tcplab_qdisc::Kind;

use super::lines::field;

/// Header bytes of an Ethernet frame.
const HEADER: f64 = 14.0;

/// One run of a point.
#[derive(Debug, Default)]
pub(super) struct Run<'a> {
    /// In the order of the file.
    pub ways: Vec<Way<'a>>,
    /// Connections that were sampled or sent pings, by the name of their application or group.
    pub groups: BTreeMap<String, Vec<&'a Flow>>,
    pub tcp_info_every_ns: Option<i64>,
    /// When the last sample was.
    pub end_ns: i64,
    /// The longest time between two.
    pub every_ns: i64,
}

/// One way of a link.
#[derive(Debug)]
pub(super) struct Way<'a> {
    /// `switch → sink`.
    pub name: String,
    /// Seconds that the longest queue takes to drain, and its bytes.
    pub peak: (f64, f64),
    pub samples: &'a [(i64, Vec<i64>)],
    /// Bits of frames a second at most.
    pub drain_bps: Option<f64>,
}

impl<'a> Run<'a> {
    pub fn of(point: &Point, result: &'a PointResult) -> Self {
        let mut out = Self {
            tcp_info_every_ns: point.tcp_info_every_ns,
            ..Self::default()
        };
        for (link, series) in point.links.iter().zip(&result.link_series) {
            out.way(
                point,
                (link.a, link.b),
                (link, &link.a_to_b),
                &series.a_to_b,
            );
            out.way(
                point,
                (link.b, link.a),
                (link, &link.b_to_a),
                &series.b_to_a,
            );
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
                out.group(name, apps, &result.flows);
            }
        }
        out
    }

    pub fn is_empty(&self) -> bool {
        self.ways.is_empty() && self.groups.is_empty()
    }

    fn way(
        &mut self,
        point: &Point,
        (from, to): (usize, usize),
        (link, way): (&Link, &Direction),
        samples: &'a [(i64, Vec<i64>)],
    ) {
        let Some((end, _)) = samples.last() else {
            return;
        };
        let host = |i: usize| point.hosts.get(i).map_or("", |host| host.name.as_str());
        let most = |(_, values): &(i64, Vec<i64>)| {
            field(values, "queue_max_bytes").or_else(|| field(values, "queue_bytes"))
        };
        let bytes = samples.iter().filter_map(most).fold(0.0, f64::max);
        let drain_bps = drain(link, way);
        self.end_ns = self.end_ns.max(*end);
        self.ways.push(Way {
            name: format!("{} → {}", host(from), host(to)),
            peak: (drain_bps.map_or(0.0, |bps| bytes * 8.0 / bps), bytes),
            samples,
            drain_bps,
        });
    }

    fn group(&mut self, name: String, apps: &[&App], flows: &'a [Flow]) {
        let mut sampled: Vec<&Flow> = Vec::new();
        for flow in flows
            .iter()
            .filter(|flow| apps.iter().any(|app| app.name == flow.app))
        {
            let ends = [&flow.client, &flow.server].map(|end| Some(end.tcp_info_series.last()?.0));
            let info = ends
                .into_iter()
                .flatten()
                .max()
                .filter(|_| self.tcp_info_every_ns.is_some());
            let ping = flow
                .client
                .pings
                .iter()
                .filter(|(_, rtt)| rtt.is_some())
                .map(|(sent, _)| *sent);
            let Some(end) = info.max(ping.max()) else {
                continue;
            };
            self.end_ns = self.end_ns.max(end);
            if info.is_some() {
                self.every_ns = self.every_ns.max(self.tcp_info_every_ns.unwrap_or(0));
            }
            sampled.push(flow);
        }
        if !sampled.is_empty() {
            self.groups.insert(name, sampled);
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
