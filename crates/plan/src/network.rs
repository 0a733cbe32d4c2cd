//! Names and numbers of a point's hosts and interfaces, the ways between hosts, the date: the same on every stack.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::point::{Host, Ip, Link, Point};

/// Default sysctls of hosts on all stacks, unless the experiment sets them: the values of a machine
/// with plenty of memory. Without them the kernel sizes its buffers by the memory of the machine or
/// guest, and buffers change where ACKs are sent.
pub const HOST_SYSCTLS: [(&str, &str); 3] = [
    ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
    ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
    // What one connection learnt does not change the next one.
    ("net.ipv4.tcp_no_metrics_save", "1"),
];

/// The date at which the hosts of a run in virtual time boot; the date of every run in files that have one.
pub const BOOT_DATE_NS: i64 = 1_790_000_000_000_000_000;

/// The address of a host; it has one, whichever of its links is used: 10.77.0.1 and so on, or fd77::1 (RFC 4193).
pub fn host_address(ip: Ip, index: usize) -> IpAddr {
    let n = u16::try_from(index + 1).unwrap_or(u16::MAX);
    let [high, low] = n.to_be_bytes();
    match ip {
        Ip::V4 => Ipv4Addr::new(10, 77, high, low).into(),
        Ip::V6 => Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, n).into(),
    }
}

/// The address at which a host reaches itself.
pub fn loopback_address(ip: Ip) -> IpAddr {
    match ip {
        Ip::V4 => Ipv4Addr::LOCALHOST.into(),
        Ip::V6 => Ipv6Addr::LOCALHOST.into(),
    }
}

/// The Ethernet address of one end (0 or 1) of a link.
pub fn ethernet_address(link: usize, side: usize) -> [u8; 6] {
    let [high, low] = u16::try_from(link).unwrap_or(u16::MAX).to_be_bytes();
    [0x02, 0x77, 0, high, low, side as u8 + 1]
}

/// The interface of a host on its `n`-th link, counted in the order of the point's links.
fn interface(n: usize) -> String {
    format!("eth{n}")
}

/// The interface that `host` has on link `number`.
pub fn interface_on(point: &Point, host: usize, number: usize) -> String {
    let before = point.links.iter().take(number);
    interface(before.filter(|l| l.a == host || l.b == host).count())
}

/// The file of a capture.
pub fn capture_file(host: &str, interface: &str) -> String {
    format!("{host}.{interface}.pcapng")
}

/// All captures that a run of this point makes: host, interface, file.
pub fn capture_files(point: &Point) -> Vec<(usize, String, String)> {
    if !point.captures {
        return Vec::new();
    }
    let file = |(host, interface): (usize, String)| {
        let name = point.hosts.get(host).map_or("", |h| h.name.as_str());
        let file = capture_file(name, &interface);
        (host, interface, file)
    };
    interfaces(point).into_iter().map(file).collect()
}

/// All interfaces that frames of this point pass: host, interface.
pub fn interfaces(point: &Point) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    for index in 0..point.hosts.len() {
        let links = point
            .links
            .iter()
            .filter(|l| l.a == index || l.b == index)
            .count();
        let mut names: Vec<String> = (0..links).map(interface).collect();
        if point
            .apps
            .iter()
            .any(|a| a.client == index && a.server == index)
        {
            names.push("lo".into());
        }
        all.extend(names.into_iter().map(|name| (index, name)));
    }
    all
}

/// For each host the first link of a way over the fewest links from `from` to it; of several such
/// ways the one whose links stand first in the point. Other hosts are on the way only where they
/// forward. None: there is no way.
pub fn first_hops(point: &Point, from: usize) -> Vec<Option<usize>> {
    first_links(&neighbours(&point.hosts, &point.links), &point.hosts, from)
}

/// The first link that joins two hosts directly.
pub fn direct_link(links: &[Link], from: usize, to: usize) -> Option<usize> {
    let joins = |link: &Link| [(link.a, link.b), (link.b, link.a)].contains(&(from, to));
    links.iter().position(joins)
}

/// For each host the links that it has, in their order, and the host at the other end.
pub(crate) type Neighbours = Vec<Vec<(usize, usize)>>;

pub(crate) fn neighbours(hosts: &[Host], links: &[Link]) -> Neighbours {
    let mut all = vec![Vec::new(); hosts.len()];
    for (number, link) in links.iter().enumerate() {
        for (end, other) in [(link.a, link.b), (link.b, link.a)] {
            if let Some(list) = all.get_mut(end) {
                list.push((number, other));
            }
        }
    }
    all
}

/// [`first_hops`] with the neighbours at hand.
pub(crate) fn first_links(all: &Neighbours, hosts: &[Host], from: usize) -> Vec<Option<usize>> {
    let mut first = vec![None; hosts.len()];
    let mut seen = vec![false; hosts.len()];
    let mut queue = VecDeque::from([from]);
    seen[from] = true;
    while let Some(at) = queue.pop_front() {
        if at != from && !hosts[at].forward {
            continue;
        }
        for &(number, next) in &all[at] {
            if !std::mem::replace(&mut seen[next], true) {
                first[next] = first[at].or(Some(number));
                queue.push_back(next);
            }
        }
    }
    first
}

/// The links on the way from one host to another, in their order; `None` if no way leads there.
pub fn way(point: &Point, from: usize, to: usize) -> Option<Vec<usize>> {
    let mut way = Vec::new();
    let mut at = from;
    while at != to {
        let number = (*first_hops(point, at).get(to)?)?;
        let link = point.links.get(number)?;
        way.push(number);
        at = if link.a == at { link.b } else { link.a };
    }
    Some(way)
}

/// The first link on the way from one host to another whose MTU is below `most`; `None` if every link takes that much, or if
/// no way leads there.
pub fn narrower_link(point: &Point, (from, to): (usize, usize), most: u32) -> Option<usize> {
    let mut way = way(point, from, to)?.into_iter();
    way.find(|&number| point.links[number].mtu < most)
}
