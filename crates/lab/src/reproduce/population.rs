//! Claims about a population: what arms come to against the baseline. One run serves all claims about it.

use std::collections::BTreeMap;

use tcplab_plan::Population;
use tcplab_plan::population::{PopulationDocument, Row};

use crate::error::LabError;
use crate::population::{Request, Shard, run};
use crate::stack::Lab;

/// Files of `examples/`.
const EXAMPLES: [(&str, &str); 2] = [
    (
        "rto-p0.toml",
        include_str!("../../../../examples/rto-p0.toml"),
    ),
    (
        "rto-p4.toml",
        include_str!("../../../../examples/rto-p4.toml"),
    ),
];

/// What populations came to, by file and stack; or why they could not run.
#[derive(Debug, Default)]
pub(super) struct Populations(BTreeMap<(String, String), Result<PopulationDocument, String>>);

impl Populations {
    /// Runs a population unless it was run.
    ///
    /// # Errors
    /// The wish to stop.
    pub(super) fn get(
        &mut self,
        lab: &Lab,
        file: &str,
        stack: &str,
        jobs: usize,
    ) -> Result<&Result<PopulationDocument, String>, LabError> {
        let key = (file.to_owned(), stack.to_owned());
        if !self.0.contains_key(&key) {
            let document = match simulate(lab, file, stack, jobs) {
                Err(LabError::Interrupted) => return Err(LabError::Interrupted),
                document => document.map_err(|e| e.to_string()),
            };
            self.0.insert(key.clone(), document);
        }
        Ok(&self.0[&key])
    }
}

fn simulate(
    lab: &Lab,
    file: &str,
    stack: &str,
    jobs: usize,
) -> Result<PopulationDocument, LabError> {
    let text = EXAMPLES.iter().find(|(name, _)| *name == file);
    let (_, text) = text.ok_or_else(|| LabError::Wrong(format!("no example {file}")))?;
    let population = Population::parse(file, text).map_err(|e| LabError::Wrong(e.to_string()))?;
    let request = Request {
        population: &population,
        text,
        stack,
        jobs,
        shard: Shard::WHOLE,
        out: None,
        rows: None,
    };
    run(&request, &lab.stop, &|_| {})
}

/// A row by its name in a claim: `D.latency_p99`, the arm and the row's id.
pub(super) fn row<'a>(document: &'a PopulationDocument, name: &str) -> Option<&'a Row> {
    let (arm, id) = name.split_once('.')?;
    let id = id.replace('_', "-");
    document
        .rows
        .iter()
        .find(|row| row.arm == arm && row.id == id)
}

/// A value by its name in a claim: per cent against the baseline (`D.timeouts`), or the baseline's own value in the
/// row's unit (`B.recovlat`).
pub(super) fn value(document: &PopulationDocument, name: &str) -> Option<f64> {
    if let Some(id) = name.strip_prefix("B.") {
        let id = id.replace('_', "-");
        return document.rows.iter().find(|row| row.id == id)?.baseline;
    }
    row(document, name)?.percent
}
