//! The list: the experiments of `tests/fidelity/`, each point of each a scenario.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use tcplab_plan::{Experiment, Point};

/// When a run begins after its hosts' boot: 3 s, and a phase within the slowest tick of each
/// scenario's own.
const BOOT_NS: i64 = 3_000_000_000;

/// A point with a name.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// File, variant and axes: `loss/first/data-3`.
    pub name: String,
    /// What is run.
    pub point: Point,
}

/// The list, in the order of the files' names.
///
/// # Errors
/// A file that cannot be read or is no experiment.
pub fn scenarios(root: &Path) -> Result<Vec<Scenario>> {
    let folder = root.join("tests/fidelity");
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let is_list = path.file_name().is_some_and(|name| name == "reasons.toml");
        if !is_list && path.extension().is_some_and(|e| e == "toml") {
            files.push(path);
        }
    }
    files.sort();
    let mut scenarios = Vec::new();
    for path in files {
        let file = path.display().to_string();
        let text = fs::read_to_string(&path).with_context(|| file.clone())?;
        let experiment = Experiment::parse(&file, &text)?;
        for point in experiment.points()? {
            let name = name(&experiment.name, &point);
            scenarios.push(Scenario {
                point: at_phase(point, &name),
                name,
            });
        }
    }
    Ok(scenarios)
}

fn name(experiment: &str, point: &Point) -> String {
    let mut name = experiment.to_owned();
    let variant = point.axes.get("variant");
    let axes = point.axes.iter().filter(|(key, _)| *key != "variant");
    for value in variant.into_iter().chain(axes.map(|(_, value)| value)) {
        let text = match value {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let plain = |c: char| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' => c,
            _ => '-',
        };
        let text: String = text.chars().map(plain).collect();
        name = format!("{name}/{}", text.trim_matches('-'));
    }
    name
}

/// A start that depends on the name: scenarios shall not all begin at the same place in a tick.
fn at_phase(mut point: Point, name: &str) -> Point {
    let phase = tcplab_base::Random::stream(point.seed, name).below(20_000_000);
    point.boot_ns.get_or_insert(BOOT_NS + phase.cast_signed());
    point
}
