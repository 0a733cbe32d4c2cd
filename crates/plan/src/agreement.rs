//! Whether two stacks sent the same packets: a part of the answer of `tcplab run`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether two stacks sent the same TCP packets at the same points.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Agreement {
    /// The first stack in virtual time, and the one that is compared with it.
    pub stacks: [String; 2],
    /// Points that were compared.
    pub points: usize,
    /// Of these, points at which both stacks sent the same packets to the last one.
    pub equal_points: usize,
    /// TCP packets that the first stack sent at the points that were compared.
    pub packets: usize,
    /// The first difference at the first point that has one; absent: they agree wherever they were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstDifference>,
    /// Why the other points were not compared: each reason, and how many points have it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_compared: BTreeMap<String, usize>,
}

/// Where two stacks begin to differ at a point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstDifference {
    /// Value of each axis of the point, and `variant` and `repeat`.
    pub axes: BTreeMap<String, serde_json::Value>,
    /// Name of the host that sent the packet.
    pub host: String,
    /// Number of its connection at this point, from 1, in the order of clients, servers, ports of servers and time.
    pub connection: usize,
    /// How many connections the first stack has at this point.
    pub connections: usize,
    /// Number of the packet among those that the host sent on the connection, from 1.
    pub number: usize,
    /// What kind of packet it is on the stack that sent it earlier: `syn`, `syn-ack`, `data`, `ack`, `sack`, `fin` or `rst`.
    pub kind: String,
    /// When each stack sent it, after the first TCP packet of the run; null: it did not.
    pub times_ns: [Option<i64>; 2],
    /// The capture that has the packet, in the result folder: the first stack's, unless only the second one sent it.
    pub capture: String,
    /// Number of the frame in this capture, from 1.
    pub frame: u64,
    /// What differs: a field of the packet, `time`, `missing` (only the first stack sent it) or `extra` (only the second one).
    pub field: String,
    /// The value on each stack; for `missing` and `extra` how many packets the host sent on the connection.
    pub values: [String; 2],
    /// The field and the kind of packet, such as `time of sack`.
    pub class: String,
    /// Packets that the first stack sent before it, at all hosts: these are the same on both.
    pub equal_packets: usize,
}
