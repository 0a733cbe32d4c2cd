//! rtnetlink(7) requests in the current network namespace: a guest has no ip(8).

mod generic;
mod ip;

use std::io;
use std::net::IpAddr;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkBuffer,
    NetlinkMessage,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::route::{RouteAttribute, RouteMessage, RouteMetric};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use nix::net::if_::{if_nameindex, if_nametoindex};
use tcplab_plan::point::Route;

use crate::{Context, OsError};

pub use self::generic::flush_tcp_metrics;
pub use self::ip::wait_for_address;

/// linux/netlink.h.
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;

/// Frames that wait for the other side of a TAP device: more than any queue under test.
const TX_QUEUE: u32 = 10_000;

/// RTAX_RTO_MIN's bit in RTAX_LOCK: without it the kernel ignores the metric.
pub const LOCK_RTO_MIN: u32 = 1 << 13;

/// A socket to the kernel's routing.
pub struct Netlink(Socket);

impl Netlink {
    /// Opens it in the current network namespace.
    pub fn open() -> io::Result<Self> {
        connected(NETLINK_ROUTE).map(Self)
    }

    /// As [`Self::open`], with an error in words.
    pub fn opened() -> Result<Self, OsError> {
        Self::open().tried("cannot open a netlink socket")
    }

    fn send(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        let mut packet = NetlinkMessage::from(message);
        packet.header.flags = NLM_F_REQUEST | flags;
        packet.finalize();
        let mut bytes = vec![0; packet.buffer_len()];
        packet.serialize(&mut bytes);
        self.0.send(&bytes, 0).map(drop)
    }

    /// The payload of one answer, behind the netlink header; empty for an acknowledgement.
    fn answer(&self) -> io::Result<Vec<u8>> {
        let (datagram, _) = self.0.recv_from_full()?;
        let one = NetlinkBuffer::new_checked(datagram.as_slice()).map_err(io::Error::other)?;
        match one.message_type() {
            NLMSG_ERROR => verdict(one.payload()).map(|()| Vec::new()),
            _ => Ok(one.payload().to_vec()),
        }
    }

    /// Sends one request and waits for the kernel's answer.
    pub fn ask(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.send(message, NLM_F_ACK | flags)?;
        self.answer().map(drop)
    }

    /// Sends a request for a list and gives the payload of each answer, behind the netlink header.
    pub fn dump(&self, message: RouteNetlinkMessage) -> io::Result<Vec<Vec<u8>>> {
        self.send(message, NLM_F_DUMP)?;
        let mut answers = Vec::new();
        loop {
            let (datagram, _) = self.0.recv_from_full()?;
            let mut rest = datagram.as_slice();
            while !rest.is_empty() {
                let one = NetlinkBuffer::new_checked(rest).map_err(io::Error::other)?;
                match one.message_type() {
                    NLMSG_DONE => return Ok(answers),
                    NLMSG_ERROR => verdict(one.payload())?,
                    _ => answers.push(one.payload().to_vec()),
                }
                let length = (one.length() as usize).next_multiple_of(4);
                rest = rest.get(length..).unwrap_or_default();
            }
        }
    }

    /// Sends a request for one thing and gives the payload of the answer, behind the netlink header.
    pub fn get(&self, message: RouteNetlinkMessage) -> io::Result<Vec<u8>> {
        self.send(message, 0)?;
        self.answer()
    }

    /// The index of the interface by which an address is reached (RTM_GETROUTE).
    fn interface_to(&self, address: IpAddr) -> io::Result<u32> {
        /// linux/rtnetlink.h: the attribute, and the length of `struct rtmsg`.
        const RTA_OIF: u16 = 4;
        const RTMSG: usize = 12;
        let mut message = RouteMessage::default();
        message.header.address_family = address.into();
        message.header.destination_prefix_length = ip::whole(address);
        let to = RouteAttribute::Destination(address.into());
        message.attributes.push(to);
        let answer = self.get(RouteNetlinkMessage::GetRoute(message))?;
        let index = attribute(answer.get(RTMSG..).unwrap_or_default(), RTA_OIF);
        index
            .and_then(|index| Some(u32::from_ne_bytes(*index.first_chunk()?)))
            .ok_or_else(|| io::Error::other("there is no route"))
    }

