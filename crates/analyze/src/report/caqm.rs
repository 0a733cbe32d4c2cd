//! What CAQM's tags and the bits of its negotiation say.

use schemars::JsonSchema;
use serde::Serialize;

/// Tags that one side sent, as they passed the capture: before a switch every request still looks granted. Bytes are in
/// the units that `--caqm-units` tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CaqmTags {
    /// Tags that ask for window (caqm_en set). `requests` = `granted` + `refused` + `marked` + `contradictory`.
    pub requests: u64,
    /// Requests that nobody refused so far (I).
    pub granted: u64,
    /// Requests without a grant and without a mark.
    pub refused: u64,
    /// Requests that met congestion (C): each takes window away.
    pub marked: u64,
    /// Requests with C and I: their receiver reads "no change".
    pub contradictory: u64,
    /// Tags whose congestion was met at the last switch.
    pub last_hop: u64,
    /// Bytes of window that the requests ask for, whatever became of them.
    pub asked_bytes: u64,
    /// Bytes of window of the granted ones.
    pub granted_bytes: u64,
    /// Bytes of window that the marks take away.
    pub taken_bytes: u64,
    /// Tags that tell a sender what was granted (caqm_en clear).
    pub feedback: u64,
    /// Bytes of window that they give.
    pub feedback_plus_bytes: u64,
    /// Bytes of window that they take.
    pub feedback_minus_bytes: u64,
    /// Tags of another type of congestion control (cc_type); they are in no other figure.
    pub foreign: u64,
    /// Tags on SYN or SYN-ACK, where none belongs.
    pub on_syn: u64,
    /// Tagged frames longer than the MTU of 1,500 or 9,000 bytes allows: the MSS was not lowered by 4.
    pub oversize: u64,
}

/// How the negotiation of CAQM in the reserved bits of SYN (1) and SYN-ACK (2) went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaqmOffer {
    /// The client asked and the server agreed.
    Negotiated,
    /// The client asked, the server's SYN-ACK does not agree (or was not seen).
    NotAnswered,
    /// The server agreed to what the client had not asked for.
    NotAsked,
    /// The SYN asks for CAQM or for Accurate ECN (RFC 9768): it has the bit that both use, and ECE or CWR.
    Ambiguous,
}
