//! What two runs say at their end: the hosts' counters and each connection's tcp_info.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_plan::outcome::Flow;
use tcplab_plan::result::PointResult;

/// A value that both runs have and that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Other {
    /// `HOST.COUNTER`, or `APP/N.client.tcpi_rtt`.
    pub name: String,
    /// Of the first run.
    pub a: i64,
    /// Of the second run.
    pub b: i64,
}

/// Words in the names of counters that must be equal or have a stated reason.
const PROMISED: [&str; 9] = [
    "Retrans",
    "Timeout",
    "Probe",
    "DelayedACK",
    "Rexmit",
    "LossRecovery",
    "Recovery",
    "KeepAlive",
    "OnMemory",
];

/// Whether the issue promises that this counter is equal: those of retransmissions, time-outs,
/// probes and delayed ACKs.
pub fn is_promised(name: &str) -> bool {
    PROMISED.iter().any(|word| name.contains(word))
}

/// TCP's counters that both runs have and that differ.
pub fn counters(a: &PointResult, b: &PointResult) -> Vec<Other> {
    let mut out = Vec::new();
    for (host, ours) in &a.counters {
        let Some(theirs) = b.counters.get(host) else {
            continue;
        };
        for (name, x) in ours.iter().filter(|(name, _)| name.starts_with("Tcp")) {
            if let Some(y) = theirs.get(name).filter(|y| *y != x) {
                let name = format!("{host}.{name}");
                out.push(Other { name, a: *x, b: *y });
            }
        }
    }
    out
}

/// Fields of tcp_info at each end that both runs have and that differ.
pub fn tcp_info(a: &PointResult, b: &PointResult) -> Vec<Other> {
    let mut out = Vec::new();
    for (x, y) in a.flows.iter().zip(&b.flows) {
        for (end, ours, theirs) in [
            ("client", &x.client.tcp_info, &y.client.tcp_info),
            ("server", &x.server.tcp_info, &y.server.tcp_info),
        ] {
            out.extend(fields(x, end, ours, theirs));
        }
    }
    out
}

fn fields(
    flow: &Flow,
    end: &str,
    ours: &BTreeMap<String, i64>,
    theirs: &BTreeMap<String, i64>,
) -> Vec<Other> {
    let both = ours
        .iter()
        .filter_map(|(name, x)| theirs.get(name).map(|y| (name, *x, *y)));
    both.filter(|(_, x, y)| x != y)
        .map(|(name, a, b)| Other {
            name: format!("{}/{}.{end}.{name}", flow.app, flow.connection),
            a,
            b,
        })
        .collect()
}
