//! What passes between the two sides through the guest's folder.
//!
//! The question goes in. A file gets one line for the result of each group. Another file holds the
//! next step and is overwritten before each frame, so after a crash of the kernel it names the step
//! that caused it.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::Wanted;
use super::super::one::Part;

/// The question's file.
pub(super) const QUESTION: &str = "inject.json";
/// A [`Line`] for each group that is over.
pub(super) const LINES: &str = "inject.lines";
/// The [`Step`] that is about to be taken, in its first line.
pub(super) const STEP: &str = "inject.step";

/// Frames of the group that is the `job`-th of those chosen, by their places in the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pick {
    pub(super) job: usize,
    pub(super) from: u64,
    pub(super) to: u64,
}

/// What is wanted of a guest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Question {
    /// The stack's name, for what is told.
    pub(super) name: String,
    pub(super) seed: u64,
    pub(super) count: u64,
    pub(super) only: Option<(String, Option<u64>)>,
    pub(super) rate: Option<u64>,
    pub(super) picks: Vec<Pick>,
}

impl Question {
    /// The choice that picks are of.
    pub(super) fn wanted(&self) -> Wanted {
        Wanted {
            seed: self.seed,
            count: self.count,
            only: self.only.clone(),
            targets: Vec::new(),
            into: None,
            rate: self.rate,
        }
    }
}

/// A line of the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Line {
    /// The group of this pick is over.
    Over(usize, Part),
    /// It could not be set up at all.
    Failed(String),
}

/// The next action, and the outcome of the pick's earlier frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) pick: usize,
    /// The frame that is about to be sent; none: the check after the group.
    pub(super) number: Option<u64>,
    /// Its digits.
    pub(super) frame: String,
    pub(super) part: Part,
}

/// What was read of an answer until now.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Heard {
    pub(super) over: Vec<(usize, Part)>,
    pub(super) failed: Option<String>,
    pub(super) step: Option<Step>,
}

impl Heard {
    /// Reads it anew; what is not whole does not count.
    pub(super) fn read(folder: &Path) -> io::Result<Self> {
        let mut heard = Self::default();
        let lines = fs::read(folder.join(LINES))?;
        for line in lines.split(|&b| b == b'\n') {
            match serde_json::from_slice(line) {
                Ok(Line::Over(pick, part)) => heard.over.push((pick, part)),
                Ok(Line::Failed(why)) => heard.failed = Some(why),
                Err(_) => {}
            }
        }
        let step = fs::read(folder.join(STEP))?;
        let line = step.split(|&b| b == b'\n').next().unwrap_or_default();
        heard.step = serde_json::from_slice(line).ok();
        Ok(heard)
    }
}