    /// Brings an interface up.
    pub fn up(&self, name: &str) -> io::Result<()> {
        let mut message = link(index(name)?);
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        self.ask(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Sets up one end of a link: Ethernet address and MTU; without offloads one segment a frame.
    pub fn prepare(
        &self,
        name: &str,
        ethernet: [u8; 6],
        mtu: u32,
        one_segment: bool,
    ) -> io::Result<()> {
        let mut message = link(index(name)?);
        message.attributes = vec![
            LinkAttribute::Address(ethernet.to_vec()),
            LinkAttribute::Mtu(mtu),
        ];
        if one_segment {
            message.attributes.push(LinkAttribute::GsoMaxSegs(1));
        }
        self.ask(RouteNetlinkMessage::SetLink(message), 0)?;
        self.up(name)
    }

    /// Nothing is sent but what sockets send: no neighbour solicitations, no multicast listener reports (RFC 3810), as its
    /// neighbours are known.
    pub fn quiet(&self, name: &str) -> io::Result<()> {
        let mut message = link(index(name)?);
        message.header.flags = LinkFlags::Noarp;
        message.header.change_mask = LinkFlags::Noarp | LinkFlags::Multicast;
        self.ask(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Gives a TAP device a queue longer than any under test.
    pub fn long_queue(&self, name: &str) -> io::Result<()> {
        let mut message = link(index(name)?);
        message.attributes = vec![LinkAttribute::TxQueueLen(TX_QUEUE)];
        self.ask(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Makes a veth pair: `name` here, `peer_name` in the namespace of `peer`.
    pub fn veth(&self, name: &str, peer_name: &str, peer: i32) -> io::Result<()> {
        let mut there = LinkMessage::default();
        there.attributes = vec![
            LinkAttribute::IfName(peer_name.into()),
            LinkAttribute::NetNsFd(peer),
        ];
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::IfName(name.into()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(there))),
            ]),
        ];
        self.ask(RouteNetlinkMessage::NewLink(message), NLM_F_CREATE)
    }

    /// Makes or changes something, such as a qdisc.
    pub fn add(&self, message: RouteNetlinkMessage) -> io::Result<()> {
        self.ask(message, NLM_F_CREATE | NLM_F_REPLACE)
    }
}

/// A socket to the kernel for a netlink protocol, in the current network namespace.
pub fn connected(protocol: isize) -> io::Result<Socket> {
    let mut socket = Socket::new(protocol)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    Ok(socket)
}

/// A message as bytes: `struct nlmsghdr` and what follows it.
pub fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let length = (16 + body.len()) as u32;
    let mut bytes = length.to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend(body);
    bytes
}

/// Kind and value of each attribute (`struct nlattr`), up to one that ends too early.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let [a, b, c, d] = *bytes.first_chunk()?;
        let length = usize::from(u16::from_ne_bytes([a, b]));
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        // The highest bits are flags of the attribute.
        Some((u16::from_ne_bytes([c, d]) & 0x3fff, value))
    })
}

/// The value of the first attribute of a kind.
pub fn attribute(bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    attributes(bytes).find_map(|(kind, value)| (kind == wanted).then_some(value))
}

/// `struct nlmsgerr`: a negative error number first; 0 is an acknowledgement.
fn verdict(payload: &[u8]) -> io::Result<()> {
    let code = payload.first_chunk().map_or(0, |c| i32::from_ne_bytes(*c));
    match code {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code.saturating_neg())),
    }
}

/// The words of `ip route` as metrics. Linux keeps `rto_min` in milliseconds, rounded up here.
pub fn metrics(words: &Route) -> Vec<RouteMetric> {
    let mut metrics = Vec::new();
    let rto_min = words.rto_min_ns.map(milliseconds);
    if rto_min.is_some() {
        metrics.push(RouteMetric::Lock(LOCK_RTO_MIN));
    }
    metrics.extend(words.mtu.map(RouteMetric::Mtu));
    metrics.extend(words.advmss.map(RouteMetric::Advmss));
    metrics.extend(words.initcwnd.map(RouteMetric::InitCwnd));
    metrics.extend(rto_min.map(RouteMetric::RtoMin));
    metrics.extend(words.initrwnd.map(RouteMetric::InitRwnd));
    metrics.extend(words.quickack.map(RouteMetric::QuickAck));
    metrics.extend(words.congctl.clone().map(RouteMetric::CcAlgo));
    metrics
}

/// Whole milliseconds of a time in nanoseconds, rounded up.
fn milliseconds(ns: i64) -> u32 {
    let ms = ns.max(0).unsigned_abs().div_ceil(1_000_000);
    u32::try_from(ms).unwrap_or(u32::MAX)
}

/// A message about an interface.
pub fn link(index: u32) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = index;
    message
}

/// The index of an interface in the current network namespace.
pub fn index(name: &str) -> io::Result<u32> {
    if_nametoindex(name).map_err(|e| io::Error::other(format!("interface {name}: {e}")))
}

/// The interface by which the kernel's routes reach an address.
pub fn interface_to(peer: IpAddr) -> io::Result<String> {
    let index = Netlink::open()?.interface_to(peer)?;
    let all = if_nameindex()?;
    let found = all.iter().find(|interface| interface.index() == index);
    let found = found.ok_or_else(|| io::Error::other("it has no name"))?;
    Ok(found.name().to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_oneself_is_lo() {
        assert_eq!(interface_to([127, 0, 0, 1].into()).unwrap(), "lo");
    }
}
