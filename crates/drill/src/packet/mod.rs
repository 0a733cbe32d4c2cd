//! Packets of scripts: from a [`PacketSpec`](crate::script::PacketSpec) to bytes and back, and what differs between two.
//!
//! A [`Packet`] is the list of its headers, the outermost first, as plain data. A script's packets are built
//! ([`build`]) without addresses; the run maps them and writes them ([`Packet::emit`]). A host's packets are read
//! ([`Packet::parse`]), mapped into the script's numbers and compared ([`compare`]). Payload is zeros and only counted.

mod build;
mod compare;
mod emit;
mod icmp;
mod option;
mod parse;
#[cfg(test)]
mod tests;
mod text;

use std::net::{IpAddr, SocketAddr};

pub(crate) use build::build;
pub(crate) use compare::{Difference, Rules, compare, continues};
pub(crate) use option::write as write_option;
pub(crate) use text::{Key, Shown, columns, line};

use crate::script::{Gre, MplsLabel, TcpOption};

/// Numbers of protocols in IP headers (<https://www.iana.org/assignments/protocol-numbers>).
pub(crate) mod protocol {
    pub(crate) const ICMP: u8 = 1;
    pub(crate) const IPIP: u8 = 4;
    pub(crate) const TCP: u8 = 6;
    pub(crate) const UDP: u8 = 17;
    pub(crate) const IPV6: u8 = 41;
    pub(crate) const GRE: u8 = 47;
    pub(crate) const ICMPV6: u8 = 58;
    pub(crate) const MPLS: u8 = 137;
}

/// Most nested headers; more are an error, as in the original.
pub(crate) const MAX_LAYERS: usize = 6;

/// A TTL that scripts do not say, and that is not looked at.
pub(crate) const ANY_TTL: u8 = 255;

/// A packet as its headers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Packet {
    /// The outermost first.
    pub(crate) layers: Vec<Layer>,
    /// Bytes after the last header.
    pub(crate) payload_len: u32,
    /// Whether a payload byte is not zero.
    pub(crate) is_dirty: bool,
    /// Whether the checksum of TCP, UDP or ICMP was wrong when it was read.
    pub(crate) has_bad_sum: bool,
}

/// One header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Layer {
    Ip(Ip),
    /// With the EtherType of what follows.
    Gre(Gre, u16),
    Mpls(Vec<MplsLabel>),
    Tcp(Tcp),
    Udp(Udp),
    Icmp(Icmp),
}

/// An IPv4 or IPv6 header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ip {
    pub(crate) src: IpAddr,
    pub(crate) dst: IpAddr,
    /// Bytes of the header.
    pub(crate) header_len: u8,
    /// Bytes from its start to the end of the packet.
    pub(crate) total_len: u32,
    /// TOS, traffic class.
    pub(crate) tos: u8,
    /// 0 in IPv4.
    pub(crate) flow_label: u32,
    pub(crate) ttl: u8,
    pub(crate) protocol: u8,
}

/// A TCP header.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tcp {
    pub(crate) src: u16,
    pub(crate) dst: u16,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    /// 9 bits, from FIN to AE.
    pub(crate) flags: u16,
    /// The 3 bits before them.
    pub(crate) reserved: u8,
    /// Bytes of the header.
    pub(crate) header_len: u8,
    pub(crate) window: u16,
    pub(crate) urgent: u16,
    pub(crate) options: Vec<TcpOption>,
    /// The options end in the middle of one.
    pub(crate) is_malformed: bool,
}

impl Tcp {
    /// A connection is asked for.
    pub(crate) fn is_syn(&self) -> bool {
        self.flags & (flag::SYN | flag::ACK) == flag::SYN
    }

    /// It was asked for, and can be had.
    pub(crate) fn is_syn_ack(&self) -> bool {
        self.flags & (flag::SYN | flag::ACK) == flag::SYN | flag::ACK
    }
}

/// A UDP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Udp {
    pub(crate) src: u16,
    pub(crate) dst: u16,
    pub(crate) len: u16,
}

/// An ICMP or ICMPv6 header with what it quotes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Icmp {
    pub(crate) kind: u8,
    pub(crate) code: u8,
    /// The second word: MTU, echo identifier.
    pub(crate) word: u32,
    /// Whether it is ICMPv6.
    pub(crate) is_v6: bool,
    /// The quoted packet. On packets that were read: none.
    pub(crate) quoted: Option<Box<Packet>>,
}

