//! connect(2) (Linux `__inet_stream_connect()`, `tcp_disconnect()`).

use tcplab_tcp::State;

use super::call::{Answer, failed, over};
use super::fds::{Kind, Phase};
use super::numbers::errno::{
    EADDRINUSE, EADDRNOTAVAIL, EALREADY, ECONNABORTED, EINPROGRESS, EINVAL, EISCONN,
};
use super::options::errno_of;
use super::pending::{Pending, Progress};
use super::{LOCAL, Model};
use crate::call::{Fd, Outcome, SendTo};

impl Model {
    pub(super) fn connect(&mut self, fd: Fd, to: SendTo) -> Answer<Pending> {
        let deferred = self.waits_for_data(fd);
        let socket = self.need_socket(fd)?;
        if matches!(socket.kind, Kind::Udp(_)) {
            return over(self.udp_connect(fd, to));
        }
        let SendTo::Addr(addr) = to else {
            return over(self.disconnect(fd));
        };
        let (phase, nonblock) = (socket.phase, socket.nonblock);
        let errno = match (phase, &socket.kind) {
            (Phase::Connected, _) | (_, Kind::Listener(_)) => return failed(EISCONN),
            (Phase::Connecting, _) if deferred => EISCONN,
            (Phase::Connecting, _) => EALREADY,
            (Phase::Unconnected, _) => {
                self.open(fd, addr, false)?;
                if self.waits_for_data(fd) {
                    return over(Outcome::ok(0));
                }
                EINPROGRESS
            }
        };
        if nonblock && self.opens(fd) {
            return failed(errno);
        }
        Ok(Pending::Connect { fd })
    }

    /// Whether the handshake goes on.
    pub(super) fn opens(&mut self, fd: Fd) -> bool {
        let state = self.with(fd, |ep, _| ep.state());
        matches!(state, Some(State::SynSent | State::SynRecv))
    }

    /// The SYN leaves; `waits`: with data, later.
    pub(super) fn open(&mut self, fd: Fd, addr: std::net::SocketAddr, waits: bool) -> Answer<()> {
        let remote = self.addr(addr);
        let mtu = self.network.mtu;
        let fresh = self.fresh();
        let Some(socket) = self.files.socket_mut(fd) else {
            return failed(EINVAL);
        };
        let mut local = socket.bound.unwrap_or_default();
        if local.host != LOCAL && socket.bound.is_none() {
            local.host = LOCAL;
        }
        let Kind::Fresh(endpoint) = &mut socket.kind else {
            return failed(EISCONN);
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
                failed(match local.port {
                    0 => EADDRNOTAVAIL,
                    _ => EADDRINUSE,
                })
            }
        }
    }

    /// Whether the handshake is over; the errno if the connection failed.
    pub(super) fn handshake(&mut self, fd: Fd) -> Result<bool, i32> {
        match self.with(fd, |ep, _| ep.state()) {
            Some(State::SynSent | State::SynRecv) => Ok(false),
            Some(State::Close) | None => {
                let error = self.with(fd, |ep, _| ep.take_error()).flatten();
                self.renew(fd);
                Err(error.map_or(ECONNABORTED, errno_of))
            }
            Some(_) => {
                self.connected(fd);
                Ok(true)
            }
        }
    }

    pub(super) fn connected(&mut self, fd: Fd) {
        if let Some(socket) = self.files.socket_mut(fd) {
            socket.phase = Phase::Connected;
        }
    }

    /// One step of connect(2).
    pub(super) fn connect_step(&mut self, fd: Fd, late: bool) -> Progress {
        match self.handshake(fd) {
            Ok(true) => Progress::ok(0),
            Ok(false) if late => Progress::failed(EINPROGRESS),
            Ok(false) => Progress::Wait,
            Err(errno) => Progress::failed(errno),
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
