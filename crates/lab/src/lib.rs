//! Experiments on every stack: the matrix of points, each run and read by the analyser, one result
//! folder. Level 8 of the map.
//!
//! [`Lab::stack`] finds what a name stands for, [`campaign::run`] runs all points on all stacks,
//! [`bisect::first_bad`] searches an ordered list of stacks.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod agree;
pub mod bisect;
pub mod campaign;
pub mod check;
mod digest;
pub mod drill;
mod error;
pub mod explain;
mod figures;
mod flent;
mod folder;
mod manifest;
pub mod measures;
mod model;
#[cfg(target_os = "linux")]
pub mod network;
mod packets;
mod point;
mod pool;
pub mod population;
pub mod prove;
#[cfg(target_os = "linux")]
pub mod qa;
#[cfg(target_os = "linux")]
mod real;
#[cfg(not(target_os = "linux"))]
#[path = "real_elsewhere.rs"]
mod real;
pub mod reproduce;
mod shard;
mod stack;
mod unreached;

pub use error::LabError;
pub use folder::{MANIFEST_SCHEMA, Manifest};
#[cfg(target_os = "linux")]
pub use real::Far;
pub use shard::Shard;
pub use stack::{Lab, Stack};
