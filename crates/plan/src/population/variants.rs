//! What the variants of a population come to: `tcplab.population-variants/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PopulationCost, PopulationDocument, Verdict};
use crate::result::ErrorRecord;

/// `schema` of a [`VariantsDocument`].
pub const VARIANTS_SCHEMA: &str = "tcplab.population-variants/1";

/// The answer of `tcplab run` for a population with variants; the same as `summary.json` of its folder but for `cost`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tcplab run POPULATION --json, with variants")]
pub struct VariantsDocument {
    /// Always `tcplab.population-variants/1`.
    pub schema: String,
    /// The experiment's name.
    pub experiment: String,
    /// The question it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What each variant came to, in the order of the file.
    pub variants: Vec<PopulationDocument>,
    /// The same by row: what becomes of each difference from variant to variant.
    pub effects: Vec<Effect>,
    /// What the run cost; not in `summary.json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<PopulationCost>,
    /// Failure; the exit code is not 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorRecord>,
}

/// A quantity of an arm against the baseline, in every variant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Effect {
    /// The row's id.
    pub id: String,
    /// What it is, with its counter.
    pub title: String,
    /// The arm.
    pub arm: String,
    /// One for each variant, in their order.
    pub cells: Vec<Cell>,
}

/// A row of one variant's table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The variant.
    pub variant: String,
    /// Difference in per cent of this variant's baseline.
    pub percent: Option<f64>,
    /// 95 % interval of that.
    pub interval: Option<[f64; 2]>,
    /// What that says.
    pub verdict: Verdict,
}

impl VariantsDocument {
    /// Puts the tables of variants beside each other.
    pub fn new(variants: Vec<PopulationDocument>) -> Self {
        let first = variants.first();
        let experiment = first.map(|v| v.experiment.clone()).unwrap_or_default();
        let title = first.and_then(|v| v.title.clone());
        let rows = first.map(|v| v.rows.as_slice()).unwrap_or_default();
        let effect = |row: &super::Row| Effect {
            id: row.id.clone(),
            title: row.title.clone(),
            arm: row.arm.clone(),
            cells: variants
                .iter()
                .map(|v| cell(v, &row.id, &row.arm))
                .collect(),
        };
        Self {
            schema: VARIANTS_SCHEMA.to_owned(),
            experiment,
            title,
            effects: rows.iter().map(effect).collect(),
            variants,
            cost: None,
            error: None,
        }
    }
}

fn cell(of: &PopulationDocument, id: &str, arm: &str) -> Cell {
    let row = of.rows.iter().find(|row| row.id == id && row.arm == arm);
    Cell {
        variant: of.variant.clone().unwrap_or_default(),
        percent: row.and_then(|row| row.percent),
        interval: row.and_then(|row| row.interval),
        verdict: row.map(|row| row.verdict).unwrap_or_default(),
    }
}
