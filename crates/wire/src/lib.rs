//! Frames to TCP headers: link layers, VLAN and CAQM tags, IPv4, IPv6, tunnels, TCP and its options.
//!
//! Level 1 of the map. [`parse_frame`] (or [`Reassembler::parse`], which also puts fragments together) is called once for
//! each frame of a capture: it copies nothing but the header fields and never panics on input.

mod caqm;
mod checksum;
mod edit;
pub mod emit;
mod ethernet;
mod frame;
mod icmp;
mod ieee80211;
mod ipv4;
mod ipv6;
mod link;
mod links;
pub mod malformed;
mod mark;
mod mpls;
mod null;
mod offload;
mod options;
mod packet;
mod ppp;
mod reassemble;
mod receive;
mod receive_icmp;
mod rest;
mod sll;
mod tcp;
mod tunnel;
mod udp;

pub use caqm::{CAQM_ETHERTYPE, CaqmEtherTypeError, CaqmInfo, CaqmUnits, caqm_ethertype};
pub use checksum::Sum;
pub use edit::set_tcp;
pub use frame::{Config, NotTcp, Parsed, parse_frame};
pub use icmp::IcmpError;
pub use link::LinkType;
pub use mark::{mark_ce, mark_ce_ip, set_traffic_class, wash};
pub use offload::{Joiner, OffloadError, Segments, SuperFrame, VnetHeader};
pub use options::{FastOpen, SackBlocks, TcpOptions};
pub use packet::{Encap, Endpoint, MAX_PAYLOAD, Standing, TcpFlags, TcpPacket};
pub use reassemble::Reassembler;
pub use receive::{Arrival, Received, Receiver, Refused, receive, receive_any};
pub use receive_icmp::Quotation;
