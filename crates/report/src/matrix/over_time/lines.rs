//! The lines of one point: each quantity of its runs, thinned.

use serde::Serialize;
use tcplab_plan::measure::{goodput, goodput_over_time, jain_over_time};
use tcplab_plan::outcome::{Flow, LINK_SERIES, TCP_INFO_SERIES};

use super::band::{Band, Between, Grid, Sample};
use super::points::{Run, Way, is_short};

/// Flows of a group in a point at most, those with the most bytes.
const MAX_FLOWS: usize = 16;
/// Most flows whose repetitions get lines: nobody can tell more apart in one small chart.
const MAX_FLOWS_WITH_RUNS: usize = 4;

/// One point.
#[derive(Debug, Serialize)]
pub struct Lines {
    /// Its value on each axis of the matrix.
    pub at: Vec<usize>,
    /// Its repetitions that have series.
    pub runs: usize,
    /// What each way did, in the order of [`super::OverTime::ways`]; `None` if nothing was sampled of it.
    pub ways: Vec<Option<WayLines>>,
    /// What each group did, in the order of [`super::OverTime::groups`].
    pub groups: Vec<Option<GroupLines>>,
}

/// One way of a link.
#[derive(Debug, Serialize)]
pub struct WayLines {
    /// Bytes in the queue.
    pub queue: Band,
    /// The extremes of the queue are of every packet, not of the samples.
    pub every_packet: bool,
    /// Bits a second that came out.
    pub rate: Option<Band>,
    /// Bits of frames a second that it sends at most: what divides the queue to give its time; none: nothing limits it,
    /// or it does not hold for the whole run.
    pub drain_bps: Option<f64>,
    /// Why the queue has no time to drain although something limits the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_drain: Option<String>,
}

/// The connections of one application, or of a group of them.
#[derive(Debug, Serialize)]
pub struct GroupLines {
    /// Bits a second that each flow's receiver got.
    pub flows: Vec<FlowLine>,
    /// Flows that are not here.
    pub flows_left_out: usize,
    /// Jain's index of all of them.
    pub jain: Option<Band>,
    /// Seconds of the senders' smoothed RTT (`tcpi_rtt`), all connections together.
    pub rtt: Option<Band>,
    /// Seconds that pings took, by when they were sent.
    pub pings: Option<Band>,
}

/// One connection.
#[derive(Debug, Serialize)]
pub struct FlowLine {
    /// Its application's name and, if that has several, its number.
    pub name: String,
    /// Bits a second; none: no repetition lasted for an interval of samples.
    pub goodput: Option<Band>,
    /// Bits a second from the first to the last end, as in the table; of repetitions the median. None: all are open at
    /// the run's end, or none was established.
    pub mean_bps: Option<f64>,
}

impl Lines {
    pub(super) fn of(
        at: Vec<usize>,
        runs: &[Run],
        (ways, groups): (&[String], &[String]),
        grid: Grid,
    ) -> Self {
        Self {
            at,
            runs: runs.len(),
            ways: ways.iter().map(|name| way(name, runs, grid)).collect(),
            groups: groups.iter().map(|name| group(name, runs, grid)).collect(),
        }
    }
}

/// The most lines that a run has, and how many of these every repetition has.
pub(super) fn count(run: &Run, ways: &[String], groups: &[String]) -> (usize, usize) {
    let ways = run.ways.iter().filter(|way| ways.contains(&way.name));
    let (mut all, mut of_runs) = (0, 2 * ways.count());
    for flows in groups.iter().filter_map(|name| run.groups.get(name)) {
        // Jain's index, RTT, pings.
        of_runs += 3;
        match flows.len() {
            n if n <= MAX_FLOWS_WITH_RUNS => of_runs += n,
            n => all += n.min(MAX_FLOWS),
        }
    }
    all += of_runs;
    (all, of_runs)
}

fn way(name: &str, runs: &[Run], grid: Grid) -> Option<WayLines> {
    let ways = runs.iter().flat_map(|run| &run.ways);
    let ways: Vec<&Way> = ways.filter(|way| way.name == name).collect();
    let band = |between, of: fn(&Way) -> Vec<Sample>| {
        let runs: Vec<_> = ways.iter().map(|way| of(way)).collect();
        Band::of(&runs, between, grid)
    };
    let drain = &ways.first()?.drain;
    let no_drain = ways.iter().find_map(|way| way.drain.unknown.clone());
    Some(WayLines {
        queue: band(Between::State, queue)?,
        every_packet: ways.iter().all(|way| {
            let mut samples = way.samples.iter();
            samples.all(|(_, values)| field(values, "queue_max_bytes").is_some())
        }),
        rate: band(Between::Rate, rate),
        drain_bps: drain.bps.filter(|_| no_drain.is_none()),
        no_drain,
    })
}

