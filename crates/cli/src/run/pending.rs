//! `--pending`: what is left of a run, for a program that gives it to other machines. The folder of the result is begun.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use tcplab_lab::campaign::{self, Campaign};
use tcplab_lab::population::{self, Request};
use tcplab_plan::{Population, point};

use crate::failure::Failure;
use crate::json;

/// The document.
#[derive(Serialize)]
struct Pending<'a> {
    schema: &'static str,
    experiment: &'a str,
    #[serde(flatten)]
    left: Left<'a>,
}

/// What is left, by what it is.
#[derive(Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
enum Left<'a> {
    /// Groups of connections.
    Population {
        connections: u64,
        arms: usize,
        rows: bool,
        variants: Vec<Variant<'a>>,
    },
    /// Points on all stacks.
    Points {
        count: usize,
        points: Vec<usize>,
        /// Captures that are replayed.
        files: BTreeSet<&'a str>,
        kernels: Vec<Kernel<'a>>,
    },
}

/// A population, and its groups that are not there yet.
#[derive(Serialize)]
struct Variant<'a> {
    /// None: the file has no variants.
    name: Option<&'a str>,
    groups: Vec<u32>,
}

/// A kernel that a stack boots.
#[derive(Serialize)]
struct Kernel<'a> {
    stack: &'a str,
    path: &'a Path,
}

fn print(experiment: &str, left: Left<'_>) -> Result<ExitCode, Failure> {
    json::print(&Pending {
        schema: "tcplab.pending/1",
        experiment,
        left,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Of a population, or of its variants.
pub fn of_population(
    populations: &[Population],
    request: &Request<'_>,
) -> Result<ExitCode, Failure> {
    let first = request.population;
    let groups = match first.variant {
        Some(_) => population::variants::pending(populations, request)?,
        None => vec![population::pending(request)?],
    };
    let variants = populations.iter().zip(groups);
    let left = Left::Population {
        connections: first.connections,
        arms: first.arms.len(),
        rows: request.rows.is_some(),
        variants: variants
            .map(|(population, groups)| Variant {
                name: population.variant.as_deref(),
                groups,
            })
            .collect(),
    };
    print(&first.name, left)
}

/// Of a campaign.
pub fn of_points(campaign: &Campaign<'_>) -> Result<ExitCode, Failure> {
    if let Some(real) = campaign.stacks.iter().find(|stack| !stack.is_virtual()) {
        return Err(Failure::usage(format!(
            "{}: only stacks in virtual time (model:, uml:) run on other machines: what a real one does depends on its machine",
            real.name
        )));
    }
    let kernels = campaign.stacks.iter().filter_map(|stack| {
        Some(Kernel {
            stack: &stack.name,
            path: stack.kernel()?,
        })
    });
    let left = Left::Points {
        count: campaign.count(),
        points: campaign::pending(campaign)?,
        files: point::files(campaign.points).into_iter().collect(),
        kernels: kernels.collect(),
    };
    print(campaign.experiment, left)
}
