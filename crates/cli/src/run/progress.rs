//! Points done, on standard error, on a terminal only.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};
use tcplab_base::safe;
use tcplab_lab::campaign;

/// A bar of points.
pub struct Progress(Option<ProgressBar>);

impl Progress {
    /// Nothing is drawn before the first point is done.
    pub fn new() -> Self {
        Self(io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(0);
            let style = ProgressStyle::with_template(
                "[{bar:30}] {pos} of {len} points, {eta} left {wide_msg}",
            );
            bar.set_style(
                style
                    .unwrap_or_else(|_| ProgressStyle::default_bar())
                    .progress_chars("=> "),
            );
            bar
        }))
    }

    /// One point is done.
    pub fn show(&self, progress: campaign::Progress<'_>) {
        if let Some(bar) = &self.0 {
            bar.set_length(progress.all as u64);
            bar.set_position(progress.done as u64);
            bar.set_message(safe(&progress.result.stack));
        }
    }

    /// The terminal is free for the result.
    pub fn clear(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
