//! The suite for stacks: small experiments over links, in virtual time where the stack has one. Before and after are two
//! stacks; what they count must be equal, or is named.

use tcplab_compare::Arm as ArmMetrics;
use tcplab_compare::import::of_run;
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

/// Runs an experiment on two stacks and returns their results as arms of these names, each metric prefixed with
/// `prefix`.
///
/// # Errors
/// The experiment is invalid, a stack cannot run it, the user wants an end.
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
            ..Campaign::default()
        },
        progress,
    )?;
    Ok(arms(&document, stacks, &experiment.name))
}

/// The arms of a run: by the stacks' places, for both may be the same one.
fn arms(document: &RunDocument, stacks: &[Stack; 2], experiment: &str) -> [ArmMetrics; 2] {
    let (before, after) = document.points.split_at(document.points.len() / 2);
    [(before, &stacks[0]), (after, &stacks[1])].map(|(points, stack)| {
        let mut arm = ArmMetrics::named(stack.name.clone());
        for mut found in of_run(experiment, document, points) {
            let variant = (found.name != stack.name).then(|| found.name.clone());
            for metric in &mut found.metrics {
                metric.name = match &variant {
                    Some(variant) => format!("{experiment} {variant}: {}", metric.name),
                    None => format!("{experiment}: {}", metric.name),
                };
            }
            arm.absorb(found);
        }
        arm
    })
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
