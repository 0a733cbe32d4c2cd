//! The values of measures, from what a stack said and what the analyser read.

use std::collections::{BTreeMap, BTreeSet};

use super::known::{APP, LINK, LOG, Over, PACKETS, Packets, RUN};
use super::{Measure, UnknownMeasure, is_app, is_host, is_left_out_at_zero, lacking, link_names};
use crate::outcome::{End, Flow, LogLine, Outcome, QueueCount, WayCount};
use crate::point::{By, Direction, Point};
use crate::set::Table;
use tcplab_qdisc::COUNTERS;

/// What the measures of one run are taken from.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// What was run.
    pub point: &'a Point,
    /// What the stack said.
    pub outcome: &'a Outcome,
    /// For each host that was captured: what it sent on each TCP connection of its capture. A host that talks to itself
    /// has both directions of a connection.
    pub packets: &'a BTreeMap<String, Vec<Sent>>,
}

/// The analyser's values for the packets that a host sent on one connection, in the order of [`PACKETS`].
#[derive(Clone, Debug)]
pub struct Sent {
    values: Vec<Option<f64>>,
    /// When its first data was sent, and its last data or its ACK, on a clock that all connections of the run share.
    data_ns: Option<(i64, i64)>,
}

impl Sent {
    /// `value` has the values by their names; none: the connection does not have one.
    pub fn of(value: impl Fn(&str) -> Option<f64>, data_ns: Option<(i64, i64)>) -> Self {
        let values = PACKETS.iter().map(|of| value(of.known.name)).collect();
        Self { values, data_ns }
    }

    fn value(&self, field: &Packets) -> Option<f64> {
        let at = PACKETS.iter().position(|of| std::ptr::eq(of, field))?;
        *self.values.get(at)?
    }

    /// Bits, and when they were sent; none: at one instant, or no data.
    fn bits(&self, rate: &Packets) -> Option<(f64, (i64, i64))> {
        let (first, last) = self.data_ns?;
        let ns = last.saturating_sub(first);
        Some((self.value(rate)? * ns as f64 / 1e9, (first, last)))
    }
}

/// Bits over the time in which any of these connections had data.
fn rate(all: &[&Sent], of: &Packets) -> Option<f64> {
    let mut each: Vec<_> = all.iter().filter_map(|sent| sent.bits(of)).collect();
    each.sort_by_key(|(_, times)| *times);
    let bits: f64 = each.iter().map(|(bits, _)| bits).sum();
    let (mut ns, mut until) = (0_i64, i64::MIN);
    for (_, (first, last)) in each {
        ns += last.saturating_sub(first.max(until)).max(0);
        until = until.max(last);
    }
    // Without data: as of one connection.
    let is_silent = |sent: &&Sent| sent.data_ns.is_none() && sent.value(of) == Some(0.0);
    if !all.is_empty() && all.iter().all(is_silent) {
        return Some(0.0);
    }
    (ns > 0).then(|| bits / (ns as f64 / 1e9))
}

