//! A connection as the run sees it: the script's ends and numbers beside the live ones, and the way from one to the
//! other. Sequence numbers of packets with SYN are absolute, all others count from the SYN (as tcpdump shows them).

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::packet::{Packet, Tcp, flag, protocol};
use crate::script::TcpOption;

/// What has happened to a socket, as far as it matters for packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum State {
    /// After socket(2).
    #[default]
    New,
    /// After listen(2).
    Listening,
    /// The script sent it its first packet.
    PacketReceived,
    /// It answered with SYN-ACK.
    SynAckSent,
    /// That was acknowledged.
    SynAckAcked,
    /// After connect(2).
    Connecting,
    /// The script expects its SYN.
    SynSent,
    /// That was acknowledged.
    SynAcked,
}

/// One side's address and initial sequence number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Side {
    pub(super) addr: SocketAddr,
    pub(super) isn: u32,
}

impl Default for Side {
    fn default() -> Self {
        Self {
            addr: SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0),
            isn: 0,
        }
    }
}

/// Both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Sides {
    pub(super) local: Side,
    pub(super) remote: Side,
}

/// A socket.
#[derive(Clone, Debug, Default)]
pub(super) struct Socket {
    pub(super) state: State,
    pub(super) protocol: u8,
    /// What the script says.
    pub(super) script: Sides,
    /// What is.
    pub(super) live: Sides,
    /// The descriptor in the target; none: not accepted yet.
    pub(super) fd: Option<i32>,
    /// Time stamps: what the script says that the host sent, to what it sent.
    stamps: BTreeMap<u32, u32>,
    /// The first of them.
    first_stamp: Option<(u32, u32)>,
    /// The flow label that the script said last, and what stood there.
    flow_label: Option<(u32, u32)>,
    /// The last header that the host sent, and that was sent to it, as they were; the latter with its payload.
    pub(super) last_out: Option<Tcp>,
    pub(super) last_in: Option<(Tcp, u32)>,
}

impl Socket {
    pub(super) fn new(state: State, protocol: u8) -> Self {
        Self {
            state,
            protocol,
            ..Self::default()
        }
    }

    /// Whether a packet of the script can be one of this socket.
    pub(super) fn takes(&self, packet: &Packet) -> bool {
        packet.protocol() == self.protocol
            || packet.is_icmp() && matches!(self.protocol, protocol::TCP | protocol::UDP)
    }

    /// Whether the host sent this packet from this socket.
    pub(super) fn sent(&self, packet: &Packet) -> bool {
        let Some((src, dst)) = packet.ends() else {
            return false;
        };
        let (local, remote) = (self.live.local.addr, self.live.remote.addr);
        if self.is_icmp() && packet.protocol() == self.protocol {
            return src.ip() == local.ip() && dst.ip() == remote.ip();
        }
        (src, dst) == (local, remote)
    }

    /// Whether it is the first packet of a socket that connects; its address and number are known then.
    pub(super) fn learn(&mut self, packet: &Packet) -> bool {
        let is_first = match packet.tcp() {
            Some(tcp) => {
                self.protocol == protocol::TCP && self.state == State::SynSent && tcp.is_syn()
            }
            None => packet.protocol() == self.protocol && self.state == State::Connecting,
        };
        let Some((src, dst)) = packet.ends().filter(|_| is_first) else {
            return false;
        };
        let remote = self.live.remote.addr;
        if dst.ip() != remote.ip() || !self.is_icmp() && dst.port() != remote.port() {
            return false;
        }
        self.live.local.addr = src;
        if let Some(tcp) = packet.tcp() {
            self.live.local.isn = tcp.seq;
        }
        true
    }

    fn is_icmp(&self) -> bool {
        matches!(self.protocol, protocol::ICMP | protocol::ICMPV6)
    }

    /// What to add to the script's numbers of the host to have the live ones.
    fn local_offset(&self, is_syn: bool) -> u32 {
        let script = if is_syn { self.script.local.isn } else { 0 };
        self.live.local.isn.wrapping_sub(script)
    }

    /// The same of the remote side, whose initial number the script chose.
    fn remote_offset(&self, is_syn: bool) -> u32 {
        if is_syn { 0 } else { self.live.remote.isn }
    }

