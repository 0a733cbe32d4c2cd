//! Populations: the same connections through every arm, and what differs.
//!
//! [`run`] simulates the remaining groups of a population and makes the document; [`merge`] makes it from shards. A row
//! for each connection and arm, as Parquet: [`RowsTo`]. One connection alone, with captures and log, is a point like
//! any other: [`arm_point`].

mod connection;
mod document;
mod engine;
mod expected;
mod folder;
mod framed;
mod keep;
mod log;
mod look;
mod looks;
mod merge;
mod pending;
mod record;
mod rowfile;
mod rows;
pub mod sample;
mod selftest;
pub mod shown;
mod store;
mod sums;
#[cfg(test)]
mod tests;
mod totals;
pub mod variants;
mod withheld;

use std::path::Path;

use tcplab_os::Stop;
use tcplab_os::cpu::Meter;
use tcplab_plan::point::Host;
use tcplab_plan::population::{PopulationCost, PopulationDocument};
use tcplab_plan::{Point, Population};

pub use engine::Progress;
pub use folder::of_folder;
pub use look::{Look, Side, look, select};
pub use merge::{merge, merge_part};
pub use pending::pending;
pub use rowfile::{RowsTo, reference as reference_of_rows};
pub use rows::has_band;
pub use selftest::{SCHEMA as SELF_TEST_SCHEMA, SelfTest, self_test};

use crate::check;
use crate::error::LabError;
use crate::model::{Model, peak_rss_bytes};
pub use crate::shard::Shard;
use expected::Expected;
use keep::Kept;
use rowfile::Plan;
use totals::Totals;

/// What shall be run.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The population, with its arms.
    pub population: &'a Population,
    /// Its file's text, which the result keeps.
    pub text: &'a str,
    /// The stack, `model:PROFILE`.
    pub stack: &'a str,
    /// Threads.
    pub jobs: usize,
    /// The shard to run.
    pub shard: Shard,
    /// Where results are kept; a run that was interrupted goes on there.
    pub out: Option<&'a Path>,
    /// Where a row for each connection and arm goes, when rows are wanted.
    pub rows: Option<RowsTo<'a>>,
}

/// Runs a population, or what is left of it.
///
/// # Errors
/// When the stack is no model, the folder holds something else, or the user wants an end.
pub fn run(
    request: &Request<'_>,
    stop: &Stop,
    progress: &(impl Fn(Progress) + Sync),
) -> Result<PopulationDocument, LabError> {
    let meter = Meter::start();
    let Filled {
        stack,
        totals,
        cost,
    } = fill(request, stop, progress)?;
    let mut document = document::document(request.population, &stack, request.shard, &totals);
    if let Some(folder) = request.out {
        folder::summarize(folder, &document)?;
    }
    document.cost = cost.map(|cost| PopulationCost {
        wall_s: meter.stop().wall_s,
        ..cost
    });
    Ok(document)
}

/// Runs the unfinished groups of a part of a population and keeps them, without a table: a bootstrap takes a second,
/// and a part that will be merged does not need one.
///
/// # Errors
/// As [`run`].
pub fn run_groups(
    request: &Request<'_>,
    stop: &Stop,
    progress: &(impl Fn(Progress) + Sync),
) -> Result<(), LabError> {
    fill(request, stop, progress).map(drop)
}

/// All groups, and what they cost; nothing when they were there.
struct Filled {
    stack: String,
    totals: Totals,
    cost: Option<PopulationCost>,
}

/// Runs what is left of a request.
fn fill(
    request: &Request<'_>,
    stop: &Stop,
    progress: &(impl Fn(Progress) + Sync),
) -> Result<Filled, LabError> {
    let population = request.population;
    let (stack, model) = model_of(request.stack)?;
    if !request.shard.is_whole() {
        check_shard(request)?;
    }
    check_arms(population, &stack)?;
    let plan = |to| Plan::new(to, request.out, request.shard);
    let rows = request.rows.map(plan).transpose()?;
    if let Some(folder) = request.out {
        folder::begin(folder, request, &stack)?;
    }
    let mut totals = Totals::new(population.arms.len());
    let is_there = |folder: &&Path| folder.join("groups.bin").exists();
    if let Some(folder) = request.out.filter(is_there) {
        let mut expected = Expected::new(population, request.shard);
        store::read(folder, &mut expected, |group| totals.add(&group))?;
        totals.finish();
        // A run that was killed right before its end may have left them.
        store::clean(folder)?;
        return Ok(Filled {
            stack,
            totals,
            cost: None,
        });
    }
    let rows = rows.map(Plan::open).transpose()?;
    let work = engine::Work {
        population,
        stack: model.of_host().0,
        jobs: request.jobs,
        shard: request.shard,
        rows: rows.is_some(),
        stop,
    };
    let is_decided = |totals: &Totals| {
        let design = document::design(population, totals);
        rows::are_decided(&rows::rows(population, totals, &design))
    };
    let kept = Kept {
        folder: request.out,
        rows,
    };
    let spent = keep::run(&work, kept, &mut totals, is_decided, progress)?;
    Ok(Filled {
        stack,
        totals,
        cost: Some(cost_of(&spent, population.arms.len())),
    })
}

