//! What the rules found: failures, and aims that were missed.

use std::fmt;

/// One thing that a rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule's name.
    pub rule: &'static str,
    /// Path from the repository's root, with `/`.
    pub path: String,
    /// Line, from 1; 0 when the finding is about the whole file.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub way_out: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.max(1);
        write!(
            out,
            "{}:{line}: {}: {} [{}]",
            self.path, self.what, self.way_out, self.rule
        )
    }
}

/// Something that is counted: above the aim it is listed, above the limit it fails.
pub struct Size {
    pub unit: &'static str,
    pub aim: usize,
    pub limit: Option<usize>,
    pub way_out: &'static str,
}

/// Collects findings; the rule that runs is set with [`Report::enter`].
#[derive(Default)]
pub struct Report {
    rule: &'static str,
    failures: Vec<Finding>,
    aims: Vec<Finding>,
}

impl Report {
    /// Says which rule the next findings belong to.
    pub fn enter(&mut self, rule: &'static str) {
        self.rule = rule;
    }

    /// Adds a failure of the current rule.
    pub fn fail(&mut self, path: &str, line: usize, what: impl Into<String>, way_out: &str) {
        let finding = self.finding(path, line, what.into(), way_out);
        self.failures.push(finding);
    }

    /// Adds a missed aim of the current rule: reported, never fatal.
    pub fn miss(&mut self, path: &str, line: usize, what: impl Into<String>, way_out: &str) {
        let finding = self.finding(path, line, what.into(), way_out);
        self.aims.push(finding);
    }

    /// Judges `count` against `size`; `of` is what has it, as in "function `f` has ".
    pub fn measure(&mut self, path: &str, line: usize, of: &str, size: &Size, count: usize) {
        let Size { unit, way_out, .. } = size;
        if let Some(limit) = size.limit.filter(|limit| count > *limit) {
            let what = format!("{of}{count} {unit} (limit {limit})");
            self.fail(path, line, what, way_out);
        } else if count > size.aim {
            let what = format!("{of}{count} {unit} (aim {})", size.aim);
            self.miss(path, line, what, way_out);
        }
    }

    /// The failures so far.
    pub fn failures(&self) -> &[Finding] {
        &self.failures
    }

    /// The missed aims so far.
    pub fn aims(&self) -> &[Finding] {
        &self.aims
    }

    fn finding(&self, path: &str, line: usize, what: String, way_out: &str) -> Finding {
        Finding {
            rule: self.rule,
            path: path.to_owned(),
            line,
            what,
            way_out: way_out.to_owned(),
        }
    }
}

/// Runs one rule on a tree made of samples and gives its failures, for the
/// tests of the rules.
#[cfg(test)]
pub fn failures_of(
    rule: fn(&super::Tree, &mut Report),
    samples: &[(&str, &str)],
) -> Vec<(String, usize, String)> {
    let tree = super::Tree::of(samples);
    let mut report = Report::default();
    report.enter("sample");
    rule(&tree, &mut report);
    report
        .failures
        .into_iter()
        .map(|f| (f.path, f.line, f.what))
        .collect()
}
