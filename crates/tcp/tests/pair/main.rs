//! Two stacks joined: handshakes, closes, time-outs, and any mix of faults.

#![allow(missing_docs)]

mod acks;
mod alone;
mod caqm;
mod caqm_public;
mod close;
mod congestion;
mod early;
mod fastopen;
mod fastopen_client;
mod link;
mod listen;
mod memory;
mod newer;
mod open;
mod property;
mod recovery;
