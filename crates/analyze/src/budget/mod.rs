//! Where the time of a connection went.
//!
//! Each microsecond between its first and its last packet belongs to exactly one class, so that the parts sum to the
//! whole. `docs/analyze.md` states the evidence for each class and where a capture cannot tell two of them apart.

mod class;
mod ledger;
mod recovery;
mod sending;
mod skip;
mod tracker;
mod unseen;

use schemars::JsonSchema;
use serde::Serialize;

pub use class::{Budget, Class};
pub(crate) use ledger::Account;
pub(crate) use tracker::{Event, Tracker};

/// Request of the client, and its answer.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Request {
    /// Frame number of its first packet.
    pub packet: u64,
    /// From the first packet of the stream to that of the request.
    pub start_us: u64,
    /// From the request's first packet to the answer's last.
    pub duration_us: u64,
    /// Payload bytes of the request.
    pub request_bytes: u64,
    /// Payload bytes of the answer.
    pub response_bytes: u64,
    /// Where `duration_us` went.
    pub budget_us: Budget,
}

/// A stretch of a connection's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it begins, microseconds after the first packet of the stream.
    pub from_us: u64,
    /// Where it ends.
    pub to_us: u64,
    /// What the time went to.
    pub class: Class,
}
