//! What CAQM's tags and the bits of its negotiation say.

use schemars::JsonSchema;
use serde::Serialize;

/// Tags that one side sent, as they passed the capture: before a switch all requests look granted. Unit of bytes:
/// `--caqm-units`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CaqmTags {
    /// Tags that ask for window (caqm_en set): `granted` + `refused` + `marked` + `contradictory`.
    pub requests: u64,
    /// Requests not refused so far (I).
    pub granted: u64,
    /// Requests without grant or mark.
    pub refused: u64,
    /// Requests that met congestion (C): each takes window away.
    pub marked: u64,
    /// Requests with C and I: the receiver reads "no change".
    pub contradictory: u64,
    /// Tags that met congestion at the last switch.
    pub last_hop: u64,
    /// Window that requests ask for, granted or not.
    pub asked_bytes: u64,
    /// Window of the granted requests.
    pub granted_bytes: u64,
    /// Window that marks take away.
    pub taken_bytes: u64,
    /// Tags that report grants to a sender (caqm_en clear).
    pub feedback: u64,
    /// Window that feedback gives.
    pub feedback_plus_bytes: u64,
    /// Window that feedback takes.
    pub feedback_minus_bytes: u64,
    /// Tags of another congestion control (cc_type); no other figure counts them.
    pub foreign: u64,
    /// Tags on SYN or SYN-ACK, which must have none.
    pub on_syn: u64,
    /// Tagged frames longer than an MTU of 1,500 or 9,000 bytes allows: the MSS was not lowered by 4.
    pub oversize: u64,
}

/// Negotiation of CAQM in the reserved bits of SYN (1) and SYN-ACK (2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaqmOffer {
    /// Asked and agreed.
    Negotiated,
    /// Asked, but the SYN-ACK does not agree (or was not seen).
    NotAnswered,
    /// Agreed, but not asked.
    NotAsked,
    /// The SYN sets AE and ECE or CWR, as Accurate ECN (RFC 9768) does, but the SYN-ACK agrees to CAQM.
    Ambiguous,
}
