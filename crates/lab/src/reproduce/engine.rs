//! Runs what the claims need, each experiment once for each stack, and judges.

use std::collections::BTreeSet;
use std::path::Path;

use tcplab_plan::Point;
use tcplab_plan::population::PopulationDocument;
use tcplab_plan::result::{
    Claim, ErrorRecord, PointResult, REPRODUCE_SCHEMA, ReproduceDocument, Verdict,
};

use super::estimator::Estimator;
use super::list::{ClaimData, List};
use super::malformed::{self, Malformed};
use super::population::{self, Populations};
use super::suite::{self, Suite};
use crate::campaign::{self, Campaign, Progress};
use crate::error::LabError;
use crate::measures;
use crate::stack::Lab;

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Points at once.
    pub jobs: usize,
    /// Where results are kept: a result folder for each experiment and stack.
    pub out: Option<&'a Path>,
    /// A checkout of packetdrill, for the claims about its suite.
    pub packetdrill: Option<&'a Path>,
}

/// Claims of one experiment on one stack: indices into the list.
pub(super) struct Batch {
    experiment: String,
    pub(super) stack: String,
    claims: Vec<usize>,
    pub(super) points: Vec<Point>,
    measures: Vec<String>,
}

/// Measures every claim of the list.
///
/// # Errors
/// Ctrl-C, or a mistake in the claims' data. What cannot be run makes its claims `not-run`; when
/// that is all of them, the document has an `error`.
pub fn run(
    lab: &Lab,
    list: &List,
    options: Options<'_>,
    progress: impl Fn(Progress<'_>) + Sync,
) -> Result<ReproduceDocument, LabError> {
    let batches = batches(list)?;
    let all = batches.iter().map(|batch| batch.points.len()).sum();
    let mut before = 0;
    let mut populations = Populations::default();
    let mut alone = |data: &ClaimData| {
        if let Some(malformed) = &data.malformed {
            return injected(lab, data, malformed).map(Some);
        }
        match (&data.estimator, &data.suite, &data.population) {
            (Some(estimator), ..) => Ok(Some(estimated(data, estimator))),
            (_, Some(suite), _) => drilled(lab, data, suite, options).map(Some),
            (.., Some(file)) => {
                let document = populations.get(lab, file, &data.published.stack, options.jobs)?;
                Ok::<_, LabError>(Some(drawn(data, document)))
            }
            (None, None, None) => Ok(None),
        }
    };
    let mut claims: Vec<Option<Claim>> = list
        .claims
        .iter()
        .map(&mut alone)
        .collect::<Result<_, _>>()?;
    for batch in &batches {
        let shifted = |p: Progress<'_>| {
            progress(Progress {
                done: before + p.done,
                all,
                result: p.result,
            });
        };
        let results = run_batch(lab, batch, options, shifted);
        before += batch.points.len();
        let results = match results {
            Ok(results) => Ok(results),
            Err(LabError::Interrupted) => return Err(LabError::Interrupted),
            Err(e) => Err(e.to_string()),
        };
        for index in &batch.claims {
            let data = &list.claims[*index];
            claims[*index] = Some(match &results {
                Ok(results) => judged(data, &batch.points, results),
                Err(why) => not_run(data, why),
            });
        }
    }
    let claims: Vec<Claim> = claims.into_iter().flatten().collect();
    Ok(ReproduceDocument {
        schema: REPRODUCE_SCHEMA.into(),
        error: all_skipped(&claims),
        claims,
    })
}

pub(super) fn batches(list: &List) -> Result<Vec<Batch>, LabError> {
    let mut batches: Vec<Batch> = Vec::new();
    for (index, claim) in list.claims.iter().enumerate() {
        let Some(experiment) = &claim.experiment else {
            continue;
        };
        let same = |b: &&mut Batch| b.experiment == *experiment && b.stack == claim.published.stack;
        match batches.iter_mut().find(same) {
            Some(batch) => batch.claims.push(index),
            None => batches.push(Batch {
                experiment: experiment.clone(),
                stack: claim.published.stack.clone(),
                claims: vec![index],
                points: Vec::new(),
                measures: Vec::new(),
            }),
        }
    }
    for batch in &mut batches {
        let own: Vec<&ClaimData> = batch.claims.iter().map(|i| &list.claims[*i]).collect();
        let points = list.experiment(&batch.experiment)?.points();
        batch.points = points.map_err(|e| LabError::Wrong(e.to_string()))?;
        batch.points.retain(|point| {
            own.iter()
                .any(|claim| claim.is_at(point) || claim.is_base(point))
        });
        let names: BTreeSet<&str> = own
            .iter()
            .flat_map(|claim| claim.value.names().into_iter().chain(shown(claim)))
            .collect();
        batch.measures = names.into_iter().map(str::to_owned).collect();
    }
    Ok(batches)
}

