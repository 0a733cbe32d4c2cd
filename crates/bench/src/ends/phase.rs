//! When a run begins to count and when it ends, without a clock in its loop.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};

/// Before it counts, while it counts, after.
const WARM: u8 = 0;
const COUNTS: u8 = 1;
const OVER: u8 = 2;

/// Where a run is.
#[derive(Clone, Debug, Default)]
pub(super) struct Phase(Arc<AtomicU8>);

impl Phase {
    /// Begins to warm up now.
    pub(super) fn start(warm: Duration, time: Duration) -> io::Result<Self> {
        let phase = Self::default();
        let own = phase.clone();
        let (tell, apart) = sync_channel(1);
        thread::Builder::new().name("phase".into()).spawn(move || {
            // With a table of descriptors of its own: threads that share one pay for each call on one (fdget()).
            let _ = unshare(CloneFlags::CLONE_FILES);
            let _ = tell.send(());
            thread::sleep(warm);
            own.0.store(COUNTS, Ordering::Relaxed);
            thread::sleep(time);
            own.0.store(OVER, Ordering::Relaxed);
        })?;
        // What is opened later must not be in that table: a connection that two tables have does not end when one
        // closes it.
        let _ = apart.recv();
        Ok(phase)
    }

    #[inline]
    pub(super) fn is_warming(&self) -> bool {
        self.0.load(Ordering::Relaxed) == WARM
    }

    #[inline]
    pub(super) fn counts(&self) -> bool {
        self.0.load(Ordering::Relaxed) == COUNTS
    }

    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed) == OVER
    }
}
