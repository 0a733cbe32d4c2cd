//! packetdrill scripts: the language, the run against a [`Target`], and a simulated host as one. Level 3 of the map.
//!
//! A script is read (`lex`, `parse`) into a [`Script`]; `run` takes its events in order, asks a target to make calls
//! and let packets arrive, and compares what comes back. Nothing here opens, waits or starts anything.

pub mod call;
mod error;
mod lex;
pub mod mutate;
mod nearest;
pub mod options;
mod packet;
mod parse;
pub mod python;
pub mod run;
pub mod script;
pub mod shell;
mod sock;
pub mod symbols;
mod target;

/// Converts between segments and packets, for code that joins a stack to a wire.
pub mod packets {
    pub use crate::sock::{Hosts, bytes_of, has_md5, icmp_error, segment};
}

pub use error::ScriptError;
pub use options::Settings;
pub use parse::{Defines, parse};
pub use sock::Model;
pub use target::{Happening, IpMode, Made, Network, SCRIPT_PHASE, Setting, Target, TargetError};
