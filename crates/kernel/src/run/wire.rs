//! Hosts and links of a point, made: namespaces, devices, addresses, neighbours, routes.

use std::os::fd::AsRawFd;

use tcplab_os::netlink::{Netlink, metrics, wait_for_address};
use tcplab_os::tap::Tap;
use tcplab_os::{Context, OsError};
use tcplab_plan::Point;
use tcplab_plan::network::{
    ethernet_address as ethernet, first_hops, host_address, interface_on, loopback_address,
};
use tcplab_plan::outcome::LinkCount;
use tcplab_plan::point::{By, Ip, Link, Offload};

use super::host::{HostNet, Sysctls};
use super::qdisc;

/// The two devices of one link.
#[derive(Debug)]
pub(crate) enum Wire {
    /// Ours: frames are read from and written to TAP devices.
    Ours([Tap; 2]),
    /// The kernel's.
    Kernel,
}

/// What stands when all is made.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) hosts: Vec<HostNet>,
    pub(crate) wires: Vec<Wire>,
}

/// Makes everything. Afterwards, the current namespace is the last host's.
pub(crate) fn build(point: &Point, sysctls: &mut Sysctls<'_>) -> Result<Network, OsError> {
    let mut hosts = Vec::new();
    for host in &point.hosts {
        hosts.push(HostNet::new(host, point.ip, sysctls)?);
        let netlink = Netlink::opened()?;
        netlink.up("lo").tried("cannot bring lo up")?;
    }
    let mut wires = Vec::new();
    for (number, link) in point.links.iter().enumerate() {
        wires.push(make(point, number, link, &hosts)?);
    }
    if point.ip == Ip::V6 {
        for (host, net) in point.hosts.iter().zip(&hosts) {
            if host.forward {
                net.routes_ipv6(&host.name, sysctls)?;
            }
        }
    }
    for from in 0..hosts.len() {
        routes(point, from, &hosts)?;
    }
    Ok(Network { hosts, wires })
}

fn make(point: &Point, number: usize, link: &Link, hosts: &[HostNet]) -> Result<Wire, OsError> {
    let names = [
        interface_on(point, link.a, number),
        interface_on(point, link.b, number),
    ];
    let ends = [link.a, link.b];
    let wire = match link.by {
        By::Kernel => {
            hosts[link.a].enter()?;
            let peer = hosts[link.b].namespace();
            let peer = peer.ok_or_else(|| OsError::Cannot("a host without a namespace".into()))?;
            let peer = peer.as_raw_fd();
            Netlink::opened()?
                .veth(&names[0], &names[1], peer)
                .context(|| format!("cannot make the veth pair of link {number}"))?;
            Wire::Kernel
        }
        By::Tcplab => {
            hosts[link.a].enter()?;
            let a = Tap::new(&names[0])?;
            hosts[link.b].enter()?;
            Wire::Ours([a, Tap::new(&names[1])?])
        }
    };
    for side in 0..2 {
        hosts[ends[side]].enter()?;
        let netlink = Netlink::opened()?;
        let one_segment = point.hosts[ends[side]].offload == Offload::None;
        let name = &names[side];
        if point.ip == Ip::V6 {
            netlink
                .quiet(name)
                .context(|| format!("cannot set the flags of {name}"))?;
        }
        netlink
            .prepare(name, ethernet(number, side), link.mtu, one_segment)
            .context(|| format!("cannot set up {name} of link {number}"))?;
        // A queue of the kernel's own link has the length of any Ethernet device's: what tc's words leave open.
        if let Wire::Ours(_) = wire {
            netlink
                .long_queue(name)
                .context(|| format!("cannot set the queue of {name}"))?;
        }
        let [own, peer] = [ends[side], ends[1 - side]].map(|host| host_address(point.ip, host));
        let is_router = point.hosts[ends[1 - side]].forward;
        netlink
            .neighbour(name, peer, ethernet(number, 1 - side), is_router)
            .context(|| format!("cannot set a neighbour on {name}"))?;
        netlink
            .add_address(name, own, if own.is_ipv6() { 128 } else { 32 })
            .context(|| format!("cannot set the address of {name}"))?;
        if let Wire::Kernel = wire {
            qdisc::set(&netlink, name, [&link.a_to_b, &link.b_to_a][side])?;
        }
    }
    Ok(wire)
}

/// The counters of a link's own kernel qdiscs; the number of passed frames is unknown.
pub(crate) fn kernel_count(
    point: &Point,
    number: usize,
    hosts: &[HostNet],
) -> Result<LinkCount, OsError> {
    let link = &point.links[number];
    let of = |host: usize| {
        hosts[host].enter()?;
        qdisc::count(&Netlink::opened()?, &interface_on(point, host, number))
    };
    Ok(LinkCount {
        a_to_b_qdisc: of(link.a)?,
        b_to_a_qdisc: of(link.b)?,
        ..LinkCount::default()
    })
}

/// A route from `from` to every host that it can reach, over the fewest links.
fn routes(point: &Point, from: usize, hosts: &[HostNet]) -> Result<(), OsError> {
    hosts[from].enter()?;
    let netlink = Netlink::opened()?;
    let words = &point.hosts[from].route;
    let own = host_address(point.ip, from);
    if point
        .links
        .iter()
        .any(|link| [link.a, link.b].contains(&from))
    {
        wait_for_address(own)
            .context(|| format!("cannot use the address of {}", point.hosts[from].name))?;
    }
    netlink
        .local_route(loopback_address(point.ip), metrics(words))
        .context(|| {
            format!(
                "host.{}.route: this kernel rejects these metrics",
                point.hosts[from].name
            )
        })?;
    for (to, first) in first_hops(point, from).into_iter().enumerate() {
        let Some(number) = first else { continue };
        let link = &point.links[number];
        let next = if link.a == from { link.b } else { link.a };
        let name = interface_on(point, from, number);
        let via = (next != to).then(|| host_address(point.ip, next));
        let ends = (Some(own), host_address(point.ip, to));
        netlink
            .route(&name, ends, via, metrics(words))
            .context(|| {
                let [own, to] = [from, to].map(|host| &point.hosts[host].name);
                format!("host.{own}.route: this kernel rejects the route of {name} to host {to}")
            })?;
    }
    Ok(())
}
