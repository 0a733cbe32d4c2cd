//! What a run cost on this machine.

use serde::{Deserialize, Serialize};

/// CPU and wall time; not part of a result, for it differs from run to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// CPU time in user mode of all processes of the run, in seconds.
    pub user_s: f64,
    /// CPU time in the kernel, in seconds.
    pub system_s: f64,
    /// Time that went by, in seconds.
    pub wall_s: f64,
    /// Largest resident set of one process, in bytes.
    pub max_rss_bytes: u64,
}
