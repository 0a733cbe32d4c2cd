//! Some connections of a population on a real kernel, and the same on the model.
//!
//! A guest has one server and many clients, each behind a path of its own, as drawn. Kernels have one TCP, so only
//! connections whose client is the stack as it is are taken, and an arm's estimator is the sysctl
//! `net.ipv4.tcp_rto_rule` of a kernel with the edit `rto-choice` (docs/kernels.md).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_plan::point::Host;
use tcplab_plan::population::Drawn;
use tcplab_plan::result::{PointResult, RunDocument};
use tcplab_plan::{Point, Population};

use crate::campaign::{self, Campaign};
use crate::error::LabError;
use crate::stack::{Lab, Stack};

/// `schema` of a [`Sample`].
pub const SCHEMA: &str = "tcplab.population-sample/1";

/// When a run begins after its hosts' boot, and up to a phase later: timers fire at absolute jiffies, and a model
/// whose jiffies lie elsewhere has other ones.
const BOOT_NS: i64 = 3_000_000_000;
/// Width of the phase: a tick of the slowest kernel.
const PHASE_NS: u64 = 10_000_000;
/// Time between the starts of two of them.
const STAGGER_NS: i64 = 37_000_000;
/// The server's counters that are compared.
const COUNTERS: [&str; 15] = [
    "TcpOutSegs",
    "TcpRetransSegs",
    "TcpExtTCPTimeouts",
    "TcpExtTCPLossProbes",
    "TcpExtTCPDSACKRecv",
    "TcpExtTCPFullUndo",
    "TcpExtTCPPartialUndo",
    "TcpExtTCPLossUndo",
    "TcpExtTCPDSACKUndo",
    "TcpExtTCPSpuriousRTOs",
    "TcpExtTCPFastRetrans",
    "TcpExtTCPSlowStartRetrans",
    "TcpExtTCPRecovLat",
    "TcpExtTCPRecovCnt",
    "TcpExtTCPRecovCnt2",
];

/// What a sample came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Sample {
    /// Always `tcplab.population-sample/1`.
    pub schema: String,
    /// The experiment's name.
    pub experiment: String,
    /// The model, then the kernel.
    pub stacks: [String; 2],
    /// Seed of all draws.
    pub seed: u64,
    /// Connections of each arm.
    pub connections: u64,
    /// Those of the population that were passed over, as no kernel has their client.
    pub passed_over: u64,
    /// By arm.
    pub arms: Vec<SampleArm>,
}

/// One arm on both stacks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SampleArm {
    /// Its name.
    pub name: String,
    /// The model, then the kernel.
    pub sums: [SampleSums; 2],
    /// Connections whose responses took the client the same time on both, within a jiffy.
    pub alike: u64,
    /// The others; those with other counters, too, where each has a guest of its own.
    pub differ: Vec<SampleDifference>,
}

/// A connection that did not do the same on both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SampleDifference {
    /// Its number.
    pub connection: u64,
    /// Time of each response on the model and on the kernel, in microseconds.
    pub times_us: [Vec<i64>; 2],
    /// Counters that differ, where each connection has a guest of its own: the model's, the kernel's.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, [i64; 2]>,
}

/// What of a population shall be a sample.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Connections of each arm.
    pub connections: usize,
    /// Connections of one guest.
    pub together: usize,
    /// Guests at once.
    pub jobs: usize,
}

/// What the connections of an arm did on a stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SampleSums {
    /// The servers' counters; one that a stack has not is absent.
    pub counters: BTreeMap<String, i64>,
    /// Responses that clients read whole.
    pub responses: u64,
    /// Their mean time as the client saw it, in microseconds.
    pub mean_us: f64,
    /// Their 95th percentile.
    pub p95_us: u64,
}

/// Runs a sample.
///
/// # Errors
/// A stack is unknown or cannot run the points, or a kernel cannot run an arm.
pub fn sample(
    lab: &Lab,
    population: &Population,
    (model, kernel): (&str, &str),
    extent: Extent,
    progress: &(impl Fn(usize, usize) + Sync),
) -> Result<Sample, LabError> {
    let drawn: Vec<Drawn> = (0..)
        .map(|n| population.draw(n))
        .filter(|drawn| population.clients[drawn.client].is_plain())
        .take(extent.connections)
        .collect();
    let last = drawn.last().map_or(0, |drawn| drawn.number + 1);
    let stacks = [lab.stack(model)?, lab.stack(kernel)?];
    let all = 2 * population.arms.len() * drawn.len().div_ceil(extent.together);
    let done = AtomicUsize::new(0);
    let mut arms = Vec::new();
    for arm in &population.arms {
        let mut found: [Vec<PointResult>; 2] = Default::default();
        for (side, stack) in stacks.iter().enumerate() {
            let server = match side {
                0 => model_server(arm, population.hz),
                _ => kernel_server(arm)?,
            };
            let some = drawn.chunks(extent.together);
            let points: Vec<Point> = some.map(|some| point(population, some, &server)).collect();
            let campaign = Campaign {
                experiment: &population.name,
                points: &points,
                stacks: std::slice::from_ref(stack),
                jobs: extent.jobs,
                ..Campaign::default()
            };
            let one = |_: campaign::Progress<'_>| {
                progress(done.fetch_add(1, Ordering::Relaxed) + 1, all);
            };
            found[side] = all_of(campaign::run(lab, &campaign, one)?, stack)?;
        }
        let jiffy = 1_000_000_000 / i64::from(population.hz);
        let differ = differences(&drawn, &found, jiffy);
        arms.push(SampleArm {
            name: arm.name.clone(),
            sums: [sum(&found[0]), sum(&found[1])],
            alike: (drawn.len() - differ.len()) as u64,
            differ,
        });
    }
    Ok(Sample {
        schema: SCHEMA.to_owned(),
        experiment: population.name.clone(),
        stacks: stacks.map(|stack| stack.name),
        seed: population.seed,
        connections: drawn.len() as u64,
        passed_over: last - drawn.len() as u64,
        arms,
    })
}

