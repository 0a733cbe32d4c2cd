//! `--fail-on`: findings that turn the exit code into 1.

use std::collections::BTreeMap;
use std::fmt;
use std::process::ExitCode;
use std::str::FromStr;

use serde::Serialize;
use tcplab_analyze::Output;
use tcplab_analyze::findings::{self, Finding, Id, Need, Severity};
use tcplab_analyze::report::{Stream, Totals};
use tcplab_os::say;
use tcplab_report::terminal::Coverage;

use crate::failure::Failure;

/// One entry of `--fail-on`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailOn {
    /// A finding with this id.
    Id(Id),
    /// A finding at least this severe.
    Severity(Severity),
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        for severity in [Severity::High, Severity::Medium, Severity::Info] {
            if name(&severity) == text {
                return Ok(Self::Severity(severity));
            }
        }
        if let Some(id) = Id::of(text) {
            return Ok(Self::Id(id));
        }
        let ids: Vec<&str> = findings::ids().map(Id::name).collect();
        Err(format!(
            "write a severity (high, medium, info) or the id of a finding ({})",
            ids.join(", ")
        ))
    }
}

/// The name of a unit variant in the JSON.
pub fn name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        _ => String::new(),
    }
}

impl fmt::Display for FailOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => f.write_str(id.name()),
            Self::Severity(severity) => f.write_str(&name(severity)),
        }
    }
}

/// One condition, and how much of the captures could be checked for it.
struct Condition {
    wanted: FailOn,
    /// All streams, and those of them in which not everything could be checked.
    streams: u64,
    gaps: u64,
    /// The findings that it is about which could not be checked: in how many streams, and what the first of them lacks.
    unchecked: BTreeMap<Id, (u64, Need)>,
}

/// Watches the findings go by.
pub struct Verdict {
    conditions: Vec<Condition>,
    matched: Option<FailOn>,
    /// What was read of the present capture.
    coverage: Coverage,
    /// Streams of the present capture.
    streams: u64,
    /// Captures that could be read and have no stream.
    empty: Vec<String>,
    /// What no condition was checked in, with the name of the capture.
    not_read: Vec<String>,
}

impl Verdict {
    /// Nothing seen yet.
    pub fn new(conditions: &[FailOn]) -> Self {
        let condition = |wanted: &FailOn| Condition {
            wanted: wanted.clone(),
            streams: 0,
            gaps: 0,
            unchecked: BTreeMap::new(),
        };
        Self {
            conditions: conditions.iter().map(condition).collect(),
            matched: None,
            coverage: Coverage::default(),
            streams: 0,
            empty: Vec::new(),
            not_read: Vec::new(),
        }
    }

    /// Looks at something that the analyser handed out.
    #[inline]
    pub fn see(&mut self, output: &Output) {
        if self.conditions.is_empty() {
            return;
        }
        match output {
            Output::Finding(finding) => self.finding(finding),
            Output::Stream(stream) => {
                self.streams += 1;
                self.coverage.stream(stream);
                // Listed ones of the same id may have been less severe.
                let unlisted = stream.unlisted.iter();
                unlisted.for_each(|(id, severity)| self.found(*id, *severity));
                self.conditions.iter_mut().for_each(|c| c.stream(stream));
            }
            Output::Trace(_) => {}
        }
    }

    /// A capture is over.
    pub fn end(&mut self, name: &str, totals: &Totals) {
        let mut coverage = std::mem::take(&mut self.coverage);
        let streams = std::mem::take(&mut self.streams);
        if self.conditions.is_empty() {
            return;
        }
        // An error has its own message.
        if streams == 0 && totals.error.is_none() {
            self.empty.push(name.to_owned());
        }
        coverage.settle();
        let texts = coverage.not_read(totals).into_iter();
        self.not_read
            .extend(texts.map(|text| format!("{name}: not checked: {text}")));
    }

    fn finding(&mut self, finding: &Finding) {
        self.coverage.finding(finding);
        self.found(finding.id, finding.severity);
    }