impl Sources<'_> {
    /// The value of a measure by its name.
    ///
    /// # Errors
    /// A name that nothing has.
    pub fn named(&self, name: &str) -> Result<Result<f64, String>, UnknownMeasure> {
        Ok(self.value(&Measure::parse(name, self.point)?))
    }

    /// The value of a measure.
    ///
    /// # Errors
    /// Why the value is missing, in words.
    pub fn value(&self, measure: &Measure) -> Result<f64, String> {
        match measure {
            Measure::Counter { host, counter } => self.counter(host, counter),
            Measure::Packets { host, field } => self.packets(host, field),
            Measure::HostTcpInfo { host, field } => self.tcp_info(self.first_end(host), field),
            Measure::App { app, field } => self.app(app, field),
            Measure::AppTcpInfo {
                app,
                is_client,
                field,
            } => {
                let flow = self.flows(app).next();
                self.tcp_info(
                    flow.map(|f| if *is_client { &f.client } else { &f.server }),
                    field,
                )
            }
            Measure::AppLog {
                app,
                is_client,
                field,
            } => {
                let ends = self
                    .flows(app)
                    .map(|f| if *is_client { &f.client } else { &f.server });
                log(ends, field)
            }
            Measure::Link {
                link,
                is_a_to_b,
                field,
            } => self.link(link, *is_a_to_b, field),
            Measure::Set { set, series, field } => {
                let set = self.point.sets.iter().find(|s| s.name == *set);
                let set = set.ok_or("the point does not have this set")?;
                let table = Table::new(set, self.point, &self.outcome.flows);
                table.statistic(series, field)
            }
            Measure::Run("virtual_s") => Ok(self.outcome.virtual_ns as f64 / 1e9),
            Measure::Run(_) => Ok(f64::from(u8::from(self.outcome.cut_short))),
        }
    }

    /// Every name that this run can have a value for: those of the lists, and the counters and
    /// fields of tcp_info that the stack gave.
    pub fn names(&self) -> Vec<String> {
        let mut out = Vec::new();
        let mut add = |owner: &str, field: &str| out.push(format!("{owner}.{field}"));
        self.names_of_hosts(&mut add);
        self.names_of_apps(&mut add);
        self.names_of_links(&mut add);
        RUN.iter().for_each(|known| add("run", known.name));
        out
    }

    fn names_of_hosts(&self, add: &mut impl FnMut(&str, &str)) {
        let mut group = None;
        for host in &self.point.hosts {
            let counters = self.outcome.counters.get(&host.name);
            let counters = || counters.iter().flat_map(|c| c.keys());
            // The groups first: a person looks for these.
            let is_new = group != host.group.as_ref();
            group = host.group.as_ref();
            for name in group.filter(|_| is_new).into_iter().chain([&host.name]) {
                PACKETS.iter().for_each(|of| add(name, of.known.name));
                counters().for_each(|counter| add(name, counter));
            }
            let info = self.first_end(&host.name).map(|end| &end.tcp_info);
            let fields = info.iter().flat_map(|info| info.keys());
            fields.for_each(|field| add(&host.name, field));
        }
    }

    fn names_of_apps(&self, add: &mut impl FnMut(&str, &str)) {
        let mut group = None;
        for app in &self.point.apps {
            let is_new = group != app.group.as_ref();
            group = app.group.as_ref();
            for name in group.filter(|_| is_new).into_iter().chain([&app.name]) {
                APP.iter().for_each(|known| add(name, known.name));
            }
            let flow = self.flows(&app.name).next();
            let ends = flow.map(|flow| [(&flow.client, "client"), (&flow.server, "server")]);
            for (end, which) in ends.into_iter().flatten() {
                let owner = format!("{}.{which}", app.name);
                end.tcp_info.keys().for_each(|name| add(&owner, name));
                if !end.log.is_empty() {
                    LOG.iter().for_each(|known| add(&owner, known.name));
                }
            }
        }
    }

    fn names_of_links(&self, add: &mut impl FnMut(&str, &str)) {
        let mut group = String::new();
        for link in &self.point.links {
            let [own, shared] = link_names(self.point, link);
            let is_new = shared != own && shared != group;
            for name in is_new.then_some(&shared).into_iter().chain([&own]) {
                for way in ["a_to_b", "b_to_a"] {
                    let owner = format!("link.{name}.{way}");
                    LINK.iter().for_each(|known| add(&owner, known.name));
                }
            }
            group = shared;
        }
    }

    /// The hosts that a name means: one, or those of a group.
    fn hosts<'a>(&'a self, owner: &'a str) -> impl Iterator<Item = &'a str> {
        let hosts = self.point.hosts.iter();
        hosts
            .filter(move |host| is_host(host, owner))
            .map(|host| host.name.as_str())
    }

    fn counter(&self, owner: &str, counter: &str) -> Result<f64, String> {
        let each = self
            .hosts(owner)
            .map(|host| self.own_counter(host, counter));
        each.sum()
    }

    fn own_counter(&self, host: &str, counter: &str) -> Result<f64, String> {
        let counters = self.outcome.counters.get(host);
        let counters = counters.ok_or("the stack reports no counters for this host")?;
        match counters.get(counter) {
            Some(n) => Ok(*n as f64),
            None if is_left_out_at_zero(counter, self.point.ip, &self.outcome.kernel) => Ok(0.0),
            None => {
                let near = crate::experiment::nearest(counter, counters.keys().map(String::as_str));
                let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                Err(format!("the stack has no counter `{counter}`{near}"))
            }
        }
    }

    fn packets(&self, owner: &str, known: &Packets) -> Result<f64, String> {
        let (snap, headers) = (
            self.point.snap_bytes,
            MOST_HEADERS + self.point.ip.header_bytes(),
        );
        if (1..headers).contains(&snap) {
            return Err(format!(
                "run.snap = {snap} may cut TCP headers off; 128 keeps all of them"
            ));
        }
        if let Some(lacks) = lacking::lacks(self.point, owner, known.known.name) {
            return Err(lacks);
        }
        let captured = self.hosts(owner).map(|host| self.packets.get(host));
        let captured: Option<Vec<&Vec<Sent>>> = captured.collect();
        let captured = captured.ok_or("this host has no capture")?;
        let streams: Vec<&Sent> = captured.into_iter().flatten().collect();
        let mut values = streams.iter().filter_map(|sent| sent.value(known));
        let value = match known.over {
            Over::Sum => values.reduce(|a, b| a + b),
            Over::First => values.next(),
            Over::Min => values.reduce(f64::min),
            Over::Max => values.reduce(f64::max),
            Over::Rate => match streams.as_slice() {
                [one] => one.value(known),
                all => rate(all, known),
            },
        };
        let mut hosts = self.point.hosts.iter().filter(|host| is_host(host, owner));
        value.ok_or_else(|| match streams.is_empty() {
            true if hosts.all(|host| host.forward) => {
                "this counts what the host sends itself, and it has no TCP connection: measure a host at an end, or a link's `frames`".to_owned()
            }
            true => "the capture has no TCP connection".to_owned(),
            false => "no connection of the capture has this value".to_owned(),
        })
    }

    fn link(&self, name: &str, is_a_to_b: bool, field: &str) -> Result<f64, String> {
        let links = self.point.links.iter().enumerate();
        let mut meant =
            links.filter(|(_, link)| link_names(self.point, link).contains(&name.into()));
        meant.try_fold(0.0, |so_far, (number, _)| {
            let count = self.outcome.links.get(number);
            let count = count.ok_or("the stack reports no link counters")?;
            let (way, qdisc, queue) = match is_a_to_b {
                true => (&count.a_to_b, &count.a_to_b_qdisc, &count.a_to_b_queue),
                false => (&count.b_to_a, &count.b_to_a_qdisc, &count.b_to_a_queue),
            };
            let ends = &self.point.links[number];
            let from = if is_a_to_b {
                &ends.a_to_b
            } else {
                &ends.b_to_a
            };
            if let Some(value) = of_queue(queue.as_ref(), field, from) {
                return Ok(value?.max(so_far));
            }
            if COUNTERS.contains(&field) {
                let qdisc = qdisc.as_ref().ok_or("this link has no qdisc")?;
                return Ok(so_far + qdisc.named(field) as f64);
            }
            if self.point.links[number].by == By::Kernel {
                return Err(
                    "kernel links do not count frames: use the qdisc's counter `drops`".into(),
                );
            }
            Ok(match field {
                "peak_pkts" => of_way(way, field).max(so_far),
                _ => so_far + of_way(way, field),
            })
        })
    }

    /// A field of this end's last tcp_info.
    fn tcp_info(&self, end: Option<&End>, field: &str) -> Result<f64, String> {
        let end = end.ok_or("the experiment has no TCP connection")?;
        if end.opened_ns.is_none() {
            return Err("the connection was not established".to_owned());
        }
        if !self.point.tcp_info {
            return Err("the experiment turns `run.tcp_info` off".to_owned());
        }
        let value = *end
            .tcp_info
            .get(field)
            .ok_or_else(|| format!("the stack does not report `{field}`"))?;
        match NOT_SET.iter().find(|of| of.0 == field && of.1 == value) {
            Some((.., why)) => Err((*why).to_owned()),
            None => Ok(value as f64),
        }
    }

    pub(super) fn flows(&self, owner: &str) -> impl Iterator<Item = &Flow> {
        let apps = self.point.apps.iter().filter(|app| is_app(app, owner));
        let names: BTreeSet<&str> = apps.map(|app| app.name.as_str()).collect();
        let flows = self.outcome.flows.iter();
        flows.filter(move |flow| names.contains(flow.app.as_str()))
    }

    /// This host's end of the TCP connection that it opened, or accepted, first.
    fn first_end(&self, host: &str) -> Option<&End> {
        let is = |i: usize| self.point.hosts.get(i).is_some_and(|h| is_host(h, host));
        let ends = self.outcome.flows.iter().filter_map(|flow| {
            let app = self.point.apps.iter().find(|app| app.name == flow.app)?;
            match (is(app.client), is(app.server)) {
                _ if app.does.is_udp() => None,
                (true, _) => Some(&flow.client),
                (_, true) => Some(&flow.server),
                _ => None,
            }
        });
        // The first one of those that were never opened, if all were.
        ends.min_by_key(|end| end.opened_ns.unwrap_or(i64::MAX))
    }
}

