//! What `tcplab inject --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the document.
pub const INJECT_SCHEMA: &str = "tcplab.inject/1";

/// The result of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InjectDocument {
    /// `tcplab.inject/1`.
    pub schema: String,
    /// The seed that frames and samples were drawn from.
    pub seed: u64,
    /// What frames went into, in order.
    pub targets: Vec<String>,
    /// Where frames of `into` went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<SiteRecord>,
    /// Frames of all groups; each went into every target.
    pub frames: u64,
    /// Sum of harm.
    pub harm: u64,
    /// The groups that were run.
    pub groups: Vec<GroupResult>,
    /// What did harm, the first ones of each group and target.
    pub harms: Vec<Harm>,
    /// What could not be looked at, and why.
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

/// The interface that `--into` named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SiteRecord {
    /// The interface that received the frames.
    pub at: String,
    /// The interface that they were sent from: the other end of its wire.
    pub from: String,
    /// The addresses and TCP ports that they and the checks' connections went to.
    pub listens: Vec<String>,
    /// A listener of tcplab's own took the connections.
    pub own_listener: bool,
}

/// One group of frames.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct GroupResult {
    /// Its name.
    pub group: String,
    /// Frames of it that were made, of this many that there are.
    pub frames: u64,
    /// All that there are.
    pub of: u64,
    /// Those that the parser of captures reads as a TCP packet.
    pub parsed: u64,
    /// Those that it says are something else.
    pub not_tcp: u64,
    /// Those whose headers contradict themselves or end too early.
    pub malformed: u64,
    /// Those that our endpoint takes for TCP to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<u64>,
    /// Those that changed anything in our endpoint's host: counters, a connection that may be hurt, requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_changes: Option<u64>,
    /// Those that the kernel's interface took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_to_kernel: Option<u64>,
    /// Counters of the kernel that moved, by nstat's names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernel_counters: Vec<KernelCounter>,
    /// Harm: panics, state that changed and may not, checks that failed.
    pub harm: u64,
}

/// A counter of the kernel under test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelCounter {
    /// nstat's name.
    pub name: String,
    /// By how much it moved.
    pub by: i64,
}

/// One harm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Harm {
    /// Who was harmed: parser, analyser, endpoint, kernel, into, or a stack's name.
    pub target: String,
    /// The group.
    pub group: String,
    /// The frame's number in it; none: the check after the group found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// What happened.
    pub what: String,
    /// The frame in hexadecimal digits; of a packet in pieces all of them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub frame: String,
    /// The command that sends this frame again.
    pub again: String,
}
