//! Lines of plain CSV: values, or counts of tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::str::FromStr;

use super::builder::Builder;
use super::csv::{COUNTS, Header};
use super::{ImportError, Input};
use crate::metrics::{Arm, Better, Combine, Count, Metric, RemarkKind, Role, Run};

/// A column with more distinct values is not the arm column.
const MOST_ARMS: usize = 64;

/// A file whose lines are read.
pub(super) struct File<'a> {
    input: &'a Input<'a>,
    header: Header,
    arms: Vec<Builder>,
    /// The metric above.
    last: String,
    /// Columns of counts with a cell beside a value, by their places.
    beside: BTreeSet<usize>,
}

impl<'a> File<'a> {
    pub fn new(input: &'a Input<'a>, header: Header) -> Self {
        Self {
            input,
            header,
            arms: Vec::new(),
            last: String::new(),
            beside: BTreeSet::new(),
        }
    }

    /// Its arms.
    pub fn done(mut self) -> Vec<Arm> {
        let names = self
            .beside
            .iter()
            .filter_map(|at| self.header.names.get(*at));
        let beside: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        if !beside.is_empty() {
            let text = format!(
                "not used on lines with a value: column {}",
                beside.join(", ")
            );
            self.remark(self.header.line, RemarkKind::Note, &text);
        }
        self.arms.into_iter().map(|builder| builder.arm).collect()
    }
}

impl File<'_> {
    fn cell<'c>(&self, cells: &'c [String], column: &str) -> &'c str {
        let at = self.header.columns.get(column);
        at.and_then(|at| cells.get(*at)).map_or("", String::as_str)
    }

    pub fn remark(&mut self, line: usize, kind: RemarkKind, text: &str) {
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

    /// The arm that a line names; empty: the file is the arm.
    fn arm_name(&self, line: usize, cells: &[String]) -> Result<String, ImportError> {
        let name = self.cell(cells, "arm");
        if name.is_empty() && self.header.columns.contains_key("arm") {
            let way_out =
                "write its name into the cell, or remove the column if the file is one arm";
            return Err(self.error(line, "the arm is missing".into(), way_out));
        }
        Ok(name.to_owned())
    }

    /// The arm of that name; without one the arm is the file.
    fn arm(&mut self, name: &str) -> &mut Builder {
        let name = if name.is_empty() {
            self.input.name
        } else {
            name
        };
        let at = self.arms.iter().position(|b| b.arm.name == name);
        let at = at.unwrap_or_else(|| {
            let mut builder = Builder::new(self.input);
            name.clone_into(&mut builder.arm.name);
            self.arms.push(builder);
            self.arms.len() - 1
        });
        &mut self.arms[at]
    }

    pub fn line(&mut self, line: usize, cells: &[String]) -> Result<(), ImportError> {
        let name = self.name(line, cells)?;
        self.check(line, cells)?;
        let has = |column: &&&str| !self.cell(cells, column).is_empty();
        let has_value = self.header.values.iter().any(|column| has(&column));
        let has_failed =
            !self.cell(cells, "why_failed").is_empty() && !self.header.values.is_empty();
        if !has_value && !has_failed && COUNTS.iter().any(|column| has(&column)) {
            return self.count(line, name, cells);
        }
        let columns = &self.header.columns;
        let beside = COUNTS.iter().chain(&["place"]).filter(has);
        let beside: Vec<usize> = beside
            .filter_map(|name| columns.get(name).copied())
            .collect();
        self.beside.extend(beside);
        self.values(line, name, cells)
    }

    /// The metric or suite of a line; the one above if the cell is empty.
    fn name(&mut self, line: usize, cells: &[String]) -> Result<String, ImportError> {
        let name = self.cell(cells, "metric").to_owned();
        if !name.is_empty() {
            self.last.clone_from(&name);
            return Ok(name);
        }
        if self.last.is_empty() {
            let way_out = "write the metric into the first cell of the line";
            return Err(self.error(line, "the metric is missing".into(), way_out));
        }
        let text = format!("the metric is missing; read as `{}`, as above", self.last);
        self.remark(line, RemarkKind::MissingCell, &text);
        Ok(self.last.clone())
    }

    /// Refuses a line that does not fit the header.
    fn check(&self, line: usize, cells: &[String]) -> Result<(), ImportError> {
        if self.arms.len() > MOST_ARMS {
            let what = format!("more than {MOST_ARMS} arms");
            let way_out = "write the arm (before or after) into column `arm`";
            return Err(self.error(line, what, way_out));
        }
        let width = self.header.names.len();
        if let Some(cell) = cells.iter().skip(width).find(|cell| !cell.is_empty()) {
            let what = format!("`{cell}` stands beyond the {width} columns of the header");
            let way_out = "write numbers without thousands separators and with a decimal point, and quote texts that hold the separator";
            return Err(self.error(line, what, way_out));
        }
        Ok(())
    }

    /// Values of one arm, or of both.
    fn values(&mut self, line: usize, name: String, cells: &[String]) -> Result<(), ImportError> {
        if self.header.values == ["value"] {
            let arm = self.arm_name(line, cells)?;
            return self.runs_of(line, cells, ("value", &arm), name);
        }
        // With both arms in a line, the arm's column tells rows apart.
        let name = match self.cell(cells, "arm") {
            "" => name,
            variant => format!("{name} [{variant}]"),
        };
        for arm in self.header.values {
            self.runs_of(line, cells, (arm, arm), name.clone())?;
        }
        Ok(())
    }

    /// Takes the runs of a column into an arm.
    fn runs_of(
        &mut self,
        line: usize,
        cells: &[String],
        (column, arm): (&str, &str),
        name: String,
    ) -> Result<(), ImportError> {
        let mut metric = self.metric(line, name, cells)?;
        let runs = self.runs(line, cells, column)?;
        if arm == "before" {
            metric.stated_percent = None;
        }
        let builder = self.arm(arm);
        for run in runs {
            builder.run(metric.clone(), run);
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
        let other = match column {
            "before" => "after",
            "after" => "before",
            _ => column,
        };
        // Where one arm alone has a value, the other one failed.
        let is_lone = !self.cell(cells, column).is_empty() && self.cell(cells, other).is_empty();
        let run = Run {
            block: self.whole(line, cells, "block", u32::MAX)?,
            order: self.whole(line, cells, "order", u64::MAX)?,
            began_s: self.number(line, cells, "began_s")?,
            failed: (!why.is_empty() && !is_lone).then(|| why.to_owned()),
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
        if runs.is_empty() && (column == "value" || run.failed.is_some()) {
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
        let arm = self.arm_name(line, cells)?;
        self.arm(&arm).count(count);
        Ok(())
    }
}
