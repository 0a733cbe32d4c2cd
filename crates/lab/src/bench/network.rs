//! The suite for stacks: small experiments over links, in virtual time where the stack has one. Before and after are two
//! stacks; what they count must be equal, or is named.

use tcplab_compare::Arm as ArmMetrics;
use tcplab_compare::import::{self, Format, Input};
use tcplab_plan::Experiment;
use tcplab_plan::result::RunDocument;

use crate::campaign::{self, Campaign, Progress};
use crate::{Lab, LabError, Stack};

/// The suite: a file each.
pub const SUITE: [(&str, &str); 9] = [
    ("stream", include_str!("network/stream.toml")),
    ("stream-loss", include_str!("network/stream-loss.toml")),
    (
        "stream-reorder",
        include_str!("network/stream-reorder.toml"),
    ),
    ("stream-ecn", include_str!("network/stream-ecn.toml")),
    ("rr", include_str!("network/rr.toml")),
    ("crr", include_str!("network/crr.toml")),
    ("web", include_str!("network/web.toml")),
    (
        "write-write-read",
        include_str!("network/write-write-read.toml"),
    ),
    ("ticks", include_str!("network/ticks.toml")),
];

/// Runs an experiment on two stacks; what each found, as arms of these names, each metric behind `prefix`.
///
/// # Errors
/// The experiment is none, a stack cannot run it, the user wants an end.
pub fn run(
    lab: &Lab,
    (file, text): (&str, &str),
    stacks: &[Stack; 2],
    jobs: usize,
    progress: impl Fn(Progress<'_>) + Sync,
) -> Result<[ArmMetrics; 2], LabError> {
    let wrong = |e: &dyn std::fmt::Display| LabError::Wrong(e.to_string());
    let experiment = Experiment::parse(file, text).map_err(|e| wrong(&e))?;
    let points = experiment.points().map_err(|e| wrong(&e))?;
    let mut measures = experiment.measures.clone();
    if let (true, Some(first)) = (measures.is_empty(), points.first()) {
        measures = crate::measures::of_applications(first);
    }
    let document = campaign::run(
        lab,
        &Campaign {
            experiment: &experiment.name,
            points: &points,
            stacks,
            measures: &measures,
            jobs,
            out: None,
            view: None,
        },
        progress,
    )?;
    arms(&document, stacks, &experiment.name)
}

/// The arms of a run: by the stacks' places, for both may be the same one.
fn arms(
    document: &RunDocument,
    stacks: &[Stack; 2],
    experiment: &str,
) -> Result<[ArmMetrics; 2], LabError> {
    let each = document.points.len() / 2;
    let side = |number: usize| -> Result<ArmMetrics, LabError> {
        let points = document.points.iter().skip(number * each).take(each);
        let own = RunDocument {
            schema: document.schema.clone(),
            experiment: document.experiment.clone(),
            points: points.cloned().collect(),
            ..RunDocument::default()
        };
        let text = serde_json::to_string(&own).map_err(|e| LabError::Wrong(e.to_string()))?;
        let input = Input {
            name: experiment,
            text: &text,
        };
        let read = import::read(&input, Some(Format::Run));
        let read = read.map_err(|e| LabError::Wrong(e.to_string()))?;
        let mut arm = ArmMetrics::named(stacks[number].name.clone());
        for mut found in read.arms {
            let variant = (found.name != stacks[number].name).then(|| found.name.clone());
            for metric in &mut found.metrics {
                metric.name = match &variant {
                    Some(variant) => format!("{experiment} {variant}: {}", metric.name),
                    None => format!("{experiment}: {}", metric.name),
                };
            }
            arm.absorb(found);
        }
        Ok(arm)
    };
    Ok([side(0)?, side(1)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_an_experiment_of_its_name() {
        for (name, text) in SUITE {
            let experiment = Experiment::parse(name, text).unwrap();
            assert_eq!(experiment.name, name);
            assert_eq!(experiment.points().unwrap().len(), 1, "{name}");
        }
    }
}
