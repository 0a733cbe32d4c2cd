//! Runs done.

use std::cell::Cell;

use tcplab_bench::{self as bench, Plan};

use crate::progress::Bar;

/// A bar of runs.
pub struct Progress {
    bar: Bar,
    all: Cell<u64>,
}

impl Progress {
    pub fn new(plan: &Plan) -> Self {
        Self::of(plan.least() as u64)
    }

    /// For so many runs.
    pub fn of(runs: u64) -> Self {
        let template = "[{bar:30}] {pos} of {len} runs, {eta} left {wide_msg}";
        Self {
            bar: Bar::new("runs", template),
            all: Cell::new(runs),
        }
    }

    /// A run begins.
    pub fn show(&self, progress: bench::Progress<'_>) {
        let message = format!("{} {}", progress.turn.workload, progress.arm);
        // Runs that differ much are made more often.
        self.all.set(progress.of as u64);
        self.at(progress.number as u64, message);
    }

    /// The run of this number begins, from 0.
    pub fn at(&self, number: u64, message: String) {
        self.bar.show(number, self.all.get());
        self.bar.say(|_| message);
    }

    /// The terminal is free for the result.
    pub fn clear(&self) {
        self.bar.clear();
    }
}
