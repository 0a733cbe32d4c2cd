//! Kernels as hosts of a run. Level 6 of the map; Linux only.
//!
//! [`run`] is one point on the kernel that this process sees: a guest's, or this machine's in namespaces. [`drill`] runs packetdrill scripts there, [`ssh`] half of a
//! run on another machine. [`stage`](stage()) makes this executable a guest's init.
#![cfg(target_os = "linux")]
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod buffers;
pub mod drill;
pub mod run;
pub mod ssh;

mod stage;

pub use stage::stage;
