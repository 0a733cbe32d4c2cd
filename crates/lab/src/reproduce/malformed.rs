//! Claims about malformed frames: how much harm they do to the parser, the analyser and our endpoint, or to this
//! machine's kernel.

use serde::Deserialize;
use tcplab_inject::{self as inject, InjectDocument, TargetName, Wanted};
use tcplab_os::Stop;

use crate::error::LabError;

/// How many frames go where.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Malformed {
    /// Frames in all.
    frames: u64,
    /// What frames and samples are drawn from.
    seed: u64,
}

impl Malformed {
    /// Sends them: `host` is this machine's kernel, any other stack is ours.
    ///
    /// # Errors
    /// Why it cannot be run here; Ctrl-C, because harm by the frames that were not sent is not known.
    pub(super) fn run(&self, stack: &str, stop: &Stop) -> Result<InjectDocument, LabError> {
        let targets = match stack {
            "host" => vec![TargetName::Kernel],
            _ => vec![
                TargetName::Parser,
                TargetName::Analyser,
                TargetName::Endpoint,
            ],
        };
        let wanted = Wanted {
            seed: self.seed,
            count: self.frames,
            only: None,
            targets,
            into: None,
            rate: None,
        };
        let document = inject::run(&wanted, &|| stop.wanted())?;
        match stop.wanted() {
            true => Err(LabError::Interrupted),
            false => Ok(document),
        }
    }
}

/// A value by its name in a claim.
pub(super) fn value(document: &InjectDocument, name: &str) -> Option<f64> {
    let sum = |of: fn(&inject::GroupResult) -> u64| document.groups.iter().map(of).sum::<u64>();
    let value = match name {
        "harm" => document.harm,
        "frames" => document.frames,
        "groups" => document.groups.len() as u64,
        "malformed" => sum(|group| group.malformed),
        "accepted" => sum(|group| group.accepted.unwrap_or(0)),
        "sent" => sum(|group| group.sent_to_kernel.unwrap_or(0)),
        _ => return None,
    };
    Some(value as f64)
}