/// The points of a stack; an error where it could not run one of them.
fn all_of(document: RunDocument, stack: &Stack) -> Result<Vec<PointResult>, LabError> {
    match document.points.iter().find_map(|p| p.error.as_ref()) {
        Some(e) => Err(LabError::CannotRun(format!("{}: {e}", stack.name))),
        None => Ok(document.points),
    }
}

/// The server of the model; all that the kernel has by itself.
fn model_server(arm: &Host, hz: u32) -> Host {
    let mut host = arm.clone();
    host.behaviour.insert("hz".to_owned(), hz.to_string());
    quiet(host)
}

/// The server of a kernel: the arm's estimator as a number.
fn kernel_server(arm: &Host) -> Result<Host, LabError> {
    let get = |name: &str| arm.behaviour.get(name).map_or("", String::as_str);
    let rule = match (get("rto_estimator"), get("rto_floor"), get("rto_floor_ms")) {
        ("" | "linux", "", "") => 0,
        ("rfc6298", "timeout", "200") => 1,
        ("rfc6298", "timeout", "1000") => 2,
        ("rfc6298", "" | "deviation", "200" | "" | "0") => 3,
        ("rfc6298", "" | "deviation", "800") => 4,
        _ => {
            return Err(LabError::Wrong(format!(
                "arm {}: no kernel has this estimator; rto-choice has linux, and rfc6298 with a floor on the timeout of 200 or 1000 ms, or on the deviation of 200 or 800 ms",
                arm.name
            )));
        }
    };
    let known = ["rto_estimator", "rto_floor", "rto_floor_ms", "tlp_rule"];
    if let Some(other) = arm
        .behaviour
        .keys()
        .find(|key| !known.contains(&key.as_str()))
    {
        return Err(LabError::Wrong(format!(
            "arm {}: behaviour `{other}` exists in the model only: a kernel's behaviour cannot be changed this way",
            arm.name
        )));
    }
    // Kernels with the edit tlp-2016 have both rules; elsewhere 3 and 4 are the same, which is today's.
    let probes = match get("tlp_rule") {
        "delack-max" => "3",
        _ => "4",
    };
    let mut host = arm.clone();
    host.behaviour.clear();
    host.profile = None;
    let name = "net.ipv4.tcp_early_retrans".to_owned();
    host.sysctl.entry(name).or_insert_with(|| probes.to_owned());
    if rule > 0 {
        let name = "net.ipv4.tcp_rto_rule".to_owned();
        host.sysctl.insert(name, rule.to_string());
    }
    Ok(quiet(host))
}

/// Connections of one guest tell each other nothing.
fn quiet(mut host: Host) -> Host {
    let name = "net.ipv4.tcp_no_metrics_save".to_owned();
    host.sysctl.entry(name).or_insert_with(|| "1".to_owned());
    "server".clone_into(&mut host.name);
    host
}

/// One server and its clients.
fn point(population: &Population, drawn: &[Drawn], server: &Host) -> Point {
    let mut whole: Option<Point> = None;
    for (place, one) in drawn.iter().enumerate() {
        let start_ns = place as i64 * STAGGER_NS;
        let mut own = population.point(one);
        let mut link = own.links.remove(0);
        let mut app = own.apps.remove(0);
        let mut client = own.hosts.remove(1);
        (link.b, app.client) = (place + 1, place + 1);
        for way in [&mut link.a_to_b, &mut link.b_to_a] {
            for outage in &mut way.outages {
                outage.from_ns += start_ns;
                outage.until_ns = outage.until_ns.map(|at| at + start_ns);
            }
        }
        app.name = format!("web{place}");
        app.port = 8_000 + place as u16;
        app.start_ns = start_ns;
        client.name = format!("client{place}");
        // A kernel with the edit tlp-2016 probes by today's rule then; elsewhere 3 and 4 are the same.
        let probes = "net.ipv4.tcp_early_retrans".to_owned();
        client.sysctl.insert(probes, "4".to_owned());
        if server.behaviour.contains_key("hz") {
            client
                .behaviour
                .insert("hz".to_owned(), population.hz.to_string());
        }
        let whole = whole.get_or_insert_with(|| Point {
            hosts: vec![server.clone()],
            links: Vec::new(),
            apps: Vec::new(),
            axes: BTreeMap::from([("first".to_owned(), one.number.into())]),
            boot_ns: Some(boot_ns(population.seed, one.number)),
            ..own
        });
        whole.hosts.push(client);
        whole.links.push(link);
        whole.apps.push(app);
    }
    whole.unwrap_or_else(|| population.point(&population.draw(0)))
}

