//! Words that every crate of tcplab shares: time, sequence numbers, quantities, sample statistics.
//!
//! Level 0 of the map: it uses no crate of ours, no input or output, no clock.

mod draws;
mod errno;
pub mod normal;
pub mod quantity;
mod quote;
mod random;
mod samples;
mod seq;
mod time;
mod visible;

pub use errno::Errno;
pub use quote::quoted;
pub use random::Random;
pub use samples::{Quantiles, Samples};
pub use seq::Seq;
pub use time::{Duration, Instant};
pub use visible::{REPLACEMENT, is_hidden, safe, safe_lines};
