//! Published claims, measured again: what somebody wrote about TCP, the experiment that shows it,
//! and whether it holds on a real kernel.
//!
//! Claims are data (`claims/*.toml`); those of the same experiment and stack share its runs. A
//! claim that does not hold stays in the list with the figure that was measured.

mod engine;
mod estimator;
mod glob;
mod list;
mod malformed;
mod population;
mod suite;
#[cfg(test)]
mod tests;

pub use engine::{Options, run};
pub use estimator::Estimator;
pub use list::{ClaimData, List};
pub use malformed::Malformed;
pub use suite::Suite;
