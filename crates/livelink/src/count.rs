//! What a live link has done, as plain data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_qdisc::QdiscCount;

/// A live link at one moment; what is not said to be otherwise counts from its start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// Seconds since the start.
    pub at_s: f64,
    /// CPU seconds of the forwarding thread in user mode. The sum of this and the next is exact, the kernel tells them apart
    /// by its ticks.
    pub cpu_user_s: f64,
    /// CPU seconds of the forwarding thread in the kernel: reads, writes, and what the receiving host's TCP does there.
    pub cpu_system_s: f64,
    /// How often it has waited.
    pub waits: u64,
    /// From the first end to the second one.
    pub a_to_b: WaySnapshot,
    /// Back.
    pub b_to_a: WaySnapshot,
}

/// One way of a live link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaySnapshot {
    /// Frames that came in, a super-segment counted as the frames that it was cut into; on a way without settings it
    /// passes whole and counts once.
    pub frames_in: u64,
    /// Bytes of them, Ethernet headers included.
    pub bytes_in: u64,
    /// Super-segments that were cut.
    pub super_segments: u64,
    /// Frames that went out; on a way without settings super-segments pass whole and count once.
    pub frames_out: u64,
    /// Bytes of them.
    pub bytes_out: u64,
    /// Frames that the device at the other end had no room for.
    pub refused: u64,
    /// Frames that came while nobody read, and were dropped by the device or the socket before the link saw them.
    pub missed: u64,
    /// Frames that could not be read: headers that say what cannot be, or frames that no header can describe.
    pub invalid: u64,
    /// Frames that the wire lost.
    pub lost: u64,
    /// Frames that the queue dropped, ACKs that the ACK filter took left out.
    pub drops: u64,
    /// Frames that the queue marked CE.
    pub marks: u64,
    /// ACKs that the ACK filter took.
    pub ack_drops: u64,
    /// Frames that wait now.
    pub queue_pkts: u64,
    /// Bytes that wait now.
    pub queue_bytes: u64,
    /// Sum over the frames that went out, or should have, of the time from in to out.
    pub delay_sum_ns: u64,
    /// The longest such time since the last look.
    pub delay_max_ns: u64,
    /// By how much the latest frame since the last look went out after its time: the processor was busy elsewhere.
    pub late_max_ns: u64,
    /// What its qdisc has counted since it was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qdisc: Option<QdiscCount>,
}
