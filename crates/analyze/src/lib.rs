//! What a capture says about TCP: streams, ACK delays, losses, recovery, findings.
//!
//! Level 2 of the map. Push in, drain out: [`Analyzer::packet`] takes the packets of one capture
//! in the order of the file, [`Analyzer::poll`] gives what is finished. State belongs to
//! connections, not to packets; a closed connection is handed out and forgotten.

mod analyzer;
mod bounds;
pub mod budget;
pub mod compat;
mod conn;
mod feed;
pub mod findings;
mod numbering;
pub mod pair;
pub mod report;
mod slots;
mod stamps;
mod table;
pub mod trace;
mod young;

pub use analyzer::{Analyzer, Output};
pub use bounds::Options;
pub use feed::Parser;
