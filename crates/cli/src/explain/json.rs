//! The document of `explain --json`.

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_lab::explain::{Gather, Receiver};

use crate::failure::Failure;

/// Schema of the answer.
pub const SCHEMA: &str = "tcplab.explain/1";

/// Which stack sent the ACKs of a capture.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// `tcplab.explain/1`.
    schema: &'static str,
    /// The file.
    file: String,
    /// TCP connections in the file.
    streams: usize,
    /// Packets beyond the limit, left out.
    packets_left_out: u64,
    /// One per receiver of data.
    receivers: Vec<Receiver>,
    /// Damage in the file after the packets read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure>,
}

impl Document {
    pub fn new(
        file: &str,
        gather: &Gather,
        receivers: Vec<Receiver>,
        error: Option<Failure>,
    ) -> Self {
        Self {
            schema: SCHEMA,
            file: file.to_owned(),
            streams: gather.streams(),
            packets_left_out: gather.left_out(),
            receivers,
            error,
        }
    }
}
