//! Options of a socket, and what the handshake agreed on.

use bitflags::bitflags;
use tcplab_plan::point::SocketOptions;

use crate::pack::{packed, packed_flags};

/// Options that calls set (setsockopt(2)), as the endpoint uses them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SocketState {
    pub(crate) nonagle: Nagle,
    pub(crate) rcvlowat: u32,
    /// TCP_USER_TIMEOUT in milliseconds; 0: off.
    pub(crate) user_timeout: u32,
    /// TCP_MAXSEG; 0: none.
    pub(crate) user_mss: u16,
    pub(crate) notsent_lowat: u32,
    /// SO_KEEPALIVE.
    pub(crate) keepalive: bool,
    /// TCP_KEEPIDLE, TCP_KEEPINTVL in jiffies; 0: the sysctl's.
    pub(crate) keepalive_time: u32,
    pub(crate) keepalive_intvl: u32,
    pub(crate) keepalive_probes: u8,
    /// SO_LINGER: none, or seconds.
    pub(crate) linger: Option<u32>,
    /// TCP_LINGER2 in jiffies; negative: none.
    pub(crate) linger2: i32,
    /// TCP_SYNCNT; 0: the sysctl's.
    pub(crate) syn_retries: u8,
    /// TCP_THIN_LINEAR_TIMEOUTS.
    pub(crate) thin_lto: bool,
    /// IP_TOS.
    pub(crate) tos: u8,
}

packed!(SocketState {
    nonagle,
    rcvlowat,
    user_timeout,
    user_mss,
    notsent_lowat,
    keepalive,
    keepalive_time,
    keepalive_intvl,
    keepalive_probes,
    linger,
    linger2,
    syn_retries,
    thin_lto,
    tos,
});

bitflags! {
    /// Settings of Nagle's rule (`TCP_NAGLE_*`).
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub(crate) struct Nagle: u8 {
        /// TCP_NODELAY.
        const OFF = 1;
        /// TCP_CORK.
        const CORK = 2;
        /// Push what is queued in spite of Nagle's rule.
        const PUSH = 4;
    }
}

packed_flags!(Nagle);

/// What the handshake agreed on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Negotiated {
    pub(crate) sack_ok: bool,
    pub(crate) tstamp_ok: bool,
    pub(crate) wscale_ok: bool,
    pub(crate) ecn_flags: Ecn,
    /// `ts_recent`, and the second in which it was set.
    pub(crate) ts_recent: u32,
    pub(crate) ts_recent_stamp: u32,
    /// Offset of our TSval to the host's millisecond clock.
    pub(crate) tsoffset: u32,
    /// Echo in the segment that is handled now.
    pub(crate) rcv_tsval: u32,
    pub(crate) rcv_tsecr: u32,
    pub(crate) saw_tstamp: bool,
    pub(crate) fast_open: FastOpenState,
}

packed!(Negotiated {
    sack_ok,
    tstamp_ok,
    wscale_ok,
    ecn_flags,
    ts_recent,
    ts_recent_stamp,
    tsoffset,
    rcv_tsval,
    rcv_tsecr,
    saw_tstamp,
    fast_open,
});

bitflags! {
    /// ECN's state (`TCP_ECN_*`), and CAQM's.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub(crate) struct Ecn: u8 {
        const OK = 1;
        const QUEUE_CWR = 2;
        const DEMAND_CWR = 4;
        const SEEN = 8;
        /// The server speaks CAQM.
        const CAQM_SRV = 16;
        /// The client does.
        const CAQM_CLI = 32;
    }
}

packed_flags!(Ecn);

bitflags! {
    /// What a connection has of Fast Open.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub(crate) struct FastOpenState: u16 {
        /// `syn_data`: the SYN had data.
        const SYN_DATA = 1;
        /// `syn_fastopen`: it had the option; `syn_fastopen_exp`: of the experimental kind.
        const OPTION = 2;
        const EXPERIMENTAL = 4;
        /// `syn_fastopen_ch`: the first try after a black hole.
        const TRIES_AGAIN = 8;
        /// `syn_data_acked`: the SYN-ACK took the data, or ours did.
        const DATA_ACKED = 16;
        /// `defer_connect`: connect(2) has returned, the SYN waits for data.
        const DEFERRED = 32;
        /// TCP_FASTOPEN_NO_COOKIE, TCP_FASTOPEN_CONNECT.
        const NO_COOKIE = 64;
        const CONNECT = 128;
        /// `sk_write_pending`: a writer waits for the connection.
        const WRITER = 256;
        /// A server's connection that was made from a SYN.
        const CHILD = 512;
        /// [`Failure`] (`fastopen_client_fail`).
        const FAILURE = 3 << 14;
    }
}

packed_flags!(FastOpenState);

/// Why Fast Open was not used, or did not work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    CookieUnavailable = 1,
    DataNotAcked = 2,
    SynRetransmitted = 3,
}

impl FastOpenState {
    /// `tcpi_fastopen_client_fail`.
    pub(crate) fn failure(self) -> u8 {
        (self.bits() >> Self::FAILURE.bits().trailing_zeros()) as u8
    }

    pub(crate) fn set_failure(&mut self, why: Failure) {
        let why = (why as u16) << Self::FAILURE.bits().trailing_zeros();
        *self = self.difference(Self::FAILURE) | Self::from_bits_retain(why);
    }

    /// What `tcp_disconnect()` clears; options of the socket stay.
    pub(crate) fn forget(&mut self) {
        *self &= Self::NO_COOKIE | Self::CONNECT | Self::CHILD;
    }
}

/// What a socket is opened with: the plan's options are applied as setsockopt(2) would.
pub type OpenOptions = SocketOptions;