fn group<'a>(name: &str, runs: &'a [Run<'a>], grid: Grid) -> Option<GroupLines> {
    let runs = runs.iter().filter_map(|run| {
        let flows = run.groups.get(name)?;
        Some((flows.as_slice(), run.tcp_info_every_ns.unwrap_or(0)))
    });
    let runs: Vec<(&'a [&'a Flow], i64)> = runs.collect();
    let (first, _) = runs.first()?;
    let band = |between, of: &dyn Fn(&[&Flow], i64) -> Vec<Sample>| {
        let runs: Vec<_> = runs
            .iter()
            .map(|(flows, every)| of(flows, *every))
            .collect();
        Band::of(&runs, between, grid)
    };
    let largest = largest(first);
    let grid_of_flows = match first.len() > MAX_FLOWS_WITH_RUNS {
        true => Grid { runs: 0, ..grid },
        false => grid,
    };
    let flow = |one: &&Flow| {
        let same = |other: &&Flow| (&other.app, other.connection) == (&one.app, one.connection);
        let own = |(flows, _): &(&'a [&'a Flow], i64)| flows.iter().copied().find(|f| same(f));
        let over_time = |run: &(&'a [&'a Flow], i64)| match own(run) {
            Some(flow) => line(goodput_over_time(flow, run.1)),
            None => Vec::new(),
        };
        let lines: Vec<_> = runs.iter().map(over_time).collect();
        // Those that are open at the run's end would leave the median to the fast ones.
        let all: Vec<&Flow> = runs.iter().filter_map(own).collect();
        let is_whole = all.iter().all(|flow| !flow.is_open());
        let ended = all.iter().filter(|_| is_whole);
        let mut means: Vec<f64> = ended
            .filter_map(|flow| goodput(&[flow], None).ok())
            .collect();
        means.sort_by(f64::total_cmp);
        let several = |other: &&Flow| other.app == one.app && other.connection > 0;
        let over_time = Band::of(&lines, Between::Rate, grid_of_flows);
        let short = |run: &(&'a [&'a Flow], i64)| own(run).is_some_and(|f| is_short(f, run.1));
        let is_ping = !one.client.pings.is_empty();
        let has_line =
            over_time.is_some() || runs.iter().any(short) || (!means.is_empty() && !is_ping);
        has_line.then(|| FlowLine {
            name: match first.iter().any(several) {
                true => format!("{} {}", one.app, one.connection + 1),
                false => one.app.clone(),
            },
            goodput: over_time,
            mean_bps: super::super::median(&means),
        })
    };
    let flows: Vec<FlowLine> = largest.iter().filter_map(flow).collect();
    Some(GroupLines {
        flows_left_out: first.len() - largest.len(),
        flows,
        jain: band(Between::Rate, &|flows, every| {
            line(jain_over_time(flows, every))
        }),
        rtt: band(Between::State, &|flows, _| rtt(flows)),
        pings: band(Between::State, &|flows, _| pings(flows)),
    })
}

/// The flows with the most bytes, in their order.
fn largest<'a>(flows: &[&'a Flow]) -> Vec<&'a Flow> {
    let mut sorted = flows.iter().enumerate().collect::<Vec<_>>();
    let bytes = |flow: &Flow| flow.client.read_bytes.max(flow.server.read_bytes);
    sorted.sort_by_key(|(_, flow)| std::cmp::Reverse(bytes(flow)));
    sorted.truncate(MAX_FLOWS);
    sorted.sort_unstable_by_key(|(number, _)| *number);
    sorted.into_iter().map(|(_, flow)| *flow).collect()
}

fn line(values: Vec<(i64, f64)>) -> Vec<Sample> {
    values
        .into_iter()
        .map(|(at, value)| (at, [value; 3]))
        .collect()
}

/// A field of a sample of a link.
pub(super) fn field(values: &[i64], name: &str) -> Option<f64> {
    let at = LINK_SERIES.iter().position(|known| *known == name)?;
    values.get(at).map(|n| *n as f64)
}

fn queue(way: &Way) -> Vec<Sample> {
    let sample = |(at, values): &(i64, Vec<i64>)| {
        let bytes = field(values, "queue_bytes")?;
        // A result of an older version has no extremes.
        let least = field(values, "queue_min_bytes").unwrap_or(bytes);
        let most = field(values, "queue_max_bytes").unwrap_or(bytes);
        Some((*at, [bytes, least, most]))
    };
    way.samples.iter().filter_map(sample).collect()
}

fn rate(way: &Way) -> Vec<Sample> {
    let mut before = (0, 0.0);
    let sample = |(at, values): &(i64, Vec<i64>)| {
        let bytes = field(values, "delivered_bytes")?;
        let (since, had) = std::mem::replace(&mut before, (*at, bytes));
        (*at > since).then(|| (*at, [(bytes - had) * 8e9 / (at - since) as f64; 3]))
    };
    way.samples.iter().filter_map(sample).collect()
}

/// The smoothed RTT of each flow's sender: the end that read less. Before its first measurement it is 0.
fn rtt(flows: &[&Flow]) -> Vec<Sample> {
    let field = TCP_INFO_SERIES.iter().position(|name| *name == "tcpi_rtt");
    let ends = flows.iter().map(
        |flow| match flow.client.read_bytes > flow.server.read_bytes {
            true => &flow.server,
            false => &flow.client,
        },
    );
    ends.flat_map(|end| &end.tcp_info_series)
        .filter_map(|(at, values)| {
            let us = *values.get(field?)?;
            (us > 0).then(|| (*at, [us as f64 / 1e6; 3]))
        })
        .collect()
}

fn pings(flows: &[&Flow]) -> Vec<Sample> {
    let pings = flows.iter().flat_map(|flow| &flow.client.pings);
    pings
        .filter_map(|(sent, rtt)| Some((*sent, [(*rtt)? as f64 / 1e9; 3])))
        .collect()
}
