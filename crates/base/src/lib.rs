//! Words that every crate of tcplab shares: time, sequence numbers, sample statistics.
//!
//! Level 0 of the map: no dependencies, no input or output, no clock.

mod draws;
mod random;
mod samples;
mod seq;
mod time;

pub use random::Random;
pub use samples::{Quantiles, Samples};
pub use seq::Seq;
pub use time::{Duration, Instant};
