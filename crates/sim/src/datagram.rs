//! UDP as the applications need it: bound ports, a queue of datagrams for each, the error of a port that nobody has; and
//! ICMP's echoes, which use the same sockets.
//!
//! RFC 768, RFC 792, RFC 4443.

mod count;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use tcplab_base::Errno;
use tcplab_plan::point::Ip;

use crate::packet::{Datagram, Protocol};
use count::Counts;

/// Bytes of datagrams that a socket holds, as Linux's `net.core.rmem_default` counts them.
const RCVBUF: u32 = 212_992;

/// Memory of a datagram beside its bytes (`sk_buff` and its data area).
const OVERHEAD: u32 = 768;

/// Identifiers that a client of echoes gets.
const ECHOES: [u16; 2] = [32_768, u16::MAX];

/// Datagrams that wait to leave, in their order.
pub(crate) type Datagrams = Vec<Datagram>;

/// A host's UDP.
#[derive(Debug, Default)]
pub(crate) struct Udp {
    /// What its datagrams travel in: counters have other names.
    ip: Ip,
    sockets: BTreeMap<u16, Socket>,
    /// Ports and identifiers that clients took.
    taken: u64,
    pub(crate) count: Counts,
}

#[derive(Debug, Default)]
struct Socket {
    /// The application's end that has it.
    end: u32,
    /// It is for ICMP's echoes.
    is_echo: bool,
    /// It has one peer, and hears of its errors.
    is_connected: bool,
    /// ECONNREFUSED waits for its next call.
    is_refused: bool,
    queue: VecDeque<Datagram>,
    held: u32,
}

impl Udp {
    /// Without sockets.
    pub(crate) fn new(ip: Ip) -> Self {
        Self {
            ip,
            ..Self::default()
        }
    }

    /// Its counters by nstat's names.
    pub(crate) fn counters(&self) -> Vec<(&'static str, u64)> {
        let udp = self.count.named(self.ip);
        match self.ip {
            Ip::V4 => udp.into_iter().chain(self.count.icmp()).collect(),
            Ip::V6 => udp.into_iter().chain(self.count.icmp6()).collect(),
        }
    }

    /// Binds a server's port.
    pub(crate) fn bind(&mut self, port: u16, end: u32) {
        let socket = Socket {
            end,
            ..Socket::default()
        };
        self.sockets.insert(port, socket);
    }

    /// Binds a port of a client, one of its range in turn, or gives it an identifier for echoes
    /// (`ping_get_port()` knows no range); none when all are taken.
    pub(crate) fn connect(&mut self, end: u32, is_echo: bool, range: [u16; 2]) -> Option<u16> {
        let [first, last] = if is_echo { ECHOES } else { range };
        for _ in first..=last {
            let offset = self.taken % (u64::from(last - first) + 1);
            let port = first + offset as u16;
            self.taken += 1;
            if let Entry::Vacant(place) = self.sockets.entry(port) {
                place.insert(Socket {
                    end,
                    is_echo,
                    is_connected: true,
                    ..Socket::default()
                });
                return Some(port);
            }
        }
        None
    }

    pub(crate) fn close(&mut self, port: u16) {
        self.sockets.remove(&port);
    }

    /// Whether a datagram that came finds no socket, so its sender is to be told.
    pub(crate) fn refuses(&self, datagram: &Datagram) -> bool {
        let found = self.sockets.get(&datagram.dst.port);
        datagram.protocol == Protocol::Udp && found.is_none_or(|socket| socket.is_echo)
    }

    /// An error came for what was sent from a port; gives the end that is to hear of it (`__udp4_lib_err()`).
    fn on_error(&mut self, port: u16) -> Option<u32> {
        self.count.unreachable[1] += 1;
        let found = self.sockets.get_mut(&port);
        let Some(socket) = found.filter(|socket| !socket.is_echo) else {
            self.count.unreachable[2] += 1;
            return None;
        };
        // What is not connected has many peers, and hears of none.
        socket.is_refused = socket.is_connected;
        socket.is_connected.then_some(socket.end)
    }

    /// The error that waits at a port, once (`sock_error()`).
    pub(crate) fn take_error(&mut self, port: u16) -> Option<Errno> {
        let socket = self.sockets.get_mut(&port)?;
        std::mem::take(&mut socket.is_refused).then_some(Errno::ECONNREFUSED)
    }