/// Bytes of the longest headers of a captured TCP segment, beside those of IP: Ethernet's, and TCP's with all options.
const MOST_HEADERS: u32 = 14 + 60;

/// Values of tcp_info that stand for none, and what they mean.
const NOT_SET: [(&str, i64, &str); 3] = [
    // TCP_INFINITE_SSTHRESH
    (
        "tcpi_snd_ssthresh",
        0x7fff_ffff,
        "slow start has no threshold yet",
    ),
    ("tcpi_min_rtt", 0xffff_ffff, "no round trip was measured"),
    (
        "tcpi_max_pacing_rate",
        i64::MAX,
        "the pacing rate is not limited",
    ),
];

/// The lines before and after each read that got data. The read that meets the end is left out: a
/// FIN always puts Linux into interactive mode.
fn reads(end: &End) -> impl Iterator<Item = &LogLine> {
    let got = |line: &LogLine| line.what == "read" && line.value > 0;
    let lines = end.log.iter().enumerate();
    lines
        .filter(move |(i, line)| match line.what.as_str() {
            "readable" => end.log.get(i + 1).is_some_and(got),
            _ => got(line),
        })
        .map(|(_, line)| line)
}

/// A field of [`LOG`]: which value of a line, and how those of all lines become one.
fn log<'a>(ends: impl Iterator<Item = &'a End>, field: &str) -> Result<f64, String> {
    let (what, how) = field.split_once('.').unwrap_or((field, ""));
    let of = |line: &LogLine| match what {
        "quickack" => line.quickack.map(|n| n as f64),
        "credits" => line.quick.map(f64::from),
        _ => line.pingpong.map(|is| f64::from(u8::from(is))),
    };
    let value = match how {
        "first" => {
            let stands = |line: &&LogLine| ["connected", "accept"].contains(&line.what.as_str());
            ends.flat_map(|end| &end.log).find(stands).and_then(of)
        }
        "min" => ends.flat_map(reads).filter_map(of).reduce(f64::min),
        _ => ends.flat_map(reads).filter_map(of).reduce(f64::max),
    };
    value.ok_or_else(|| {
        format!("the log has no {what} of this end: set `log = true` and run on a kernel (in real time a note says if reads of /proc/net/tcp were left out)")
    })
}

