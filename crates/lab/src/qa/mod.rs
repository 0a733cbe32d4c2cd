//! The report that a distribution writes before it turns a feature on, or takes a patch: the same experiment, scripts,
//! suite and malformed frames on a stack before and on one after, each section with its verdict (`tcplab qa`).

mod drill;
mod malformed;

use std::path::PathBuf;

use tcplab_compare::{Arm, Options, QaDocument, Section, compare};

use crate::network::{self, SUITE};
use crate::{Lab, LabError, Stack};

/// What is wanted.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// The experiments: the name of the file and its text.
    pub experiments: &'a [(String, String)],
    /// Before and after.
    pub stacks: &'a [Stack; 2],
    /// packetdrill scripts and folders of them; none: that section is not run.
    pub scripts: &'a [PathBuf],
    /// Malformed frames for each stack; 0: that section is not run.
    pub frames: u64,
    /// Whether the suite is run.
    pub suite: bool,
    /// Points and scripts at once.
    pub jobs: usize,
    /// How rows are judged.
    pub options: Options,
}

/// Runs all sections, one after the other; calls `begins` with the name of each.
///
/// # Errors
/// Faults of the whole run: an invalid experiment, a stack that cannot run, the user wants an end.
pub fn run(
    lab: &Lab,
    wanted: &Wanted<'_>,
    mut begins: impl FnMut(&str),
) -> Result<QaDocument, LabError> {
    let names = [0, 1].map(|side: usize| wanted.stacks[side].name.clone());
    let mut document = QaDocument::new(&names);
    let mut counters = [Arm::named(&names[0]), Arm::named(&names[1])];
    for (file, text) in wanted.experiments {
        begins(file);
        let mut found = network::run(lab, (file, text), wanted.stacks, wanted.jobs, |_| {})?;
        for (arm, counters) in found.iter_mut().zip(&mut counters) {
            take_counters(arm, counters);
        }
        let title = format!("Experiment {file}");
        document.add(section("experiment", title, &found, wanted));
    }
    if !wanted.experiments.is_empty() {
        let title = "Counters of the experiments".to_owned();
        document.add(section("counters", title, &counters, wanted));
    }
    if wanted.suite {
        let mut arms = [Arm::named(&names[0]), Arm::named(&names[1])];
        for (name, text) in SUITE {
            begins(name);
            let found = network::run(lab, (name, text), wanted.stacks, wanted.jobs, |_| {})?;
            for (arm, found) in arms.iter_mut().zip(found) {
                arm.absorb(found);
            }
        }
        let title = "Suite of workloads".to_owned();
        document.add(section("bench", title, &arms, wanted));
    }
    begins("packetdrill scripts");
    document.add(drill::section(lab, wanted)?);
    begins("malformed frames");
    document.add(malformed::section(lab, wanted)?);
    Ok(document)
}

/// A section of two arms.
fn section(kind: &str, title: String, arms: &[Arm; 2], wanted: &Wanted<'_>) -> Section {
    Section::of(kind, title, compare(&arms[0], &arms[1], &wanted.options))
}

/// Moves the counters of hosts, `NAME: HOST.TcpInSegs`, from one arm into another.
fn take_counters(arm: &mut Arm, into: &mut Arm) {
    let is_counter = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or_default();
        let starts = ["Ip", "Tcp", "Udp", "Icmp", "MPTcp", "Mptcp"];
        starts.iter().any(|start| last.starts_with(start))
    };
    let all = std::mem::take(&mut arm.metrics);
    let (counters, measures) = all.into_iter().partition(|m| is_counter(&m.name));
    arm.metrics = measures;
    into.metrics.extend::<Vec<_>>(counters);
}

#[cfg(test)]
mod tests {
    use tcplab_compare::{Better, Metric};

    use super::*;

    #[test]
    fn counters_are_told_from_measures() {
        let mut arm = Arm::named("a");
        for name in [
            "x: app.goodput_bps",
            "x: client.TcpInSegs",
            "x: server.IpExtInOctets",
        ] {
            arm.metrics.push(Metric::new(name, "", Better::Neither));
        }
        let mut counters = Arm::named("a");
        take_counters(&mut arm, &mut counters);
        assert_eq!(arm.metrics.len(), 1);
        assert_eq!(counters.metrics.len(), 2);
    }
}
