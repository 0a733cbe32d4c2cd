//! UDP as the applications need it: bound ports, a queue of datagrams for each, the error of a port that nobody has; and
//! ICMP's echoes, which use the same sockets.
//!
//! RFC 768, RFC 792.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

use tcplab_base::Errno;

use crate::packet::{BELOW_TCP, Datagram, IP_HEADER, Protocol, UDP_HEADER};

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
    sockets: BTreeMap<u16, Socket>,
    /// Ports and identifiers that clients have got.
    taken: u64,
    pub(crate) count: Counts,
}

/// What nstat shows of UDP.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) received: u64,
    pub(crate) sent: u64,
    pub(crate) no_port: u64,
    pub(crate) full: u64,
    pub(crate) damaged: u64,
    /// ICMP echoes: requests sent and received, replies sent and received.
    pub(crate) echo: [u64; 4],
    pub(crate) damaged_icmp: u64,
    /// ICMP errors: sent, received, received for no socket.
    pub(crate) unreachable: [u64; 3],
}

impl Counts {
    pub(crate) fn named(&self) -> [(&'static str, u64); 6] {
        [
            ("UdpInDatagrams", self.received),
            ("UdpNoPorts", self.no_port),
            ("UdpInErrors", self.full + self.damaged),
            ("UdpOutDatagrams", self.sent),
            ("UdpRcvbufErrors", self.full),
            ("UdpInCsumErrors", self.damaged),
        ]
    }

    /// ICMP's, of which only those that moved are shown.
    pub(crate) fn icmp(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let [out_echos, in_echos, out_replies, in_replies] = self.echo;
        let bad = self.damaged_icmp;
        let [out_errors, in_errors, to_nobody] = self.unreachable;
        let all = [
            ("IcmpInMsgs", in_echos + in_replies + in_errors + bad),
            ("IcmpInErrors", to_nobody + bad),
            ("IcmpInCsumErrors", bad),
            ("IcmpInDestUnreachs", in_errors),
            ("IcmpInEchos", in_echos),
            ("IcmpInEchoReps", in_replies),
            ("IcmpOutMsgs", out_echos + out_replies + out_errors),
            ("IcmpOutDestUnreachs", out_errors),
            ("IcmpOutEchos", out_echos),
            ("IcmpOutEchoReps", out_replies),
            ("IcmpMsgInType0", in_replies),
            ("IcmpMsgInType3", in_errors),
            ("IcmpMsgInType8", in_echos),
            ("IcmpMsgOutType0", out_replies),
            ("IcmpMsgOutType3", out_errors),
            ("IcmpMsgOutType8", out_echos),
        ];
        all.into_iter().filter(|(_, n)| *n > 0)
    }
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
        if let Protocol::Unreachable(_) = datagram.protocol {
            return self.on_error(datagram.dst.port);
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

/// The frame of a datagram up to its number, without Ethernet addresses; the rest of its payload is zeros. Gives its
/// length on the wire.
pub(crate) fn frame(
    datagram: &Datagram,
    [src, dst]: [Ipv4Addr; 2],
    (id, ttl): (u16, u8),
    out: &mut Vec<u8>,
) -> u32 {
    out.extend([0; 12]);
    out.extend([0x08, 0x00]);
    out.extend(ip(datagram, [src, dst], (id, ttl)));
    match datagram.protocol {
        Protocol::Udp => out.extend(udp(datagram, [src, dst])),
        Protocol::EchoRequest | Protocol::EchoReply => out.extend(echo(datagram)),
        Protocol::Unreachable(quote) => {
            let (refused, ends) = (quote.datagram(datagram), [dst, src]);
            let mut quoted = ip(&refused, ends, (quote.id, quote.ttl)).to_vec();
            quoted.extend(udp(&refused, ends));
            // Type 3, code 3.
            let mut icmp = [3, 3, 0, 0, 0, 0, 0, 0];
            let check = sum(&[&icmp, &quoted]);
            icmp[2..4].copy_from_slice(&check.to_be_bytes());
            out.extend(icmp);
            out.extend(quoted);
        }
    }
    BELOW_TCP + UDP_HEADER + datagram.len
}

fn ip(datagram: &Datagram, [src, dst]: [Ipv4Addr; 2], (id, ttl): (u16, u8)) -> [u8; 20] {
    let length = (IP_HEADER + UDP_HEADER + datagram.len) as u16;
    let mut ip = [0_u8; IP_HEADER as usize];
    ip[0] = 0x45;
    ip[1] = datagram.tos;
    ip[2..4].copy_from_slice(&length.to_be_bytes());
    ip[4..6].copy_from_slice(&id.to_be_bytes());
    // Linux's ICMP socket, which sends replies and errors, does no path MTU discovery: no DF (icmp_sk_init()).
    (ip[6], ip[9]) = match datagram.protocol {
        Protocol::Udp => (0x40, 17),
        Protocol::EchoRequest => (0x40, 1),
        Protocol::EchoReply | Protocol::Unreachable(_) => (0, 1),
    };
    ip[8] = ttl;
    ip[12..16].copy_from_slice(&src.octets());
    ip[16..20].copy_from_slice(&dst.octets());
    let check = sum(&[&ip]);
    ip[10..12].copy_from_slice(&check.to_be_bytes());
    ip
}

/// The bytes of the payload that are not zeros.
fn numbered(datagram: &Datagram) -> Vec<u8> {
    let mut number = datagram.number.to_be_bytes().to_vec();
    number.truncate(datagram.len as usize);
    number
}

/// A header of UDP, and the payload up to its zeros.
fn udp(datagram: &Datagram, [src, dst]: [Ipv4Addr; 2]) -> Vec<u8> {
    let (length, payload) = ((UDP_HEADER + datagram.len) as u16, numbered(datagram));
    let mut udp = [0_u8; 8];
    udp[..2].copy_from_slice(&datagram.src.port.to_be_bytes());
    udp[2..4].copy_from_slice(&datagram.dst.port.to_be_bytes());
    udp[4..6].copy_from_slice(&length.to_be_bytes());
    let pseudo = [0, 17, (length >> 8) as u8, length as u8];
    let check = match sum(&[&src.octets(), &dst.octets(), &pseudo, &udp, &payload]) {
        0 => 0xffff,
        sum => sum,
    };
    udp[6..8].copy_from_slice(&check.to_be_bytes());
    [&udp[..], &payload].concat()
}

/// The same of an echo (RFC 792): its identifier is the client's port, its sequence number the low half of the number.
fn echo(datagram: &Datagram) -> Vec<u8> {
    let payload = numbered(datagram);
    let mut icmp = [0_u8; 8];
    let client = match datagram.protocol {
        Protocol::EchoReply => datagram.dst,
        _ => {
            icmp[0] = 8;
            datagram.src
        }
    };
    icmp[4..6].copy_from_slice(&client.port.to_be_bytes());
    icmp[6..8].copy_from_slice(&(datagram.number as u16).to_be_bytes());
    let check = sum(&[&icmp, &payload]);
    icmp[2..4].copy_from_slice(&check.to_be_bytes());
    [&icmp[..], &payload].concat()
}

/// The Internet checksum (RFC 1071) of parts of even length; the last one may be odd.
pub(crate) fn sum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let mut sum: u32 = words
        .map(|word| u32::from(word[0]) << 8 | word.get(1).map_or(0, |b| u32::from(*b)))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
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

    /// Each header and the payload sum up to nothing, whatever the size.
    #[test]
    fn checksums_are_right() {
        let ends = [Ipv4Addr::new(10, 77, 0, 1), Ipv4Addr::new(10, 77, 0, 2)];
        for protocol in [Protocol::Udp, Protocol::EchoRequest, Protocol::EchoReply] {
            for len in [1, 3, 4, 60] {
                let datagram = Datagram {
                    src: addr(0, 40_000),
                    dst: addr(1, 53),
                    len,
                    tos: 0xb8,
                    number: 0x0102_0304,
                    protocol,
                };
                let mut out = Vec::new();
                let whole = frame(&datagram, ends, (1, 64), &mut out);
                assert_eq!(whole, 42 + len);
                assert_eq!(out[15], 0xb8);
                assert_eq!(sum(&[&out[14..34]]), 0);
                assert_eq!(out.len(), 42 + len.min(4) as usize);
                let checked = match protocol {
                    Protocol::Udp => {
                        let pseudo = [0, 17, 0, 8 + len as u8];
                        sum(&[&out[26..34], &pseudo, &out[34..]])
                    }
                    _ => sum(&[&out[34..]]),
                };
                assert_eq!(checked, 0, "{protocol:?} {len}");
            }
        }
    }

    #[test]
    fn an_echo_goes_to_the_socket_that_asked_and_to_no_port_of_udp() {
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
