//! What a qdisc counted, as plain data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a qdisc counted, by the names of `tc -s -j qdisc`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct QdiscCount {
    /// Its kind, such as `cake`.
    pub kind: String,
    /// Bytes that left.
    pub bytes: u64,
    /// Packets that left.
    pub packets: u64,
    /// Packets that were dropped.
    pub drops: u64,
    /// How often packets had to wait for the shaper.
    pub overlimits: u64,
    /// Bytes that wait at the end of the run.
    pub backlog: u64,
    /// Packets that wait at the end of the run.
    pub qlen: u64,
    /// What only this kind counts.
    #[serde(flatten)]
    pub own: BTreeMap<String, u64>,
    /// CAKE's tins, lowest priority first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tins: Vec<BTreeMap<String, u64>>,
}

impl QdiscCount {
    /// A counter by its name: that of the whole, or the sum over the tins; 0 where this kind has none.
    pub fn named(&self, name: &str) -> u64 {
        match name {
            "drops" => self.drops,
            "overlimits" => self.overlimits,
            _ => {
                let tins = self.tins.iter().filter_map(|tin| tin.get(name));
                self.own.get(name).copied().unwrap_or_else(|| tins.sum())
            }
        }
    }
}
