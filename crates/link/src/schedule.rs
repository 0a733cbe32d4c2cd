//! Settings of a line that change during a run.

use std::collections::VecDeque;

use tcplab_base::{Duration, Instant};
use tcplab_plan::point::{Change, Direction};

use crate::line::{ChangeError, Line, Payload};

/// The changes of a line that are left.
#[derive(Debug)]
pub struct Schedule {
    /// The settings now.
    way: Direction,
    left: VecDeque<Change>,
    mtu: u32,
    seed: u64,
    name: String,
}

impl Schedule {
    /// The schedule of a line that was made with the same settings; `None` if they never change.
    pub fn of(way: &Direction, mtu: u32, seed: u64, name: &str) -> Option<Self> {
        (!way.changes.is_empty()).then(|| Self {
            way: way.clone(),
            left: way.changes.iter().cloned().collect(),
            mtu,
            seed,
            name: name.to_owned(),
        })
    }

    /// When each change comes, after the run's start.
    pub fn times(&self) -> impl Iterator<Item = Duration> {
        let each = self.left.iter().map(|change| change.at_ns);
        each.map(Duration::from_nanos)
    }

    /// Makes the first change that is left.
    ///
    /// # Errors
    /// When the line's qdisc refuses it.
    pub fn next<F: Payload>(
        &mut self,
        now: Instant,
        line: &mut Line<F>,
    ) -> Result<(), ChangeError> {
        let Some(change) = self.left.pop_front() else {
            return Ok(());
        };
        self.way = change.of(&self.way);
        let streams = (self.seed, self.name.as_str());
        line.change(now, &self.way, self.mtu, streams).map(drop)
    }
}
