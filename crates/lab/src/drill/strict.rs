//! How strict scripts are: a script that passes is run again with one number that it expects changed, at random. Almost
//! every such mutant must fail; one that passes is a number that nothing looks at.

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_drill::Settings;
use tcplab_drill::mutate::{Unchanged, mutant};
use tcplab_drill::run::Verdict;
use tcplab_drill::script::Script;

use super::find::{Case, word};
use super::one;
use crate::model::Model;

/// Mutants of scripts that pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Mutants {
    /// Mutants that ran.
    pub run: usize,
    /// Mutants that failed, as expected.
    pub failed: usize,
    /// Mutants that passed: script, mode, line and change.
    pub survivors: Vec<String>,
    /// Expected numbers that no mutant changes.
    pub unchanged: UnchangedNumbers,
}

/// Expected numbers that no mutant changes, in all cases that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnchangedNumbers {
    /// Numbers in code beside `<`, `>`, `<=`, `>=`, `!=`, or left of `==`.
    pub bounds: usize,
    /// Ends of time ranges; a mutant moves both ends at once.
    pub range_ends: usize,
    /// `TS ecr` of packets that leave, and `TS val` without `--tcp_ts_tick_usecs`.
    pub time_stamps: usize,
}

impl UnchangedNumbers {
    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Mutants {
    /// `count` mutants of a script, with seeds from 0.
    pub(super) fn of(case: &Case, of: (&Script, &Settings), model: &Model, count: u64) -> Self {
        let mut all = Self::default();
        if count > 0 {
            let of = Unchanged::of(of.0, of.1);
            all.unchanged = UnchangedNumbers {
                bounds: of.bounds,
                range_ends: of.range_ends,
                time_stamps: of.time_stamps,
            };
        }
        for seed in 0..count {
            let Some(mutant) = mutant(of.0, of.1, seed) else {
                continue;
            };
            all.run += 1;
            match one::report(&mutant.script, of.1, model).verdict {
                Verdict::Pass => {
                    let (path, mode) = (case.script.display(), word(case.mode));
                    let (line, what) = (mutant.line, mutant.what);
                    all.survivors
                        .push(format!("{path}:{line} ({mode}): {what}"));
                }
                Verdict::Fail(_) | Verdict::Skip { .. } => all.failed += 1,
            }
        }
        all
    }

    /// Takes another script's.
    pub(super) fn add(&mut self, other: Self) {
        self.run += other.run;
        self.failed += other.failed;
        self.survivors.extend(other.survivors);
        self.unchanged.bounds += other.unchanged.bounds;
        self.unchanged.range_ends += other.unchanged.range_ends;
        self.unchanged.time_stamps += other.unchanged.time_stamps;
    }
}
