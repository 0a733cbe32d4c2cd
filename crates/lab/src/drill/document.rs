//! What `drill` found: the document of `drill --json`.

use schemars::JsonSchema;
use serde::Serialize;

use super::strict::Mutants;

/// Schema of the answer.
pub const DRILL_SCHEMA: &str = "tcplab.drill/1";

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Everything was as the script says.
    Pass,
    /// Something was not.
    Fail,
    /// It could not be run on this stack.
    Skip,
}

/// One script in one mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CaseResult {
    /// The file.
    pub script: String,
    /// `ipv4`, `ipv6` or `ipv4-mapped-v6`.
    pub mode: &'static str,
    /// How it ended.
    pub verdict: Verdict,
    /// The line of the script at which it failed or was skipped; 0: none.
    pub line: u32,
    /// Why it failed or was skipped; empty when it passed.
    pub why: String,
    /// It failed, and the list of `--expect` says that it does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub known: bool,
    /// The file with its packets, where one was written: of cases that failed, of all with `--pcap`.
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
    /// The stack that was tested.
    pub stack: String,
    /// Cases that passed.
    pub passed: usize,
    /// Cases that failed.
    pub failed: usize,
    /// Cases that could not be run on this stack.
    pub skipped: usize,
    /// Each case, in the order of the scripts.
    pub results: Vec<CaseResult>,
    /// Mutants of the cases that passed, when some were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mutants: Option<Mutants>,
    /// What became of the known failures, when there is a list of them (`--expect`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
}

/// What became of known failures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Expected {
    /// How many failed, as the list says.
    pub failed: usize,
    /// Cases of the list that pass.
    pub passes: Vec<String>,
    /// Lines of the list that name no case of this call.
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

    /// Cases that failed and are not known to.
    pub fn news(&self) -> usize {
        let known = self.expected.as_ref().map_or(0, |expected| expected.failed);
        self.failed - known
    }
}
