//! What a live link has done, as plain data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_qdisc::QdiscCount;

/// A live link at one moment; counts are from its start unless said otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// Seconds since the start.
    pub at_s: f64,
    /// CPU time of the forwarding thread in user mode. The sum with `cpu_system_s` is exact; ticks of the kernel
    /// decide which share is which.
    pub cpu_user_s: f64,
    /// CPU time of the forwarding thread in the kernel: reads, writes, and what the receiving host's TCP does
    /// there.
    pub cpu_system_s: f64,
    /// How often the forwarding thread has waited.
    pub waits: u64,
    /// In the last line: listed frames and outages of the settings that changed nothing.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unreached: Vec<String>,
    /// From the first end to the second.
    pub a_to_b: WaySnapshot,
    /// From the second end to the first.
    pub b_to_a: WaySnapshot,
}

/// One direction of a live link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaySnapshot {
    /// Frames that came in; a super-segment counts as the frames that it is cut into, or, if no settings are given,
    /// as one.
    pub frames_in: u64,
    /// Bytes of `frames_in`, Ethernet headers included.
    pub bytes_in: u64,
    /// Super-segments cut.
    pub super_segments: u64,
    /// Frames that went out; a super-segment counts as one if no settings are given.
    pub frames_out: u64,
    /// Bytes of the frames given to the device, those that it dropped without a carrier included.
    pub bytes_out: u64,
    /// Frames that the device at the other end did not take, or dropped because it has no carrier.
    pub refused: u64,
    /// Frames dropped by the device or the socket before the link read them.
    pub missed: u64,
    /// Frames that are empty, or whose offload header (virtio_net) is invalid.
    pub invalid: u64,
    /// Frames lost by the wire.
    pub lost: u64,
    /// Frames dropped by the queue, without `ack_drops`.
    pub drops: u64,
    /// Frames marked CE: by the queue, or listed in `mark`.
    pub marks: u64,
    /// ACKs dropped by the ACK filter.
    pub ack_drops: u64,
    /// Frames waiting now.
    pub queue_pkts: u64,
    /// Bytes waiting now.
    pub queue_bytes: u64,
    /// Sum of times from reading to sending, over frames sent or refused.
    pub delay_sum_ns: u64,
    /// Longest time from a frame's reading to its sending since the last look.
    pub delay_max_ns: u64,
    /// Largest lateness of a frame since the last look; much more than `--gap` means a busy processor.
    pub late_max_ns: u64,
    /// Counts of the qdisc since it was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qdisc: Option<QdiscCount>,
}