/// A statistic of a queue over time; `None` for an unknown field.
fn of_queue(
    queue: Option<&QueueCount>,
    field: &str,
    way: &Direction,
) -> Option<Result<f64, String>> {
    let value: fn(&QueueCount) -> u64 = match field {
        "queue_mean_bytes" => |queue| queue.mean_bytes,
        "queue_p50_bytes" => |queue| queue.p50_bytes,
        "queue_p99_bytes" => |queue| queue.p99_bytes,
        "queue_max_bytes" => |queue| queue.max_bytes,
        _ => return None,
    };
    let why = || {
        match way.queue_from_ns {
        Some(_) if lacking::never_queues(way) => {
            "no frame ever waits in a queue: the link has no `rate` and no qdisc".to_owned()
        }
        Some(ns) => format!(
            "the queue was not measured: the run ended before `queue_from`, {} s",
            ns as f64 / 1e9
        ),
        None => "the queue was not measured: set `queue_from = \"0s\"` on a link of tcplab's with a `rate` or a qdisc"
            .to_owned(),
    }
    };
    Some(queue.map(|queue| value(queue) as f64).ok_or_else(why))
}

fn of_way(count: &WayCount, field: &str) -> f64 {
    let n = match field {
        "frames" => count.frames,
        "bytes" => count.bytes,
        "delivered" => count.delivered,
        "queue_drops" => count.queue_drops,
        "lost" => count.lost,
        _ => u64::from(count.peak_pkts),
    };
    n as f64
}
