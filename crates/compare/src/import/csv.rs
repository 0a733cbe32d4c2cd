//! Plain CSV with a heading: one line for each value (`metric,unit,better,arm,value`), or for each metric with both arms
//! (`metric,unit,better,before,after`); `suite,passed,failed,skipped` for counts of tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::str::FromStr;

use super::builder::Builder;
use super::csv_cells::{cells, heading, lines, separator};
use super::{ImportError, Input};
use crate::metrics::{Arm, Better, Combine, Count, Metric, RemarkKind, Role, Run};

/// A column with more distinct values is not the arm column.
const MOST_ARMS: usize = 64;

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
        let has_values = has("value") || (has("before") && has("after")) || has("passed");
        has_values && (has("metric") || heading.starts_with(by))
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
    let mut columns = columns(heading, by);
    let header = cells(heading, by);
    let used: BTreeSet<usize> = columns.values().copied().collect();
    let unused = |(at, name): (usize, &String)| {
        (!used.contains(&at) && !name.is_empty()).then(|| format!("`{name}`"))
    };
    let unused: Vec<String> = header.iter().enumerate().filter_map(unused).collect();
    let is_unnamed = !columns.contains_key("metric");
    if is_unnamed {
        columns.insert("metric", 0);
    }
    let mut file = File {
        input,
        columns,
        width: header.len(),
        arms: Vec::new(),
        last: String::new(),
    };
    for (line, cells) in lines(input.text, by).skip(1) {
        file.line(line, &cells)?;
    }
    if is_unnamed {
        file.remark(
            1,
            RemarkKind::MissingCell,
            "the first column has no name in the header",
        );
    }
    if !unused.is_empty() {
        let text = format!("not used: column {}", unused.join(", "));
        file.remark(1, RemarkKind::Note, &text);
    }
    if !file.columns.contains_key("better") && !file.columns.contains_key("passed") {
        file.remark(
            1,
            RemarkKind::Note,
            "no column `better`, so no row can be judged better or worse",
        );
    }
    Ok(file.arms.into_iter().map(|builder| builder.arm).collect())
}

struct File<'a> {
    input: &'a Input<'a>,
    columns: BTreeMap<&'static str, usize>,
    /// Columns of the header, known or not.
    width: usize,
    arms: Vec<Builder>,
    /// The metric above.
    last: String,
}

