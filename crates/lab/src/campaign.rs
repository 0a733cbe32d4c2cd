//! All points of an experiment on all stacks, on several processors at once.
//!
//! Results are in the order of the plan, whichever was finished first. A point that fails has its
//! reason in its place; the others go on.

mod kernels;
mod merge;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tcplab_os::Scratch;
use tcplab_plan::endless::endless;
use tcplab_plan::measure::Described;
use tcplab_plan::result::{PointResult, RUN_SCHEMA, RunDocument};
use tcplab_plan::view::View;
use tcplab_plan::{Point, point};

use crate::agree;
use crate::check;
use crate::digest;
use crate::error::LabError;
use crate::folder::{Folder, MANIFEST_SCHEMA, Manifest, PointCost};
use crate::pool;
use crate::stack::{Lab, Stack, is_virtual_name};

pub use merge::{is_in, merge};

/// What shall be run.
#[derive(Debug, Default)]
pub struct Campaign<'a> {
    /// The experiment's name.
    pub experiment: &'a str,
    /// The points, in order.
    pub points: &'a [Point],
    /// The stacks, in order.
    pub stacks: &'a [Stack],
    /// Names of the measures.
    pub measures: &'a [String],
    /// Points at once; stacks in real time run alone.
    pub jobs: usize,
    /// Where results are kept; `None`: captures and results are deleted after they were read.
    pub out: Option<&'a Path>,
    /// How the result is shown; kept in its folder.
    pub view: Option<&'a View>,
    /// Only these, by their number in the result folder (stack times points, and point); none: all. The result has no
    /// summary then: [`merge`] writes it, or the run of all points in the same folder.
    pub only: Option<&'a [usize]>,
}

impl Campaign<'_> {
    /// The stack and the point of a number.
    fn task(&self, number: usize) -> (&Stack, &Point) {
        let points = self.points.len();
        (&self.stacks[number / points], &self.points[number % points])
    }

    /// The numbers of what is to be run.
    fn tasks(&self) -> Vec<usize> {
        let all = 0..self.count();
        match self.only {
            Some(only) => only.iter().copied().filter(|n| all.contains(n)).collect(),
            None => all.collect(),
        }
    }

    /// Points on all stacks.
    pub fn count(&self) -> usize {
        self.stacks.len() * self.points.len()
    }

    /// Whether a result of an earlier run is of this stack and point.
    fn takes(&self, (stack, point): (&Stack, &Point), result: &PointResult) -> bool {
        is_of(result, (&stack.name, point), self.measures)
    }
}

/// Whether a result is of this stack and point, and whole.
fn is_of(result: &PointResult, (stack, point): (&str, &Point), measures: &[String]) -> bool {
    let measures: BTreeSet<&String> = measures.iter().collect();
    result.axes == point.axes
        && result.stack == stack
        && result.seed == point.seed
        && result.error.is_none()
        && result.measures.keys().eq(measures)
}

/// One point of one stack that is finished.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Finished ones, this one included.
    pub done: usize,
    /// All of them.
    pub all: usize,
    /// Its result.
    pub result: &'a PointResult,
}

