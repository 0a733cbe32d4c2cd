//! `tcplab.qa/1`: the sections and their verdicts.

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_plan::result::ErrorRecord;

use crate::{Comparison, CountRow, Row, Verdict};

/// `schema` of a [`QaDocument`].
pub const QA_SCHEMA: &str = "tcplab.qa/1";

/// Report of `tcplab qa`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "tcplab qa --json")]
pub struct QaDocument {
    /// Always `tcplab.qa/1`.
    pub schema: String,
    /// Stack before.
    pub before: String,
    /// Stack after.
    pub after: String,
    /// Result of the gravest section.
    pub standing: Standing,
    /// In order.
    pub sections: Vec<Section>,
    /// Failure; the exit code is not 0 then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorRecord>,
}

/// Result of a section, gravest last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Not run: see `why`.
    #[default]
    NotRun,
    /// No difference, or none that matters.
    Same,
    /// Undecided: more runs may decide.
    Open,
    /// Something differs, but nothing is worse.
    Differs,
    /// Something is worse, or a test that passed now fails.
    Worse,
}

impl Standing {
    /// As it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotRun => "not run",
            Self::Same => "same",
            Self::Open => "open",
            Self::Differs => "differs",
            Self::Worse => "worse",
        }
    }

    /// Of two sides without a value nothing is known.
    fn of_row(row: &Row) -> Self {
        let has_value = row.before.is_some() || row.after.is_some();
        match row.verdict {
            Verdict::Missing if !has_value => Self::NotRun,
            verdict => Self::of(verdict),
        }
    }

    /// Nor of tests that were all skipped.
    fn of_count(row: &CountRow) -> Self {
        match row.verdict {
            Verdict::Missing if row.before.is_some() && row.after.is_some() => Self::NotRun,
            verdict => Self::of(verdict),
        }
    }

    fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Worse => Self::Worse,
            // Such as a measure that one side has no value of.
            Verdict::Invalid
            | Verdict::Better
            | Verdict::Higher
            | Verdict::Lower
            | Verdict::Differs
            | Verdict::Missing => Self::Differs,
            Verdict::Undecided | Verdict::TooNoisy => Self::Open,
            Verdict::Same | Verdict::Equal => Self::Same,
        }
    }
}

/// A section.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Section {
    /// `experiment`, `counters`, `bench`, `drill` or `malformed`.
    pub kind: String,
    /// Its title.
    pub title: String,
    /// The section's result.
    pub standing: Standing,
    /// Why the section was not run, or a remark; empty if the table says it.
    pub why: String,
    /// Its table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
}

impl Section {
    /// A section with a table.
    pub fn of(kind: &str, title: String, comparison: Comparison) -> Self {
        let rows = comparison.rows.iter().map(Standing::of_row);
        let counts = comparison.counts.iter().map(Standing::of_count);
        let standing = rows.chain(counts).max();
        Self {
            kind: kind.into(),
            title,
            standing: standing.unwrap_or(Standing::NotRun),
            why: match standing {
                None => "nothing was measured".into(),
                Some(Standing::NotRun) => "neither side has a result".into(),
                Some(_) => String::new(),
            },
            comparison: Some(comparison),
        }
    }

    /// One that was not run.
    pub fn not_run(kind: &str, title: &str, why: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            title: title.into(),
            standing: Standing::NotRun,
            why: why.into(),
            comparison: None,
        }
    }
}

impl QaDocument {
    /// Of these stacks, without a section.
    pub fn new(names: &[String; 2]) -> Self {
        Self {
            schema: QA_SCHEMA.into(),
            before: names[0].clone(),
            after: names[1].clone(),
            ..Self::default()
        }
    }

    /// Adds a section; the gravest one speaks for all.
    pub fn add(&mut self, section: Section) {
        self.standing = self.standing.max(section.standing);
        self.sections.push(section);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arm, Better, Metric, Options, Run, compare};

    fn arm(value: f64, better: Better) -> Arm {
        let mut metric = Metric::new("m", "", better);
        metric.exact = true;
        metric.runs.push(Run::of(value));
        let mut arm = Arm::named("x");
        arm.metrics.push(metric);
        arm
    }

    #[test]
    fn the_gravest_section_speaks_for_all() {
        let compared = |before, after| {
            let [before, after] = [before, after].map(|value| arm(value, Better::Neither));
            compare(&before, &after, &Options::default())
        };
        let mut document = QaDocument::new(&["a".into(), "b".into()]);
        document.add(Section::not_run("drill", "Scripts", "none named"));
        assert_eq!(document.standing, Standing::NotRun);
        document.add(Section::of("bench", "Suite".into(), compared(1.0, 1.0)));
        assert_eq!(document.standing, Standing::Same);
        document.add(Section::of("bench", "Suite".into(), compared(1.0, 2.0)));
        assert_eq!(document.standing, Standing::Differs);
        let empty = compare(&Arm::named("x"), &Arm::named("y"), &Options::default());
        let section = Section::of("bench", "Suite".into(), empty);
        assert_eq!(section.standing, Standing::NotRun);
    }
}
