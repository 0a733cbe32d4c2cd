//! Queueing disciplines, with tc's words as settings and tc's statistics. Level 2 of the map.
//!
//! [`Settings`] are read from tc's words; they make a queue here, and the bytes that a kernel is told ([`Kind::messages`]).
//! Each kind has one room in `kinds/`, and [`QdiscCount`] is what it counted, here or in a kernel.
//!
//! A [`Qdisc`] holds packets of any kind that says of itself what a discipline asks for ([`Packet`]):
//! segments in the simulator, Ethernet frames on a live link. It opens nothing and knows no clock:
//! packets are pushed in with [`Qdisc::enqueue`] and taken out with [`Qdisc::dequeue`].

pub mod ack_filter;
mod count;
mod damage;
mod discipline;
mod frame;
mod kinds;
mod link_layer;
pub mod netlink;
mod packet;
mod peek;
mod psched;
mod qdisc;
mod settings;
mod stats;
mod store;
mod super_frame;
mod timed;
pub mod words;

pub use count::{COUNTERS, QdiscCount, xstats};
pub use damage::damage;
pub use discipline::Named;
pub use frame::Frame;
pub use kinds::{
    AckFilter, CHILDREN, Framing, KINDS, Kind, ONLY_KERNEL, SUPPORTED, examples, htb, netem,
    words_of,
};
pub use packet::{FlowKeys, Packet};
pub use qdisc::{Dequeued, Device, Qdisc};
pub use settings::Settings;
pub use stats::Stats;
