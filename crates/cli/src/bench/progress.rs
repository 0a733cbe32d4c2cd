//! Runs done, on standard error, on a terminal only.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};
use tcplab_lab::bench::{self, Plan};

/// A bar of runs.
pub struct Progress(Option<ProgressBar>);

impl Progress {
    pub fn new(plan: &Plan) -> Self {
        let runs = plan.turns().len() as u64;
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
        if let Some(bar) = &self.0 {
            bar.set_position(progress.number as u64);
            bar.set_message(format!("{} {}", progress.turn.workload, progress.arm));
        }
    }

    /// The terminal is free for the result.
    pub fn clear(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
