//! The list: the experiments of `scenarios/`, each point of each a scenario; and those of other files.

use tcplab_lab::LabError;
use tcplab_plan::point::RateTrace;
use tcplab_plan::{Experiment, Point};

/// When a run begins after its hosts' boot: 3 s, and a phase within the slowest tick of each
/// scenario's own.
const BOOT_NS: i64 = 3_000_000_000;

/// A file of the list and its text.
macro_rules! file {
    ($name:literal) => {
        (
            concat!($name, ".toml"),
            include_str!(concat!("../scenarios/", $name, ".toml")),
        )
    };
}

/// In the order of their names.
const FILES: &[(&str, &str)] = &[
    file!("apps"),
    file!("changes"),
    file!("close"),
    file!("collapse"),
    file!("conversations"),
    file!("crr"),
    file!("delayed-ack"),
    file!("echo"),
    file!("ecn"),
    file!("handshake"),
    file!("idle"),
    file!("ipv6"),
    file!("long"),
    file!("long-uncompressed"),
    file!("loss"),
    file!("loss-paced"),
    file!("middlebox"),
    file!("more"),
    file!("mtu-probing"),
    file!("no-delay"),
    file!("order"),
    file!("outage"),
    file!("path-mtu"),
    file!("rates"),
    file!("simultaneous"),
    file!("simultaneous-kinds"),
    file!("sink"),
    file!("sockets"),
    file!("sockets-later"),
    file!("timeout"),
    file!("topology-chain"),
    file!("topology-dumbbell"),
    file!("topology-incast"),
    file!("urgent"),
    file!("window"),
    file!("write-write-read"),
];

/// The file that `rate_trace` of the list names.
const TRACE: (&str, &str) = (
    "cellular.trace",
    include_str!("../scenarios/cellular.trace"),
);

/// A point with a name.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// File, variant and axes: `loss/first/data-3`.
    pub name: String,
    /// What is run.
    pub point: Point,
}

/// The list.
///
/// # Errors
/// Never, unless a file of the list is no experiment.
pub fn scenarios() -> Result<Vec<Scenario>, LabError> {
    let mut all = Vec::new();
    for (file, text) in FILES {
        all.append(&mut of_file(file, text)?);
    }
    for scenario in &mut all {
        let links = scenario.point.links.iter_mut();
        let ways = links.flat_map(|link| [&mut link.a_to_b, &mut link.b_to_a]);
        for trace in ways.filter_map(|way| way.rate_trace.as_mut()) {
            if trace.file == TRACE.0 {
                trace.at_ms = RateTrace::parse(TRACE.1).map_err(LabError::Wrong)?;
            }
        }
    }
    Ok(all)
}

/// The points of an experiment file as scenarios.
///
/// # Errors
/// What is wrong with the file.
pub fn of_file(file: &str, text: &str) -> Result<Vec<Scenario>, LabError> {
    let wrong = |e: tcplab_plan::ParseError| LabError::Wrong(e.to_string());
    let experiment = Experiment::parse(file, text).map_err(wrong)?;
    let points = experiment.points().map_err(wrong)?;
    let named = points.into_iter().map(|point| {
        let name = name(&experiment.name, &point);
        Scenario {
            point: at_phase(point, &name),
            name,
        }
    });
    Ok(named.collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_in_the_list() {
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios")).unwrap();
        let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let names: std::collections::BTreeSet<String> =
            names.filter(|name| name.ends_with(".toml")).collect();
        let listed = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(names, listed);
    }

    #[test]
    fn scenarios_have_names_of_their_own_and_their_traces() {
        let all = scenarios().unwrap();
        let names: std::collections::BTreeSet<&str> = all.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        let ways = all
            .iter()
            .flat_map(|s| &s.point.links)
            .flat_map(|link| [&link.a_to_b, &link.b_to_a]);
        let mut traces = ways.filter_map(|way| way.rate_trace.as_ref()).peekable();
        assert!(traces.peek().is_some());
        assert!(traces.all(|trace| !trace.at_ms.is_empty()));
    }
}
