//! A deterministic simulator of hosts and links. Level 3 of the map.
//!
//! A [`World`] runs one point of an experiment: hosts with the TCP of crate `tcp`, links of crate
//! `link`, applications of crate `apps`. One thread, one queue of events ordered by (time, order of
//! setting), no clock, no chance but the point's seed: a run repeats bit for bit. It opens nothing:
//! captures go into outputs that the caller hands in.

mod applications;
mod capture;
mod card;
mod datagram;
mod end;
mod errno;
mod events;
mod gro;
mod host;
mod info;
mod network;
mod packet;
mod queued;
mod ready;
mod responses;
mod world;

pub use capture::Captures;
pub use end::Ended;
pub use responses::Response;
pub use world::{Live, LiveFlow, SimError, Work, World, refusals};
