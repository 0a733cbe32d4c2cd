//! Findings: what happened, why, how sure, and what to do about it. One file for each mechanism.

use schemars::JsonSchema;
use serde::Serialize;

/// One thing worth telling a person.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// Stable name, listed in `docs/findings.md`.
    pub id: Id,
    /// How much it matters.
    pub severity: Severity,
    /// Stream number.
    pub stream: u32,
    /// Packets that show it, at most 16.
    pub packets: Vec<u64>,
    /// One line for the report.
    pub title: String,
    /// The mechanism, with kernel versions where they are known.
    pub cause: String,
    /// What to do, one entry for each way out; commands can be pasted.
    pub remedy: Vec<String>,
    /// Share of findings of this id and grade that were right on labelled captures, 0 to 1.
    pub confidence: f64,
}

/// Stable names of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Id {
    /// The receiver left quick-ACK mode; every ACK waits for the timer.
    QuickackExhausted,
    /// A delayed ACK against Nagle's algorithm (write-write-read).
    DelackNagle,
    /// A request or response held by a delayed ACK.
    DelackRequestResponse,
    /// The sender stood still until its retransmission timer fired.
    RtoStall,
    /// The retransmission timer fired though nothing was lost.
    SpuriousRto,
    /// Reordering made the sender retransmit what was not lost.
    SpuriousRetransmissionReordering,
    /// The SYN or SYN-ACK had to be sent again.
    SynRetries,
    /// The receiver's window was zero and the sender waited.
    ZeroWindowStall,
    /// The last segments of a burst were lost.
    TailLoss,
    /// Everything (or everything large) is lost in one direction.
    BlackHole,
    /// The capture does not show what was on the wire.
    CaptureArtefacts,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Costs time or throughput again and again.
    High,
    /// Cost time once or twice.
    Medium,
    /// Worth knowing.
    Info,
}
