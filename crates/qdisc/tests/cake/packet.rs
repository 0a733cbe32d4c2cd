//! A packet for tests.

use tcplab_base::Seq;
use tcplab_qdisc::ack_filter::AckHeader;
use tcplab_qdisc::{FlowKeys, Packet};

/// A packet of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    pub flow: u32,
    pub len: u32,
    pub dscp: u8,
    host: u32,
    ack: Option<u32>,
}

pub fn packet(flow: u32, len: u32) -> Test {
    Test {
        flow,
        len,
        dscp: 0,
        host: 0,
        ack: None,
    }
}

/// A pure ACK of 66 bytes.
pub fn ack(flow: u32, number: u32) -> Test {
    Test {
        ack: Some(number),
        ..packet(flow, 66)
    }
}

impl Test {
    pub fn of_host(mut self, host: u32) -> Self {
        self.host = host;
        self
    }

    pub fn sized(mut self, len: u32) -> Self {
        self.len = len;
        self
    }

    pub fn marked(mut self, dscp: u8) -> Self {
        self.dscp = dscp;
        self
    }
}

impl Packet for Test {
    fn size(&self) -> u32 {
        self.len
    }

    fn flow_keys(&self) -> FlowKeys {
        FlowKeys {
            src: [1 + self.host, 0, 0, 0],
            dst: [99, 0, 0, 0],
            ports: [self.flow as u16, 80],
            protocol: 6,
            label: 0,
        }
    }

    fn dscp(&self) -> u8 {
        self.dscp
    }

    fn wash(&mut self) {
        self.dscp = 0;
    }

    fn set_ce(&mut self) -> bool {
        false
    }

    fn corrupt(&mut self, _byte: u32, _bit: u8) {}

    fn ack_header(&self) -> Option<AckHeader> {
        let keys = self.flow_keys();
        Some(AckHeader {
            addresses: [keys.src, keys.dst],
            ports: keys.ports,
            version: 4,
            flags: AckHeader::ACK,
            no_payload: self.ack.is_some(),
            ack: Seq(self.ack.unwrap_or(0)),
            ..AckHeader::default()
        })
    }
}