    /// A datagram came; gives the end that can read it.
    pub(crate) fn on_datagram(&mut self, datagram: &Datagram) -> Option<u32> {
        match datagram.protocol {
            Protocol::Unreachable(_) => return self.on_error(datagram.dst.port),
            Protocol::TooBig(_) => {
                self.count.too_big[1] += 1;
                return None;
            }
            _ => {}
        }
        let is_echo = datagram.protocol != Protocol::Udp;
        let found = self.sockets.get_mut(&datagram.dst.port);
        if is_echo {
            self.count.echo[3] += 1;
        }
        let Some(socket) = found.filter(|socket| socket.is_echo == is_echo) else {
            self.count.no_port += u64::from(!is_echo);
            return None;
        };
        let takes = datagram.len + OVERHEAD;
        if socket.held + takes > RCVBUF {
            self.count.full += u64::from(!is_echo);
            return None;
        }
        self.count.received += u64::from(!is_echo);
        socket.held += takes;
        socket.queue.push_back(*datagram);
        Some(socket.end)
    }

    /// Takes the first datagram of a port.
    pub(crate) fn receive(&mut self, port: u16) -> Option<Datagram> {
        let socket = self.sockets.get_mut(&port)?;
        let datagram = socket.queue.pop_front()?;
        socket.held -= datagram.len + OVERHEAD;
        Some(datagram)
    }

    /// An application sends it.
    pub(crate) fn counts_sent(&mut self, protocol: Protocol) {
        match protocol {
            Protocol::Udp => self.count.sent += 1,
            Protocol::EchoRequest => self.count.echo[0] += 1,
            Protocol::EchoReply => self.count.echo[2] += 1,
            Protocol::Unreachable(_) => self.count.unreachable[0] += 1,
            Protocol::TooBig(_) => self.count.too_big[0] += 1,
        }
    }

    /// The answer of the host itself to an echo (`icmp_echo()`, `icmp_reply()`): the same back, DS field and all.
    pub(crate) fn echo(&mut self, request: &Datagram) -> Datagram {
        self.count.echo[1] += 1;
        self.counts_sent(Protocol::EchoReply);
        Datagram {
            src: request.dst,
            dst: request.src,
            protocol: Protocol::EchoReply,
            ..*request
        }
    }

    pub(crate) fn is_readable(&self, port: u16) -> bool {
        self.sockets
            .get(&port)
            .is_some_and(|socket| socket.is_refused || !socket.queue.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use tcplab_tcp::Addr;

    use super::*;

    fn addr(host: u16, port: u16) -> Addr {
        Addr { host, port }
    }

    #[test]
    fn a_full_socket_drops_and_counts() {
        let mut udp = Udp::default();
        udp.bind(7, 3);
        let datagram = Datagram {
            src: addr(0, 9),
            dst: addr(1, 7),
            len: 60_000,
            tos: 0,
            number: 0,
            protocol: Protocol::Udp,
        };
        assert_eq!(udp.on_datagram(&datagram), Some(3));
        assert_eq!(udp.on_datagram(&datagram), Some(3));
        assert_eq!(udp.on_datagram(&datagram), Some(3));
        assert_eq!(udp.on_datagram(&datagram), None);
        assert_eq!((udp.count.received, udp.count.full), (3, 1));
        assert_eq!(udp.receive(7), Some(datagram));
        assert_eq!(udp.on_datagram(&datagram), Some(3));
    }

    #[test]
    fn echo_goes_to_the_asking_socket_and_to_no_udp_port() {
        let mut udp = Udp::default();
        let port = udp.connect(5, true, [1, 2]).unwrap();
        let request = Datagram {
            src: addr(0, port),
            dst: addr(1, 0),
            len: 56,
            tos: 0x20,
            number: 9,
            protocol: Protocol::EchoRequest,
        };
        let reply = udp.echo(&request);
        assert_eq!((reply.tos, reply.number, reply.dst.port), (0x20, 9, port));
        assert_eq!(udp.on_datagram(&reply), Some(5));
        let same_port = Datagram {
            protocol: Protocol::Udp,
            ..reply
        };
        assert_eq!(udp.on_datagram(&same_port), None);
        assert_eq!(udp.count.no_port, 1);
    }

    #[test]
    fn clients_have_the_ports_of_the_range_and_no_more() {
        let mut udp = Udp::default();
        udp.bind(40_001, 0);
        let got: Vec<_> = (0..3)
            .map(|end| udp.connect(end, false, [40_000, 40_002]))
            .collect();
        assert_eq!(got, [Some(40_000), Some(40_002), None]);
        udp.close(40_002);
        assert_eq!(udp.connect(4, false, [40_000, 40_002]), Some(40_002));
        assert_eq!(
            udp.connect(5, true, [1, 1]),
            Some(32_777),
            "an echo needs no port"
        );
    }
}
