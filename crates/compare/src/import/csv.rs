//! Plain CSV with a heading: one line for each value (`metric,unit,better,arm,value`), or for each metric with both arms
//! (`metric,unit,better,before,after`); `suite,passed,failed,skipped` for counts of tests.

use std::collections::{BTreeMap, BTreeSet};

use super::csv_cells::{cells, heading, lines, separator};
use super::csv_lines::File;
use super::{ImportError, Input};
use crate::metrics::{Arm, RemarkKind};

/// Columns, and the headings that stand for them.
const COLUMNS: [(&str, &[&str]); 19] = [
    ("metric", &["metric", "name", "benchmark", "test", "suite"]),
    ("unit", &["unit", "units"]),
    ("better", &["better", "direction"]),
    ("role", &["role", "end"]),
    ("arm", &["arm", "side", "variant"]),
    ("value", &["value", "result"]),
    ("before", &["before", "base", "old"]),
    ("after", &["after", "new"]),
    ("combine", &["combine"]),
    ("block", &["block", "pair"]),
    ("order", &["order"]),
    ("began_s", &["began_s"]),
    ("stated", &["stated_percent", "printed_percent"]),
    ("why_failed", &["error"]),
    ("passed", &["passed", "pass"]),
    ("failed", &["failed", "fail"]),
    ("skipped", &["skipped", "skip"]),
    ("total", &["total"]),
    ("place", &["place"]),
];

pub(super) fn is(text: &str) -> bool {
    let Some(heading) = heading(text) else {
        return false;
    };
    separator(heading).is_some_and(|by| {
        let columns = columns(heading, by);
        let has = |name| columns.contains_key(name);
        let has_counts = has("passed") || has("failed");
        (has_counts || !values(&columns).is_empty()) && (has("metric") || heading.starts_with(by))
    })
}

/// Place of each column that is known.
fn columns(heading: &str, by: char) -> BTreeMap<&'static str, usize> {
    let mut places = BTreeMap::new();
    for (at, cell) in cells(heading, by).iter().enumerate() {
        let word = cell.to_lowercase();
        let known = COLUMNS
            .iter()
            .find(|(_, names)| names.contains(&word.as_str()));
        if let Some((name, _)) = known {
            places.entry(*name).or_insert(at);
        }
    }
    places
}

/// Columns of counts of tests.
pub(super) const COUNTS: [&str; 4] = ["passed", "failed", "skipped", "total"];

/// Columns that a line of counts uses.
const OF_COUNTS: [&str; 7] = [
    "metric", "arm", "place", "passed", "failed", "skipped", "total",
];

/// The columns with values; empty: the file has counts.
fn values(columns: &BTreeMap<&'static str, usize>) -> &'static [&'static str] {
    let has = |name| columns.contains_key(name);
    match () {
        () if has("before") && has("after") => &["before", "after"],
        () if has("value") => &["value"],
        () => &[],
    }
}

/// What the header says.
pub(super) struct Header {
    /// Where the columns are that are used.
    pub columns: BTreeMap<&'static str, usize>,
    /// Those with values: `value`, or `before` and `after`.
    pub values: &'static [&'static str],
    /// All columns, known or not.
    pub names: Vec<String>,
    /// Its line.
    pub line: usize,
}

impl Header {
    fn new(line: usize, names: Vec<String>, mut columns: BTreeMap<&'static str, usize>) -> Self {
        let values = values(&columns);
        let is_used = |name: &str| match values {
            [] => OF_COUNTS.contains(&name),
            values => values.contains(&name) || !["value", "before", "after"].contains(&name),
        };
        columns.retain(|name, _| is_used(name));
        Self {
            columns,
            values,
            names,
            line,
        }
    }

    fn has(&self, name: &str) -> bool {
        self.columns.contains_key(name)
    }

    /// Named columns that are not used.
    fn unused(&self) -> Vec<String> {
        let used: BTreeSet<usize> = self.columns.values().copied().collect();
        let named = self.names.iter().enumerate();
        let unused = named.filter(|(at, name)| !used.contains(at) && !name.is_empty());
        unused.map(|(_, name)| format!("`{name}`")).collect()
    }
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    let heading = heading(input.text).unwrap_or_default();
    let Some(by) = separator(heading) else {
        return Err(ImportError::new(
            input,
            "line 1",
            "the first line is not a header with commas, semicolons or tabs",
            "start the file with a header such as `metric,unit,better,value`",
        ));
    };
    let mut lines = lines(input.text, by);
    let (first, names) = lines.next().unwrap_or_default();
    let mut header = Header::new(first, names, columns(heading, by));
    let unused = header.unused();
    let is_unnamed = !header.has("metric");
    if is_unnamed {
        header.columns.insert("metric", 0);
    }
    if header.values.is_empty() && !COUNTS.iter().any(|name| header.has(name)) {
        return Err(ImportError::new(
            input,
            format!("line {first}"),
            "the header names no column of values",
            "name a column `value`, two columns `before` and `after`, or columns `passed` and `failed`",
        ));
    }
    let has_better = header.has("better") || header.values.is_empty();
    let mut file = File::new(input, header);
    for (line, cells) in lines {
        file.line(line, &cells)?;
    }
    if is_unnamed {
        let text = "the first column has no name in the header";
        file.remark(first, RemarkKind::MissingCell, text);
    }
    if !unused.is_empty() {
        let text = format!("not used: column {}", unused.join(", "));
        file.remark(first, RemarkKind::Note, &text);
    }
    if !has_better {
        let text = "no column `better`, so no row can be judged better or worse";
        file.remark(first, RemarkKind::Note, text);
    }
    Ok(file.done())
}
