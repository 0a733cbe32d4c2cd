//! Connections done, with the rate and the time left.

use std::time::Duration;

use indicatif::{HumanCount, HumanDuration};
use tcplab_lab::population;

use crate::progress::Bar;

/// Connections between two looks at the clock.
const STEP: u64 = 64;

/// A bar of connections.
pub struct Progress {
    bar: Bar,
    arms: u64,
}

impl Progress {
    /// Nothing is drawn before the first connections are done.
    pub fn new(arms: usize) -> Self {
        let template = "[{bar:30}] {human_pos} of {human_len} connections, {wide_msg}";
        Self {
            bar: Bar::new("connections", template),
            arms: arms as u64,
        }
    }

    /// A connection is done in every arm.
    pub fn show(&self, progress: population::Progress) {
        if !progress.done.is_multiple_of(STEP) && progress.done != progress.all {
            return;
        }
        self.bar.show(progress.done, progress.all);
        self.bar.say(|elapsed| {
            let seconds = elapsed.as_secs_f64();
            if seconds < 0.2 {
                return String::new();
            }
            let rate = progress.now as f64 / seconds;
            let left = progress.all.saturating_sub(progress.done) as f64 / rate.max(1e-9);
            format!(
                "{} a second in {} arms, {} left",
                HumanCount(rate as u64),
                self.arms,
                HumanDuration(Duration::from_secs(left as u64))
            )
        });
    }

    /// The terminal is free for the result.
    pub fn clear(&self) {
        self.bar.clear();
    }
}

/// A bar of guests.
pub fn guests() -> Bar {
    Bar::new("runs", "[{bar:30}] {pos} of {len} runs, {eta} left")
}