impl File<'_> {
    fn cell<'c>(&self, cells: &'c [String], column: &str) -> &'c str {
        let at = self.columns.get(column);
        at.and_then(|at| cells.get(*at)).map_or("", String::as_str)
    }

    fn remark(&mut self, line: usize, kind: RemarkKind, text: &str) {
        let place = format!("{}: line {line}", self.input.name);
        if self.arms.is_empty() {
            self.arms.push(Builder::new(self.input));
        }
        for builder in &mut self.arms {
            builder.arm.remark(kind, place.clone(), text);
        }
    }

    fn error(&self, line: usize, what: String, way_out: &str) -> ImportError {
        ImportError::new(self.input, format!("line {line}"), what, way_out)
    }

    /// The arm of that name; without one the arm is the file.
    fn arm(&mut self, name: &str) -> &mut Builder {
        let at = self
            .arms
            .iter()
            .position(|b| name.is_empty() || b.arm.name == name);
        let at = at.unwrap_or_else(|| {
            let mut builder = Builder::new(self.input);
            if !name.is_empty() {
                name.clone_into(&mut builder.arm.name);
            }
            self.arms.push(builder);
            self.arms.len() - 1
        });
        &mut self.arms[at]
    }

    fn line(&mut self, line: usize, cells: &[String]) -> Result<(), ImportError> {
        let mut name = self.cell(cells, "metric").to_owned();
        if name.is_empty() {
            if self.last.is_empty() {
                let way_out = "write the metric into the first cell of the line";
                return Err(self.error(line, "the metric is missing".into(), way_out));
            }
            let text = format!("the metric is missing; read as `{}`, as above", self.last);
            self.remark(line, RemarkKind::MissingCell, &text);
            name.clone_from(&self.last);
        }
        self.last.clone_from(&name);
        if self.arms.len() > MOST_ARMS {
            let what = format!("more than {MOST_ARMS} arms");
            return Err(self.error(
                line,
                what,
                "write the arm (before or after) into column `arm`",
            ));
        }
        if let Some(cell) = cells.iter().skip(self.width).find(|cell| !cell.is_empty()) {
            let what = format!(
                "`{cell}` stands beyond the {} columns of the header",
                self.width
            );
            let way_out = "write numbers without thousands separators and with a decimal point, and quote texts that hold the separator";
            return Err(self.error(line, what, way_out));
        }
        if !self.cell(cells, "passed").is_empty() {
            return self.count(line, name, cells);
        }
        let metric = self.metric(line, name, cells)?;
        let sides: &[(&str, &str)] = match self.columns.contains_key("before") {
            true => &[("before", "before"), ("after", "after")],
            false => &[("value", "")],
        };
        let named = self.cell(cells, "arm").to_owned();
        for (column, arm) in sides {
            let runs = self.runs(line, cells, column)?;
            let arm = if arm.is_empty() { named.as_str() } else { arm };
            let mut metric = metric.clone();
            if arm == "before" {
                metric.stated_percent = None;
            }
            let builder = self.arm(arm);
            for run in runs {
                builder.run(metric.clone(), run);
            }
        }
        Ok(())
    }

    fn metric(&self, line: usize, name: String, cells: &[String]) -> Result<Metric, ImportError> {
        let known = |column, known: &[(&str, usize)], other: &str| {
            let word = self.cell(cells, column).to_lowercase();
            let found = known.iter().find(|(own, _)| *own == word);
            found.map(|(_, at)| *at).ok_or_else(|| {
                self.error(
                    line,
                    format!("`{word}` is not a value of `{column}`"),
                    other,
                )
            })
        };
        let better = [
            ("higher", 0),
            ("more", 0),
            ("lower", 1),
            ("less", 1),
            ("neither", 2),
            ("", 2),
        ];
        let better = known("better", &better, "write higher, lower or neither")?;
        let role = [
            ("client", 0),
            ("cli", 0),
            ("server", 1),
            ("srv", 1),
            ("none", 2),
            ("", 2),
        ];
        let role = known("role", &role, "write client, server or nothing")?;
        let combine = [("mean", 0), ("", 0), ("geometric", 1), ("trimmed", 2)];
        let combine = known("combine", &combine, "write mean, geometric or trimmed")?;
        let metric = Metric {
            combine: [Combine::Mean, Combine::Geometric, Combine::Trimmed][combine],
            stated_percent: self.number(line, cells, "stated")?,
            ..Metric::new(
                name,
                self.cell(cells, "unit"),
                [Better::Higher, Better::Lower, Better::Neither][better],
            )
        };
        Ok(metric.at([Role::Client, Role::Server, Role::None][role]))
    }

    /// The values of a cell: several runs stand between blanks.
    fn runs(&self, line: usize, cells: &[String], column: &str) -> Result<Vec<Run>, ImportError> {
        let why = self.cell(cells, "why_failed");
        let run = Run {
            block: self.whole(line, cells, "block", u32::MAX)?,
            order: self.whole(line, cells, "order", u64::MAX)?,
            began_s: self.number(line, cells, "began_s")?,
            failed: (!why.is_empty()).then(|| why.to_owned()),
            ..Run::default()
        };
        let words = self.cell(cells, column).split_whitespace();
        let one = |word| {
            let value = Some(self.parse(line, word, column)?);
            Ok(Run {
                value,
                ..run.clone()
            })
        };
        let runs = words.map(one).collect::<Result<Vec<Run>, ImportError>>()?;
        if runs.is_empty() && column == "value" {
            let without = || Some(format!("line {line} has no value"));
            let failed = run.failed.clone().or_else(without);
            return Ok(vec![Run { failed, ..run }]);
        }
        Ok(runs)
    }

    fn parse(&self, line: usize, word: &str, column: &str) -> Result<f64, ImportError> {
        let number = word.trim_end_matches('%').parse::<f64>().ok();
        number.filter(|n| n.is_finite()).ok_or_else(|| {
            let what = format!("`{word}` in column `{column}` is not a number");
            self.error(
                line,
                what,
                "write digits with a decimal point and without thousands separators",
            )
        })
    }

    fn number(
        &self,
        line: usize,
        cells: &[String],
        column: &str,
    ) -> Result<Option<f64>, ImportError> {
        match self.cell(cells, column) {
            "" => Ok(None),
            word => self.parse(line, word, column).map(Some),
        }
    }

    /// A whole number up to `most`; `None`: the cell is empty.
    fn whole<T: FromStr + Display>(
        &self,
        line: usize,
        cells: &[String],
        column: &str,
        most: T,
    ) -> Result<Option<T>, ImportError> {
        let word = self.cell(cells, column);
        if word.is_empty() {
            return Ok(None);
        }
        // As spreadsheets write it.
        let digits = word.strip_suffix(".0").unwrap_or(word);
        digits.parse().map(Some).map_err(|_| {
            let what =
                format!("`{word}` in column `{column}` is not a whole number from 0 to {most}");
            self.error(line, what, "write digits alone, such as 0 or 17")
        })
    }

    fn count(&mut self, line: usize, name: String, cells: &[String]) -> Result<(), ImportError> {
        let tests = |column| self.whole(line, cells, column, u64::MAX);
        let count = Count {
            name,
            place: self.cell(cells, "place").into(),
            passed: tests("passed")?,
            failed: tests("failed")?,
            skipped: tests("skipped")?,
            total: tests("total")?,
            tests: BTreeMap::new(),
        };
        let arm = self.cell(cells, "arm").to_owned();
        self.arm(&arm).count(count);
        Ok(())
    }
}
