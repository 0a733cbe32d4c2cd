//! `tcplab link --json`: one document a line, as things happen.

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_livelink::{End, Snapshot};

use crate::failure::Kind;

/// `schema` of the first line.
pub const SCHEMA: &str = "tcplab.link/1";

/// A line.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Line {
    /// First line: the link works.
    Start {
        /// `tcplab.link/1`.
        schema: String,
        /// The first end.
        a: EndLine,
        /// The other end.
        b: EndLine,
        /// Settings from `a` to `b`; null: frames pass immediately.
        a_to_b: Option<String>,
        /// Settings from `b` to `a`; null: frames pass immediately.
        b_to_a: Option<String>,
        /// Longest IP packet of the devices that the link created, bytes; null: it created none.
        mtu: Option<u32>,
    },
    /// Counts after each interval.
    Look(Snapshot),
    /// New settings of one direction.
    Changed {
        /// `a-to-b` or `b-to-a`.
        way: String,
        /// Settings of that direction.
        words: String,
        /// Seconds since the start.
        at_s: f64,
        /// What happened to the waiting frames.
        how: String,
    },
    /// A change that was refused.
    Refused {
        /// `a-to-b` or `b-to-a`.
        way: String,
        /// Why.
        why: String,
    },
    /// Last line: the link ended.
    End(Snapshot),
    /// Last line: the link could not be made, or broke down.
    Failed {
        /// Kind of error.
        kind: Kind,
        /// What happened and what to do.
        message: String,
    },
}

/// An end of a link.
#[derive(Serialize, JsonSchema)]
pub struct EndLine {
    /// Such as `new:a` or `if:eth0`.
    pub end: String,
    /// Device of the end.
    pub device: String,
    /// Address and prefix length; absent if the end has no address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Command prefix that runs a command in the namespace of a `new:` end; absent for other ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enter: Option<String>,
}

impl EndLine {
    /// Of an end that stands.
    pub fn new(end: &End, address: Option<String>, enter: Option<String>) -> Self {
        Self {
            end: end.to_string(),
            device: end.device.clone(),
            address,
            enter,
        }
    }
}
