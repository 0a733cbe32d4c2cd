//! `tcplab link --json`: one document a line, as things happen.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_livelink::{End, Snapshot};

use crate::failure::{Failure, Kind};
use crate::screen;

/// `schema` of the first line.
pub const SCHEMA: &str = "tcplab.link/1";

/// A line.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Line {
    /// The link stands: the first line.
    Start {
        /// `tcplab.link/1`.
        schema: String,
        /// The first end.
        a: EndLine,
        /// The other end.
        b: EndLine,
        /// What happens to frames from `a` to `b`; none: they pass at once.
        a_to_b: Option<String>,
        /// What happens to frames from `b` to `a`.
        b_to_a: Option<String>,
        /// Bytes of the longest IP packet.
        mtu: u32,
    },
    /// After each interval `look` prints what it counted.
    Look(Snapshot),
    /// A way has other settings from now on.
    Changed {
        /// `a-to-b` or `b-to-a`.
        way: String,
        /// Its settings.
        words: String,
        /// Seconds since the start.
        at_s: f64,
        /// What became of the frames that waited.
        how: String,
    },
    /// A way was to be changed and was not.
    Refused {
        /// `a-to-b` or `b-to-a`.
        way: String,
        /// Why.
        why: String,
    },
    /// The link ended: the last line.
    End(Snapshot),
    /// It could not be made, or broke down: the last line.
    Failed {
        /// What kind of error it is.
        kind: Kind,
        /// What happened and what to do about it.
        message: String,
    },
}

/// An end of a link.
#[derive(Serialize, JsonSchema)]
pub struct EndLine {
    /// What it is, such as `new:a` or `if:eth0`.
    pub end: String,
    /// Its device.
    pub device: String,
    /// The address that it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// How a command is run in its namespace, when that goes with the link.
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

/// Prints one.
pub fn print(line: &Line) -> Result<(), Failure> {
    let mut text = serde_json::to_vec(line).map_err(io::Error::from)?;
    text.push(b'\n');
    let mut out = screen::json(io::stdout().lock());
    out.write_all(&text)?;
    out.flush()?;
    Ok(())
}