    /// A finding, listed or not.
    fn found(&mut self, found: Id, severity: Severity) {
        let hit = |c: &&Condition| match &c.wanted {
            FailOn::Id(id) => found == *id,
            // The most severe one sorts first.
            FailOn::Severity(least) => severity <= *least,
        };
        if self.matched.is_none() {
            self.matched = self.conditions.iter().find(hit).map(|c| c.wanted.clone());
        }
    }

    /// 1 when a finding matched, 3 when a finding of a condition was checked in no stream, with lines on standard error that
    /// say which condition, and what was not read.
    pub fn exit_code(&self) -> ExitCode {
        if let Some(condition) = &self.matched {
            say(&format!("tcplab: a finding matches --fail-on {condition}"));
            return ExitCode::from(1);
        }
        let mut code = 0;
        for condition in &self.conditions {
            let never = condition.never_checked();
            let Some(text) = condition.gap(&never) else {
                continue;
            };
            let text = format!("--fail-on {}: {text}", condition.wanted);
            if condition.streams == 0 || !never.is_empty() {
                let failure = Failure::inconclusive(text);
                failure.report();
                code = failure.code();
            } else {
                say(&format!("tcplab: {text}"));
            }
        }
        // Without a stream in any capture, each condition says so itself.
        if self.conditions.iter().any(|c| c.streams > 0) {
            for name in &self.empty {
                say(&format!(
                    "tcplab: --fail-on: {name}: not checked: no TCP stream was read"
                ));
            }
        }
        for text in &self.not_read {
            say(&format!("tcplab: --fail-on: {text}"));
        }
        ExitCode::from(code)
    }
}

impl FailOn {
    /// Whether it is about findings of this id.
    fn is_about(&self, id: Id) -> bool {
        match self {
            Self::Id(wanted) => *wanted == id,
            Self::Severity(least) => findings::may_be(id, *least),
        }
    }
}

impl Condition {
    /// Counts a stream.
    fn stream(&mut self, stream: &Stream) {
        self.streams += 1;
        let mut whole = true;
        for lacks in &stream.not_checked {
            for id in lacks
                .findings
                .iter()
                .filter(|id| self.wanted.is_about(**id))
            {
                whole = false;
                self.unchecked.entry(*id).or_insert((0, lacks.lacks)).0 += 1;
            }
        }
        self.gaps += u64::from(!whole);
    }

    /// Findings that no stream could be checked for.
    fn never_checked(&self) -> Vec<Id> {
        let never = self
            .unchecked
            .iter()
            .filter(|(_, gap)| gap.0 == self.streams);
        never.map(|(id, _)| *id).collect()
    }

    /// What could not be checked; `never`: in no stream.
    fn gap(&self, never: &[Id]) -> Option<String> {
        let first = never.first().and_then(|id| self.unchecked.get(id));
        let Some((_, lacks)) = first.or(self.unchecked.values().next()) else {
            return (self.streams == 0).then(|| "not checked: no TCP stream was read".into());
        };
        let lacks = lacks.missing();
        let streams = match self.gaps {
            1 => "1 stream".to_owned(),
            n => format!("{n} streams"),
        };
        let gap = match (&self.wanted, never) {
            (FailOn::Id(_), _) => format!("not checked in {streams}"),
            (FailOn::Severity(_), []) => format!("not checked for every finding in {streams}"),
            (FailOn::Severity(_), [id]) => format!("not checked for {} in any stream", id.name()),
            (FailOn::Severity(_), [id, others @ ..]) => {
                let (id, more) = (id.name(), others.len());
                format!("not checked for {id} and {more} more findings in any stream")
            }
        };
        Some(format!("{gap}: the capture lacks {lacks}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_severities_are_told_apart_and_checked() {
        assert_eq!("high".parse(), Ok(FailOn::Severity(Severity::High)));
        assert_eq!(
            "quickack_exhausted".parse(),
            Ok(FailOn::Id(Id::of("quickack_exhausted").expect("an id")))
        );
        let message = "nonsense".parse::<FailOn>().unwrap_err();
        assert!(message.contains("zero_window_stall"), "{message}");
    }
}
