//! packetdrill scripts on real kernels: this machine's, or one in a guest in virtual time.

mod calls;
mod case;
mod clock;
mod device;
mod fds;
mod job;
mod message;
mod network;
mod parallel;
mod settings;
mod target;
#[cfg(test)]
mod tests;
mod workers;

pub use case::Case;
pub(crate) use job::SCRIPTS;
pub use parallel::{Done, Kernel, run_cases};
#[cfg(test)]
use target::KernelTarget;
