//! The simulator's packets in a qdisc.

use tcplab_link::{Kind, Payload};
use tcplab_qdisc::ack_filter::{AckHeader, AckOptions};
use tcplab_qdisc::{FlowKeys, Packet as Queued};
use tcplab_tcp::{Addr, Caqm, Segment};
use tcplab_wire::{CaqmInfo, TcpPacket};

use crate::capture::addresses;
use crate::packet::{Body, Packet, tag_len};

/// Bytes of an Ethernet header.
const ETHERNET: u32 = 14;
const TCP: u8 = 6;
const UDP: u8 = 17;

impl Payload for Packet {
    fn kind(&self) -> Kind {
        Packet::kind(self)
    }

    fn tcp(&self) -> Option<TcpPacket> {
        match &self.body {
            Body::Tcp(segment) => {
                let ends = addresses(self.ip, segment.src, segment.dst);
                Some(segment.packet(ends, self.ttl, None))
            }
            Body::Udp(_) => None,
        }
    }

    fn set_tcp(&mut self, packet: &TcpPacket) {
        if let Body::Tcp(segment) = &mut self.body {
            if segment.len != packet.payload_len {
                segment.gso_size = 0;
            }
            *segment = Segment {
                seq: packet.seq,
                ack: packet.ack,
                len: packet.payload_len,
                window: packet.window,
                urgent: packet.urgent,
                flags: packet.flags,
                tos: segment.tos & !3 | packet.ecn,
                options: packet.options,
                ..*segment
            };
        }
    }
}

impl Queued for Packet {
    fn size(&self) -> u32 {
        self.frame_len()
    }

    fn network_offset(&self) -> u32 {
        match &self.body {
            Body::Tcp(segment) => ETHERNET + tag_len(segment),
            Body::Udp(_) => ETHERNET,
        }
    }

    fn flow_keys(&self) -> FlowKeys {
        let (src, dst, protocol) = match &self.body {
            Body::Tcp(segment) => (segment.src, segment.dst, TCP),
            Body::Udp(datagram) => (datagram.src, datagram.dst, UDP),
        };
        FlowKeys {
            src: address(src),
            dst: address(dst),
            ports: [src.port, dst.port],
            protocol,
            label: 0,
        }
    }

    fn dscp(&self) -> u8 {
        match &self.body {
            Body::Tcp(segment) => segment.tos >> 2,
            Body::Udp(datagram) => datagram.tos >> 2,
        }
    }

    fn wash(&mut self) {
        match &mut self.body {
            Body::Tcp(segment) => segment.tos &= 3,
            Body::Udp(datagram) => datagram.tos &= 3,
        }
    }

    fn set_ce(&mut self) -> bool {
        self.mark()
    }

    fn corrupt(&mut self, _byte: u32, _bit: u8) {
        self.corrupt = true;
    }

    fn caqm(&self, ethertype: u16) -> Option<CaqmInfo> {
        match &self.body {
            Body::Tcp(segment) if self.tag_type == ethertype => segment.caqm.info(),
            _ => None,
        }
    }

    fn set_caqm(&mut self, _ethertype: u16, info: CaqmInfo) {
        if let Body::Tcp(segment) = &mut self.body {
            segment.caqm = Caqm::Tag(info);
        }
    }

    fn ack_header(&self) -> Option<AckHeader> {
        let Body::Tcp(segment) = &self.body else {
            return None;
        };
        Some(AckHeader {
            addresses: [address(segment.src), address(segment.dst)],
            ports: [segment.src.port, segment.dst.port],
            version: 4,
            flags: segment.flags.0 & 0xfff,
            no_payload: segment.len == 0,
            ack: segment.ack,
            options: options(segment),
        })
    }
}

fn address(of: Addr) -> [u32; 4] {
    [u32::from(of.host) + 1, 0, 0, 0]
}

fn options(segment: &Segment) -> AckOptions {
    let from = &segment.options;
    let mut out = AckOptions::default();
    out.are_harmless = from.mss.is_none()
        && from.window_scale.is_none()
        && !from.sack_permitted
        && from.mptcp == 0
        && from.fast_open().is_none();
    if let Some(stamps) = from.timestamps {
        out.add_stamp(stamps.0, stamps.1);
    }
    for block in from.sack.as_slice() {
        out.add_block(block.0, block.1);
    }
    out
}
