//! ICMP's "fragmentation needed" (RFC 1191) and ICMPv6's "packet too big" (RFC 4443 3.2): what a router answers to a segment
//! that does not fit into the next link.
//!
//! Linux `ip_forward()`, `ip6_forward()`, `icmp_send()`, `icmp6_send()`: neither limits the rate of these messages.

use tcplab_plan::point::Ip;
use tcplab_tcp::{Addr, Segment};

use crate::packet::{Body, Datagram, ETHERNET, Packet, Protocol, UDP_HEADER, tag_len};
use crate::unreachable::{control, most};

/// A segment that an error repeats. The host that sent it keeps it until the run ends: such errors are few.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quoted {
    pub(crate) segment: Segment,
    pub(crate) id: u16,
    pub(crate) ttl: u8,
}

/// The segment of a packet that is too big for a link of this MTU, if it is.
#[inline]
pub(crate) fn segment(packet: &Packet, mtu: u32) -> Option<&Segment> {
    match &packet.body {
        Body::Tcp(segment) => {
            (packet.frame_len() - ETHERNET - tag_len(segment) > mtu).then_some(segment)
        }
        Body::Udp(_) => None,
    }
}

/// The error that router `from` sends for a segment. `number`: which of its sender's it quotes.
pub(crate) fn answer(
    (packet, refused): (&Packet, &Segment),
    from: usize,
    mtu: u32,
    number: u32,
) -> Datagram {
    let header = packet.ip.header_bytes();
    let quoted = header + refused.header_len() + refused.len;
    Datagram {
        src: Addr {
            host: from as u16,
            port: 0,
        },
        dst: refused.src,
        len: quoted.min(most(packet.ip) - header - UDP_HEADER),
        tos: match packet.ip {
            Ip::V4 => control(refused.tos),
            Ip::V6 => 0,
        },
        number,
        protocol: Protocol::TooBig(mtu),
    }
}
