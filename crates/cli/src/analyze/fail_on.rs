//! `--fail-on`: findings that turn the exit code into 1.

use std::fmt;
use std::process::ExitCode;
use std::str::FromStr;

use serde::Serialize;
use tcplab_analyze::Output;
use tcplab_analyze::findings::{self, Finding, Id, Need, Severity};
use tcplab_analyze::report::Stream;
use tcplab_os::say;

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
    /// Streams that were checked; for a severity, those too of which only a part was.
    checked: u64,
    /// Streams that were not, or not for everything, and what the first of them lacks.
    unchecked: u64,
    lacks: Option<Need>,
}

/// Watches the findings go by.
pub struct Verdict {
    conditions: Vec<Condition>,
    matched: Option<FailOn>,
}

impl Verdict {
    /// Nothing seen yet.
    pub fn new(conditions: &[FailOn]) -> Self {
        let condition = |wanted: &FailOn| Condition {
            wanted: wanted.clone(),
            checked: 0,
            unchecked: 0,
            lacks: None,
        };
        Self {
            conditions: conditions.iter().map(condition).collect(),
            matched: None,
        }
    }

    /// Looks at something that the analyser handed out.
    #[inline]
    pub fn see(&mut self, output: &Output) {
        match output {
            Output::Finding(finding) => self.finding(finding),
            Output::Stream(stream) => self.conditions.iter_mut().for_each(|c| c.stream(stream)),
            Output::Trace(_) => {}
        }
    }

    fn finding(&mut self, finding: &Finding) {
        let hit = |c: &&Condition| match &c.wanted {
            FailOn::Id(id) => finding.id == *id,
            // The most severe one sorts first.
            FailOn::Severity(least) => finding.severity <= *least,
        };
        if self.matched.is_none() {
            self.matched = self.conditions.iter().find(hit).map(|c| c.wanted.clone());
        }
    }

    /// 1 when a finding matched, 3 when a condition was checked in no stream, with a line on standard error that says
    /// which condition.
    pub fn exit_code(&self) -> ExitCode {
        if let Some(condition) = &self.matched {
            say(&format!("tcplab: a finding matches --fail-on {condition}"));
            return ExitCode::from(1);
        }
        let mut code = 0;
        for condition in &self.conditions {
            let Some(text) = condition.gap() else {
                continue;
            };
            let text = format!("--fail-on {}: {text}", condition.wanted);
            if condition.checked == 0 {
                let failure = Failure::inconclusive(text);
                failure.report();
                code = failure.code();
            } else {
                say(&format!("tcplab: {text}"));
            }
        }
        ExitCode::from(code)
    }
}

impl Condition {
    /// Counts a stream.
    fn stream(&mut self, stream: &Stream) {
        let (lacks, anything) = match &self.wanted {
            FailOn::Id(id) => {
                let lacks = stream.not_checked.iter().find(|l| l.findings.contains(id));
                (lacks, lacks.is_none())
            }
            FailOn::Severity(_) => (stream.not_checked.first(), true),
        };
        self.checked += u64::from(anything);
        if let Some(lacks) = lacks {
            self.unchecked += 1;
            self.lacks.get_or_insert(lacks.lacks);
        }
    }

    /// What could not be checked.
    fn gap(&self) -> Option<String> {
        let Some(lacks) = self.lacks.map(Need::missing) else {
            return (self.checked == 0).then(|| "not checked: no TCP stream was read".into());
        };
        let streams = match self.unchecked {
            1 => "1 stream".to_owned(),
            n => format!("{n} streams"),
        };
        let gap = match &self.wanted {
            FailOn::Severity(_) => format!("not checked for every finding in {streams}"),
            FailOn::Id(_) => format!("not checked in {streams}"),
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
