//! Sockets of UDP (RFC 768; Linux `udp_sendmsg()`, `udp_recvmsg()`, `__udp4_lib_err()`): datagrams of zeros, one for each
//! call, lengths and addresses kept.
//!
//! Left out: fragments, the port unreachable of a host on whose port nobody is, UDP_SEGMENT, UDP_CORK, control messages.

use std::collections::VecDeque;

use tcplab_tcp::{Addr, DeviceQueue, Shutdown, SocketError};

use super::call::{Answer, cannot, failed};
use super::fds::{Kind, Phase};
use super::icmp::{Meaning, is_fatal, meaning};
use super::numbers::errno::{EAGAIN, EDESTADDRREQ, EINVAL, EMSGSIZE, ENOBUFS, ENOTCONN, EPIPE};
use super::numbers::{SIOCINQ, SIOCOUTQ, ev, msg};
use super::options::errno_of;
use super::pending::Progress;
use super::recv::Recv;
use super::wire::Icmp;
use super::{LOCAL, Model};
use crate::call::{Fd, Outcome, Output, SendTo};
use crate::packet::{Ip, Layer, Packet, Udp as Header, protocol};
use crate::target::Happening;

/// Bytes of a UDP header.
const HEADER: u32 = 8;
/// The first port that the kernel chooses by itself.
pub(super) const FIRST_OWN_PORT: u16 = 32_768;
/// Datagrams that wait; more are dropped, as by a full receive buffer.
const MOST_WAITING: usize = 256;

/// A UDP socket.
#[derive(Clone, Debug, Default)]
pub(super) struct Udp {
    /// connect(2).
    remote: Option<Addr>,
    /// What arrived: from where, and its length.
    waiting: VecDeque<(Addr, u32)>,
    /// `sk_err`.
    pub(super) error: Option<SocketError>,
    shutdown: Shutdown,
}

impl Udp {
    /// What poll(2) says.
    pub(super) fn mask(&self) -> u32 {
        let mut mask = ev::OUT | ev::WRNORM;
        if !self.waiting.is_empty() || self.shutdown.intersects(Shutdown::RECEIVE) {
            mask |= ev::IN | ev::RDNORM;
        }
        if self.shutdown.intersects(Shutdown::RECEIVE) {
            mask |= ev::RDHUP;
        }
        if self.shutdown.is_all() {
            mask |= ev::HUP;
        }
        if self.error.is_some() {
            mask |= ev::ERR;
        }
        mask
    }
}

impl Model {
    /// The UDP socket of a descriptor.
    pub(super) fn udp(&mut self, fd: Fd) -> Option<&mut Udp> {
        match &mut self.files.socket_mut(fd)?.kind {
            Kind::Udp(udp) => Some(udp),
            _ => None,
        }
    }

    /// connect(2): the only peer; AF_UNSPEC: any peer again.
    pub(super) fn udp_connect(&mut self, fd: Fd, to: SendTo) -> Outcome {
        let remote = match to {
            SendTo::Addr(addr) => Some(self.addr(addr)),
            _ => None,
        };
        self.udp_bind(fd);
        if let Some(udp) = self.udp(fd) {
            udp.remote = remote;
        }
        if let Some(socket) = self.files.socket_mut(fd) {
            socket.phase = match remote {
                Some(_) => Phase::Connected,
                None => Phase::Unconnected,
            };
        }
        Outcome::ok(0)
    }

    /// The socket's own address. An unbound socket gets a free port (`inet_autobind()`; Linux draws it at random).
    fn udp_bind(&mut self, fd: Fd) -> Addr {
        let used: Vec<u16> = (self.files.sockets_mut())
            .filter(|(_, socket)| matches!(socket.kind, Kind::Udp(_)))
            .filter_map(|(_, socket)| socket.bound.map(|addr| addr.port))
            .collect();
        let free = (FIRST_OWN_PORT..).find(|port| !used.contains(port));
        let Some(socket) = self.files.socket_mut(fd) else {
            return Addr::default();
        };
        let mut own = socket.bound.unwrap_or(Addr {
            host: LOCAL,
            port: 0,
        });
        if own.port == 0 {
            own.port = free.unwrap_or(FIRST_OWN_PORT);
        }
        socket.bound = Some(own);
        own
    }

    /// `udp_sendmsg()`: one datagram.
    pub(super) fn udp_send(&mut self, fd: Fd, len: u64, to: SendTo) -> Answer<Outcome> {
        let to = match to {
            SendTo::Addr(addr) => Some(self.addr(addr)),
            _ => None,
        };
        let Some(udp) = self.udp(fd) else {
            return failed(EINVAL);
        };
        if len > 65_535 {
            return failed(EMSGSIZE);
        }
        if udp.shutdown.intersects(Shutdown::SEND) {
            return failed(EPIPE);
        }
        let Some(to) = to.or(udp.remote) else {
            return failed(EDESTADDRREQ);
        };
        if let Some(error) = udp.error.take() {
            return failed(errno_of(error));
        }
        let from = self.udp_bind(fd);
        let (Some(src), Some(dst)) = (self.hosts.ip(from.host), self.hosts.ip(to.host)) else {
            return failed(EINVAL);
        };
        let header_len: u8 = if src.is_ipv4() { 20 } else { 40 };
        let most = if src.is_ipv4() { 65_507 } else { 65_527 };
        if len > most {
            return failed(EMSGSIZE);
        }
        let len = len as u32;
        let total_len = u32::from(header_len) + HEADER + len;
        if total_len > self.network.mtu {
            return cannot(&format!(
                "the model does not fragment datagrams: {total_len} bytes, MTU {}",
                self.network.mtu
            ));
        }
        let ip = Ip {
            src,
            dst,
            header_len,
            total_len,
            tos: self.udp_tos(fd),
            flow_label: 0,
            ttl: self.udp_ttl(fd),
            protocol: protocol::UDP,
        };
        let header = Header {
            src: from.port,
            dst: to.port,
            len: (HEADER + len) as u16,
        };
        let packet = Packet {
            layers: vec![Layer::Ip(ip), Layer::Udp(header)],
            payload_len: len,
            ..Packet::default()
        };
        if self.stack.host.queue == DeviceQueue::Drops {
            return match self
                .files
                .socket(fd)
                .is_some_and(|socket| socket.plain.recverr)
            {
                // udp_send_skb(): only IP_RECVERR wants to hear of it.
                false => Ok(Outcome::ok(i64::from(len))),
                true => failed(ENOBUFS),
            };
        }
        self.happens(Happening::Packet(packet.emit()));
        Ok(Outcome::ok(i64::from(len)))
    }

