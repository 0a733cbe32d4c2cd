//! The suite on two stacks.

use tcplab_compare::{Arm, Metrics};
use tcplab_lab::network::{self, SUITE};
use tcplab_os::say;

use super::args::BenchArgs;
use crate::failure::Failure;
use crate::run::progress::Progress;
use crate::run::{lab, processors};

/// Runs the suite, or what of it was named.
pub fn run(args: &BenchArgs, names: [&String; 2]) -> Result<Metrics, Failure> {
    if !args.cpus.is_empty() || args.congestion.is_some() {
        return Err(Failure::usage(
            "--cpus and --congestion are for workloads on this machine; a stack's suite has neither",
        ));
    }
    let chosen = chosen(&args.workloads)?;
    let lab = lab()?;
    let stacks = [lab.stack(names[0])?, lab.stack(names[1])?];
    let mut arms = [
        Arm::named(stacks[0].name.clone()),
        Arm::named(stacks[1].name.clone()),
    ];
    let progress = Progress::new();
    for file in chosen {
        let found = network::run(&lab, file, &stacks, processors(), |p| progress.show(p))?;
        for (arm, found) in arms.iter_mut().zip(found) {
            arm.absorb(found);
        }
    }
    progress.clear();
    if arms[0].name == arms[1].name {
        arms[1].name.push_str(" again");
    }
    let metrics = Metrics::of(arms.into());
    if let Some(out) = &args.out {
        let folder = tcplab_bench::Folder::create(out);
        let kept = folder.and_then(|folder| folder.finish(&metrics));
        let file = kept.map_err(|e| Failure::input(format!("{}: {e}", out.display())))?;
        say(&format!("metrics: {}", file.display()));
    }
    Ok(metrics)
}

fn chosen(names: &[String]) -> Result<Vec<(&'static str, &'static str)>, Failure> {
    if names.is_empty() {
        return Ok(SUITE.to_vec());
    }
    super::each_once("experiment", names)?;
    let find = |name: &String| {
        let found = SUITE.iter().find(|(known, _)| known == name).copied();
        found.ok_or_else(|| {
            let known: Vec<&str> = SUITE.iter().map(|(name, _)| *name).collect();
            Failure::usage(format!(
                "`{name}` is no experiment of the suite for stacks: there are {}",
                known.join(", ")
            ))
        })
    };
    names.iter().map(find).collect()
}
