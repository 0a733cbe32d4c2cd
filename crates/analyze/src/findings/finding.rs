//! Texts for a person.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::{Proof, artefacts, clock_step, ids, small_mss};

/// Something in the capture worth telling.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// Stable name, see `docs/findings.md`.
    pub id: Id,
    /// How much it matters.
    pub severity: Severity,
    /// Stream number.
    pub stream: u32,
    /// Packets that show it, up to 16.
    pub packets: Vec<u64>,
    /// One line.
    pub title: String,
    /// Mechanism, with kernel versions if known.
    pub cause: String,
    /// One entry per cure; commands can be pasted.
    pub remedy: Vec<String>,
    /// Share of findings of this id that were right on captures with known causes, 0 to 1, shrunk towards the share of all
    /// findings; absent if not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Result of its experiment (`--prove`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Box<Proof>>,
}

/// The stable name of a finding; `findings/mod.rs` has all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Id(pub(crate) &'static str);

impl Id {
    /// The name in JSON and on the command line.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// It concerns the whole capture and explains no stream.
    pub fn is_about_the_capture(self) -> bool {
        self == artefacts::DETECTOR.id || self == clock_step::DETECTOR.id
    }

    /// It follows from which packet came after which.
    pub(super) fn needs_order(self) -> bool {
        self != artefacts::DETECTOR.id && self != small_mss::DETECTOR.id
    }

    /// The finding with this name.
    pub fn of(name: &str) -> Option<Self> {
        ids().find(|id| id.0 == name)
    }
}

impl JsonSchema for Id {
    fn schema_name() -> Cow<'static, str> {
        "Id".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = ids().map(Self::name).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Costs time or throughput repeatedly.
    High,
    /// Cost time once or twice.
    Medium,
    /// Worth knowing.
    Info,
}