/// Flag bits of a TCP header.
pub(crate) mod flag {
    pub(crate) const FIN: u16 = 0x001;
    pub(crate) const SYN: u16 = 0x002;
    pub(crate) const RST: u16 = 0x004;
    pub(crate) const PSH: u16 = 0x008;
    pub(crate) const ACK: u16 = 0x010;
    pub(crate) const URG: u16 = 0x020;
    pub(crate) const ECE: u16 = 0x040;
    pub(crate) const CWR: u16 = 0x080;
    pub(crate) const AE: u16 = 0x100;
}

impl Packet {
    /// The innermost IP header: the one that the ends of the connection stand in.
    pub(crate) fn ip(&self) -> Option<&Ip> {
        self.layers.iter().rev().find_map(|l| match l {
            Layer::Ip(ip) => Some(ip),
            _ => None,
        })
    }

    /// The TCP header.
    pub(crate) fn tcp(&self) -> Option<&Tcp> {
        match self.layers.last() {
            Some(Layer::Tcp(tcp)) => Some(tcp),
            _ => None,
        }
    }

    /// The TCP header, to map its numbers.
    pub(crate) fn tcp_mut(&mut self) -> Option<&mut Tcp> {
        match self.layers.last_mut() {
            Some(Layer::Tcp(tcp)) => Some(tcp),
            _ => None,
        }
    }

    /// The protocol that it is a packet of: TCP, UDP, ICMP or ICMPv6.
    pub(crate) fn protocol(&self) -> u8 {
        match self.layers.last() {
            Some(Layer::Tcp(_)) => protocol::TCP,
            Some(Layer::Udp(_)) => protocol::UDP,
            Some(Layer::Icmp(icmp)) if icmp.is_v6 => protocol::ICMPV6,
            Some(Layer::Icmp(_)) => protocol::ICMP,
            _ => 0,
        }
    }

    /// Whether it is an ICMP message of either kind.
    pub(crate) fn is_icmp(&self) -> bool {
        matches!(self.layers.last(), Some(Layer::Icmp(_)))
    }

    /// Ports of TCP and UDP; 0 for other protocols.
    pub(crate) fn ports(&self) -> (u16, u16) {
        match self.layers.last() {
            Some(Layer::Tcp(t)) => (t.src, t.dst),
            Some(Layer::Udp(u)) => (u.src, u.dst),
            _ => (0, 0),
        }
    }

    /// Both ends by the innermost IP header; ports are 0 for other protocols than TCP and UDP.
    pub(crate) fn ends(&self) -> Option<(SocketAddr, SocketAddr)> {
        let ip = self.ip()?;
        let (src, dst) = self.ports();
        Some((SocketAddr::new(ip.src, src), SocketAddr::new(ip.dst, dst)))
    }

    /// Writes the ends into the innermost headers; of a packet that an ICMP message quotes the other way round.
    pub(crate) fn set_ends(&mut self, src: SocketAddr, dst: SocketAddr) {
        let innermost = self.layers.iter_mut().rev().find_map(|l| match l {
            Layer::Ip(ip) => Some(ip),
            _ => None,
        });
        if let Some(ip) = innermost {
            (ip.src, ip.dst) = (src.ip(), dst.ip());
        }
        match self.layers.last_mut() {
            Some(Layer::Tcp(t)) => (t.src, t.dst) = (src.port(), dst.port()),
            Some(Layer::Udp(u)) => (u.src, u.dst) = (src.port(), dst.port()),
            Some(Layer::Icmp(icmp)) => {
                if let Some(quoted) = &mut icmp.quoted {
                    quoted.set_ends(dst, src);
                }
            }
            _ => {}
        }
    }

    /// Changes the sequence number of a TCP segment that an ICMP message quotes.
    pub(crate) fn map_quoted(&mut self, map: impl Fn(u32) -> u32) {
        if let Some(Layer::Icmp(icmp)) = self.layers.last_mut()
            && let Some(tcp) = icmp.quoted.as_mut().and_then(|q| q.tcp_mut())
        {
            tcp.seq = map(tcp.seq);
        }
    }
}
