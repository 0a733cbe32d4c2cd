//! Queueing disciplines, with tc's words as settings and tc's statistics. Level 2 of the map.
//!
//! A [`Qdisc`] holds packets of any kind that says of itself what a discipline asks for ([`Packet`]):
//! segments in the simulator, Ethernet frames on a live link. It opens nothing and knows no clock:
//! packets are pushed in with [`Qdisc::enqueue`] and taken out with [`Qdisc::dequeue`].

pub mod ack_filter;
mod cake;
mod caqm;
mod codel;
mod fifo;
mod fq;
mod frame;
mod htb;
mod netem;
mod packet;
mod peek;
mod prio;
mod psched;
mod qdisc;
mod red;
mod report;
mod stats;
mod store;
mod super_frame;
mod tbf;
mod timed;

pub use frame::Frame;
pub use netem::distribution_table;
pub use packet::{FlowKeys, Packet};
pub use qdisc::{Dequeued, Device, Qdisc};
pub use stats::{
    CakeStats, CaqmStats, CodelStats, FqCodelStats, FqStats, HtbStats, NetemStats, RedStats, Stats,
    TinStats, Xstats,
};
