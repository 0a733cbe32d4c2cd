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
pub mod counters;
pub mod cpu;
#[cfg(target_os = "linux")]
pub mod doctor;
#[cfg(target_os = "linux")]
pub mod drill;
pub mod edit;
mod error;
#[cfg(target_os = "linux")]
pub mod guest;
#[cfg(target_os = "linux")]
pub mod image;
#[cfg(target_os = "linux")]
pub mod inject;
#[cfg(target_os = "linux")]
pub mod link;
#[cfg(target_os = "linux")]
mod live;
#[cfg(not(target_os = "linux"))]
#[path = "live_elsewhere.rs"]
mod live;
#[cfg(target_os = "linux")]
mod options;
#[cfg(unix)]
pub mod output;
#[cfg(not(unix))]
#[path = "output/elsewhere.rs"]
pub mod output;
#[cfg(target_os = "linux")]
pub mod probe;
#[cfg(target_os = "linux")]
pub mod proc_tcp;
pub mod replay;
#[cfg(target_os = "linux")]
pub mod run;
mod say;
mod scratch;
#[cfg(target_os = "linux")]
pub mod ssh;
pub mod stack;
mod stop;
#[cfg(target_os = "linux")]
pub mod sys;
#[cfg(target_os = "linux")]
pub mod tcp_info;
pub mod text;

pub use error::Error;
pub use live::{Frame, Live};
pub use say::say;
pub use scratch::Scratch;
pub use stop::Stop;
