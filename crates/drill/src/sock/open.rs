//! socket(2), bind(2), listen(2), ioctl(2).

use std::net::{IpAddr, SocketAddr};

use tcplab_tcp::{Addr, Endpoint, ListenId, State};

use super::call::{Answer, cannot, failed};
use super::fds::{File, Kind, Phase, Socket};
use super::numbers::errno::{
    EADDRINUSE, EADDRNOTAVAIL, EAFNOSUPPORT, EBADF, EINVAL, EPROTONOSUPPORT, ESOCKTNOSUPPORT,
};
use super::numbers::{
    AF_INET, AF_INET6, IPPROTO_TCP, IPPROTO_UDP, SIOCATMARK, SIOCINQ, SIOCOUTQ, SIOCOUTQNSD,
    SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK, SOCK_RAW, SOCK_STREAM, SOL_IP, SOL_IPV6, ip,
};
use super::udp::{FIRST_OWN_PORT, Udp};
use super::{LOCAL, Model};
use crate::call::{Fd, Outcome, Output};

/// EMFILE.
const EMFILE: i32 = 24;

impl Model {
    pub(super) fn socket(&mut self, domain: i32, kind: i32, protocol: i32) -> Answer<Outcome> {
        if !matches!(domain, AF_INET | AF_INET6) {
            return failed(EAFNOSUPPORT);
        }
        let file = match kind & 0xf {
            SOCK_STREAM if matches!(protocol, 0 | IPPROTO_TCP) => Kind::Fresh(self.fresh()),
            SOCK_STREAM => return failed(EPROTONOSUPPORT),
            SOCK_DGRAM if matches!(protocol, 0 | IPPROTO_UDP) => Kind::Udp(Udp::default()),
            SOCK_DGRAM => return failed(EPROTONOSUPPORT),
            SOCK_RAW => return cannot("the model has no raw sockets"),
            _ => return failed(ESOCKTNOSUPPORT),
        };
        let mut socket = Socket::new(file, domain, self.files.serial());
        socket.nonblock = kind & SOCK_NONBLOCK != 0;
        let outcome = self.add(File::Socket(Box::new(socket)));
        if outcome.errno == 0 {
            (self.files).set_cloexec(outcome.result as Fd, kind & SOCK_CLOEXEC != 0);
        }
        Ok(outcome)
    }

    /// A new TCP socket.
    pub(super) fn fresh(&mut self) -> Box<Endpoint> {
        Box::new(self.stack.socket(self.now, LOCAL, &Default::default()))
    }

    /// The descriptor of a new file.
    pub(super) fn add(&mut self, file: File) -> Outcome {
        match self.files.add(file) {
            Some(fd) => Outcome::ok(i64::from(fd)),
            None => Outcome::failed(EMFILE),
        }
    }

    pub(super) fn bind(&mut self, fd: Fd, addr: SocketAddr) -> Answer<Outcome> {
        let socket = self.need_socket(fd)?;
        let plain = &socket.plain;
        let is_set = |level, name| plain.noted.get(&(level, name)).is_some_and(|&v| v != 0);
        let anywhere = is_set(SOL_IP, ip::FREEBIND)
            || is_set(SOL_IP, ip::TRANSPARENT)
            || is_set(SOL_IPV6, ip::V6_FREEBIND)
            || is_set(SOL_IPV6, ip::V6_TRANSPARENT);
        let ip = addr.ip().to_canonical();
        let is_own = ip.is_unspecified() || ip.is_loopback() || Some(ip) == self.hosts.ip(LOCAL);
        if socket.bound.is_some() {
            return failed(EINVAL);
        }
        if !is_own && !anywhere {
            return failed(EADDRNOTAVAIL);
        }
        if matches!(ip, IpAddr::V4(_)) && addr.is_ipv6() != addr.ip().is_ipv6() {
            return failed(EAFNOSUPPORT);
        }
        let host = match is_own {
            true => LOCAL,
            false => self.hosts.number(ip),
        };
        let bound = Addr {
            host,
            port: addr.port(),
        };
        if bound.port != 0 && self.listens(bound).is_some() {
            return failed(EADDRINUSE);
        }
        if let Some(socket) = self.files.socket_mut(fd) {
            socket.bound = Some(bound);
        }
        Ok(Outcome::ok(0))
    }

