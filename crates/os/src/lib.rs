//! All of tcplab that touches the operating system, without the logic that uses it. Level 4 of the map.
//!
//! [`sys`] has the calls that no safe library offers, and all `unsafe` of the workspace. Around it stand [`netlink`],
//! [`namespaces`], [`tap`] devices, [`sysctl`]s, the [`clock`], live capture ([`live`]) into [`captures`], and the
//! kernel's own figures: [`counters`], [`tcp_info`], [`proc_tcp`]. [`output`] writes result files, [`Scratch`] is a
//! temporary folder, [`Stop`] the wish to stop, [`say`] a line for the user.
#![deny(clippy::print_stdout, clippy::print_stderr)]
// What only real kernels use compiles elsewhere too.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

#[cfg(target_os = "linux")]
pub mod accept;
#[cfg(target_os = "linux")]
pub mod captures;
#[cfg(target_os = "linux")]
pub mod clock;
#[cfg(target_os = "linux")]
pub mod counters;
pub mod cpu;
mod error;
#[cfg(target_os = "linux")]
pub mod live;
#[cfg(not(target_os = "linux"))]
#[path = "live/elsewhere.rs"]
pub mod live;
#[cfg(target_os = "linux")]
pub mod namespaces;
#[cfg(target_os = "linux")]
pub mod netlink;
#[cfg(target_os = "linux")]
pub mod noise;
#[cfg(target_os = "linux")]
pub mod options;
#[cfg(unix)]
pub mod output;
#[cfg(not(unix))]
#[path = "output/elsewhere.rs"]
pub mod output;
#[cfg(target_os = "linux")]
pub mod proc_tcp;
mod say;
pub mod scratch;
mod stop;
#[cfg(target_os = "linux")]
pub mod sys;
#[cfg(target_os = "linux")]
pub mod sysctl;
#[cfg(target_os = "linux")]
pub mod tap;
#[cfg(target_os = "linux")]
pub mod tcp_info;
pub mod text;

pub use error::{Context, OsError};
pub use say::say;
pub use scratch::Scratch;
pub use stop::Stop;
#[cfg(target_os = "linux")]
pub use stop::end_with_parent;
