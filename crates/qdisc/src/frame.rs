//! Ethernet frames as packets of a qdisc.

use tcplab_wire::CaqmInfo;

use crate::ack_filter::AckHeader;
use crate::damage::damage;
use crate::packet::{ETHERNET, FlowKeys, Packet};

/// An Ethernet frame, as a TAP device gives it.
pub type Frame = Vec<u8>;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const ARP: u16 = 0x0806;
const VLAN: [u16; 2] = [0x8100, 0x88a8];
/// The EtherType of CAQM where nobody says another.
const CAQM: u16 = 0x8200;
/// Tags of VLANs behind which a CAQM tag is looked for.
const MOST_VLANS: usize = 2;

impl Packet for Frame {
    fn size(&self) -> u32 {
        self.as_slice().len() as u32
    }

    fn network_offset(&self) -> u32 {
        ETHERNET
    }

    fn flow_keys(&self) -> FlowKeys {
        flow_keys(self)
    }

    fn dscp(&self) -> u8 {
        dscp(self)
    }

    fn wash(&mut self) {
        wash(self);
    }

    fn set_ce(&mut self) -> bool {
        set_ce(self)
    }

    fn corrupt(&mut self, byte: u32, bit: u8) {
        corrupt(self, byte, bit);
    }

    fn ack_header(&self) -> Option<AckHeader> {
        ack_header(self)
    }

    fn caqm(&self, ethertype: u16) -> Option<CaqmInfo> {
        caqm(self, ethertype)
    }

    fn set_caqm(&mut self, ethertype: u16, info: CaqmInfo) {
        set_caqm(self, ethertype, info);
    }
}

/// Where INFO begins, when the inner EtherType stands behind it.
fn caqm_at(frame: &[u8], ethertype: u16) -> Option<usize> {
    let mut at = 12;
    for _ in 0..=MOST_VLANS {
        let protocol = u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]);
        at += 2;
        if protocol == ethertype {
            return frame.get(at..at + 4).map(|_| at);
        }
        if !VLAN.contains(&protocol) {
            return None;
        }
        at += 2;
    }
    None
}

pub(crate) fn caqm(frame: &[u8], ethertype: u16) -> Option<CaqmInfo> {
    let at = caqm_at(frame, ethertype)?;
    Some(CaqmInfo(u16::from_be_bytes([frame[at], frame[at + 1]])))
}

pub(crate) fn set_caqm(frame: &mut [u8], ethertype: u16, info: CaqmInfo) {
    if let Some(at) = caqm_at(frame, ethertype) {
        frame[at] = (info.0 >> 8) as u8;
    }
}

pub(crate) fn flow_keys(frame: &[u8]) -> FlowKeys {
    match network(frame) {
        Some((IPV4 | IPV6, at)) => FlowKeys::of_ip(&frame[at..]).unwrap_or_default(),
        _ => FlowKeys::default(),
    }
}

pub(crate) fn dscp(frame: &[u8]) -> u8 {
    match network(frame) {
        Some((IPV4, at)) => frame.get(at + 1).map_or(0, |tos| tos >> 2),
        Some((IPV6, at)) => traffic_class(&frame[at..]).map_or(0, |class| class >> 2),
        Some((ARP, _)) => 0x38,
        _ => 0,
    }
}

pub(crate) fn wash(frame: &mut [u8]) {
    match network(frame) {
        Some((IPV4, at)) => tcplab_wire::wash(IPV4, &mut frame[at..]),
        Some((IPV6, at)) => tcplab_wire::wash(IPV6, &mut frame[at..]),
        _ => {}
    }
}

pub(crate) fn set_ce(frame: &mut [u8]) -> bool {
    network(frame).is_some_and(|(protocol, at)| tcplab_wire::mark_ce_ip(protocol, &mut frame[at..]))
}

pub(crate) fn corrupt(frame: &mut [u8], byte: u32, bit: u8) {
    if damage(frame, 1) {
        return;
    }
    if let Some(byte) = frame.get_mut(byte as usize) {
        *byte ^= 1 << (bit & 7);
    }
}

pub(crate) fn ack_header(frame: &[u8]) -> Option<AckHeader> {
    match network(frame)? {
        (IPV4 | IPV6, at) => AckHeader::of_ip(&frame[at..]),
        _ => None,
    }
}

/// The protocol and where its header begins, behind tags of VLANs and one of CAQM.
fn network(frame: &[u8]) -> Option<(u16, usize)> {
    let (mut at, mut tags) = (12, 0);
    loop {
        let protocol = u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]);
        at += 2;
        let is_tag = protocol == CAQM && tags == 0;
        tags += usize::from(is_tag);
        match is_tag || VLAN.contains(&protocol) {
            true => at += 2,
            false => return frame.get(at..).map(|_| (protocol, at)),
        }
    }
}

fn traffic_class(packet: &[u8]) -> Option<u8> {
    Some(packet.first()? << 4 | packet.get(1)? >> 4)
}

const TCP: u8 = 6;
const UDP: u8 = 17;
const SCTP: u8 = 132;
const DCCP: u8 = 33;
const IP_IN_IP: u8 = 4;
const IPV6_IN_IP: u8 = 41;

impl FlowKeys {
    /// The keys of an IP packet: those of the innermost one where IP is in IP.
    pub fn of_ip(packet: &[u8]) -> Option<Self> {
        let long = |at: usize| {
            let bytes = packet.get(at..at + 4)?;
            Some(u32::from_be_bytes(bytes.try_into().ok()?))
        };
        let (keys, protocol, rest) = match packet.first()? >> 4 {
            4 => {
                let header = usize::from(packet[0] & 15) * 4;
                let fragment = long(4)? & 0x3fff;
                let keys = Self {
                    src: [long(12)?, 0, 0, 0],
                    dst: [long(16)?, 0, 0, 0],
                    protocol: packet[9],
                    ..Self::default()
                };
                if fragment != 0 || header < 20 {
                    return Some(keys);
                }
                (keys, packet[9], header)
            }
            6 => {
                let keys = Self {
                    src: [long(8)?, long(12)?, long(16)?, long(20)?],
                    dst: [long(24)?, long(28)?, long(32)?, long(36)?],
                    label: long(0)? & 0xf_ffff,
                    protocol: packet[6],
                    ..Self::default()
                };
                if keys.label != 0 {
                    return Some(keys);
                }
                (keys, packet[6], 40)
            }
            _ => return None,
        };
        Some(match protocol {
            IP_IN_IP | IPV6_IN_IP => packet.get(rest..).and_then(Self::of_ip).unwrap_or(keys),
            TCP | UDP | SCTP | DCCP => {
                let ports = long(rest).unwrap_or(0);
                Self {
                    ports: [(ports >> 16) as u16, ports as u16],
                    ..keys
                }
            }
            _ => keys,
        })
    }
}
