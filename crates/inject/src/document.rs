//! What `tcplab inject --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the document.
pub const INJECT_SCHEMA: &str = "tcplab.inject/1";

/// Result of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InjectDocument {
    /// `tcplab.inject/1`.
    pub schema: String,
    /// Seed of frames and samples.
    pub seed: u64,
    /// Targets of the frames, in order.
    pub targets: Vec<String>,
    /// Where frames of `into` went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<SiteRecord>,
    /// Frames of all groups; `notes` names each target that got fewer.
    pub frames: u64,
    /// Frames that were asked for.
    #[serde(skip)]
    #[schemars(skip)]
    pub planned: u64,
    /// Frames that each target got, in their order.
    #[serde(skip)]
    #[schemars(skip)]
    pub got: Vec<u64>,
    /// Sum over all groups.
    pub harm: u64,
    /// The groups that ran.
    pub groups: Vec<GroupResult>,
    /// The first harms of each group and target.
    pub harms: Vec<Harm>,
    /// What could not be checked, and why.
    pub notes: Vec<String>,
    /// Why there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorRecord>,
}

/// Why there is no result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ErrorRecord {
    /// In words.
    pub message: String,
}

/// Interface of `--into`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SiteRecord {
    /// Interface that received the frames.
    pub at: String,
    /// Interface that sent the frames: the peer of `at`.
    pub from: String,
    /// Addresses and TCP ports to which the frames and the checks' connections went.
    pub listens: Vec<String>,
    /// Whether a listener of tcplab accepted the connections.
    pub own_listener: bool,
}

/// Group of frames.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct GroupResult {
    /// Its name.
    pub group: String,
    /// Frames that were sent, out of `of`.
    pub frames: u64,
    /// Size of the group, in frames.
    pub of: u64,
    /// Frames that the parser of captures reads as a TCP packet.
    pub parsed: u64,
    /// Frames that the parser reads as something else.
    pub not_tcp: u64,
    /// Frames whose headers contradict themselves or end too early.
    pub malformed: u64,
    /// Frames that tcplab's endpoint accepts as TCP for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<u64>,
    /// Frames that changed anything in our endpoint's host: counters, a connection that may be hurt, requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_changes: Option<u64>,
    /// Frames that the kernel's interface took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_to_kernel: Option<u64>,
    /// Kernel counters that moved, by nstat's names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernel_counters: Vec<KernelCounter>,
    /// Panics, forbidden changes of state, failed checks.
    pub harm: u64,
}

/// Counter of the kernel under test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelCounter {
    /// nstat's name.
    pub name: String,
    /// Its growth.
    pub by: i64,
}

/// One harm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Harm {
    /// Parser, analyser, endpoint, kernel, into, or name of a stack.
    pub target: String,
    /// The group.
    pub group: String,
    /// Number of the frame in its group; absent if the check after the group found the harm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// What happened.
    pub what: String,
    /// The frame in hexadecimal; for a fragmented packet, all its frames.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub frame: String,
    /// Command that sends this frame again.
    pub again: String,
}
