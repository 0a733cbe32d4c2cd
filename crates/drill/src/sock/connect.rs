//! connect(2) (Linux `__inet_stream_connect()`, `tcp_disconnect()`).

use tcplab_tcp::State;

use super::call::Begun;
use super::fds::{Kind, Phase};
use super::numbers::errno::{
    EADDRINUSE, EADDRNOTAVAIL, EALREADY, ECONNABORTED, EINPROGRESS, EINVAL, EISCONN,
};
use super::options::errno_of;
use super::pending::{Pending, Progress};
use super::{LOCAL, Model};
use crate::call::{Fd, Outcome, SendTo};
use crate::target::TargetError;

impl Model {
    pub(super) fn connect(&mut self, fd: Fd, to: SendTo) -> Result<Begun, TargetError> {
        let deferred = self.is_deferred(fd);
        let Some(socket) = self.files.socket(fd) else {
            return Ok(Err(self.no_socket(fd)));
        };
        if matches!(socket.kind, Kind::Udp(_)) {
            return Ok(Err(self.udp_connect(fd, to)));
        }
        let SendTo::Addr(addr) = to else {
            return Ok(Err(self.disconnect(fd)));
        };
        let (phase, nonblock) = (socket.phase, socket.nonblock);
        let errno = match (phase, &socket.kind) {
            (Phase::Connected, _) | (_, Kind::Listener(_)) => {
                return Ok(Err(Outcome::failed(EISCONN)));
            }
            (Phase::Connecting, _) if deferred => EISCONN,
            (Phase::Connecting, _) => EALREADY,
            (Phase::Unconnected, _) => {
                if let Err(errno) = self.open(fd, addr, false) {
                    return Ok(Err(Outcome::failed(errno)));
                }
                if self.is_deferred(fd) {
                    return Ok(Err(Outcome::ok(0)));
                }
                EINPROGRESS
            }
        };
        if nonblock && self.is_opening(fd) {
            return Ok(Err(Outcome::failed(errno)));
        }
        Ok(Ok(Pending::Connect { fd }))
    }

    /// Whether the handshake goes on.
    pub(super) fn is_opening(&mut self, fd: Fd) -> bool {
        let state = self.with(fd, |ep, _| ep.state());
        matches!(state, Some(State::SynSent | State::SynRecv))
    }

    /// The SYN leaves; `waits`: with data, later.
    pub(super) fn open(
        &mut self,
        fd: Fd,
        addr: std::net::SocketAddr,
        waits: bool,
    ) -> Result<(), i32> {
        let remote = self.addr(addr);
        let mtu = self.network.mtu;
        let fresh = self.fresh();
        let Some(socket) = self.files.socket_mut(fd) else {
            return Err(EINVAL);
        };
        let mut local = socket.bound.unwrap_or_default();
        if local.host != LOCAL && socket.bound.is_none() {
            local.host = LOCAL;
        }
        let Kind::Fresh(endpoint) = &mut socket.kind else {
            return Err(EISCONN);
        };
        let own = std::mem::replace(endpoint, fresh);
        let kept = own.clone();
        let (stack, now) = (&mut self.stack, self.now);
        let opened = match waits {
            true => stack.connect_deferred(now, *own, local, remote, mtu),
            false => stack.connect_socket(now, *own, local, remote, mtu),
        };
        match opened {
            Ok((id, _)) => {
                socket.kind = Kind::Conn(id);
                socket.phase = Phase::Connecting;
                Ok(())
            }
            Err(_) => {
                *endpoint = kept;
                Err(if local.port == 0 {
                    EADDRNOTAVAIL
                } else {
                    EADDRINUSE
                })
            }
        }
    }

    /// Whether the handshake is over, and how.
    pub(super) fn connect_step(&mut self, fd: Fd, late: bool) -> Progress {
        let state = self.with(fd, |ep, _| ep.state());
        match state {
            Some(State::SynSent | State::SynRecv) if late => Progress::failed(EINPROGRESS),
            Some(State::SynSent | State::SynRecv) => Progress::Wait,
            Some(State::Close) | None => {
                let error = self.with(fd, |ep, _| ep.take_error()).flatten();
                self.renew(fd);
                Progress::failed(error.map_or(ECONNABORTED, errno_of))
            }
            Some(_) => {
                if let Some(socket) = self.files.socket_mut(fd) {
                    socket.phase = Phase::Connected;
                }
                Progress::ok(0)
            }
        }
    }

    /// connect(2) with AF_UNSPEC: the connection ends, the socket can be used again.
    fn disconnect(&mut self, fd: Fd) -> Outcome {
        if let Some(id) = self.listener(fd) {
            self.stack.close_listener(self.now, id);
        } else {
            self.with(fd, |ep, cx| ep.abort(cx));
        }
        self.renew(fd);
        Outcome::ok(0)
    }

    /// The socket is one that was never connected again; it keeps its options.
    pub(super) fn renew(&mut self, fd: Fd) {
        let mut fresh = self.fresh();
        let old = self.with(fd, |ep, _| ep.clone());
        let Some(socket) = self.files.socket_mut(fd) else {
            return;
        };
        if let Some(old) = &old {
            self.stack
                .with_socket(self.now, &mut fresh, |ep, cx| ep.keep_options(cx, old));
        }
        let before = std::mem::replace(&mut socket.kind, Kind::Fresh(fresh));
        socket.phase = Phase::Unconnected;
        if let Kind::Conn(id) = before {
            self.stack.close(self.now, id);
        }
    }
}
