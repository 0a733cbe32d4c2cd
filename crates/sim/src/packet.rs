//! What travels on a link: a segment or a datagram, with what its IP and Ethernet headers need.

use tcplab_link::Kind;
use tcplab_plan::point::Ip;
use tcplab_tcp::{Addr, Caqm, Segment};

use crate::unreachable::Quote;

/// Bytes of an Ethernet header.
pub(crate) const ETHERNET: u32 = 14;

/// Bytes of a UDP header, and of an ICMP header.
pub(crate) const UDP_HEADER: u32 = 8;

/// Bytes of TCP's header without options.
pub(crate) const TCP_HEADER: u32 = 20;

/// The time to live of a packet that leaves its host.
pub(crate) const TTL: u8 = 64;

/// What a datagram travels as. Their headers are equally long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Udp,
    /// An ICMP echo (RFC 792); its identifier stands where UDP has the port of the client.
    EchoRequest,
    EchoReply,
    /// An ICMP error: nobody has the port of the datagram that it quotes.
    Unreachable(Quote),
    /// Another one: the next link takes packets of so many bytes only. `number` says which segment it quotes
    /// ([`crate::too_big::Quoted`]).
    TooBig(u32),
}

/// A UDP datagram, or an ICMP message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    pub(crate) src: Addr,
    pub(crate) dst: Addr,
    /// Bytes of payload.
    pub(crate) len: u32,
    /// The DS field and ECN's bits.
    pub(crate) tos: u8,
    /// What stands in the first four bytes of the payload.
    pub(crate) number: u32,
    pub(crate) protocol: Protocol,
}

/// What is in an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Tcp(Segment),
    Udp(Datagram),
}

/// An IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) body: Body,
    pub(crate) ip: Ip,
    /// The identification of an IPv4 packet; over IPv6, which hash its flow label is of. Only captures show it.
    pub(crate) id: u16,
    pub(crate) ttl: u8,
    /// The EtherType of its sender's CAQM tags (`sysctl_caqm_tpid`); counts with a tag only.
    pub(crate) tag_type: u16,
    /// The payload was damaged on the way: its checksum is wrong.
    pub(crate) corrupt: bool,
}

impl Packet {
    /// The host that it goes to.
    #[inline]
    pub(crate) fn to(&self) -> usize {
        match &self.body {
            Body::Tcp(segment) => usize::from(segment.dst.host),
            Body::Udp(datagram) => usize::from(datagram.dst.host),
        }
    }

    /// Bytes of its Ethernet frame.
    #[inline]
    pub(crate) fn frame_len(&self) -> u32 {
        let below = ETHERNET + self.ip.header_bytes();
        match &self.body {
            Body::Tcp(segment) => below + tag_len(segment) + segment.header_len() + segment.len,
            Body::Udp(datagram) => below + UDP_HEADER + datagram.len,
        }
    }

    /// Whether it carries CAQM's tag.
    #[inline]
    pub(crate) fn has_tag(&self) -> bool {
        matches!(&self.body, Body::Tcp(segment) if segment.caqm != Caqm::Plain)
    }

    /// What listed events of a link count it as.
    #[inline]
    pub(crate) fn kind(&self) -> Kind {
        let (kind, tos) = match &self.body {
            Body::Tcp(segment) => (Kind::of_segment(segment.len, segment.flags), segment.tos),
            Body::Udp(datagram) if datagram.protocol == Protocol::Udp => {
                (Kind::default(), datagram.tos)
            }
            Body::Udp(datagram) => (Kind::ICMP, datagram.tos),
        };
        Kind {
            ect: tos & Segment::CE != Segment::NOT_ECT,
            ..kind
        }
    }

    /// Congestion experienced, when the packet is ECN-capable (RFC 3168 5); whether it is.
    #[cold]
    #[inline(never)]
    pub(crate) fn mark(&mut self) -> bool {
        let tos = match &mut self.body {
            Body::Tcp(segment) => &mut segment.tos,
            Body::Udp(datagram) => &mut datagram.tos,
        };
        let is_capable = *tos & Segment::CE != Segment::NOT_ECT;
        if is_capable {
            *tos |= Segment::CE;
        }
        is_capable
    }
}

/// Bytes between the Ethernet and the IP header: the tag of CAQM.
#[inline]
pub(crate) fn tag_len(segment: &Segment) -> u32 {
    match segment.caqm {
        Caqm::Plain => 0,
        Caqm::Tag(_) | Caqm::Joined(_) => Caqm::BYTES,
    }
}
