//! Addresses, neighbours and routes of IPv4 and IPv6, as ip(8) asks for them.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;
use std::{fs, io, thread};

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressMessage, AddressScope};
use netlink_packet_route::link::LinkAttribute;
use netlink_packet_route::neighbour::{
    NeighbourAttribute, NeighbourFlags, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope,
    RouteType,
};
use netlink_packet_route::tc::{TcHandle, TcMessage};

use super::{Netlink, index, link};

/// The IPv6 routes of a namespace: destination and its prefix length first, flags and device last.
const ROUTES: &str = "/proc/thread-self/net/ipv6_route";

/// `RTF_LOCAL` of linux/ipv6_route.h.
const RTF_LOCAL: u32 = 1 << 31;

/// How often [`wait_for_address`] looks, at first without a pause.
const LOOKS: u32 = 1100;
const LOOKS_AT_ONCE: u32 = 100;

/// Waits until this namespace takes packets to an address that was added to an interface that is up. An IPv6 address gets
/// its local route from a work queue (`addrconf_dad_work()`) even without duplicate address detection; until then,
/// packets to it are dropped.
///
/// # Errors
/// No local route after a second.
pub fn wait_for_address(address: IpAddr) -> io::Result<()> {
    let IpAddr::V6(address) = address else {
        return Ok(());
    };
    for look in 0..LOOKS {
        if is_local(&fs::read_to_string(ROUTES)?, address) {
            return Ok(());
        }
        match look {
            0..LOOKS_AT_ONCE => thread::yield_now(),
            _ => thread::sleep(Duration::from_millis(1)),
        }
    }
    let why = format!("the kernel has no local route to {address} after a second");
    Err(io::Error::new(io::ErrorKind::TimedOut, why))
}

/// Whether `routes` has the local route of an address.
fn is_local(routes: &str, address: Ipv6Addr) -> bool {
    let start = format!("{:032x} 80 ", address.to_bits());
    let mut lines = routes.lines().filter(|line| line.starts_with(&start));
    lines.any(|line| {
        let flags = line.split_whitespace().rev().nth(1);
        let flags = flags.and_then(|flags| u32::from_str_radix(flags, 16).ok());
        flags.is_some_and(|flags| flags & RTF_LOCAL != 0)
    })
}

impl Netlink {
    /// Sets the MTU of an interface in bytes.
    pub fn set_mtu(&self, name: &str, mtu: u32) -> io::Result<()> {
        let mut message = link(index(name)?);
        message.attributes = vec![LinkAttribute::Mtu(mtu)];
        self.ask(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// `ip address add ADDRESS/PREFIX dev NAME`.
    pub fn add_address(&self, name: &str, address: IpAddr, prefix: u8) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = address.into();
        message.header.prefix_len = prefix;
        message.header.scope = AddressScope::Universe;
        message.header.index = index(name)?;
        message.attributes = vec![
            AddressAttribute::Local(address),
            AddressAttribute::Address(address),
            AddressAttribute::Flags(AddressFlags::Nodad),
        ];
        self.add(RouteNetlinkMessage::NewAddress(message))
    }

    /// `ip neighbour replace ADDRESS lladdr ETHERNET nud permanent dev NAME`: no neighbour discovery. Over IPv6 `is_router`
    /// marks it as a router: behind other gateways Linux forgets path MTUs within 30 s (`rt6_age_examine_exception()`).
    pub fn neighbour(
        &self,
        name: &str,
        address: IpAddr,
        ethernet: [u8; 6],
        is_router: bool,
    ) -> io::Result<()> {
        let mut message = NeighbourMessage::default();
        message.header.family = address.into();
        message.header.ifindex = index(name)?;
        message.header.state = NeighbourState::Permanent;
        if is_router && address.is_ipv6() {
            message.header.flags = NeighbourFlags::Router;
        }
        message.attributes = vec![
            NeighbourAttribute::Destination(address.into()),
            NeighbourAttribute::LinkLayerAddress(ethernet.to_vec()),
        ];
        self.add(RouteNetlinkMessage::NewNeighbour(message))
    }

    /// `ip route replace TO via VIA dev NAME [onlink src FROM] METRICS`, to one address.
    pub fn route(
        &self,
        name: &str,
        (from, to): (Option<IpAddr>, IpAddr),
        via: Option<IpAddr>,
        metrics: Vec<RouteMetric>,
    ) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = to.into();
        message.header.destination_prefix_length = whole(to);
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.kind = RouteType::Unicast;
        message.header.scope = match via {
            None => RouteScope::Link,
            Some(_) => RouteScope::Universe,
        };
        message.attributes = vec![
            RouteAttribute::Destination(to.into()),
            RouteAttribute::Oif(index(name)?),
        ];
        let attributes = &mut message.attributes;
        attributes.extend(from.map(|from| RouteAttribute::PrefSource(from.into())));
        if let Some(via) = via {
            // Our hosts have an address and no network around it. packetdrill's gateway is an address of the host itself,
            // which the kernel takes for a gateway only without this flag.
            if from.is_some() {
                message.header.flags = RouteFlags::Onlink;
            }
            attributes.push(RouteAttribute::Gateway(via.into()));
        }
        if !metrics.is_empty() {
            attributes.push(RouteAttribute::Metrics(metrics));
        }
        self.add(RouteNetlinkMessage::NewRoute(message))
    }

    /// Metrics of the route by which a host reaches its own loopback address, as `ip route change table local` sets them.
    pub fn local_route(&self, address: IpAddr, metrics: Vec<RouteMetric>) -> io::Result<()> {
        if metrics.is_empty() {
            return Ok(());
        }
        let mut message = RouteMessage::default();
        message.header.address_family = address.into();
        message.header.destination_prefix_length = whole(address);
        message.header.table = 255;
        message.header.protocol = RouteProtocol::Kernel;
        message.header.kind = RouteType::Local;
        message.header.scope = RouteScope::Host;
        message.attributes = vec![
            RouteAttribute::Destination(address.into()),
            RouteAttribute::Oif(index("lo")?),
        ];
        if address.is_ipv6() {
            // The kernel's own one has a preference that no request can name, so none replaces it.
            self.ask(RouteNetlinkMessage::DelRoute(message.clone()), 0)?;
        } else {
            let own = RouteAttribute::PrefSource(address.into());
            message.attributes.push(own);
        }
        message.attributes.push(RouteAttribute::Metrics(metrics));
        self.add(RouteNetlinkMessage::NewRoute(message))
    }

    /// `tc qdisc delete dev NAME root`.
    pub fn delete_qdisc(&self, name: &str) -> io::Result<()> {
        let index = i32::try_from(index(name)?).unwrap_or(i32::MAX);
        let mut message = TcMessage::with_index(index);
        message.header.parent = TcHandle::ROOT;
        self.ask(RouteNetlinkMessage::DelQueueDiscipline(message), 0)
    }
}

/// The length of a prefix that is the whole address.
pub(super) fn whole(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_route_of_an_address_is_found() {
        let zero = "00000000000000000000000000000000";
        let line = |flags: &str| {
            format!(
                "fd3d0000000000000000000000000001 80 {zero} 00 {zero} 00000000 00000002 00000000 {flags}       t0\n"
            )
        };
        let address = "fd3d::1".parse().unwrap();
        assert!(is_local(&line("80200001"), address));
        assert!(!is_local(&line("00000001"), address));
        assert!(!is_local(&line("80200001"), "fd3d::2".parse().unwrap()));
        assert!(wait_for_address("127.0.0.1".parse().unwrap()).is_ok());
    }
}
