//! What can be asked of a far side, and what it answers. [`super::answer`] does the work.

use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

use super::Facts;
use crate::bench::{Side, Spec};

/// A request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// The clock there: [`Reply::Clock`].
    Clock,
    /// Accepts TCP connections at a port that the kernel chooses, until it is stopped: a note
    /// [`Reply::Listening`], at the end [`Reply::Nothing`].
    Listen {
        /// An address of that host.
        address: IpAddr,
    },
    /// Connects, and measures how long that takes: [`Reply::Reached`].
    Reach {
        /// Whom.
        to: SocketAddr,
    },
    /// The server's end of a bench: a note [`Reply::Listening`], at the end [`Reply::Bench`].
    BenchServe {
        /// What is run.
        spec: Spec,
        /// An address of that host.
        address: IpAddr,
    },
    /// The client's end of a bench: [`Reply::Bench`].
    BenchAsk {
        /// What is run.
        spec: Spec,
        /// The server.
        to: SocketAddr,
    },
}

/// An answer, or a part of one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// The first message of a far side.
    Hello(Box<Facts>),
    /// CLOCK_REALTIME in nanoseconds.
    Clock(i64),
    /// The port.
    Listening(u16),
    /// Nanoseconds of the shortest of some handshakes.
    Reached {
        /// From connect(2) to its end.
        handshake_ns: i64,
    },
    /// What an end of a bench found.
    Bench(Box<Side>),
    /// That is all.
    Nothing,
}