fn shown(claim: &ClaimData) -> impl Iterator<Item = &str> {
    claim.show.iter().map(String::as_str)
}

fn run_batch(
    lab: &Lab,
    batch: &Batch,
    options: Options<'_>,
    progress: impl Fn(Progress<'_>) + Sync,
) -> Result<Vec<PointResult>, LabError> {
    let stack = lab.stack(&batch.stack)?;
    if let Some(first) = batch.points.first() {
        measures::check(&batch.measures, first)?;
    }
    let folder = |out: &Path| {
        let stack = batch.stack.replace(':', "-");
        out.join(&batch.experiment).join(stack)
    };
    let out = options.out.map(folder);
    let document = campaign::run(
        lab,
        &Campaign {
            experiment: &batch.experiment,
            points: &batch.points,
            stacks: &[stack],
            measures: &batch.measures,
            jobs: options.jobs,
            out: out.as_deref(),
            ..Campaign::default()
        },
        progress,
    )?;
    Ok(document.points)
}

/// The claim with what its points gave: their median, and both ends when there are several.
fn judged(data: &ClaimData, points: &[Point], results: &[PointResult]) -> Claim {
    let of = |is: &dyn Fn(&Point) -> bool| -> Vec<&PointResult> {
        let all = points.iter().zip(results);
        all.filter(|(point, _)| is(point)).map(|(_, r)| r).collect()
    };
    let own = of(&|point| data.is_at(point));
    let values: Result<Vec<f64>, String> = match &data.base {
        None => own.iter().map(|result| value_of(data, result)).collect(),
        Some(base) => {
            // The points of both are in the order of their repetitions.
            let bases = of(&|point| data.is_base(point));
            let pairs = own.iter().zip(&bases);
            pairs
                .map(|(own, other)| {
                    Ok(base.change.of(value_of(data, own)?, value_of(data, other)?))
                })
                .collect()
        }
    };
    match values {
        Ok(values) => finished(data, values, beside(data, &own)),
        Err(why) => not_run(data, &why),
    }
}

/// The value of one point, or why it is missing.
fn value_of(data: &ClaimData, result: &PointResult) -> Result<f64, String> {
    if let Some(e) = &result.error {
        return Err(e.clone());
    }
    let value = |name: &str| result.measures.get(name).copied().flatten();
    data.value.evaluate(&value).map_err(|e| {
        let why = result.missing.get(e.missing().unwrap_or_default());
        let why = why.map_or(String::new(), |why| format!(": {why}"));
        format!("{e}{why}")
    })
}

/// A claim that needs no run.
fn estimated(data: &ClaimData, estimator: &Estimator) -> Claim {
    let timeouts = match estimator.run(&data.published.stack) {
        Ok(timeouts) => timeouts,
        Err(why) => return not_run(data, &why),
    };
    let words = shown(data).filter_map(|name| timeouts.shown(name));
    match data.value.evaluate(&|name| timeouts.value(name)) {
        Ok(value) => finished(data, vec![value], words.collect()),
        Err(e) => not_run(data, &e.to_string()),
    }
}

/// A claim about malformed frames.
fn injected(lab: &Lab, data: &ClaimData, frames: &Malformed) -> Result<Claim, LabError> {
    let document = match frames.run(&data.published.stack, &lab.stop) {
        Ok(document) => document,
        Err(LabError::CannotRun(why)) => return Ok(not_run(data, &why)),
        Err(e) => return Err(e),
    };
    let of = |name: &str| malformed::value(&document, name);
    let shown = shown(data).filter_map(|name| Some(format!("{name} = {}", of(name)?)));
    let shown = shown.collect();
    Ok(match data.value.evaluate(&of) {
        Ok(value) => finished(data, vec![value], shown),
        Err(e) => not_run(data, &e.to_string()),
    })
}

/// A claim about a suite of scripts.
fn drilled(
    lab: &Lab,
    data: &ClaimData,
    suite: &Suite,
    options: Options<'_>,
) -> Result<Claim, LabError> {
    let results = suite.run(
        lab,
        &data.published.stack,
        options.jobs,
        options.packetdrill,
    )?;
    let document = match results {
        Ok(document) => document,
        Err(why) => return Ok(not_run(data, &why)),
    };
    if let Some(out) = options.out {
        let folder = out
            .join("packetdrill")
            .join(data.published.stack.replace(':', "-"));
        suite::keep(&folder, &document)?;
    }
    let shown = shown(data).map(|name| match suite::value(&document, name) {
        Some(value) => format!("{name} = {value}"),
        None => format!("{name} has no value"),
    });
    let shown = shown.collect();
    Ok(
        match data.value.evaluate(&|name| suite::value(&document, name)) {
            Ok(value) => finished(data, vec![value], shown),
            Err(e) => not_run(data, &e.to_string()),
        },
    )
}

/// A claim about a population: its value, with the row's interval when it is one row.
fn drawn(data: &ClaimData, document: &Result<PopulationDocument, String>) -> Claim {
    let document = match document {
        Ok(document) => document,
        Err(why) => return not_run(data, why),
    };
    let of = |name: &str| population::value(document, name);
    let value = match data.value.evaluate(&of) {
        Ok(value) => value,
        Err(e) => return not_run(data, &e.to_string()),
    };
    let shown = shown(data).map(|name| {
        population::shown(document, name).unwrap_or_else(|| format!("{name} has no value"))
    });
    let mut claim = finished(data, vec![value], shown.collect());
    let mut names = data.value.names().into_iter();
    if let (Some(name), None) = (names.next(), names.next()) {
        let row = population::row(document, name);
        claim.interval = row
            .and_then(|row| row.interval)
            .map(|[low, high]| (low, high));
        claim.verdict = claim.judge();
    }
    claim
}

/// Judges what was measured; `beside` is shown with it.
fn finished(data: &ClaimData, mut values: Vec<f64>, beside: Vec<String>) -> Claim {
    values.sort_by(f64::total_cmp);
    let mut claim = data.published.clone();
    claim.measured = values.get(values.len().saturating_sub(1) / 2).copied();
    if let (Some(low), Some(high), true) = (values.first(), values.last(), values.len() > 1) {
        claim.interval = Some((*low, *high));
    }
    claim.verdict = claim.judge();
    let mut words: Vec<String> = Vec::new();
    if claim.verdict == Verdict::Fail && !data.fails.is_empty() {
        words.push(data.fails.clone());
    }
    if !data.note.is_empty() {
        words.push(data.note.clone());
    }
    if values.len() > 1 {
        words.push(format!("{} runs", values.len()));
    }
    words.extend(beside);
    claim.why = words.join("; ");
    claim
}

/// The measures that shall stand beside the value, of the first point.
fn beside(data: &ClaimData, own: &[&PointResult]) -> Vec<String> {
    let Some(first) = own.first() else {
        return Vec::new();
    };
    let text = |name: &str| match first.measures.get(name).copied().flatten() {
        Some(value) => format!("{name} = {value}"),
        None => format!("{name} has no value"),
    };
    shown(data).map(text).collect()
}

fn not_run(data: &ClaimData, why: &str) -> Claim {
    Claim {
        why: why.to_owned(),
        ..data.published.clone()
    }
}

/// The reason, when no claim could be measured.
fn all_skipped(claims: &[Claim]) -> Option<ErrorRecord> {
    let first = claims.first()?;
    let none = claims.iter().all(|c| c.verdict == Verdict::NotRun);
    none.then(|| ErrorRecord {
        kind: "cannot_run".into(),
        message: first.why.clone(),
    })
}
