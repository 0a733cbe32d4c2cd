//! Workloads between two processes of this machine, as netperf(1) and lmbench run them: streams, transactions,
//! connections, over TCP, UDP, AF_UNIX and pipes.
//!
//! [`run`] makes the wire between the ends ([`wire`]). It starts this executable twice as an *end*, with its
//! descriptors at 0 and 1, and reads the result of each. An end works in a loop without a clock: a thread with a
//! descriptor table of its own tells it when its time begins and ends ([`phase`]).

mod capture;
mod command;
mod connect;
mod drag;
mod end;
mod errands;
mod far;
mod hosts;
mod measure;
mod phase;
mod place;
mod request;
mod room;
mod stream;
mod udp;
mod wire;
mod workload;

pub use command::{Shell, Took, command};
pub use end::end;
pub use errands::ERRANDS;
pub use hosts::Hosts;
pub use measure::{EndReport, Machine, Measured, Side, run};
pub use place::Place;
pub use workload::{Over, Work, Workload};

use serde::{Deserialize, Serialize};
use tcplab_base::Duration;

/// What one run of a workload is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// What it does.
    pub workload: Workload,
    /// Nanoseconds that pass before it counts.
    pub warm_ns: i64,
    /// Nanoseconds in which it counts.
    pub time_ns: i64,
    /// Processors of the client and of the server; none: where the kernel puts them.
    pub cpus: [Option<usize>; 2],
    /// TCP_CONGESTION; none: the kernel's.
    pub congestion: Option<String>,
    /// Per cent of its time that goes to nothing: a slowdown that is planted, to see whether it is found. The client's of a
    /// transaction, both ends' of a stream.
    pub slowed_percent: u32,
}

impl Spec {
    /// How long it takes in all.
    pub fn lasts(&self) -> Duration {
        Duration::from_nanos(self.warm_ns + self.time_ns)
    }
}
