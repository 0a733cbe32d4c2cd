//! A deterministic simulator of hosts and links. Level 3 of the map.
//!
//! A [`World`] runs one point of an experiment: hosts with the TCP of crate `tcp`, links of crate
//! `link`, applications of crate `apps`. One thread, one queue of events ordered by (time, order of
//! setting), no clock, no chance but the point's seed: a run repeats bit for bit. It opens nothing:
//! captures go into outputs that the caller hands in.

mod capture;
mod card;
mod datagram;
mod events;
mod gro;
mod headers;
mod host;
mod network;
mod packet;
mod queued;
mod ready;
mod responses;
mod socket;
mod too_big;
mod unreachable;
mod world;

pub use capture::Captures;
pub use responses::Response;
pub use tcplab_apps::Ended;
pub use world::{Held, Live, LiveFlow, SimError, Work, World, refusals};
