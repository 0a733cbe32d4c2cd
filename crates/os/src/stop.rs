//! Ctrl-C and SIGTERM as a flag: the first ends the work in good order, the second the process.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether the user wants an end.
#[derive(Clone, Debug)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Takes over both signals.
    ///
    /// # Errors
    /// When the system does not allow it.
    pub fn on_signals() -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the second signal finds the flag set and ends the process.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop))?;
            flag::register(signal, Arc::clone(&stop))?;
        }
        Ok(Self(stop))
    }

    /// Ends the work as a signal would: nobody reads its output any more.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// A wish that never comes, for what cannot be interrupted.
    pub fn never() -> Self {
        Self(Arc::new(AtomicBool::new(false)))
    }

    /// Whether the user wants an end.
    pub fn wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Makes the kernel send this process SIGTERM when the thread that started it has gone.
///
/// # Errors
/// When the process that started it is not `parent`, or no more.
#[cfg(target_os = "linux")]
pub fn end_with_parent(parent: u32) -> io::Result<()> {
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGTERM)?;
    match std::os::unix::process::parent_id() == parent {
        true => Ok(()),
        false => Err(io::Error::other("the process that started it is gone")),
    }
}
