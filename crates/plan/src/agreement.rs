//! Whether two stacks sent the same packets: a part of the answer of `tcplab run`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether two stacks sent the same TCP packets at the same points.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Agreement {
    /// The first stack in virtual time, and the one compared with it.
    pub stacks: [String; 2],
    /// Compared points.
    pub points: usize,
    /// Compared points at which all packets of both stacks are equal.
    pub equal_points: usize,
    /// TCP packets of the first stack at the compared points.
    pub packets: usize,
    /// First difference at the first point that has one; absent if they agree wherever compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstDifference>,
    /// Number of points not compared, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_compared: BTreeMap<String, usize>,
}

/// First difference of two stacks at a point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstDifference {
    /// Value of each axis of the point, and `variant` and `repeat`.
    pub axes: BTreeMap<String, serde_json::Value>,
    /// Host that sent the packet.
    pub host: String,
    /// Number of the packet's connection at this point, from 1, in the order of clients, servers, ports of servers and
    /// time.
    pub connection: usize,
    /// Connections of the first stack at this point.
    pub connections: usize,
    /// Number among the packets that the host sent on the connection, from 1.
    pub number: usize,
    /// Kind of packet on the stack that sent it earlier: `syn`, `syn-ack`, `data`, `ack`, `sack`, `fin` or `rst`.
    pub kind: String,
    /// When each stack sent the packet, after the first TCP packet of the run; null if it did not.
    pub times_ns: [Option<i64>; 2],
    /// Capture with the packet, in the result folder: the first stack's, unless only the second sent it.
    pub capture: String,
    /// Frame number in this capture, from 1.
    pub frame: u64,
    /// A field of the packet, `time`, `missing` (only the first stack sent it) or `extra` (only the second).
    pub field: String,
    /// Value on each stack; for `missing` and `extra`, the packets that the host sent on the connection.
    pub values: [String; 2],
    /// Field and kind of packet, such as `time of sack`.
    pub class: String,
    /// Packets of the first stack before it, at all hosts: equal on both.
    pub equal_packets: usize,
}