    /// A datagram arrives: the socket that is connected to its sender, else the one that has the port.
    pub(super) fn on_datagram(&mut self, from: Addr, to: Addr, len: u32) {
        let mut best = None;
        for (fd, socket) in self.files.sockets_mut() {
            let Kind::Udp(udp) = &socket.kind else {
                continue;
            };
            if socket.bound.map(|own| own.port) != Some(to.port) {
                continue;
            }
            match udp.remote {
                Some(remote) if remote == from => best = Some((1, fd)),
                None => best = best.max(Some((0, fd))),
                Some(_) => {}
            }
        }
        let Some((_, fd)) = best.filter(|_| to.host == LOCAL) else {
            return;
        };
        if let Some(udp) = self.udp(fd)
            && udp.waiting.len() < MOST_WAITING
        {
            udp.waiting.push_back((from, len));
            self.wake(fd, ev::IN | ev::RDNORM);
        }
    }

    /// One step of a read: a datagram is taken whole, what has no room is lost.
    pub(super) fn udp_recv_step(&mut self, recv: &Recv, late: bool) -> Progress {
        let (flags, room, is_message) = recv.asks();
        let Some(udp) = self.udp(recv.fd) else {
            return Progress::failed(EINVAL);
        };
        if let Some(error) = udp.error.take() {
            return Progress::failed(errno_of(error));
        }
        let taken = match flags & msg::PEEK != 0 {
            true => udp.waiting.front().copied(),
            false => udp.waiting.pop_front(),
        };
        let Some((from, len)) = taken else {
            // __skb_wait_for_more_packets(): only who would wait is told of the end.
            return match (
                recv.is_nonblock(),
                udp.shutdown.intersects(Shutdown::RECEIVE),
                late,
            ) {
                (true, ..) | (false, false, true) => Progress::failed(EAGAIN),
                (false, true, _) => Progress::ok(0),
                (false, false, false) => Progress::Wait,
            };
        };
        let whole = u64::from(len);
        let mut outcome = Outcome::ok(match flags & msg::TRUNC != 0 {
            true => whole as i64,
            false => whole.min(room) as i64,
        });
        outcome.out = match is_message {
            true => Output::Message {
                flags: if whole > room { msg::TRUNC } else { 0 },
                control: Vec::new(),
            },
            false => self.socket_addr(from).map_or(Output::None, Output::Addr),
        };
        Progress::Done(outcome)
    }

    /// An ICMP error about a datagram of ours (`__udp4_lib_err()`): a socket that is connected hears of what will not pass
    /// by itself, one with IP_RECVERR of everything.
    pub(super) fn udp_error(&mut self, icmp: &Icmp) {
        let Some(what) = meaning(&icmp.says) else {
            return;
        };
        let (error, hard) = match what {
            Meaning::Error(error) => (error, is_fatal(&icmp.says)),
            Meaning::Smaller(_) => (SocketError::MessageSize, true),
        };
        let found = self.files.sockets_mut().find_map(|(fd, socket)| {
            let is_its = match &socket.kind {
                Kind::Udp(udp) => {
                    socket.bound.map(|own| own.port) == Some(icmp.local.port)
                        && udp.remote.is_none_or(|remote| remote == icmp.remote)
                }
                _ => false,
            };
            is_its.then_some((fd, socket.phase == Phase::Connected, socket.plain.recverr))
        });
        let Some((fd, is_connected, recverr)) = found else {
            return;
        };
        if recverr {
            self.queue_error(fd, icmp, error);
        } else if !hard || !is_connected {
            return;
        }
        if let Some(udp) = self.udp(fd) {
            udp.error = Some(error);
        }
        self.wake(fd, super::poll_err());
    }

    /// ioctl(2): the length of the datagram that is next; nothing stays in the send buffer.
    pub(super) fn udp_ioctl(&mut self, fd: Fd, request: u64) -> Answer<Outcome> {
        let first = self.udp(fd).and_then(|udp| udp.waiting.front().copied());
        let value = match request {
            SIOCINQ => first.map_or(0, |(_, len)| i64::from(len)),
            SIOCOUTQ => 0,
            _ => return cannot(&format!("the model has no ioctl {request:#x}")),
        };
        Ok(Outcome::gave(0, Output::Int(value)))
    }

    /// shutdown(2).
    pub(super) fn udp_shutdown(&mut self, fd: Fd, bits: Shutdown) -> Outcome {
        let Some(udp) = self.udp(fd) else {
            return Outcome::failed(EINVAL);
        };
        // inet_shutdown() shuts down what is not connected, and calls it an error.
        udp.shutdown |= bits;
        let is_connected = udp.remote.is_some();
        self.wake(fd, 0);
        match is_connected {
            true => Outcome::ok(0),
            false => Outcome::failed(ENOTCONN),
        }
    }
}
