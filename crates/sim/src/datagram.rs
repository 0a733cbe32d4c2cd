//! UDP as the applications need it: bound ports, a queue of datagrams for each, no errors back.
//!
//! RFC 768. On a kernel a datagram to a port that nobody has is answered by ICMP; no experiment has
//! such a port, because servers listen before clients begin.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

use tcplab_tcp::Addr;

use crate::packet::{BELOW_TCP, Datagram, UDP_HEADER};

/// Bytes of datagrams that a socket holds, as Linux's `net.core.rmem_default` counts them.
const RCVBUF: u32 = 212_992;

/// Memory of a datagram beside its bytes (`sk_buff` and its data area).
const OVERHEAD: u32 = 768;

/// The first port that a client gets.
const FIRST_PORT: u16 = 32_768;

/// Datagrams that wait to leave, in their order.
pub(crate) type Datagrams = Vec<Datagram>;

/// A host's UDP.
#[derive(Debug, Default)]
pub(crate) struct Udp {
    sockets: BTreeMap<u16, Socket>,
    taken: u16,
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
}

#[derive(Debug, Default)]
struct Socket {
    /// The application's end that has it.
    end: u32,
    /// Who sent them, and their bytes.
    queue: VecDeque<(Addr, u32)>,
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

    /// Binds a port of a client; none when all are taken.
    pub(crate) fn connect(&mut self, end: u32) -> Option<u16> {
        for _ in FIRST_PORT..=u16::MAX {
            let port = FIRST_PORT | self.taken;
            self.taken = (self.taken + 1) % FIRST_PORT;
            if !self.sockets.contains_key(&port) {
                self.bind(port, end);
                return Some(port);
            }
        }
        None
    }

    pub(crate) fn close(&mut self, port: u16) {
        self.sockets.remove(&port);
    }

    /// A datagram came; gives the end that can read it.
    pub(crate) fn on_datagram(&mut self, datagram: &Datagram) -> Option<u32> {
        let Some(socket) = self.sockets.get_mut(&datagram.dst.port) else {
            self.count.no_port += 1;
            return None;
        };
        let takes = datagram.len + OVERHEAD;
        if socket.held + takes > RCVBUF {
            self.count.full += 1;
            return None;
        }
        self.count.received += 1;
        socket.held += takes;
        socket.queue.push_back((datagram.src, datagram.len));
        Some(socket.end)
    }

    /// Takes the first datagram of a port.
    pub(crate) fn receive(&mut self, port: u16) -> Option<(Addr, u32)> {
        let socket = self.sockets.get_mut(&port)?;
        let (from, len) = socket.queue.pop_front()?;
        socket.held -= len + OVERHEAD;
        Some((from, len))
    }

    pub(crate) fn is_readable(&self, port: u16) -> bool {
        self.sockets
            .get(&port)
            .is_some_and(|socket| !socket.queue.is_empty())
    }
}

/// The frame of a datagram without its payload, which is zeros, and without Ethernet addresses;
/// gives its length on the wire.
pub(crate) fn frame(
    datagram: &Datagram,
    (src, dst): (Ipv4Addr, Ipv4Addr),
    (id, ttl): (u16, u8),
    out: &mut Vec<u8>,
) -> u32 {
    let length = (UDP_HEADER + datagram.len) as u16;
    let mut ip = [0_u8; 20];
    ip[0] = 0x45;
    ip[2..4].copy_from_slice(&(length + 20).to_be_bytes());
    ip[4..6].copy_from_slice(&id.to_be_bytes());
    ip[6] = 0x40;
    ip[8] = ttl;
    ip[9] = 17;
    ip[12..16].copy_from_slice(&src.octets());
    ip[16..20].copy_from_slice(&dst.octets());
    let check = sum(&[&ip]);
    ip[10..12].copy_from_slice(&check.to_be_bytes());
    let mut udp = [0_u8; 8];
    udp[..2].copy_from_slice(&datagram.src.port.to_be_bytes());
    udp[2..4].copy_from_slice(&datagram.dst.port.to_be_bytes());
    udp[4..6].copy_from_slice(&length.to_be_bytes());
    let pseudo = [0, 17, (length >> 8) as u8, length as u8];
    let check = match sum(&[&src.octets(), &dst.octets(), &pseudo, &udp]) {
        0 => 0xffff,
        sum => sum,
    };
    udp[6..8].copy_from_slice(&check.to_be_bytes());
    out.extend([0; 12]);
    out.extend([0x08, 0x00]);
    out.extend(ip);
    out.extend(udp);
    BELOW_TCP + UDP_HEADER + datagram.len
}

/// The Internet checksum (RFC 1071) of parts of even length.
fn sum(parts: &[&[u8]]) -> u16 {
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
        };
        assert_eq!(udp.on_datagram(&datagram), Some(3));
        assert_eq!(udp.on_datagram(&datagram), Some(3));
        assert_eq!(udp.on_datagram(&datagram), Some(3));
        assert_eq!(udp.on_datagram(&datagram), None);
        assert_eq!((udp.count.received, udp.count.full), (3, 1));
        assert_eq!(udp.receive(7), Some((addr(0, 9), 60_000)));
        assert_eq!(udp.on_datagram(&datagram), Some(3));
    }

    #[test]
    fn checksums_are_right() {
        let datagram = Datagram {
            src: addr(0, 40_000),
            dst: addr(1, 53),
            len: 4,
        };
        let ends = (Ipv4Addr::new(10, 77, 0, 1), Ipv4Addr::new(10, 77, 0, 2));
        let mut out = Vec::new();
        assert_eq!(frame(&datagram, ends, (1, 64), &mut out), 46);
        assert_eq!(sum(&[&out[14..34]]), 0);
        let pseudo = [0, 17, 0, 12];
        let parts: [&[u8]; 3] = [&out[26..34], &pseudo, &out[34..42]];
        assert_eq!(sum(&parts), 0);
    }
}
