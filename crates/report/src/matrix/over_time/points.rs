//! What one run sampled, and by which names.

use std::collections::BTreeMap;

use tcplab_plan::outcome::Flow;
use tcplab_plan::point::{Change, Direction, Link};
use tcplab_plan::result::PointResult;
use tcplab_plan::{App, AppKind, Point};
use tcplab_qdisc::{Framing, Kind};

use super::lines::field;

/// Header bytes of an Ethernet frame.
const HEADER: f64 = 14.0;
/// Rates of full frames and of those that were queued differ by less than this part.
const NEAR: f64 = 0.05;

/// One run of a point.
#[derive(Debug, Default)]
pub(super) struct Run<'a> {
    /// In the order of the file.
    pub ways: Vec<Way<'a>>,
    /// Connections that were sampled or sent pings, by the name of their application or group.
    pub groups: BTreeMap<String, Vec<&'a Flow>>,
    pub tcp_info_every_ns: Option<i64>,
    pub link_every_ns: Option<i64>,
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
    pub drain: Drain,
}

impl<'a> Run<'a> {
    pub fn of(point: &Point, result: &'a PointResult) -> Self {
        let mut out = Self {
            tcp_info_every_ns: point.tcp_info_every_ns,
            link_every_ns: point.link_every_ns,
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
        let drain = Drain::of(link, way, samples);
        self.end_ns = self.end_ns.max(*end);
        self.ways.push(Way {
            name: format!("{} → {}", host(from), host(to)),
            peak: (drain.bps.map_or(0.0, |bps| bytes * 8.0 / bps), bytes),
            samples,
            drain,
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
            // A short connection may end before its first sample: it has no curve, but a goodput.
            let short = flow.client.closed_ns.filter(|_| {
                let every = self.tcp_info_every_ns;
                every.is_some_and(|every| is_short(flow, every))
            });
            let Some(end) = info.max(ping.max()).or(short) else {
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

/// Whether a connection ended before it had a whole interval of samples. What pings has no samples at all.
pub(super) fn is_short(flow: &Flow, every_ns: i64) -> bool {
    let ends = flow.client.opened_ns.zip(flow.client.closed_ns);
    flow.client.pings.is_empty() && ends.is_some_and(|(from, to)| to - from < every_ns)
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

/// How fast a queue drains.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Drain {
    /// Bits of frames a second at the run's start, if frames are full; none: nothing limits them.
    pub bps: Option<f64>,
    /// Why that does not hold for the whole run.
    pub unknown: Option<String>,
}

impl Drain {
    /// By the wire, whose overhead no frame has, or by a shaper in front of it.
    fn of(link: &Link, way: &Direction, samples: &[(i64, Vec<i64>)]) -> Self {
        let full = f64::from(link.mtu) + HEADER;
        let part = |frame: f64| frame / (frame + f64::from(way.overhead));
        let wire = way.rate_bps.map(|bps| bps as f64 * part(full));
        let shaper = way.queue.as_ref().map(|queue| queue.kind());
        let shaped = shaper.and_then(|kind| match kind {
            Kind::Cake(cake) => cake.bandwidth_bps.map(|bps| bps as f64),
            Kind::Tbf(tbf) => Some(tbf.rate as f64 * 8.0),
            Kind::Htb(htb) => Some(htb.rate as f64 * 8.0),
            _ => None,
        });
        let changes = |change: &Change| change.rate_bps.is_some() || change.queue.is_some();
        let mean = mean_frame(samples).unwrap_or(full);
        let unknown = if way.rate_trace.is_some() {
            Some("the rate follows a trace".to_owned())
        } else if way.changes.iter().any(changes) {
            Some("the rate or the qdisc changes during the run".to_owned())
        } else if (part(mean) / part(full) - 1.0).abs() > NEAR {
            Some(format!(
                "queued frames have {mean:.0} bytes on average, so `overhead` takes a part of the rate that changes"
            ))
        } else {
            shaper.and_then(varies).map(str::to_owned)
        };
        let bps = match (wire, shaped) {
            (Some(wire), Some(shaped)) => Some(wire.min(shaped)),
            (wire, shaped) => wire.or(shaped),
        };
        Self { bps, unknown }
    }
}

/// Why a shaper has no fixed rate of frames' bits.
fn varies(kind: &Kind) -> Option<&'static str> {
    const SIZES: &str =
        "the shaper counts overhead, a least size or cells, so its rate depends on the frames";
    let of_link = |overhead: u16, mpu: u16, is_atm: bool| overhead > 0 || mpu > 0 || is_atm;
    match kind {
        Kind::Cake(cake) if cake.autorate => Some("CAKE's autorate changes its rate"),
        Kind::Cake(cake) => (cake.bandwidth_bps.is_some()
            && (cake.overhead.is_some() || cake.mpu > 0 || cake.framing != Framing::None))
            .then_some(SIZES),
        Kind::Tbf(tbf) => {
            let link = &tbf.link;
            of_link(link.overhead, link.mpu, link.is_atm).then_some(SIZES)
        }
        Kind::Htb(htb) => {
            let link = &htb.link;
            of_link(link.overhead, link.mpu, link.is_atm).then_some(SIZES)
        }
        Kind::Netem(netem)
            if netem.latency_ns > 0
                || netem.jitter_ns > 0
                || netem.rate.is_some()
                || netem.slot.is_some() =>
        {
            Some("netem holds frames for a time, not by a rate")
        }
        _ => None,
    }
}

/// Bytes of a queued frame, on average over all samples.
fn mean_frame(samples: &[(i64, Vec<i64>)]) -> Option<f64> {
    let sum = |name| -> f64 { samples.iter().filter_map(|(_, v)| field(v, name)).sum() };
    let (frames, bytes) = (sum("queue_pkts"), sum("queue_bytes"));
    (frames > 0.0).then(|| bytes / frames)
}
