//! One point on one stack: run, read, measured.

use std::path::Path;

use tcplab_plan::measure::Sources;
use tcplab_plan::result::{Cost, PointResult};
use tcplab_plan::{Outcome, Point};

use crate::check;
use crate::digest;
use crate::error::LabError;
use crate::flent;
use crate::model;
use crate::packets::sent_by_hosts;
use crate::stack::{Kind, Lab, Stack};
use crate::unreached::{bounded, undrained, unreached};

/// A result, and the most memory that a process of the run held.
pub(crate) struct Done {
    pub(crate) result: PointResult,
    pub(crate) rss_bytes: u64,
}

impl Lab {
    /// Runs one point by itself; captures go into `folder`, which must be there. `cpu` is the
    /// processor that a guest stays on.
    ///
    /// # Errors
    /// A stack that cannot run the point, or a folder that cannot be written.
    pub fn run_one(
        &self,
        point: &Point,
        stack: &Stack,
        folder: &Path,
        cpu: Option<usize>,
    ) -> Result<PointResult, LabError> {
        check::points(
            std::slice::from_ref(point),
            &[(&stack.name, stack.honours())],
        )?;
        self.run_point(point, stack, &[], folder, cpu)
            .map(|done| done.result)
    }

    /// Runs a point; captures go into `folder`. `cpu` is the processor that a guest stays on.
    pub(crate) fn run_point(
        &self,
        point: &Point,
        stack: &Stack,
        measures: &[String],
        folder: &Path,
        cpu: Option<usize>,
    ) -> Result<Done, LabError> {
        // Whoever made the point: no stack gets one that no experiment file could have made.
        let checked = point.check();
        checked.map_err(|wrong| LabError::Point(wrong.to_string()))?;
        let run = match &stack.kind {
            Kind::Model(profile) => {
                let run = model::run(point, profile, folder, &self.stop)?;
                (run.outcome, run.cost)
            }
            Kind::Real(real) => self.reals.run((point, real), folder, cpu, &self.stop)?,
        };
        finished(point, stack, measures, run, folder)
    }
}

fn finished(
    point: &Point,
    stack: &Stack,
    measures: &[String],
    (outcome, cost): (Outcome, Cost),
    folder: &Path,
) -> Result<Done, LabError> {
    let mut result = measured(point, stack, measures, outcome, folder)?;
    result.digest = digest::of(&result, point, folder)?;
    flent::write(point, stack, &result, folder)?;
    result.cost = cost;
    Ok(Done {
        result,
        rss_bytes: cost.peak_rss_bytes.unwrap_or(0),
    })
}

fn measured(
    point: &Point,
    stack: &Stack,
    measures: &[String],
    outcome: Outcome,
    folder: &Path,
) -> Result<PointResult, LabError> {
    let packets = sent_by_hosts(point, &outcome.addresses, folder)?;
    let sources = Sources {
        point,
        outcome: &outcome,
        packets: &packets,
    };
    let mut result = PointResult {
        axes: point.axes.clone(),
        stack: stack.name.clone(),
        seed: point.seed,
        ..PointResult::default()
    };
    let unreached = unreached(point, &outcome);
    let bounded = bounded(&outcome);
    let undrained = undrained(point, &outcome);
    for name in measures {
        let value = sources.named(name);
        match value.map_err(|e| LabError::Wrong(e.to_string()))? {
            Ok(value) => {
                result.measures.insert(name.clone(), Some(value));
            }
            Err(why) => {
                result.measures.insert(name.clone(), None);
                result.missing.insert(name.clone(), why);
            }
        }
    }
    result.counters = outcome.counters;
    result.flows = outcome.flows;
    result.links = outcome.links;
    result.link_series = outcome.link_series;
    let host = |at: usize| point.hosts.get(at).map_or("", |host| &host.name);
    let names = point.links.iter();
    let names = names.map(|link| format!("{}-{}", host(link.a), host(link.b)));
    result.link_names = names.collect();
    result.kernel = outcome.kernel;
    result.cut_short = outcome.cut_short;
    result.warnings = outcome.warnings;
    result.warnings.extend(unreached);
    result.warnings.extend(bounded);
    result.warnings.extend(undrained);
    result.tolerated = check::left_out(point, stack.honours());
    result.tolerated.extend(outcome.tolerated);
    result.name_columns();
    Ok(result)
}