/// Runs everything.
///
/// # Errors
/// What stands against the whole campaign: a setting that a stack does not honour, the folder, the wish to stop, a
/// measure that nothing has. A point that could not be run has its `error` in the document.
pub fn run(
    lab: &Lab,
    campaign: &Campaign<'_>,
    progress: impl Fn(Progress<'_>) + Sync,
) -> Result<RunDocument, LabError> {
    let stacks = campaign.stacks.iter();
    let stacks: Vec<(&str, check::Kind)> = stacks.map(|s| (s.name.as_str(), s.honours())).collect();
    check::points(campaign.points, &stacks)?;
    let scratch;
    let out = match campaign.out {
        Some(path) => path,
        None => {
            scratch = Scratch::new().map_err(LabError::at(&std::env::temp_dir()))?;
            scratch.path()
        }
    };
    can_end(
        campaign.points,
        campaign.stacks.iter().map(|s| s.name.as_str()),
    )?;
    let folder = Folder::open(out, &manifest(campaign)?)?;
    kernels::can_continue(campaign, &folder, out)?;
    let tasks = campaign.tasks();
    let in_real_time = campaign.stacks.iter().any(|s| !s.is_virtual());
    let jobs = if in_real_time { 1 } else { campaign.jobs };
    let mut results = vec![None; tasks.len()];
    let (mut done, progress) = (0, &progress);
    pool::each(
        tasks.len(),
        &pool::processors(jobs),
        Ok,
        |cpu, number| one(lab, campaign, &folder, tasks[number], *cpu),
        |number, result: (PointResult, u64)| {
            done += 1;
            progress(Progress {
                done,
                all: tasks.len(),
                result: &result.0,
            });
            results[number] = Some(result);
            Ok(())
        },
    )?;
    let measures = described(campaign.measures);
    let mut document = document(campaign.experiment, measures, results.into_iter().flatten());
    match campaign.only {
        None => folder.summarize(&document)?,
        Some(_) => document.numbers = tasks,
    }
    let finished = agree::Finished {
        campaign,
        results: &document.points,
        folder: out,
    };
    document.agreement = agree::of(lab, &finished)?;
    Ok(document)
}

/// The document of results in their order.
fn document(
    experiment: &str,
    measures: Vec<Described>,
    results: impl Iterator<Item = (PointResult, u64)>,
) -> RunDocument {
    let mut document = RunDocument {
        schema: RUN_SCHEMA.into(),
        experiment: experiment.to_owned(),
        measures,
        ..RunDocument::default()
    };
    for (result, rss) in results {
        document.peak_rss_bytes = document.peak_rss_bytes.max(rss);
        document.points.push(result);
    }
    document
}

/// Opens the folder of a campaign, or goes on with it, and gives the numbers of what is not there yet.
///
/// # Errors
/// As [`run`]; a campaign without a folder.
pub fn pending(campaign: &Campaign<'_>) -> Result<Vec<usize>, LabError> {
    let out = campaign.out.unwrap_or(Path::new("."));
    let folder = Folder::open(out, &manifest(campaign)?)?;
    kernels::can_continue(campaign, &folder, out)?;
    let mut left = Vec::new();
    for number in 0..campaign.count() {
        let task = campaign.task(number);
        let there = folder.finished(number, |result| campaign.takes(task, result))?;
        if there.is_none() {
            left.push(number);
        }
    }
    Ok(left)
}

fn described(measures: &[String]) -> Vec<Described> {
    measures.iter().map(|name| Described::of(name)).collect()
}

fn manifest(campaign: &Campaign<'_>) -> Result<Manifest, LabError> {
    let program = digest::of_this_program().map_err(LabError::at(Path::new("/proc/self/exe")))?;
    let stacks = campaign.stacks.iter();
    Ok(Manifest {
        schema: MANIFEST_SCHEMA.into(),
        experiment: campaign.experiment.to_owned(),
        tcplab: env!("CARGO_PKG_VERSION").into(),
        program_sha256: program,
        stacks: stacks
            .map(|s| (s.name.clone(), s.identity().to_owned()))
            .collect(),
        measures: described(campaign.measures),
        files: files(campaign.points)?,
        view: campaign.view.cloned(),
        points: campaign.points.to_vec(),
    })
}

/// Digests of the runs' files: a folder must not go on with other files.
fn files(points: &[Point]) -> Result<BTreeMap<String, String>, LabError> {
    let digest = |file: &str| {
        let path = Path::new(file);
        let digest = digest::of_file(path).map_err(LabError::at(path))?;
        Ok((file.to_owned(), digest))
    };
    point::files(points).into_iter().map(digest).collect()
}

/// A point's result, from an earlier run when there is one, and the most memory that a process of its run held.
fn one(
    lab: &Lab,
    campaign: &Campaign<'_>,
    folder: &Folder,
    number: usize,
    cpu: Option<usize>,
) -> Result<(PointResult, u64), LabError> {
    let (stack, point) = campaign.task(number);
    let is_of_it = |result: &PointResult| campaign.takes((stack, point), result);
    if let Some((result, cost)) = folder.finished(number, is_of_it)? {
        folder.is_as_written(number, &result, point)?;
        return Ok((result, cost.rss_bytes));
    }
    let part = folder.begin(number)?;
    let run = lab.run_point(point, stack, campaign.measures, &part, cpu);
    let (result, rss_bytes) = match run {
        Ok(done) => (done.result, done.rss_bytes),
        Err(e @ (LabError::Run(_) | LabError::Point(_) | LabError::Limit(_))) => {
            let failed = PointResult {
                axes: point.axes.clone(),
                stack: stack.name.clone(),
                seed: point.seed,
                error: Some(e.to_string()),
                inconclusive: e.is_inconclusive(),
                ..PointResult::default()
            };
            // It is not kept: the next run tries again.
            return Ok((failed, 0));
        }
        Err(e) => return Err(e),
    };
    let cost = PointCost {
        cost: result.cost,
        rss_bytes,
    };
    folder.finish(number, &part, &result, cost)?;
    Ok((result, rss_bytes))
}

/// Refuses points that would never end on one of these stacks (their names).
///
/// # Errors
/// The first such point, in words for its author.
pub fn can_end<'a>(
    points: &[Point],
    stacks: impl IntoIterator<Item = &'a str>,
) -> Result<(), LabError> {
    let Some(stack) = stacks.into_iter().find(|name| is_virtual_name(name)) else {
        return Ok(());
    };
    match points.iter().find_map(endless) {
        None => Ok(()),
        Some(why) => Err(LabError::Wrong(format!("{why} (on {stack})"))),
    }
}
