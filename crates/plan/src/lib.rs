//! Experiments and their results as plain data. Level 2 of the map.
//!
//! An experiment file becomes a [`Point`] for each combination of its axes: every default filled
//! in, times in nanoseconds, sizes in bytes. A stack runs the point and answers with an
//! [`Outcome`]. Nothing here opens a file or knows a stack.

pub mod agreement;
pub mod app;
pub mod buffer_limits;
pub mod contract;
pub mod dist;
pub mod endless;
pub mod experiment;
mod fastopen;
pub mod measure;
mod message;
pub mod network;
pub mod outcome;
pub mod pair;
pub mod point;
pub mod population;
pub mod profile;
mod refusal;
pub mod result;
mod rules;
pub mod set;
mod simultaneous;
pub mod tos;
pub mod view;
mod ways;

pub use app::{App, AppKind};
pub use experiment::{Experiment, MAX_FILE, ParseError};
pub use outcome::Outcome;
pub use pair::Pair;
pub use point::Point;
pub use population::Population;
pub use refusal::Refusal;
pub use rules::is_plain_name;
