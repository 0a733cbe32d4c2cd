//! Which socket a packet of the script belongs to, and the resets at the end.

use std::net::SocketAddr;

use super::socket::{Side, Sides, Socket, State};
use super::{Runner, Stop, fail};
use crate::call::Call;
use crate::packet::{Ip, Layer, Packet, Tcp, flag, protocol};
use crate::script::{Direction, Place};
use crate::target::Target;

impl<T: Target + ?Sized> Runner<'_, T> {
    /// A socket, which is the one under test from now on.
    pub(super) fn new_socket(&mut self, state: State, protocol: u8) -> usize {
        let mut socket = Socket::new(state, protocol);
        // Open addresses of the right family.
        let any = |ip: std::net::IpAddr| {
            let any: std::net::IpAddr = if ip.is_ipv6() {
                std::net::Ipv6Addr::UNSPECIFIED.into()
            } else {
                std::net::Ipv4Addr::UNSPECIFIED.into()
            };
            SocketAddr::new(any, 0)
        };
        let open = Side {
            addr: any(self.settings.network.local),
            isn: 0,
        };
        socket.live = Sides {
            local: open,
            remote: open,
        };
        self.sockets.push(socket);
        self.under_test = Some(self.sockets.len() - 1);
        self.sockets.len() - 1
    }

    /// The socket of a packet of the script: a new one when it is the first to a listening socket, or to nobody.
    pub(super) fn socket_for(
        &mut self,
        packet: &Packet,
        direction: Direction,
        place: Place,
    ) -> Result<usize, Stop> {
        let current = self.under_test.and_then(|i| self.sockets.get(i));
        let state = current.map(|s| s.state);
        if let Some(tcp) = packet.tcp() {
            match (direction, state) {
                (Direction::In, None | Some(State::Listening)) => {
                    return Ok(self.accept_packet(tcp));
                }
                (Direction::Out, Some(State::Connecting)) if tcp.is_syn() => {
                    self.expect_syn(tcp.seq);
                }
                _ => {}
            }
        }
        let has_ports = packet.ports() != (0, 0);
        self.under_test
            .filter(|i| {
                let socket = self.sockets.get(*i);
                has_ports || socket.is_some_and(|s| s.takes(packet))
            })
            .ok_or_else(|| fail(place, "no socket of the script matches this packet"))
    }

    /// The first packet of a passive connection.
    fn accept_packet(&mut self, tcp: &Tcp) -> usize {
        let network = &self.settings.network;
        let (local, remote) = (network.local, network.remote);
        let port = self.next_port;
        self.next_port = self.next_port.checked_add(1).unwrap_or(1_024);
        let number = self.new_socket(State::PacketReceived, protocol::TCP);
        if let Some(socket) = self.sockets.get_mut(number) {
            socket.script.remote.isn = tcp.seq;
            socket.live.remote = Side {
                addr: SocketAddr::new(remote, port),
                isn: tcp.seq,
            };
            socket.live.local.addr = SocketAddr::new(local, self.settings.bind_port);
        }
        number
    }

    fn expect_syn(&mut self, seq: u32) {
        let socket = self.under_test.and_then(|i| self.sockets.get_mut(i));
        if let Some(socket) = socket {
            socket.state = State::SynSent;
            // The next SYN is the first one of this connection.
            socket.last_out = None;
            socket.script.local.isn = seq;
        }
    }

    /// Closes what is open and resets each connection, so that the host forgets it.
    pub(super) fn reset_all(&mut self) {
        for fd in self.fds.open() {
            let _ = self.target.call(&Call::Close { fd }, false);
        }
        let resets: Vec<Packet> = self.sockets.iter().rev().filter_map(reset).collect();
        for packet in resets {
            let _ = self.target.inject(&packet.emit());
        }
    }
}

/// A reset that the host takes: after what was sent last, or where the host's last acknowledgment points to.
fn reset(socket: &Socket) -> Option<Packet> {
    let (src, dst) = (socket.live.remote.addr, socket.live.local.addr);
    if socket.protocol != protocol::TCP || src.port() == 0 || dst.port() == 0 {
        return None;
    }
    let is_ack = |t: &Tcp| t.flags & flag::ACK != 0;
    let (seq, ack, window) = match (&socket.last_in, &socket.last_out) {
        (Some((tcp, len)), _) if is_ack(tcp) => {
            let extra = (tcp.flags & flag::SYN != 0) as u32 + (tcp.flags & flag::FIN != 0) as u32;
            let end = tcp.seq.wrapping_add(extra).wrapping_add(*len);
            (end, tcp.ack, tcp.window)
        }
        (_, Some(tcp)) if is_ack(tcp) => (tcp.ack, tcp.seq, 0),
        (_, Some(tcp)) => (0, tcp.seq.wrapping_add(1), 0),
        _ => (0, 1, 0),
    };
    let header_len = if src.is_ipv6() { 40 } else { 20 };
    let ip = Ip {
        src: src.ip(),
        dst: dst.ip(),
        header_len,
        total_len: u32::from(header_len) + 20,
        tos: 0,
        flow_label: 0,
        ttl: 255,
        protocol: protocol::TCP,
    };
    let tcp = Tcp {
        src: src.port(),
        dst: dst.port(),
        seq,
        ack,
        flags: flag::RST | flag::ACK,
        header_len: 20,
        window,
        ..Tcp::default()
    };
    Some(Packet {
        layers: vec![Layer::Ip(ip), Layer::Tcp(tcp)],
        ..Packet::default()
    })
}
