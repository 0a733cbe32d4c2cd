//! The state of one connection (Linux `struct tcp_sock`), in groups; variables carry the names of
//! RFC 9293 and Linux.
//!
//! Who writes what: `input/` what arrives, `ack/` the receiver's ACKs, `recovery/` the scoreboard and
//! the congestion state, `output/` what leaves, `cc/` the congestion window, `timers.rs` the timers.

mod api;
mod check;
mod close;
mod explain;
mod keepalive;
mod open;
mod receive;
mod send;
mod sockopt;

pub use api::{OpenError, ReadOutcome, SocketError};
pub(crate) use close::TIMEWAIT_S;
pub(crate) use open::{
    Buffers, MSS_DEFAULT, Path, TIMEOUT_INIT_MS, TSTAMP_ALIGNED, mss_clamp_default, window_of,
};
pub(crate) use receive::{AckState, Pending as AckPending, Rcv, RcvQueue, RcvSkb, Urgent};
pub(crate) use send::{Snd, Tune};

use bitflags::bitflags;

use crate::cc::Congestion;
use crate::options::{Negotiated, SocketState};
use crate::output::MtuProbing;
use crate::pack::{packed, packed_enum, packed_flags};
use crate::queue::SendQueue;
use crate::recovery::{Loss, Rack, RecoveryLatency};
use crate::rtt::Rtt;
use crate::segment::Addr;
use crate::stack::Request;
use crate::timers::Timers;

/// The states of RFC 9293 3.3.2 that a connection of its own has. LISTEN, SYN-RECEIVED of a
/// listener's requests and TIME-WAIT are kept by the [`Stack`](crate::Stack) in smaller records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub enum State {
    Established,
    SynSent,
    /// After a simultaneous open, or a child whose handshake is not over (Fast Open).
    SynRecv,
    FinWait1,
    FinWait2,
    /// The stack keeps its record; the endpoint only says so when it is over.
    TimeWait,
    #[default]
    Close,
    CloseWait,
    LastAck,
    Closing,
}

impl Endpoint {
    /// SOCK_DEAD.
    #[inline]
    pub(crate) fn is_orphan(&self) -> bool {
        self.owner == Owner::Nobody
    }
}

impl State {
    /// Both ends know each other's sequence numbers (RFC 9293 3.3.2), and the connection is not over.
    pub(crate) fn is_synchronized(self) -> bool {
        !matches!(
            self,
            Self::SynSent | Self::SynRecv | Self::Close | Self::TimeWait
        )
    }
}

/// One connection's TCP, without input or output: segments, timers and calls go in, segments come
/// out into [`Cx::out`](crate::Cx).
#[derive(Clone, Debug, Default)]
pub struct Endpoint {
    /// Our end.
    pub(crate) local: Addr,
    /// The peer's end.
    pub(crate) remote: Addr,
    pub(crate) state: State,
    pub(crate) shutdown: Shutdown,
    pub(crate) owner: Owner,
    /// `sk_err`: given once to the application.
    pub(crate) error: Option<SocketError>,
    /// `sk_err_soft`: what ICMP said; the error of a timeout.
    pub(crate) error_soft: Option<SocketError>,
    /// What a TIME-WAIT record must take over, to which FIN_WAIT2 or the close handed the rest: this one is closed then.
    pub(crate) time_wait: Option<TimeWaitNeeds>,
    pub(crate) options: SocketState,
    pub(crate) neg: Negotiated,
    pub(crate) snd: Snd,
    pub(crate) queue: SendQueue,
    pub(crate) rcv: Rcv,
    pub(crate) rcvq: RcvQueue,
    pub(crate) ack: AckState,
    pub(crate) rtt: Rtt,
    pub(crate) loss: Loss,
    pub(crate) rack: Rack,
    pub(crate) cc: Congestion,
    pub(crate) tune: Tune,
    pub(crate) timers: Timers,
    pub(crate) stats: Stats,
    /// None: MTU probing is off.
    pub(crate) mtup: Option<Box<MtuProbing>>,
    /// `fastopen_rsk`: the request of a child that a SYN with a cookie made, until the handshake is over.
    pub(crate) request: Option<Box<Request>>,
    /// The recovery that goes on, for its time; none while nothing was sent again.
    pub(crate) latency: Option<Box<RecoveryLatency>>,
}

/// Who has the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Owner {
    /// An application (`sk_socket`).
    #[default]
    Application,
    /// Its listener: it waits for accept(2).
    Listener,
    /// Nobody: the application has closed it (SOCK_DEAD); nobody reads, errors go nowhere.
    Nobody,
}

packed_enum!(Owner {
    Application,
    Listener,
    Nobody,
});

/// What a TIME-WAIT record (`struct tcp_timewait_sock`) must know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeWaitNeeds {
    /// True: the peer's FIN has come (2 MSL); false: FIN-WAIT-2 without an owner.
    pub is_time_wait: bool,
    /// How long, from now, in jiffies.
    pub timeout: u32,
}

bitflags! {
    /// `sk_shutdown`: what shutdown(2) or the peer's FIN ended.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Shutdown: u8 {
        /// `RCV_SHUTDOWN`: nothing more is read.
        const RECEIVE = 1;
        /// `SEND_SHUTDOWN`: nothing more is written.
        const SEND = 2;
    }
}

packed_flags!(Shutdown);

/// Sums for tcp_info.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stats {
    pub(crate) bytes_received: u64,
    pub(crate) bytes_acked: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_retrans: u64,
    pub(crate) segs_in: u32,
    pub(crate) segs_out: u32,
    pub(crate) data_segs_in: u32,
    pub(crate) data_segs_out: u32,
    pub(crate) total_retrans: u32,
    pub(crate) dsack_dups: u32,
    pub(crate) reord_seen: u32,
    pub(crate) rcv_ooopack: u32,
    pub(crate) delivered: u32,
    pub(crate) delivered_ce: u32,
    /// `tsoffset`, `chrono_stat` and the like: when the state of the chronograph began.
    pub(crate) chrono: Chrono,
}

packed!(Stats {
    bytes_received,
    bytes_acked,
    bytes_sent,
    bytes_retrans,
    segs_in,
    segs_out,
    data_segs_in,
    data_segs_out,
    total_retrans,
    dsack_dups,
    reord_seen,
    rcv_ooopack,
    delivered,
    delivered_ce,
    chrono,
});

/// What a sender is (`enum tcp_chrono`); a greater one stands before a smaller one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Busy {
    #[default]
    Not,
    Sends,
    RwndLimited,
    SndbufLimited,
}

packed_enum!(Busy {
    Not,
    Sends,
    RwndLimited,
    SndbufLimited,
});

/// How long a sender was busy, and with what.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chrono {
    pub(crate) kind: Busy,
    pub(crate) start: u32,
    /// Jiffies spent in each but [`Busy::Not`].
    pub(crate) stat: [u32; 3],
}

packed!(Chrono { kind, start, stat });
