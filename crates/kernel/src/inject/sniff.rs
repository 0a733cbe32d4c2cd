//! What the host under test last said on each connection: its numbers are what frames to it are made from.

use std::collections::BTreeMap;
use std::net::IpAddr;

use tcplab_wire::malformed::{Family, Flow};
use tcplab_wire::{CAQM_ETHERTYPE, Config, Endpoint, LinkType, Parsed, TcpFlags, parse_frame};

use super::{HOST_MAC, PEER_MAC, PORT};

/// The newest segment of a connection, from the host.
#[derive(Clone, Copy, Debug)]
struct Newest {
    packet: tcplab_wire::TcpPacket,
    /// The shift of its windows.
    shift: u8,
}

/// By IP version and the peer's port.
#[derive(Clone, Debug, Default)]
pub(super) struct Sniffed(BTreeMap<(bool, u16), Newest>);

impl Sniffed {
    /// A frame that the peer's interface received.
    pub(super) fn see(&mut self, frame: &[u8]) {
        let len = frame.len() as u32;
        let parsed = parse_frame(LinkType::Ethernet, frame, len, &Config::default());
        let Parsed::Tcp(packet) = parsed else { return };
        let is_v6 = packet.src.ip.is_ipv6();
        let [_, peer] = addresses(if is_v6 { Family::V6 } else { Family::V4 });
        // Answers to frames with other sources come here too.
        if packet.src.port != PORT || packet.dst.ip != peer || packet.flags.has(TcpFlags::RST) {
            return;
        }
        let key = (is_v6, packet.dst.port);
        let is_syn = packet.flags.has(TcpFlags::SYN);
        let shift = match (is_syn, self.0.get(&key)) {
            (true, _) => packet.options.window_scale.unwrap_or(0),
            (false, Some(before)) => before.shift,
            // A stranger's.
            (false, None) => return,
        };
        self.0.insert(key, Newest { packet, shift });
        // Answers to floods.
        if self.0.len() > 4_096 {
            self.0
                .retain(|_, newest| !newest.packet.flags.has(TcpFlags::SYN));
        }
    }

    pub(super) fn forget(&mut self, family: Family, port: u16) {
        self.0.remove(&(family == Family::V6, port));
    }

    /// What frames of the peer on this connection look like.
    pub(super) fn flow(&self, family: Family, port: u16) -> Option<Flow> {
        let Newest { packet, shift } = *self.0.get(&(family == Family::V6, port))?;
        let is_syn = packet.flags.has(TcpFlags::SYN);
        let shift = if is_syn { 0 } else { shift };
        Some(Flow {
            src_mac: PEER_MAC,
            dst_mac: HOST_MAC,
            src: packet.dst,
            dst: packet.src,
            seq: packet.ack,
            ack: packet.seq_end(),
            window: 502,
            rcv_wnd: u32::from(packet.window) << shift,
            timestamps: packet.options.timestamps.map(|(value, echo)| (echo, value)),
            caqm_ethertype: CAQM_ETHERTYPE,
        })
    }
}

/// Addresses of host and peer.
pub(super) fn addresses(family: Family) -> [IpAddr; 2] {
    [1_u16, 2].map(|n| match family {
        Family::V4 => IpAddr::from([10, 77, 82, n as u8]),
        Family::V6 => IpAddr::from([0xfd77, 0, 0, 0x8200, 0, 0, 0, n]),
    })
}

/// The host's end of its listeners.
pub(super) fn listener(family: Family) -> Endpoint {
    let [ip, _] = addresses(family);
    Endpoint { ip, port: PORT }
}