    /// A port that no socket has (`inet_csk_get_port()`, which draws it at random).
    fn free_port(&mut self) -> u16 {
        let bound = self
            .files
            .sockets_mut()
            .filter_map(|(_, socket)| socket.bound);
        let used: Vec<u16> = bound.map(|own| own.port).collect();
        let free = (FIRST_OWN_PORT..).find(|port| !used.contains(port));
        free.unwrap_or(FIRST_OWN_PORT)
    }

    /// Whoever listens at an address.
    fn listens(&mut self, addr: Addr) -> Option<Fd> {
        self.files.sockets_mut().find_map(|(fd, socket)| {
            let is_it = matches!(socket.kind, Kind::Listener(_)) && socket.bound == Some(addr);
            is_it.then_some(fd)
        })
    }

    pub(super) fn listen(&mut self, fd: Fd, backlog: i32) -> Answer<Outcome> {
        self.tcp_socket(fd)?;
        let backlog = u32::try_from(backlog).unwrap_or(u32::MAX);
        let mtu = self.network.mtu;
        let fresh = self.fresh();
        let own_port = self.free_port();
        let Some(socket) = self.files.socket_mut(fd) else {
            return failed(EBADF);
        };
        match &mut socket.kind {
            Kind::Listener(id) => {
                let id = *id;
                self.stack.set_backlog(id, backlog);
            }
            Kind::Fresh(endpoint) if socket.phase == Phase::Unconnected => {
                let mut addr = socket.bound.unwrap_or_default();
                if addr.port == 0 {
                    addr.port = own_port;
                    socket.bound = Some(addr);
                }
                let own = std::mem::replace(endpoint, fresh);
                let defer = socket.plain.defer_accept;
                let id = self.stack.listen_socket(addr, *own, backlog, mtu);
                socket.kind = Kind::Listener(id);
                self.stack.defer_accept(id, defer);
                self.fast_open_listens(fd);
            }
            Kind::Fresh(_) | Kind::Conn(_) | Kind::Udp(_) => return failed(EINVAL),
        }
        Ok(Outcome::ok(0))
    }

    /// The listener of a descriptor.
    pub(super) fn listener(&self, fd: Fd) -> Option<ListenId> {
        match self.files.socket(fd)?.kind {
            Kind::Listener(id) => Some(id),
            _ => None,
        }
    }

    pub(super) fn ioctl(&mut self, fd: Fd, request: u64) -> Answer<Outcome> {
        if self.udp(fd).is_some() {
            return self.udp_ioctl(fd, request);
        }
        self.tcp_socket(fd)?;
        if self.listener(fd).is_some() {
            return failed(EINVAL);
        }
        let value = self.with(fd, |ep, _| {
            let (una, next, written) = ep.send_space();
            let opening = matches!(ep.state(), State::SynSent | State::SynRecv);
            Some(match request {
                SIOCINQ | SIOCOUTQ | SIOCOUTQNSD if opening => 0,
                SIOCINQ => ep.readable_bytes() as i64,
                SIOCOUTQ => i64::from(written - una),
                SIOCOUTQNSD => i64::from(written - next),
                SIOCATMARK => i64::from(ep.at_mark()),
                _ => return None,
            })
        });
        match value {
            Some(Some(value)) => Ok(Outcome::gave(0, Output::Int(value))),
            Some(None) => cannot(&format!("the model has no ioctl {request:#x}")),
            None => failed(EINVAL),
        }
    }
}
