//! Queueing disciplines, with tc's words as settings and tc's statistics. Level 2 of the map.
//!
//! A [`Qdisc`] holds packets of any kind that says of itself what a discipline asks for ([`Packet`]):
//! segments in the simulator, Ethernet frames on a live link. It opens nothing and knows no clock:
//! packets are pushed in with [`Qdisc::enqueue`] and taken out with [`Qdisc::dequeue`].

pub mod ack_filter;
mod count;
mod frame;
pub mod kinds;
mod link_layer;
mod packet;
mod peek;
mod psched;
mod qdisc;
mod report;
mod settings;
mod stats;
mod store;
mod super_frame;
mod timed;
pub mod words;

pub use count::QdiscCount;
pub use frame::Frame;
pub use kinds::netem::distribution_table;
pub use kinds::{KINDS, Kind, words_of};
pub use link_layer::LinkLayer;
pub use packet::{FlowKeys, Packet};
pub use qdisc::{Dequeued, Device, Qdisc};
pub use settings::Settings;
pub use stats::{
    CakeStats, CaqmStats, CodelStats, FqCodelStats, FqStats, HtbStats, NetemStats, RedStats, Stats,
    TinStats, Xstats,
};
