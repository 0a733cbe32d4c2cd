//! A segment as the packet that carries it.

use std::net::IpAddr;

use tcplab_wire::emit::{EmitError, Payload, emit};
use tcplab_wire::{Config, Encap, Endpoint, LinkType, Standing, TcpPacket, set_traffic_class};

use crate::segment::{Caqm, Segment};

impl Segment {
    /// The packet that carries it from the first of these addresses to the second. `ttl` is the time to live,
    /// `ip_id` the identification of an IPv4 header.
    pub fn packet(&self, [src, dst]: [IpAddr; 2], ttl: u8, ip_id: Option<u16>) -> TcpPacket {
        let end = |ip, port| Endpoint { ip, port };
        TcpPacket {
            src: end(src, self.src.port),
            dst: end(dst, self.dst.port),
            seq: self.seq,
            ack: self.ack,
            flags: self.flags,
            window: self.window,
            urgent: self.urgent,
            payload_len: self.len,
            header_len: 20,
            options: self.options,
            ecn: self.ecn(),
            ttl,
            ip_id,
            header_truncated: false,
            standing: Standing::Whole,
            encap: Encap {
                caqm: self.caqm.info(),
                ..Encap::default()
            },
        }
    }

    /// Appends `packet`, which [`Segment::packet`] made of it, to `out` as a frame of Ethernet or a bare IP packet,
    /// without its payload. Returns the length on the wire in bytes. The payload is zeros: a caller that wants it resizes `out`.
    ///
    /// # Errors
    /// When the packet cannot be written.
    pub fn emit(
        &self,
        link: LinkType,
        packet: &TcpPacket,
        config: &Config,
        out: &mut Vec<u8>,
    ) -> Result<u32, EmitError> {
        let start = out.len();
        let whole = emit(link, packet, Payload::Len, config, out)?;
        let ip = start + ip_offset(link, packet);
        // The emitter writes the two ECN bits only.
        if self.tos >> 2 != 0
            && let Some(ip) = out.get_mut(ip..)
        {
            set_traffic_class(ip, self.tos);
        }
        Ok(whole)
    }
}

/// Bytes before the IP header of a frame that [`Segment::emit`] wrote.
pub fn ip_offset(link: LinkType, packet: &TcpPacket) -> usize {
    match (link, packet.encap.caqm) {
        (LinkType::Ethernet, None) => 14,
        (LinkType::Ethernet, Some(_)) => 14 + Caqm::BYTES as usize,
        _ => 0,
    }
}
