//! What the owner of an endpoint calls: open, segments, timers, and the socket calls.

use tcplab_base::{Instant, Seq};

use super::{Endpoint, State, TimeWaitNeeds};
use crate::cx::Cx;
use crate::options::OpenOptions;
use crate::segment::Addr;

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
}

impl SocketError {
    /// The errno's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Again => "EAGAIN",
            Self::Pipe => "EPIPE",
            Self::ConnReset => "ECONNRESET",
            Self::ConnRefused => "ECONNREFUSED",
            Self::TimedOut => "ETIMEDOUT",
            Self::NotConnected => "ENOTCONN",
            Self::HostUnreach => "EHOSTUNREACH",
            Self::Invalid => "EINVAL",
            Self::ConnAborted => "ECONNABORTED",
            Self::MessageSize => "EMSGSIZE",
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
    /// Opens a connection: the SYN goes out at once (RFC 9293 3.10.1; Linux `tcp_v4_connect()`). `mtu` is that of
    /// the route, `isn` and `tsoffset` come from the stack's secret.
    pub(crate) fn connect(
        _cx: &mut Cx<'_>,
        _ends: (Addr, Addr),
        _open: &OpenOptions,
        _mtu: u32,
        _isn: Seq,
        _tsoffset: u32,
    ) -> Self {
        Self::default()
    }

    /// Sends a queued SYN, or the SYN-ACK of crossed SYNs, once.
    pub(crate) fn transmit_syn(&mut self, _cx: &mut Cx<'_>, _id: crate::queue::Id) {}

    /// Closes the sending direction (shutdown(2) with SHUT_WR).
    pub fn shutdown_write(&mut self, _cx: &mut Cx<'_>) -> Result<(), SocketError> {
        Ok(())
    }

    /// close(2): with unread data a reset, else a FIN after what is queued; SO_LINGER counts.
    pub fn close(&mut self, _cx: &mut Cx<'_>) {}

    /// A timer is due ([`Endpoint::next_timer`]): runs each one whose time has come.
    pub fn on_timer(&mut self, _cx: &mut Cx<'_>) {}

    /// Ends the connection at once with this error; `reset`: tell the peer (`tcp_reset()`, `tcp_write_err()`).
    pub(crate) fn fail(&mut self, _cx: &mut Cx<'_>, _error: SocketError, _reset: bool) {}

    /// `tcp_done()`: the state becomes CLOSE, all timers are off, queues are dropped.
    pub(crate) fn done(&mut self, _cx: &mut Cx<'_>) {}

    /// Moves to `state` and keeps TcpCurrEstab, TcpEstabResets (`tcp_set_state()`).
    pub(crate) fn set_state(&mut self, _cx: &mut Cx<'_>, state: State) {
        self.state = state;
    }

    /// The keepalive timer: keepalive, FIN-WAIT-2 (`tcp_keepalive_timer()`).
    pub(crate) fn on_keepalive_timer(&mut self, _cx: &mut Cx<'_>) {}

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

    /// What a TIME-WAIT record must take over; the endpoint is closed then.
    pub fn time_wait(&self) -> Option<TimeWaitNeeds> {
        self.time_wait
    }
}
