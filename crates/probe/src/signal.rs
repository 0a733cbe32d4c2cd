//! SIGUSR1 holds a writer up for a time.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGUSR1;
use signal_hook::{SigId, flag, low_level};
use tcplab_base::Duration;

/// What one connection hears of the signal.
pub(super) struct Signal {
    came: Arc<AtomicBool>,
    id: SigId,
    /// How long nothing is written.
    pub(super) pause: Duration,
}

/// From now on the signal ends nothing, also where nobody listens to it.
pub(super) fn ignore() -> io::Result<()> {
    flag::register(SIGUSR1, Arc::default()).map(drop)
}

impl Signal {
    pub(super) fn new(pause: Duration) -> io::Result<Self> {
        let came = Arc::default();
        let id = flag::register(SIGUSR1, Arc::clone(&came))?;
        Ok(Self { came, id, pause })
    }

    /// Whether it came since the last call.
    pub(super) fn came(&self) -> bool {
        self.came.swap(false, Ordering::Relaxed)
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        low_level::unregister(self.id);
    }
}
