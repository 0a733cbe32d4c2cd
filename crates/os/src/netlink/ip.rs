//! Addresses, neighbours and routes of IPv4 and IPv6, as ip(8) asks for them.

use std::io;
use std::net::IpAddr;

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
