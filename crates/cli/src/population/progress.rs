//! Connections done, with the rate and the time left, on standard error, on a terminal only.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use tcplab_lab::population;

/// Connections between two looks at the clock.
const STEP: u64 = 64;

/// A bar of connections.
pub struct Progress {
    bar: Option<ProgressBar>,
    arms: u64,
}

impl Progress {
    /// Nothing is drawn before the first connections are done.
    pub fn new(arms: usize) -> Self {
        Self {
            bar: bar("[{bar:30}] {human_pos} of {human_len} connections, {wide_msg}"),
            arms: arms as u64,
        }
    }

    /// A connection is done in every arm.
    pub fn show(&self, progress: population::Progress) {
        let Some(bar) = &self.bar else { return };
        if !progress.done.is_multiple_of(STEP) {
            return;
        }
        let seconds = bar.elapsed().as_secs_f64();
        bar.set_length(progress.all);
        bar.set_position(progress.done);
        if seconds < 0.2 {
            return;
        }
        let rate = progress.now as f64 / seconds;
        let left = progress.all.saturating_sub(progress.done) as f64 / rate.max(1e-9);
        let left = Duration::from_secs(left as u64);
        bar.set_message(format!(
            "{} a second in {} arms, {} left",
            HumanCount(rate as u64),
            self.arms,
            indicatif::HumanDuration(left)
        ));
    }

    /// The terminal is free for the result.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A bar of guests; none: standard error is no terminal.
pub fn guests() -> Option<ProgressBar> {
    bar("[{bar:30}] {pos} of {len} runs, {eta} left")
}

fn bar(template: &str) -> Option<ProgressBar> {
    io::stderr().is_terminal().then(|| {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template(template);
        bar.set_style(
            style
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("=> "),
        );
        bar
    })
}
