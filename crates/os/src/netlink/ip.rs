//! Requests as ip(8) and tc(8) write them, of IPv4 and IPv6: what scripts, live links and injected frames need beyond runs.

use std::io;
use std::net::IpAddr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_REPLACE};
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressMessage, AddressScope};
use netlink_packet_route::link::LinkAttribute;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol,
    RouteScope, RouteType,
};
use netlink_packet_route::tc::{TcHandle, TcMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

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
        message.header.family = family(address);
        message.header.prefix_len = prefix;
        message.header.scope = AddressScope::Universe;
        message.header.index = index(name)?;
        message.attributes = vec![
            AddressAttribute::Local(address),
            AddressAttribute::Address(address),
            AddressAttribute::Flags(AddressFlags::Nodad),
        ];
        self.ask(
            RouteNetlinkMessage::NewAddress(message),
            NLM_F_CREATE | NLM_F_REPLACE,
        )
    }

    /// `ip route replace TO via VIA dev NAME METRICS`, to one address.
    pub fn add_route(
        &self,
        name: &str,
        to: IpAddr,
        via: Option<IpAddr>,
        metrics: Vec<RouteMetric>,
    ) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(to);
        message.header.destination_prefix_length = match to {
            IpAddr::V4(_) => 32,
            IpAddr::V6(_) => 128,
        };
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Boot;
        message.header.kind = RouteType::Unicast;
        message.header.scope = match via {
            None => RouteScope::Link,
            Some(_) => RouteScope::Universe,
        };
        message.attributes = vec![
            RouteAttribute::Destination(route_address(to)),
            RouteAttribute::Oif(index(name)?),
        ];
        message
            .attributes
            .extend(via.map(|via| RouteAttribute::Gateway(route_address(via))));
        if !metrics.is_empty() {
            message.attributes.push(RouteAttribute::Metrics(metrics));
        }
        self.ask(
            RouteNetlinkMessage::NewRoute(message),
            NLM_F_CREATE | NLM_F_REPLACE,
        )
    }

    /// `tc qdisc delete dev NAME root`.
    pub fn delete_qdisc(&self, name: &str) -> io::Result<()> {
        let index = i32::try_from(index(name)?).unwrap_or(i32::MAX);
        let mut message = TcMessage::with_index(index);
        message.header.parent = TcHandle::ROOT;
        self.ask(RouteNetlinkMessage::DelQueueDiscipline(message), 0)
    }
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

fn route_address(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(v4) => RouteAddress::Inet(v4),
        IpAddr::V6(v6) => RouteAddress::Inet6(v6),
    }
}
