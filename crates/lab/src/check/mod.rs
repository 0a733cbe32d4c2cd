//! The contract of each kind of stack: reports what a stack does not honour before anything runs.
//!
//! The rules stand with the keys' definitions (`tcplab_plan::contract`). `tcplab_sim::refusals` judges sysctls,
//! congestion controls and links of the model, `tcplab_kernel::ssh` points between two machines. `sysctls.rs` refuses,
//! before the run, sysctls that no known kernel release lets a namespace set. For other sysctls the kernel decides: a
//! run that meets a sysctl unknown to its kernel ends with an error (crates/kernel, `run/host.rs`).
//!
//! Values that a profile sets, and lines of packetdrill scripts, are not judged here: both have separate rules
//! (docs/model.md).

mod sockets;
mod sysctls;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use tcplab_guest::stack::StackName;
use tcplab_plan::contract::{self, Rule, SHARED_NAMES};
use tcplab_plan::{Point, Refusal};

use crate::error::LabError;
use crate::model::Model;
use crate::real;

pub use sysctls::{RefusedSysctl, SysctlEntry, sysctls};
pub use tcplab_plan::contract::Kind;

/// The kind of a stack's name. Whether a kernel or a machine of this name is there is not looked at.
///
/// # Errors
/// It is no stack's name, or no profile's.
pub fn kind_of(name: &str) -> Result<Kind, LabError> {
    let name = StackName::parse(name)?;
    if let StackName::Model(profile) = &name {
        Model::named(profile)?;
    }
    Ok(of(&name))
}

/// The kind of this stack.
pub(crate) fn of(name: &StackName) -> Kind {
    match name {
        StackName::Model(_) => Kind::Model,
        StackName::Uml(_) => Kind::Uml,
        StackName::Qemu(_) => Kind::Qemu,
        StackName::Host => Kind::Host,
        #[cfg(target_os = "linux")]
        StackName::Ssh(_) => Kind::Ssh,
    }
}

/// Lines of an error at most.
const MOST: usize = 20;

/// Everything of a point that this kind of stack does not honour.
pub fn refusals(point: &Point, kind: Kind) -> Vec<Refusal> {
    let mut found = contract::refusals(point, kind);
    match kind {
        Kind::Model => found.extend(tcplab_sim::refusals(point)),
        Kind::Ssh => {
            let why = real::refused_between_machines(point);
            found.extend(why.map(|why| Refusal::new("ssh", why, "")));
        }
        Kind::Uml | Kind::Qemu | Kind::Host => {}
    }
    found
}

/// What this kind of stack leaves out of a point that tolerates it, in words for the result.
pub(crate) fn left_out(point: &Point, kind: Kind) -> Vec<String> {
    if point.tolerate.is_empty() {
        return Vec::new();
    }
    let found = refusals(point, kind).into_iter();
    let allowed = found.filter(|refusal| refusal.is_tolerated(point));
    allowed.map(|refusal| refusal.left_out()).collect()
}

/// Checks points against the stacks that shall run them, by name and kind.
///
/// # Errors
/// Every setting that a stack does not honour and its point does not tolerate, once for each stack; an unknown name in
/// `run.tolerate`.
pub fn points(points: &[Point], stacks: &[(&str, Kind)]) -> Result<(), LabError> {
    unknown_names(points)?;
    let mut lines = Vec::new();
    for (name, kind) in stacks {
        let mut seen = BTreeSet::new();
        for point in points {
            let of_release = sysctls::refusals(point, *kind, name)
                .into_iter()
                .chain(sockets::refusals(point, name));
            for refusal in refusals(point, *kind).into_iter().chain(of_release) {
                let line = format!("{name}: {refusal}");
                if !refusal.is_tolerated(point) && seen.insert(refusal) {
                    lines.push(line);
                }
            }
        }
    }
    if lines.len() > MOST {
        let more = lines.len() - MOST;
        lines.truncate(MOST);
        lines.push(format!("and {more} more"));
    }
    match lines.is_empty() {
        true => Ok(()),
        false => Err(LabError::Refused(lines)),
    }
}

/// Names that `run.tolerate` has for nothing: misspelt ones allow nothing.
fn unknown_names(points: &[Point]) -> Result<(), LabError> {
    let wanted: BTreeSet<&String> = points.iter().flat_map(|point| &point.tolerate).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let rules = contract::rules();
    let is_known = |name: &str| {
        let is_rule = |rule: &Rule| rule.tolerable && rule.name == name;
        let has = |point: &Point| {
            point
                .hosts
                .iter()
                .any(|host| host.sysctls().any(|(known, _)| known == name))
        };
        rules.iter().copied().any(is_rule) || SHARED_NAMES.contains(&name) || points.iter().any(has)
    };
    let Some(name) = wanted.into_iter().find(|name| !is_known(name)) else {
        return Ok(());
    };
    let known: BTreeSet<&str> = rules
        .iter()
        .filter(|r| r.tolerable)
        .map(|r| r.name)
        .collect();
    let known: Vec<&str> = known.into_iter().collect();
    Err(LabError::Wrong(format!(
        "run.tolerate: `{name}` is neither a sysctl of a host nor a key that can be tolerated ({})",
        known.join(", ")
    )))
}
