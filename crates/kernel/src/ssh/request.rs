//! Requests to a far side, and its answers. [`super::answer`] does the work.

use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Facts, Half, Ran};

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
    /// Something that a crate above knows how to do ([`super::Errand`]): its own notes, then [`Reply::Found`].
    Errand {
        /// Which one.
        name: String,
        /// What is asked for.
        task: Value,
    },
    /// Runs one host of a point: a note [`Reply::Ready`], then it waits for [`super::Pending::go`]; notes
    /// [`Reply::Over`] and [`Reply::File`]; it ends when it is stopped, with [`Reply::Ran`].
    Run(Box<Half>),
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
    /// What an errand found.
    Found(Value),
    /// Servers listen.
    Ready,
    /// Clients have ended.
    Over,
    /// A piece of the file of this name lies beside; pieces come in their order.
    File(String),
    /// What a half of a run found.
    Ran(Box<Ran>),
    /// That is all.
    Nothing,
}
