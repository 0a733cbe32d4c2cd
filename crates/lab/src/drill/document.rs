//! What `drill` found: the document of `drill --json`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::find::{Case, allowed, word};
use super::strict::Mutants;

/// Schema of the answer.
pub const DRILL_SCHEMA: &str = "tcplab.drill/1";

/// Result of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As the script says.
    Pass,
    /// Not as the script says.
    #[default]
    Fail,
    /// It cannot run on this stack.
    Skip,
}

/// One script in one mode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CaseResult {
    /// The file.
    pub script: String,
    /// `ipv4`, `ipv6` or `ipv4-mapped-v6`.
    pub mode: &'static str,
    /// How it ended.
    pub verdict: Verdict,
    /// Line of the script at which it failed or was skipped; 0: none.
    pub line: u32,
    /// Reason for a failure or skip; empty if it passed.
    pub why: String,
    /// The case failed, and `--expect` lists it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub known: bool,
    /// File with the case's packets: of failed cases; with `--pcap`, of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<String>,
    /// What happened, in order: a line for each packet and call.
    #[serde(skip)]
    #[schemars(skip)]
    pub log: Vec<String>,
    /// The packets as pcapng; empty when nobody asked for them.
    #[serde(skip)]
    #[schemars(skip)]
    pub pcapng: Vec<u8>,
    /// Its mutants, when some were asked for.
    #[serde(skip)]
    #[schemars(skip)]
    pub mutants: Mutants,
}

impl CaseResult {
    /// Its name in lists.
    pub fn name(&self) -> String {
        format!("{} ({})", self.script, self.mode)
    }

    /// A case that the name of its script does not allow.
    fn left_out(case: &Case) -> Self {
        let modes: Vec<&str> = allowed(&case.script).iter().map(|m| word(*m)).collect();
        Self {
            script: case.script.display().to_string(),
            mode: word(case.mode),
            verdict: Verdict::Skip,
            why: format!("its name allows {} only", modes.join(" and ")),
            ..Self::default()
        }
    }

    /// The first line of the reason.
    pub fn reason(&self) -> &str {
        self.why.lines().next().unwrap_or_default()
    }
}

/// All cases of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DrillDocument {
    /// `tcplab.drill/1`.
    pub schema: &'static str,
    /// Tested stack.
    pub stack: String,
    /// Cases that passed.
    pub passed: usize,
    /// Cases that failed.
    pub failed: usize,
    /// Cases that cannot run on this stack.
    pub skipped: usize,
    /// In the order of the scripts.
    pub results: Vec<CaseResult>,
    /// Mutants of the cases that passed, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mutants: Option<Mutants>,
    /// Known failures, if listed (`--expect`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
}

/// Known failures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Expected {
    /// Cases that failed as listed.
    pub failed: usize,
    /// Listed cases that pass.
    pub passes: Vec<String>,
    /// Lines of the list that match no case of this call.
    pub unused: Vec<String>,
}

impl DrillDocument {
    /// The document of these results.
    pub(super) fn new(stack: &str, mut results: Vec<CaseResult>) -> Self {
        let mut mutants = Mutants::default();
        for result in &mut results {
            mutants.add(std::mem::take(&mut result.mutants));
        }
        let count = |verdict| results.iter().filter(|r| r.verdict == verdict).count();
        Self {
            schema: DRILL_SCHEMA,
            stack: stack.to_owned(),
            passed: count(Verdict::Pass),
            failed: count(Verdict::Fail),
            skipped: count(Verdict::Skip),
            results,
            mutants: (mutants.run > 0).then_some(mutants),
            expected: None,
        }
    }

    /// Adds cases that were left out; the results stay in the order of the scripts.
    pub fn leave_out(&mut self, cases: &[Case], scripts: &[PathBuf]) {
        if cases.is_empty() {
            return;
        }
        self.skipped += cases.len();
        self.results.extend(cases.iter().map(CaseResult::left_out));
        let numbered = scripts.iter().zip(0..);
        let places: BTreeMap<String, usize> = numbered
            .map(|(script, place)| (script.display().to_string(), place))
            .collect();
        self.results
            .sort_by_key(|result| places.get(&result.script).copied());
    }

    /// Cases that failed and are not known to.
    pub fn news(&self) -> usize {
        let known = self.expected.as_ref().map_or(0, |expected| expected.failed);
        self.failed - known
    }
}
