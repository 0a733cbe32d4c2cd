//! Points done.

use tcplab_lab::campaign;

use crate::progress::Bar;

/// A bar of points.
pub struct Progress(Bar);

impl Progress {
    /// Nothing is drawn before the first point is done.
    pub fn new() -> Self {
        let template = "[{bar:30}] {pos} of {len} points, {eta} left {wide_msg}";
        Self(Bar::new("points", template))
    }

    /// One point is done.
    pub fn show(&self, progress: campaign::Progress<'_>) {
        self.0.show(progress.done as u64, progress.all as u64);
        self.0.say(|_| progress.result.stack.clone());
    }

    /// The terminal is free for the result.
    pub fn clear(&self) {
        self.0.clear();
    }
}
