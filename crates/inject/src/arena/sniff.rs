//! What the host under test last said on each connection: its numbers are what frames to it are made from.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use tcplab_wire::malformed::Flow;
use tcplab_wire::{
    CAQM_ETHERTYPE, Config, Endpoint, LinkType, Parsed, Standing, TcpFlags, parse_frame,
};

/// The newest segment of a connection, from the host.
#[derive(Clone, Copy, Debug)]
struct Newest {
    packet: tcplab_wire::TcpPacket,
    /// Ethernet addresses: the peer's, the host's.
    macs: [[u8; 6]; 2],
    /// The shift of its windows.
    shift: u8,
    /// Segments until now.
    heard: u64,
    /// It is a connection of ours.
    is_kept: bool,
}

/// By the peer's end of the connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Sniffed {
    /// Where the host listens, in IPv4 and IPv6.
    hosts: [Option<Endpoint>; 2],
    newest: BTreeMap<Endpoint, Newest>,
}

pub(super) fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint {
        ip: address.ip(),
        port: address.port(),
    }
}

impl Sniffed {
    /// Frames from here are the host's.
    pub(super) fn expect(&mut self, host: SocketAddr) {
        self.hosts[usize::from(host.is_ipv6())] = Some(endpoint(host));
    }

    /// A frame that the peer's interface received.
    pub(super) fn see(&mut self, frame: &[u8]) {
        let len = frame.len() as u32;
        let parsed = parse_frame(LinkType::Ethernet, frame, len, &Config::default());
        let (Parsed::Tcp(packet), Some(&[d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5])) =
            (parsed, frame.first_chunk())
        else {
            return;
        };
        // An ICMP message of ours that quotes the host comes back from a loopback interface.
        let is_whole = packet.standing == Standing::Whole;
        let is_reset = packet.flags.has(TcpFlags::RST);
        if !is_whole || is_reset || !self.hosts.contains(&Some(packet.src)) {
            return;
        }
        let is_syn = packet.flags.has(TcpFlags::SYN);
        let before = self.newest.get(&packet.dst);
        let shift = match (is_syn, before) {
            (true, _) => packet.options.window_scale.unwrap_or(0),
            (false, Some(before)) => before.shift,
            // A stranger's.
            (false, None) => return,
        };
        let newest = Newest {
            packet,
            macs: [[d0, d1, d2, d3, d4, d5], [s0, s1, s2, s3, s4, s5]],
            shift,
            heard: before.map_or(0, |before| before.heard) + 1,
            is_kept: before.is_some_and(|before| before.is_kept),
        };
        self.newest.insert(packet.dst, newest);
        // Answers to floods.
        if self.newest.len() > 4_096 {
            self.newest
                .retain(|_, newest| newest.is_kept || !newest.packet.flags.has(TcpFlags::SYN));
        }
    }

    /// A connection of ours, which floods do not push out. False: the host was not heard on it.
    pub(super) fn keep(&mut self, peer: Endpoint) -> bool {
        let newest = self.newest.get_mut(&peer);
        newest.map(|newest| newest.is_kept = true).is_some()
    }

    pub(super) fn forget(&mut self, peer: Endpoint) {
        self.newest.remove(&peer);
    }

    /// Segments that the host has sent on this connection.
    pub(super) fn heard(&self, peer: Endpoint) -> u64 {
        self.newest.get(&peer).map_or(0, |newest| newest.heard)
    }

    /// What frames of the peer on this connection look like.
    pub(super) fn flow(&self, peer: Endpoint) -> Option<Flow> {
        let newest = *self.newest.get(&peer)?;
        let Newest {
            packet,
            macs: [src_mac, dst_mac],
            shift,
            ..
        } = newest;
        let is_syn = packet.flags.has(TcpFlags::SYN);
        let shift = if is_syn { 0 } else { shift };
        Some(Flow {
            src_mac,
            dst_mac,
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
