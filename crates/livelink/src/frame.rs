//! A frame on a live link.

use tcplab_base::Instant;
use tcplab_link::{Kind, Payload};
use tcplab_qdisc::ack_filter::AckHeader;
use tcplab_qdisc::{FlowKeys, Packet};
use tcplab_wire::CaqmInfo;

/// An Ethernet frame as it goes over a wire, its checksums filled in, and when it came.
#[derive(Clone, Debug, Default)]
pub(super) struct LiveFrame {
    pub(super) bytes: Vec<u8>,
    pub(super) came: Instant,
}

impl Packet for LiveFrame {
    fn size(&self) -> u32 {
        self.bytes.size()
    }

    fn network_offset(&self) -> u32 {
        self.bytes.network_offset()
    }

    fn flow_keys(&self) -> FlowKeys {
        self.bytes.flow_keys()
    }

    fn dscp(&self) -> u8 {
        self.bytes.dscp()
    }

    fn wash(&mut self) {
        self.bytes.wash();
    }

    fn set_ce(&mut self) -> bool {
        self.bytes.set_ce()
    }

    fn corrupt(&mut self, byte: u32, bit: u8) {
        self.bytes.corrupt(byte, bit);
    }

    fn ack_header(&self) -> Option<AckHeader> {
        self.bytes.ack_header()
    }

    fn caqm(&self, ethertype: u16) -> Option<CaqmInfo> {
        self.bytes.caqm(ethertype)
    }

    fn set_caqm(&mut self, ethertype: u16, info: CaqmInfo) {
        self.bytes.set_caqm(ethertype, info);
    }
}

impl Payload for LiveFrame {
    fn kind(&self) -> Kind {
        Kind::of_ethernet(&self.bytes)
    }
}