    /// A packet of the script becomes one for the host.
    ///
    /// # Errors
    /// It echoes a time stamp that the host never sent.
    pub(super) fn map_in(&self, packet: &mut Packet, is_scaled: bool) -> Result<(), String> {
        let (src_port, dst_port) = packet.ports();
        let with_port = |addr: SocketAddr, port: u16| match port {
            0 => addr,
            port => SocketAddr::new(addr.ip(), port),
        };
        packet.set_ends(
            with_port(self.live.remote.addr, src_port),
            with_port(self.live.local.addr, dst_port),
        );
        let offset = self.local_offset(false);
        packet.map_quoted(|seq| seq.wrapping_add(offset));
        let Some(tcp) = packet.tcp_mut() else {
            return Ok(());
        };
        let is_syn = tcp.flags & flag::SYN != 0;
        let is_ack = tcp.flags & flag::ACK != 0;
        tcp.seq = tcp.seq.wrapping_add(self.remote_offset(is_syn));
        let offset = self.local_offset(is_syn);
        if is_ack {
            tcp.ack = tcp.ack.wrapping_add(offset);
        }
        shift_sack(&mut tcp.options, offset);
        if !is_ack {
            return Ok(());
        }
        // The last one counts when there are several.
        let echoed = tcp.options.iter_mut().rev().find_map(|o| match o {
            TcpOption::Timestamps { ecr, .. } => Some(ecr),
            _ => None,
        });
        if let Some(ecr) = echoed {
            *ecr = self.live_stamp(*ecr, is_scaled).ok_or_else(|| {
                format!(
                    "the host has sent no time stamp that the script calls {ecr}, so it cannot be \
                     echoed (--tcp_ts_ecr_scaled counts from the first one)"
                )
            })?;
        }
        Ok(())
    }

    fn live_stamp(&self, script: u32, is_scaled: bool) -> Option<u32> {
        let exact = self.stamps.get(&script).copied();
        let scaled = self.first_stamp.filter(|_| is_scaled);
        exact.or_else(|| scaled.map(|(s, live)| script.wrapping_sub(s).wrapping_add(live)))
    }

    /// A packet of the host gets the script's sequence numbers.
    pub(super) fn map_out(&self, packet: &mut Packet) {
        let Some(tcp) = packet.tcp_mut() else { return };
        let is_syn = tcp.flags & flag::SYN != 0;
        tcp.seq = tcp.seq.wrapping_sub(self.local_offset(is_syn));
        let offset = self.remote_offset(is_syn);
        if tcp.flags & flag::ACK != 0 {
            tcp.ack = tcp.ack.wrapping_sub(offset);
        }
        shift_sack(&mut tcp.options, offset.wrapping_neg());
    }

    /// The time stamp of a packet of the host gets the script's number, which from now on means this live one.
    pub(super) fn map_stamp(&mut self, script: &Packet, actual: &mut Packet) {
        let expected = script.tcp().and_then(stamp_of);
        let Some(val) = actual.tcp_mut().and_then(stamp_mut) else {
            return;
        };
        if let Some(expected) = expected {
            self.stamps.insert(expected, *val);
            let (script, live) = *self.first_stamp.get_or_insert((expected, *val));
            *val = script.wrapping_add(val.wrapping_sub(live));
        }
    }

    /// Compares flow labels: the same one in the script is the same one in the packets, another one another.
    ///
    /// # Errors
    /// It is not so: why.
    pub(super) fn check_flow_label(&mut self, script: u32, live: u32) -> Result<(), String> {
        if script == 0 {
            return Ok(());
        }
        if live == 0 {
            return Err("the packet has no flow label".into());
        }
        let (known, seen) = *self.flow_label.get_or_insert((script, live));
        match (script == known, live == seen) {
            (true, true) => Ok(()),
            (true, false) => Err(format!("the flow label was {seen:#x}, now it is {live:#x}")),
            (false, true) => Err(format!("the flow label is {live:#x} still")),
            (false, false) => {
                self.flow_label = Some((script, live));
                Ok(())
            }
        }
    }
}

fn shift_sack(options: &mut [TcpOption], offset: u32) {
    for option in options {
        if let TcpOption::Sack(blocks) = option {
            for (left, right) in blocks {
                *left = left.wrapping_add(offset);
                *right = right.wrapping_add(offset);
            }
        }
    }
}

fn stamp_of(tcp: &Tcp) -> Option<u32> {
    tcp.options.iter().rev().find_map(|o| match o {
        TcpOption::Timestamps { val, .. } => Some(*val),
        _ => None,
    })
}

fn stamp_mut(tcp: &mut Tcp) -> Option<&mut u32> {
    tcp.options.iter_mut().rev().find_map(|o| match o {
        TcpOption::Timestamps { val, .. } => Some(val),
        _ => None,
    })
}
