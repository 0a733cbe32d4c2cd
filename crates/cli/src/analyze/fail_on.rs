//! `--fail-on`: findings that turn the exit code into 1.

use std::fmt;
use std::process::ExitCode;
use std::str::FromStr;

use serde::Serialize;
use tcplab_analyze::Output;
use tcplab_analyze::findings::{self, Finding, Id, Severity};
use tcplab_os::say;

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

/// Watches the findings go by.
pub struct Verdict {
    conditions: Vec<FailOn>,
    matched: Option<FailOn>,
}

impl Verdict {
    /// Nothing seen yet.
    pub fn new(conditions: &[FailOn]) -> Self {
        Self {
            conditions: conditions.to_vec(),
            matched: None,
        }
    }

    /// Looks at something that the analyser handed out.
    #[inline]
    pub fn see(&mut self, output: &Output) {
        if let Output::Finding(finding) = output {
            self.finding(finding);
        }
    }

    fn finding(&mut self, finding: &Finding) {
        let hit = |c: &&FailOn| match c {
            FailOn::Id(id) => finding.id == *id,
            // The most severe one sorts first.
            FailOn::Severity(least) => finding.severity <= *least,
        };
        if self.matched.is_none() {
            self.matched = self.conditions.iter().find(hit).cloned();
        }
    }

    /// 1 when a finding matched, with a line on standard error that says which condition.
    pub fn exit_code(&self) -> ExitCode {
        match &self.matched {
            Some(condition) => {
                say(&format!("tcplab: a finding matches --fail-on {condition}"));
                ExitCode::from(1)
            }
            None => ExitCode::SUCCESS,
        }
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
