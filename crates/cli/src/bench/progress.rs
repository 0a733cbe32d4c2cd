//! Runs done, on standard error, on a terminal only.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};
use tcplab_base::safe;
use tcplab_bench::{self as bench, Plan};

/// A bar of runs.
pub struct Progress(Option<ProgressBar>);

impl Progress {
    pub fn new(plan: &Plan) -> Self {
        Self::of(plan.least() as u64)
    }

    /// For so many runs.
    pub fn of(runs: u64) -> Self {
        Self(io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(runs);
            let style = ProgressStyle::with_template(
                "[{bar:30}] {pos} of {len} runs, {eta} left {wide_msg}",
            );
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style.progress_chars("=> "));
            bar
        }))
    }

    /// A run begins.
    pub fn show(&self, progress: bench::Progress<'_>) {
        let message = format!("{} {}", progress.turn.workload, progress.arm);
        if let Some(bar) = &self.0 {
            // Runs that differ much are made more often.
            bar.set_length(progress.of as u64);
        }
        self.at(progress.number as u64, message);
    }

    /// The run of this number begins, from 0.
    pub fn at(&self, number: u64, message: String) {
        if let Some(bar) = &self.0 {
            bar.set_position(number);
            bar.set_message(safe(&message));
        }
    }

    /// The terminal is free for the result.
    pub fn clear(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