/// When the guest of a connection begins.
fn boot_ns(seed: u64, number: u64) -> i64 {
    let mut random = tcplab_base::Random::stream(seed, &format!("sample/{number}/boot"));
    BOOT_NS + random.below(PHASE_NS).cast_signed()
}

/// Connections that did not do the same on both sides.
fn differences(
    drawn: &[Drawn],
    found: &[Vec<PointResult>; 2],
    jiffy_ns: i64,
) -> Vec<SampleDifference> {
    let near = |(a, b): (&i64, &i64)| (a - b).abs() <= jiffy_ns;
    let times = |point: &PointResult, place: usize| {
        let flow = point.flows.get(place);
        flow.map_or_else(Vec::new, |flow| flow.client.latency_ns.clone())
    };
    let mut differ = Vec::new();
    let mut numbers = drawn.iter().map(|one| one.number);
    for (model, kernel) in found[0].iter().zip(&found[1]) {
        let is_alone = model.flows.len() == 1;
        for (place, connection) in (0..model.flows.len()).zip(&mut numbers) {
            let both = [times(model, place), times(kernel, place)];
            let is_timed_alike =
                both[0].len() == both[1].len() && both[0].iter().zip(&both[1]).all(near);
            let counters = match is_alone {
                true => other_counters(model, kernel),
                false => BTreeMap::new(),
            };
            if is_timed_alike && counters.is_empty() {
                continue;
            }
            differ.push(SampleDifference {
                connection,
                times_us: both.map(|all| all.iter().map(|ns| ns / 1_000).collect()),
                counters,
            });
        }
    }
    differ
}

/// Those of the server's counters that both have, with other values.
fn other_counters(model: &PointResult, kernel: &PointResult) -> BTreeMap<String, [i64; 2]> {
    let of = |point: &PointResult, name: &str| point.counters.get("server")?.get(name).copied();
    let both = |name: &&str| {
        let values = [of(model, name)?, of(kernel, name)?];
        // Sums of times differ by microseconds.
        let is_other = values[0] != values[1] && *name != "TcpExtTCPRecovLat";
        is_other.then(|| ((*name).to_owned(), values))
    };
    COUNTERS.iter().filter_map(both).collect()
}

/// Sums over all points.
fn sum(points: &[PointResult]) -> SampleSums {
    let mut sums = SampleSums::default();
    let mut times = Vec::new();
    for point in points {
        if let Some(counters) = point.counters.get("server") {
            for name in COUNTERS {
                if let Some(value) = counters.get(name) {
                    *sums.counters.entry(name.to_owned()).or_default() += value;
                }
            }
        }
        for flow in &point.flows {
            times.extend_from_slice(&flow.client.latency_ns);
        }
    }
    times.sort_unstable();
    sums.responses = times.len() as u64;
    let sum: i128 = times.iter().map(|ns| i128::from(*ns)).sum();
    sums.mean_us = sum as f64 / 1e3 / times.len().max(1) as f64;
    let rank = (times.len() * 95).div_ceil(100).max(1) - 1;
    sums.p95_us = times.get(rank).map_or(0, |ns| (ns / 1_000) as u64);
    sums
}

/// The point that runs connection `number` alone in an arm, on a kernel or on the model, with captures and log.
///
/// # Errors
/// No kernel has the connection's client or the arm's estimator.
pub fn sample_point(
    population: &Population,
    number: u64,
    arm: usize,
    stack: &str,
) -> Result<Point, LabError> {
    let drawn = population.draw(number);
    if !population.clients[drawn.client].is_plain() {
        return Err(LabError::Wrong(format!(
            "connection {number}: its client is not plain Linux, so a kernel cannot run it; `tcplab population sample` lists connections that kernels can run"
        )));
    }
    let arm = &population.arms[arm];
    let server = match stack.starts_with("model") {
        true => model_server(arm, population.hz),
        false => kernel_server(arm)?,
    };
    let mut point = point(population, &[drawn], &server);
    let axes = &mut point.axes;
    axes.insert("arm".to_owned(), arm.name.clone().into());
    axes.insert("connection".to_owned(), number.into());
    (point.captures, point.log, point.tcp_info) = (true, true, true);
    Ok(point)
}
