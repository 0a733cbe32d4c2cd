//! What the owner of an endpoint calls: open, segments, timers, and the socket calls.

use tcplab_base::{Errno, Instant, Seq};

use super::{Endpoint, State};
use crate::cx::Cx;
use crate::options::OpenOptions;
use crate::segment::Addr;
use crate::timers::{NEVER, Which};

/// An error of a socket call, by its errno name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum SocketError {
    Again,
    Pipe,
    ConnReset,
    ConnRefused,
    TimedOut,
    NotConnected,
    HostUnreach,
    Invalid,
    ConnAborted,
    MessageSize,
    NetUnreach,
    NoProtocol,
    HostDown,
    NoNetwork,
    NotSupported,
    Protocol,
    Access,
}

impl SocketError {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::Again,
        Self::Pipe,
        Self::ConnReset,
        Self::ConnRefused,
        Self::TimedOut,
        Self::NotConnected,
        Self::HostUnreach,
        Self::Invalid,
        Self::ConnAborted,
        Self::MessageSize,
        Self::NetUnreach,
        Self::NoProtocol,
        Self::HostDown,
        Self::NoNetwork,
        Self::NotSupported,
        Self::Protocol,
        Self::Access,
    ];

    /// Its number.
    pub fn errno(self) -> Errno {
        match self {
            Self::Again => Errno::EAGAIN,
            Self::Pipe => Errno::EPIPE,
            Self::ConnReset => Errno::ECONNRESET,
            Self::ConnRefused => Errno::ECONNREFUSED,
            Self::TimedOut => Errno::ETIMEDOUT,
            Self::NotConnected => Errno::ENOTCONN,
            Self::HostUnreach => Errno::EHOSTUNREACH,
            Self::Invalid => Errno::EINVAL,
            Self::ConnAborted => Errno::ECONNABORTED,
            Self::MessageSize => Errno::EMSGSIZE,
            Self::NetUnreach => Errno::ENETUNREACH,
            Self::NoProtocol => Errno::ENOPROTOOPT,
            Self::HostDown => Errno::EHOSTDOWN,
            Self::NoNetwork => Errno::ENONET,
            Self::NotSupported => Errno::EOPNOTSUPP,
            Self::Protocol => Errno::EPROTO,
            Self::Access => Errno::EACCES,
        }
    }
}

/// Why a connection cannot be opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenError(pub String);

/// What a read got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadOutcome {
    /// This many bytes, at least one.
    Got(u64),
    /// Nothing now.
    Again,
    /// The peer's FIN: nothing more will come.
    End,
    /// An error.
    Failed(SocketError),
}

impl Endpoint {
    /// Opens the connection of a new socket: the SYN goes out at once (RFC 9293 3.10.1; Linux `tcp_v4_connect()`).
    /// `mtu` is the route's; `isn` and `tsoffset` come from the stack's secret.
    pub(crate) fn begin(
        &mut self,
        cx: &mut Cx<'_>,
        open: &OpenOptions,
        mtu: u32,
        isn: Seq,
        tsoffset: u32,
    ) {
        self.snd.write_seq = isn;
        self.snd.iss = isn;
        self.neg.tsoffset = tsoffset;
        self.set_state(cx, State::SynSent);
        let name = Self::wanted_cc(cx, open).to_owned();
        self.cc_init(cx, &name);
        let fast = self.fast_open_connect();
        if self.is_deferred() || self.may_defer(cx) {
            self.defer(mtu);
            return;
        }
        self.connect_init(cx, mtu);
        match fast {
            true => drop(self.send_fast_syn(cx, None)),
            false => self.send_syn(cx),
        }
    }

    /// A timer is due ([`Endpoint::next_timer`]): runs each one whose time has come, the earliest first.
    pub fn on_timer(&mut self, cx: &mut Cx<'_>) {
        // A timer may arm another one for now (a pacing timer that is late); none does so without end.
        const MOST: u32 = 64;
        for _ in 0..MOST {
            let t = &mut self.timers;
            let Some(at) = t.next().filter(|&at| at <= cx.now) else {
                return;
            };
            let Some((which, order)) = t.first_at(at) else {
                return;
            };
            if order > 0 {
                cx.wheel.runs(cx.jiffies32());
            }
            match which {
                Which::Retransmit => {
                    t.rexmit_at = NEVER;
                    self.on_rexmit_timer(cx);
                }
                Which::DelAck => {
                    t.delack_at = NEVER;
                    self.on_delack_timer(cx);
                }
                Which::CompSack => {
                    t.comp_sack_at = NEVER;
                    self.on_comp_sack_timer(cx);
                }
                Which::Pacing => {
                    t.pacing_at = NEVER;
                    self.on_pacing_timer(cx);
                }
                Which::Keepalive => {
                    t.keepalive_at = NEVER;
                    self.on_keepalive_timer(cx);
                }
            }
        }
    }

    /// The place of the timer that is due at `at` among all of the host's that are.
    pub(crate) fn timer_order(&self, at: Instant) -> u32 {
        self.timers.first_at(at).map_or(0, |(_, order)| order)
    }

    /// `sk_err`: the error that the next call would get, without taking it.
    pub fn pending_error(&self) -> Option<SocketError> {
        self.error
    }

    /// getsockopt(SO_ERROR): gives the error once.
    pub fn take_error(&mut self) -> Option<SocketError> {
        self.error.take().or_else(|| self.error_soft.take())
    }

    /// SO_LINGER: none, or seconds; 0 makes close(2) reset.
    pub fn set_linger(&mut self, seconds: Option<u32>) {
        self.options.linger = seconds;
    }

    /// TCP_LINGER2 in seconds: how long an orphan stays in FIN-WAIT-2; negative: not at all; 0: the sysctl's.
    pub fn set_linger2(&mut self, cx: &Cx<'_>, seconds: i32) {
        let hz = cx.host.clock.hz as i32;
        self.options.linger2 = match seconds {
            ..0 => -1,
            // TCP_FIN_TIMEOUT_MAX: 2 minutes.
            0..=120 => seconds * hz,
            _ => 120 * hz,
        };
    }

    /// TCP_USER_TIMEOUT in milliseconds; 0: off.
    pub fn set_user_timeout(&mut self, ms: u32) {
        self.options.user_timeout = ms;
    }

    /// TCP_SYNCNT.
    pub fn set_syn_count(&mut self, retries: u8) {
        self.options.syn_retries = retries;
    }

    /// Our end.
    pub fn local(&self) -> Addr {
        self.local
    }

    /// The peer's end.
    pub fn remote(&self) -> Addr {
        self.remote
    }

    /// Its state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Over: the owner may forget it.
    pub fn is_closed(&self) -> bool {
        self.state == State::Close
    }

    /// When [`Endpoint::on_timer`] shall be called.
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        self.timers.next()
    }
}
