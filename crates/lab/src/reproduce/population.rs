//! Claims about a population: what arms come to against the baseline. One run serves all claims about it.

use std::collections::BTreeMap;

use tcplab_plan::Population;
use tcplab_plan::population::{PopulationDocument, Row};

use crate::error::LabError;
use crate::population::{Request, Shard, run};
use crate::stack::Lab;

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
    let text = tcplab_examples::example(file);
    let text = text.ok_or_else(|| LabError::Wrong(format!("no example {file}")))?;
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

/// Context of a claim's value. For a row: its change in per cent of the baseline (`Y.timeouts`). For an arm's mean
/// recovery (`B.recovlat_tail`): the mean without the longest 1 %, and their part of the sum.
pub(super) fn shown(document: &PopulationDocument, name: &str) -> Option<String> {
    let Some(arm) = name.strip_suffix(".recovlat_tail") else {
        return value(document, name).map(|value| format!("{name} = {value:+.1} %"));
    };
    let recovery = &document.arms.iter().find(|a| a.name == arm)?.recovery;
    let (trimmed_us, share) = (recovery.trimmed_mean_us?, recovery.top1_share?);
    Some(format!(
        "{arm} without the longest 1 %: {:.3} s; these hold {:.1} % of the sum",
        trimmed_us / 1e6,
        share * 100.0
    ))
}

#[cfg(test)]
mod tests {
    use tcplab_plan::population::{ArmResult, Distribution, PopulationDocument, Row};

    #[test]
    fn the_tail_stands_beside_a_mean() {
        let document = PopulationDocument {
            arms: vec![ArmResult {
                name: "D".to_owned(),
                recovery: Distribution {
                    trimmed_mean_us: Some(426_768.4),
                    top1_share: Some(0.2149),
                    ..Distribution::default()
                },
                ..ArmResult::default()
            }],
            rows: vec![Row {
                id: "recovlat".to_owned(),
                arm: "D".to_owned(),
                percent: Some(-8.49),
                ..Row::default()
            }],
            ..PopulationDocument::default()
        };
        for (name, text) in [
            (
                "D.recovlat_tail",
                Some("D without the longest 1 %: 0.427 s; these hold 21.5 % of the sum"),
            ),
            ("D.recovlat", Some("D.recovlat = -8.5 %")),
            ("R.recovlat_tail", None),
            ("D.timeouts", None),
        ] {
            assert_eq!(
                super::shown(&document, name).as_deref(),
                text,
                "{name} of the document"
            );
        }
    }
}
