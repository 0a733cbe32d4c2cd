//! What a qdisc counted, as plain data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::discipline::Named;
use crate::kinds::counted;
use crate::netlink::{find, number};
use crate::stats::Stats;

/// Counts of a qdisc, by the names of `tc -s -j qdisc`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct QdiscCount {
    /// Its kind, such as `cake`.
    pub kind: String,
    /// Bytes that left.
    pub bytes: u64,
    /// Packets that left.
    pub packets: u64,
    /// Packets dropped.
    pub drops: u64,
    /// How often packets waited for the shaper.
    pub overlimits: u64,
    /// Bytes that wait: at the end of the run, or now on a live link.
    pub backlog: u64,
    /// Packets that wait: at the end of the run, or now on a live link.
    pub qlen: u64,
    /// What only this kind counts.
    #[serde(flatten)]
    pub own: BTreeMap<String, u64>,
    /// CAKE's tins, lowest priority first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tins: Vec<BTreeMap<String, u64>>,
}

/// The counters that [`QdiscCount::named`] knows of every kind.
pub const COUNTERS: [&str; 11] = [
    "drops",
    "ecn_mark",
    "ce_mark",
    "ack_drops",
    "overlimits",
    "granted",
    "refused",
    "marked",
    "already_marked",
    "granted_bytes",
    "refused_bytes",
];

/// `TCA_KIND`, `TCA_STATS2` (linux/rtnetlink.h), and what stands in the second (linux/gen_stats.h).
const KIND: u16 = 1;
const STATS2: u16 = 7;
const BASIC: u16 = 1;
const QUEUE: u16 = 3;
const APP: u16 = 4;
const PKT64: u16 = 8;

impl QdiscCount {
    pub(crate) fn new(kind: &str, stats: Stats, (own, tins): (Named, Vec<Named>)) -> Self {
        let map = |named: Named| named.into_iter().map(|(name, n)| (name.to_owned(), n));
        Self {
            kind: kind.to_owned(),
            bytes: stats.bytes,
            packets: stats.packets,
            drops: stats.drops,
            overlimits: stats.overlimits,
            backlog: stats.backlog,
            qlen: u64::from(stats.qlen),
            own: map(own).collect(),
            tins: tins.into_iter().map(|tin| map(tin).collect()).collect(),
        }
    }

    /// A kernel's counters of one qdisc, from the attributes of its answer; `None` for `noqueue` and unknown kinds.
    pub fn of_kernel(attributes: &[u8]) -> Option<Self> {
        let kind = String::from_utf8_lossy(find(attributes, KIND)?);
        let kind = kind.trim_end_matches('\0');
        if kind == "noqueue" {
            return None;
        }
        let stats = find(attributes, STATS2)?;
        // struct gnet_stats_basic, and its packets in 64 bits where a kernel gives them.
        let basic = find(stats, BASIC).unwrap_or_default();
        let packets = find(stats, PKT64).map(|value| number(value, 0, 8));
        // struct gnet_stats_queue
        let queue = find(stats, QUEUE).unwrap_or_default();
        let common = Stats {
            bytes: number(basic, 0, 8),
            packets: packets.unwrap_or_else(|| number(basic, 8, 4)),
            qlen: number(queue, 0, 4) as u32,
            backlog: number(queue, 4, 4),
            drops: number(queue, 8, 4),
            overlimits: number(queue, 16, 4),
            ..Stats::default()
        };
        let own = counted(kind, queue, xstats(attributes));
        Some(Self::new(kind, common, own))
    }

    /// A counter by its name: that of the whole qdisc, or the sum over its tins; 0 for a counter that this kind lacks.
    pub fn named(&self, name: &str) -> u64 {
        match name {
            "drops" => self.drops,
            "overlimits" => self.overlimits,
            _ => {
                let tins = self.tins.iter().filter_map(|tin| tin.get(name));
                // red, choke and sfb call their marks so; to caqm, also as a child, it is a mark of its own tag.
                let is_marked = name == "ecn_mark" && !self.own.contains_key("granted");
                let marked = self.own.get("marked").filter(|_| is_marked);
                let own = self.own.get(name).or(marked);
                own.copied().unwrap_or_else(|| tins.sum())
            }
        }
    }

    /// Adds what a qdisc at one of its classes counted, of what [`COUNTERS`] names, and its tins.
    pub fn add_child(&mut self, child: Self) {
        let counted = child.own.into_iter();
        for (name, n) in counted.filter(|(name, _)| COUNTERS.contains(&name.as_str())) {
            *self.own.entry(name).or_default() += n;
        }
        self.tins.extend(child.tins);
    }

    /// Adds what another qdisc counted in the same place before this one: [`COUNTERS`], bytes and packets.
    pub fn add_earlier(&mut self, earlier: &Self) {
        let counted = COUNTERS.map(|name| (name, self.named(name) + earlier.named(name)));
        self.bytes += earlier.bytes;
        self.packets += earlier.packets;
        for (name, n) in counted {
            match name {
                "drops" => self.drops = n,
                "overlimits" => self.overlimits = n,
                _ if n > 0 => drop(self.own.insert(name.to_owned(), n)),
                _ => {}
            }
        }
    }
}

/// `TCA_STATS_APP` of the answer on a qdisc or a class, or nothing.
pub fn xstats(attributes: &[u8]) -> &[u8] {
    let stats = find(attributes, STATS2).unwrap_or_default();
    find(stats, APP).unwrap_or_default()
}
