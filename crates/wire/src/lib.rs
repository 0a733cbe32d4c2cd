//! Frames to TCP headers: link layers, VLAN and CAQM tags, IPv4, IPv6, tunnels, TCP and its options.
//!
//! Level 1 of the map. [`parse_frame`] is called once for each frame of a capture: it copies nothing
//! but the header fields and never panics on input.

mod caqm;
mod checksum;
pub mod emit;
mod ethernet;
mod frame;
mod icmp;
mod ipv4;
mod ipv6;
mod link;
mod mpls;
mod null;
mod options;
mod packet;
mod ppp;
mod rest;
mod sll;
mod tcp;
mod tunnel;

pub use frame::{Config, NotTcp, Parsed, parse_frame};
pub use link::LinkType;
pub use options::{SackBlocks, TcpOptions};
pub use packet::{Encap, Endpoint, Standing, TcpFlags, TcpPacket};