fn cost_of(spent: &engine::Spent, arms: usize) -> PopulationCost {
    PopulationCost {
        user_s: spent.user_s,
        wall_s: 0.0,
        connections: spent.connections * arms as u64,
        tcp_packets: spent.packets,
        peak_rss_bytes: peak_rss_bytes(),
    }
}

/// Refuses to run a part of a population whose end depends on the other parts.
fn check_shard(request: &Request<'_>) -> Result<(), LabError> {
    match request.population.compare.stops {
        true => Err(LabError::Wrong(
            "a shard cannot use `stop`, which needs the results of all shards: omit --shard or --pending, or remove `stop` from [compare]".to_owned(),
        )),
        false => Ok(()),
    }
}

/// Checks that the model honours what the arms and the kinds of clients ask for.
///
/// # Errors
/// The stack is no model, or does not honour a setting.
pub fn check(population: &Population, stack: &str) -> Result<(), LabError> {
    let (name, _) = model_of(stack)?;
    check_arms(population, &name)
}

fn check_arms(population: &Population, name: &str) -> Result<(), LabError> {
    let mut point = population.point(&population.draw(0));
    let plain = Host {
        sysctl: Default::default(),
        socket: Default::default(),
        ..point.hosts[1].clone()
    };
    let arms = population.arms.iter().cloned().map(|arm| ("arm", arm));
    let clients = population.clients.iter().zip(1..).map(|(kind, number)| {
        let client = Host {
            name: format!("clients[{number}]"),
            sysctl: kind.sysctl.clone(),
            socket: kind.socket.clone(),
            ..plain.clone()
        };
        ("population", client)
    });
    let mut lines = Vec::new();
    for (table, host) in arms.chain(clients) {
        point.hosts = vec![host, plain.clone()];
        for mut refusal in check::refusals(&point, check::Kind::Model) {
            if let Some(key) = refusal.place.strip_prefix("host.") {
                refusal.place = format!("{table}.{key}");
            }
            // A population has no `run.tolerate`.
            refusal.name = None;
            lines.push(format!("{name}: {refusal}"));
        }
    }
    match lines.is_empty() {
        true => Ok(()),
        false => Err(LabError::Refused(lines)),
    }
}

/// The whole name of a model stack, and the model.
fn model_of(stack: &str) -> Result<(String, Model), LabError> {
    let profile = match stack.split_once(':') {
        None if stack == "model" => "linux-6.1",
        Some(("model", profile)) => profile,
        _ => {
            return Err(LabError::Wrong(format!(
                "`{stack}`: populations run on the model, such as model:linux-6.1; \
                 `tcplab population sample` runs some of the connections on a kernel"
            )));
        }
    };
    if let Some((profile, _)) = profile.split_once('@') {
        return Err(LabError::Wrong(format!(
            "`{stack}`: write model:{profile} here and `hz` in the population's table"
        )));
    }
    Ok((format!("model:{profile}"), Model::named(profile)?))
}

/// The point that runs connection `number` of a population alone in an arm, with captures and log; any stack of the
/// model takes it. The axis `arm` has the arm's name.
///
/// # Errors
/// When the stack is no model.
pub fn arm_point(
    population: &Population,
    number: u64,
    arm: usize,
    stack: &str,
) -> Result<Point, LabError> {
    model_of(stack)?;
    let drawn = population.draw(number);
    let mut point = population.point(&drawn);
    let server = population.arms[arm].clone();
    point
        .axes
        .insert("arm".to_owned(), server.name.clone().into());
    point.axes.insert("connection".to_owned(), number.into());
    point.hosts[0] = Host {
        name: std::mem::take(&mut point.hosts[0].name),
        ..server
    };
    for host in &mut point.hosts {
        host.behaviour
            .insert("hz".to_owned(), population.hz.to_string());
    }
    (point.captures, point.log, point.tcp_info) = (true, true, true);
    Ok(point)
}
