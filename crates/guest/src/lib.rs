//! Kernels: what they are called, how they are had, and how they boot. Level 5 of the map.
//!
//! [`stack`] has the names of stacks, [`store`] the kernels that were built here, [`edit`] what can be changed in one.
//! `build` builds them, `image` finds those of distributions, `boot` starts a guest or namespaces of this machine, with
//! a question in a folder ([`replay`] has the frames beside a point). `doctor` says what this machine can do,
//! [`here`](here()) which stacks can be used. The crates above say what runs in a guest (`boot::Errand`).
#![deny(clippy::print_stdout, clippy::print_stderr)]
// What only real kernels use compiles elsewhere too.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

#[cfg(target_os = "linux")]
pub mod boot;
#[cfg(target_os = "linux")]
pub mod build;
#[cfg(target_os = "linux")]
pub mod doctor;
pub mod edit;
#[cfg(target_os = "linux")]
mod here;
#[cfg(not(target_os = "linux"))]
#[path = "here_elsewhere.rs"]
mod here;
#[cfg(target_os = "linux")]
pub mod image;
pub mod rates;
pub mod replay;
pub mod stack;
pub mod store;
mod words;

pub use here::{Here, here};
