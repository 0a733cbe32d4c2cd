//! The same scenarios on two stacks in virtual time, packet by packet: what one does and the other does not.
//!
//! The list is `scenarios/*.toml` ([`list`]); [`random`] draws scenarios that nobody chose. Both stacks begin at the
//! same place in a tick (`run.boot`), so timers of both must fire at the same jiffy. What differs falls into classes: the
//! field that differs first and the kind of packet. [`smallest`] makes a small scenario of each class.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod document;
pub mod end;
pub mod keys;
pub mod list;
pub mod random;
pub mod runs;
mod show;
mod shrink;
pub mod table;
mod verdict;
pub mod words;

pub use document::{Class, DIFF_SCHEMA, DiffDocument, First, Row, Side, Small};
pub use list::Scenario;
pub use runs::{Pair, Runs};
pub use show::show;
pub use verdict::Verdict;

use tcplab_lab::LabError;
use tcplab_plan::Point;

/// A scenario and what came of it.
pub struct Judged {
    /// What was run.
    pub scenario: Scenario,
    /// Both runs.
    pub pair: Pair,
    /// How they compare.
    pub verdict: Verdict,
}

impl Judged {
    /// Applications whose datagrams or pings are not compared.
    pub fn not_compared(&self) -> Vec<String> {
        let apps = self.scenario.point.apps.iter();
        let others = apps.filter(|app| app.does.is_udp() && !app.does.is_replay());
        others.map(|app| app.name.clone()).collect()
    }
}

/// A small scenario that has a class of difference.
pub struct Minimal {
    /// The class.
    pub class: String,
    /// The scenario that it was made of.
    pub name: String,
    /// The reduced scenario.
    pub point: Point,
}

/// Runs every scenario on both stacks and compares; `done` is called after each.
///
/// # Errors
/// The wish to stop.
pub fn judge(
    runs: &Runs,
    scenarios: Vec<Scenario>,
    jobs: usize,
    done: impl Fn() + Sync,
) -> Result<Vec<Judged>, LabError> {
    let names = [runs.a.name.as_str(), runs.b.name.as_str()];
    let pairs = runs::on_all(&scenarios, jobs, done, |s: &Scenario, cpu| {
        let pair = runs.pair(&s.point, cpu)?;
        let verdict = Verdict::of(&pair, names);
        Ok((pair, verdict))
    })?;
    let both = scenarios.into_iter().zip(pairs);
    let judged = both.map(|(scenario, (pair, verdict))| Judged {
        scenario,
        pair,
        verdict,
    });
    Ok(judged.collect())
}

/// A small scenario of each class of difference; `done` is called after each.
///
/// # Errors
/// The wish to stop.
pub fn smallest(
    runs: &Runs,
    judged: &[Judged],
    jobs: usize,
    done: impl Fn() + Sync,
) -> Result<Vec<Minimal>, LabError> {
    let names = [runs.a.name.as_str(), runs.b.name.as_str()];
    let mut firsts: Vec<(String, &Judged)> = Vec::new();
    for (class, members) in table::classes(judged) {
        let first = table::nearest(&members);
        let differs = |v: &Verdict| class != "equal" && v.failed.is_none() && !v.is_empty();
        if let Some(first) = first.filter(|j| differs(&j.verdict)) {
            firsts.push((class, first));
        }
    }
    runs::on_all(&firsts, jobs, done, |(class, first), cpu| {
        let keeps = |point: &Point| {
            let pair = runs.pair(point, cpu)?;
            Ok(Verdict::of(&pair, names).class() == *class)
        };
        Ok(Minimal {
            class: class.clone(),
            name: first.scenario.name.clone(),
            point: shrink::shrink(&first.scenario.point, keeps)?,
        })
    })
}

/// Whether a name matches a pattern in which `*` stands for any text.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            let before: &str = before;
            match rest.find(before) {
                Some(at) => rest = &rest[at + before.len()..],
                None => return false,
            }
        }
    }
    match last {
        None => rest.is_empty(),
        Some(end) => rest.len() >= end.len() && rest.ends_with(end),
    }
}
