//! ICMP's "port unreachable" (RFC 792, RFC 1122 4.1.3.1, RFC 4443 3.1): what a host answers to a datagram whose port
//! nobody has.
//!
//! Linux icmp_send(), icmp6_send(), inet_peer_xrlim_allow(). DEVIATION: `icmp_msgs_per_sec`, the limit over all peers, is left out: with
//! fewer than nine peers that of each peer is the tighter one.

use std::collections::BTreeMap;

use tcplab_plan::point::Ip;

use crate::packet::{Datagram, Packet, Protocol, UDP_HEADER};

/// Bytes of such a packet at most, from its IP header on (RFC 1812 4.3.2.3, RFC 4443 2.4).
pub(crate) const fn most(ip: Ip) -> u32 {
    match ip {
        Ip::V4 => 576,
        Ip::V6 => 1_280,
    }
}

/// The DS field of ICMP errors: internetwork control (`IPTOS_PREC_INTERNETCONTROL`), and the old TOS bits of the
/// datagram (`IPTOS_TOS_MASK`).
const CONTROL: u8 = 0xc0;
const TOS: u8 = 0x1e;

/// The DS field of an error about a packet with this one.
pub(crate) const fn control(tos: u8) -> u8 {
    tos & TOS | CONTROL
}

/// Errors that a peer gets at once after it had none for a while (`XRLIM_BURST_FACTOR`).
const BURST: u64 = 6;

/// What the error repeats of the datagram, beside its ends and the begin of its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quote {
    pub(crate) id: u16,
    pub(crate) ttl: u8,
    tos: u8,
    len: u32,
}

/// The error for a packet with this datagram. Its `len` counts what is quoted: ICMP's header is as long as UDP's.
pub(crate) fn answer(packet: &Packet, refused: &Datagram) -> Datagram {
    let header = packet.ip.header_bytes();
    let quoted = header + UDP_HEADER + refused.len;
    Datagram {
        src: refused.dst,
        dst: refused.src,
        len: quoted.min(most(packet.ip) - header - UDP_HEADER),
        tos: match packet.ip {
            Ip::V4 => control(refused.tos),
            Ip::V6 => 0,
        },
        number: refused.number,
        protocol: Protocol::Unreachable(Quote {
            id: packet.id,
            ttl: packet.ttl,
            tos: refused.tos,
            len: refused.len,
        }),
    }
}

impl Quote {
    /// The datagram that this error is about.
    pub(crate) fn datagram(self, error: &Datagram) -> Datagram {
        Datagram {
            src: error.dst,
            dst: error.src,
            len: self.len,
            tos: self.tos,
            number: error.number,
            protocol: Protocol::Udp,
        }
    }
}

/// How many errors a host still sends to each peer: one a second (`net.ipv4.icmp_ratelimit`), after a burst.
#[derive(Debug, Default)]
pub(crate) struct Limit {
    /// Ticks that a peer has saved, and the jiffies of its last error.
    peers: BTreeMap<u16, (u64, u64)>,
}

impl Limit {
    /// Whether one more may go to the peer in this jiffy; `hz`: jiffies a second.
    pub(crate) fn allows(&mut self, peer: u16, jiffies: u64, hz: u64) -> bool {
        let most = BURST * hz;
        let (saved, last) = self.peers.entry(peer).or_insert((most, jiffies));
        *saved = (*saved + (jiffies - *last)).min(most);
        *last = jiffies;
        let allows = *saved >= hz;
        if allows {
            *saved -= hz;
        }
        allows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_at_once_then_one_a_second() {
        let mut limit = Limit::default();
        let at = |jiffies| (0..8).map(move |_| jiffies);
        let mut allowed = |jiffies| at(jiffies).filter(|t| limit.allows(1, *t, 250)).count();
        assert_eq!(allowed(1_000), 6);
        assert_eq!(allowed(1_249), 0);
        assert_eq!(allowed(1_250), 1);
        assert_eq!(allowed(1_750), 2);
        assert_eq!(allowed(9_000), 6);
        assert!(limit.allows(2, 9_000, 250), "another peer");
    }
}
