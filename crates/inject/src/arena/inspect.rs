//! What there is in the network namespace of this thread: interfaces, their addresses, listening sockets; and which end of a
//! veth pair is where. Attributes are read as bytes (rtnetlink(7)): few are needed, and a library refuses what it finds odd.

use std::fs::{self, File};
use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::AddressMessage;
use netlink_packet_route::link::LinkMessage;
use netlink_packet_route::nsid::{NsidAttribute, NsidMessage};

use tcplab_os::netlink::{Netlink, attribute};

/// `struct ifinfomsg`, `struct ifaddrmsg`, `struct rtgenmsg` before the attributes.
const LINK_HEAD: usize = 16;
const ADDRESS_HEAD: usize = 8;
const NSID_HEAD: usize = 4;
/// linux/if_link.h.
const IFLA_IFNAME: u16 = 3;
const IFLA_LINK: u16 = 5;
const IFLA_MASTER: u16 = 10;
const IFLA_LINKINFO: u16 = 18;
const IFLA_LINK_NETNSID: u16 = 37;
const IFLA_INFO_KIND: u16 = 1;
/// linux/if_addr.h; addresses that are not yet sure, or no longer.
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_FLAGS: u16 = 8;
const UNSURE: u32 = 0x08 | 0x40;
/// linux/net_namespace.h.
const NETNSA_NSID: u16 = 1;
/// linux/if.h.
const IFF_UP: u32 = 1;
const IFF_LOOPBACK: u32 = 8;
/// `TCP_LISTEN` in /proc/net/tcp.
const LISTEN: &str = "0A";

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) index: u32,
    pub(super) name: String,
    pub(super) is_up: bool,
    pub(super) is_loopback: bool,
    /// `veth`, `tun`, `bridge` ...; empty: hardware, or loopback.
    pub(super) kind: String,
    /// What it is a port of.
    pub(super) master: Option<u32>,
    /// The index of its other end, and the number of the namespace that is in; none: this one.
    pub(super) peer: Option<(u32, Option<i32>)>,
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_ne_bytes(*bytes))
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&b| b == 0);
    String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
}

fn link(message: &[u8]) -> Option<Link> {
    let of = |kind| attribute(message.get(LINK_HEAD..)?, kind);
    let number = |kind| word(of(kind)?, 0);
    let flags = word(message, 8)?;
    let info = of(IFLA_LINKINFO).unwrap_or_default();
    let kind = attribute(info, IFLA_INFO_KIND);
    Some(Link {
        index: word(message, 4)?,
        name: text(of(IFLA_IFNAME)?),
        is_up: flags & IFF_UP != 0,
        is_loopback: flags & IFF_LOOPBACK != 0,
        kind: kind.map(text).unwrap_or_default(),
        master: number(IFLA_MASTER),
        peer: number(IFLA_LINK).map(|index| {
            let namespace = number(IFLA_LINK_NETNSID).map(u32::cast_signed);
            (index, namespace)
        }),
    })
}

/// All interfaces.
pub(super) fn links() -> io::Result<Vec<Link>> {
    let ask = RouteNetlinkMessage::GetLink(LinkMessage::default());
    let answers = Netlink::open()?.dump(ask)?;
    Ok(answers.iter().filter_map(|message| link(message)).collect())
}

fn address(message: &[u8], index: u32) -> Option<IpAddr> {
    let of = |kind| attribute(message.get(ADDRESS_HEAD..)?, kind);
    let flags = of(IFA_FLAGS).and_then(|value| word(value, 0)).unwrap_or(0);
    if word(message, 4)? != index || flags & UNSURE != 0 {
        return None;
    }
    // Point to point, IFA_ADDRESS is the other end's.
    let value = of(IFA_LOCAL).or_else(|| of(IFA_ADDRESS))?;
    ip(value)
}

/// An address of 4 or 16 bytes.
fn ip(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = bytes.try_into().map(|ip: [u8; 4]| IpAddr::from(ip));
    let v6 = bytes.try_into().map(|ip: [u8; 16]| IpAddr::from(ip));
    v4.or(v6).ok()
}

/// The addresses of an interface; those of a link alone (fe80::/10) last.
pub(super) fn addresses(index: u32) -> io::Result<Vec<IpAddr>> {
    let ask = RouteNetlinkMessage::GetAddress(AddressMessage::default());
    let answers = Netlink::open()?.dump(ask)?;
    let mut found: Vec<IpAddr> = (answers.iter())
        .filter_map(|message| address(message, index))
        .collect();
    found.sort_by_key(is_of_link);
    Ok(found)
}

/// An address that needs an interface beside it (RFC 4291 2.5.6).
pub(super) fn is_of_link(ip: &IpAddr) -> bool {
    matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local())
}

