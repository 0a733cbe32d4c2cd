//! What happens to a line at times of the run: its settings change, segments are injected.

use std::collections::VecDeque;

use tcplab_base::{Duration, Instant};
use tcplab_plan::point::{Change, Direction, Inject};

use crate::line::{ChangeError, Line, Payload};

/// What is left to happen to a line.
#[derive(Debug)]
pub struct Schedule {
    /// The settings now.
    way: Direction,
    left: VecDeque<Step>,
    mtu: u32,
    seed: u64,
    name: String,
}

#[derive(Debug)]
enum Step {
    Change(Box<Change>),
    Inject(Inject),
}

impl Step {
    fn at_ns(&self) -> i64 {
        match self {
            Self::Change(change) => change.at_ns,
            Self::Inject(inject) => inject.at_ns,
        }
    }
}

impl Schedule {
    /// The schedule of a line that was made with the same settings; `None` if nothing happens to it. At one time, changes
    /// come first.
    pub fn of(way: &Direction, mtu: u32, seed: u64, name: &str) -> Option<Self> {
        let changes = way.changes.iter().cloned().map(Box::new).map(Step::Change);
        let injects = way.injects.iter().copied().map(Step::Inject);
        let mut left: Vec<Step> = changes.chain(injects).collect();
        left.sort_by_key(Step::at_ns);
        (!left.is_empty()).then(|| Self {
            way: way.clone(),
            left: left.into(),
            mtu,
            seed,
            name: name.to_owned(),
        })
    }

    /// When each step comes, after the run's start.
    pub fn times(&self) -> impl Iterator<Item = Duration> {
        let each = self.left.iter().map(Step::at_ns);
        each.map(Duration::from_nanos)
    }

    /// Makes the first step that is left.
    ///
    /// # Errors
    /// When the line's qdisc refuses the change.
    pub fn next<F: Payload>(
        &mut self,
        now: Instant,
        line: &mut Line<F>,
    ) -> Result<(), ChangeError> {
        match self.left.pop_front() {
            None => Ok(()),
            Some(Step::Inject(inject)) => {
                line.inject(now, &inject);
                Ok(())
            }
            Some(Step::Change(change)) => {
                self.way = change.of(&self.way);
                let streams = (self.seed, self.name.as_str());
                line.change(now, &self.way, self.mtu, streams).map(drop)
            }
        }
    }
}
