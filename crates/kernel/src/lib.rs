//! Everything of tcplab that touches the operating system. Level 4 of the map.
//!
//! Today: live capture from an interface ([`Live`]), the wish to stop ([`Stop`]), and what the
//! kernel says about itself: [`counters`], [`tcp_info`], [`proc_tcp`]. [`probe`] runs the
//! applications on real sockets. [`stack`] has the names of stacks and the kernels for them,
//! `build` builds those, with an [`edit`] on top, and `doctor` says what this machine can do. [`output`] writes result
//! files, [`Scratch`] is a temporary folder.
#![deny(clippy::print_stdout, clippy::print_stderr)]
// What only real kernels use compiles elsewhere too.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

#[cfg(target_os = "linux")]
pub mod bench;
#[cfg(target_os = "linux")]
pub mod build;
#[cfg(target_os = "linux")]
pub mod doctor;
#[cfg(target_os = "linux")]
pub mod drill;
pub mod edit;
#[cfg(target_os = "linux")]
pub mod guest;
#[cfg(target_os = "linux")]
pub mod image;
#[cfg(target_os = "linux")]
pub mod inject;
#[cfg(target_os = "linux")]
pub mod link;
#[cfg(target_os = "linux")]
pub mod probe;
pub mod replay;
#[cfg(target_os = "linux")]
pub mod run;
#[cfg(target_os = "linux")]
pub mod ssh;
pub mod stack;

#[cfg(target_os = "linux")]
mod stage;

#[cfg(target_os = "linux")]
pub use stage::stage;