/// The number by which this namespace knows another one; `None` if it does not know it.
pub(super) fn number_of(namespace: &File) -> io::Result<Option<i32>> {
    let mut message = NsidMessage::default();
    let fd = u32::try_from(namespace.as_raw_fd()).unwrap_or_default();
    message.attributes = vec![NsidAttribute::Fd(fd)];
    let answer = Netlink::open()?.get(RouteNetlinkMessage::GetNsId(message))?;
    let id = answer
        .get(NSID_HEAD..)
        .and_then(|rest| word(attribute(rest, NETNSA_NSID)?, 0));
    Ok(id.map(u32::cast_signed).filter(|id| *id >= 0))
}

/// The ports that sockets listen at, on all addresses or on one of these.
pub(super) fn listening(addresses: &[IpAddr]) -> Vec<u16> {
    let mut ports: Vec<u16> = ["tcp", "tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(format!("/proc/thread-self/net/{table}")).ok())
        .flat_map(|text| {
            text.lines()
                .filter_map(|line| listener(line, addresses))
                .collect::<Vec<_>>()
        })
        .collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// The port of a line of /proc/net/tcp that is a listener's.
fn listener(line: &str, addresses: &[IpAddr]) -> Option<u16> {
    let mut words = line.split_whitespace();
    let (local, _, state) = (words.nth(1)?, words.next()?, words.next()?);
    let (ip, port) = local.split_once(':')?;
    // Each word of 32 bits in the machine's own order.
    let words: Option<Vec<u32>> = (0..ip.len() / 8)
        .map(|at| u32::from_str_radix(ip.get(at * 8..at * 8 + 8)?, 16).ok())
        .collect();
    let bytes: Vec<u8> = words?.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let ip = self::ip(&bytes)?.to_canonical();
    let is_here = ip.is_unspecified() || addresses.contains(&ip);
    let port = u16::from_str_radix(port, 16).ok()?;
    (state == LISTEN && is_here).then_some(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_read_from_its_attributes() {
        let attribute = |kind: u16, value: &[u8]| {
            let mut b = ((value.len() + 4) as u16).to_ne_bytes().to_vec();
            b.extend(kind.to_ne_bytes());
            b.extend_from_slice(value);
            b.resize(b.len().next_multiple_of(4), 0);
            b
        };
        let mut message = vec![0, 0, 1, 0];
        message.extend(7_u32.to_ne_bytes());
        message.extend(0x1043_u32.to_ne_bytes());
        message.extend([0; 4]);
        message.extend(attribute(IFLA_IFNAME, b"eth0\0"));
        message.extend(attribute(IFLA_LINK, &9_u32.to_ne_bytes()));
        let kind = attribute(IFLA_INFO_KIND, b"veth\0");
        message.extend(attribute(IFLA_LINKINFO | 0x8000, &kind));
        message.extend(attribute(IFLA_LINK_NETNSID, &3_u32.to_ne_bytes()));
        let want = Link {
            index: 7,
            name: "eth0".into(),
            is_up: true,
            is_loopback: false,
            kind: "veth".into(),
            master: None,
            peer: Some((9, Some(3))),
        };
        assert_eq!(link(&message), Some(want));
        // Cut anywhere it is read as far as it goes.
        for end in 0..message.len() {
            let _ = link(&message[..end]);
        }
    }

    #[test]
    fn listeners_are_told_from_connections_and_from_others_addresses() {
        let line = |local: &str, state: &str| {
            format!(
                "   0: {local} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000 0 0 1 1"
            )
        };
        let v4 = |ip: [u8; 4], port: u16| format!("{:08X}:{port:04X}", u32::from_ne_bytes(ip));
        let own = [IpAddr::from([10, 0, 0, 2])];
        let of = |local: &str, state| listener(&line(local, state), &own);
        assert_eq!(of(&v4([0, 0, 0, 0], 80), "0A"), Some(80));
        assert_eq!(of(&v4([10, 0, 0, 2], 8080), "0A"), Some(8080));
        assert_eq!(of(&v4([127, 0, 0, 1], 25), "0A"), None);
        assert_eq!(of(&v4([0, 0, 0, 0], 80), "01"), None);
        assert_eq!(of(&format!("{}:0016", "0".repeat(32)), "0A"), Some(22));
        assert_eq!(listener("  sl  local_address rem_address   st", &own), None);
    }

    #[test]
    fn this_machine_has_a_loopback_interface() {
        let links = links().unwrap();
        let lo = links.iter().find(|link| link.is_loopback).unwrap();
        assert_eq!((lo.name.as_str(), lo.master), ("lo", None));
        assert!(
            addresses(lo.index)
                .unwrap()
                .contains(&IpAddr::from([127, 0, 0, 1]))
        );
    }
}
