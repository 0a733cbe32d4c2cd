//! A host's settings: its profile, its sysctls, its clock, its routes.

use std::net::IpAddr;

use tcplab_base::{Duration, Instant};
use tcplab_plan::network::host_address;
use tcplab_plan::point::{Ip, Offload, Route};
use tcplab_plan::profile::{Profile, WindowShare};

use crate::cc::external::Maker;
use crate::jiffies::Clock;
use crate::sysctl::Sysctl;

/// All that the connections of one host share and do not change.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// What its TCP does.
    pub profile: Profile,
    /// Its sysctls.
    pub sysctl: Sysctl,
    /// Its tick.
    pub clock: Clock,
    /// Metrics of its routes.
    pub route: Route,
    /// Who cuts and joins segments.
    pub offload: Offload,
    /// The queue in front of its device.
    pub queue: DeviceQueue,
    /// Memory that the kernel accounts for a received frame (`skb->truesize`) of this many bytes of
    /// Ethernet frame; see [`RxTruesize`].
    pub rx_truesize: RxTruesize,
    /// Bytes of the IP header in front of TCP's: 20 for IPv4, 40 for IPv6.
    pub ip_header: u32,
    /// IP addresses of the hosts that it talks to, and its own.
    pub addresses: Addresses,
    /// Numbers of its interfaces, where they matter.
    pub interfaces: Interfaces,
    /// MTUs of paths that routers told of.
    pub paths: PathMtus,
    /// Secret of initial sequence numbers and time stamp offsets.
    pub secret: u64,
    /// A congestion control of the host's owner, which sockets, the route and the sysctl may name.
    pub external: Option<Maker>,
}

impl HostConfig {
    /// The number (`ifindex`) of the interface to a host.
    pub(crate) fn interface_to(&self, host: u16) -> u32 {
        let known = self.interfaces.0.iter().find(|&&(known, _)| known == host);
        known.map_or(FIRST_INTERFACE, |&(_, number)| number)
    }

    /// `tcp_win_from_space()`: the window that so much memory allows. `ratio`: the measured part of memory that is payload,
    /// in 1/256; 0: nothing came yet.
    #[inline]
    pub(crate) fn window_share(&self, ratio: u8, space: i64) -> i64 {
        match (self.profile.window_share, ratio) {
            (WindowShare::Sysctl, _) => match self.sysctl.tcp_adv_win_scale {
                scale @ ..=0 => space >> scale.unsigned_abs().min(63),
                scale => space - (space >> scale.min(62)),
            },
            (WindowShare::Measured, 0) => space >> 1,
            (WindowShare::Measured, ratio) => (space * i64::from(ratio)) >> 8,
        }
    }

    /// `sk_gso_max_segs`: `ip link set gso_max_segs 1` is what "offload none" means.
    #[inline]
    pub(crate) fn gso_max_segs(&self) -> u32 {
        match self.offload {
            Offload::None => 1,
            Offload::Tso | Offload::Gro => GSO_MAX_SEGS,
        }
    }

    /// `sk_gso_max_size`: bytes of data of a super-segment.
    #[inline]
    pub(crate) fn gso_max_size(&self) -> u32 {
        GSO_MAX_SIZE - (self.profile.tx_header + 1)
    }
}

/// `GSO_LEGACY_MAX_SIZE`: bytes of a super-segment's IP packet.
const GSO_MAX_SIZE: u32 = 65_536;
/// `GSO_MAX_SEGS`.
const GSO_MAX_SEGS: u32 = 65_535;
/// The number of a host's first interface: the loopback device has 1.
const FIRST_INTERFACE: u32 = 2;

/// By which interface a host reaches others: the number of the interface (`ifindex`) for each peer; 2 for those that are
/// not named. Only `sysctl_caqm_filter_nics` depends on them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interfaces(Vec<(u16, u32)>);

impl Interfaces {
    /// A host is reached by the interface of this number.
    pub fn set(&mut self, host: u16, number: u32) {
        self.0.retain(|&(known, _)| known != host);
        self.0.push((host, number));
    }
}

/// What a host's TCP hears of the queue in front of its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DeviceQueue {
    /// Nothing: a link's queue is not the host's.
    #[default]
    Quiet,
    /// It takes nothing (`pfifo limit 0`): TCP is told (NET_XMIT_DROP).
    Drops,
    /// It holds each packet back until its time of departure (`fq`): connections are paced.
    Paces,
}

/// How much memory a received frame counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RxTruesize {
    /// As the kernel allocates it for a TAP device: a piece of a page and the sk_buff.
    Kmalloc,
    /// As the kernel allocates it for a TUN device: the sk_buff, and the IP packet's own buffer, which no other frame
    /// can take over. (SLOB's memory, as `uml:` has it, rounds nothing up to a size of kmalloc's.)
    Tun,
    /// Always this many bytes (a network card with buffers of one size).
    Fixed(u32),
}

/// How long a path's MTU is believed (`net.ipv4.route.mtu_expires`, `net.ipv6.route.mtu_expires`).
const MTU_EXPIRES: Duration = Duration::from_millis(600_000);

/// MTUs of paths that routers told of: exceptions of a host's routes (RFC 1191, RFC 8201; Linux `ip_rt_update_pmtu()`,
/// `ip6_rt_update_pmtu()`). DEVIATION: when one expires, a connection that stands keeps its segments' size.
#[derive(Clone, Debug, Default)]
pub struct PathMtus(Vec<(u16, u32, Instant)>);

impl PathMtus {
    /// The path to a host takes packets of `mtu` bytes at most.
    pub(crate) fn learn(&mut self, host: u16, mtu: u32, now: Instant) {
        self.0.retain(|&(known, ..)| known != host);
        self.0.push((host, mtu, now + MTU_EXPIRES));
    }

    /// What was told of the path to a host, if that is still believed.
    #[inline]
    pub(crate) fn of(&self, host: u16, now: Instant) -> Option<u32> {
        if self.0.is_empty() {
            return None;
        }
        let mut known = self.0.iter();
        let known = known.find(|&&(known, _, until)| known == host && now < until);
        known.map(|&(_, mtu, _)| mtu)
    }
}

/// The IP addresses that numbers of hosts stand for; only Fast Open's cookies depend on them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    ip: Ip,
    others: Vec<(u16, IpAddr)>,
}

impl Addresses {
    /// Those that the simulator gives its hosts.
    pub fn new(ip: Ip) -> Self {
        Self {
            ip,
            others: Vec::new(),
        }
    }

    /// Gives a host this address; the others have the simulator's.
    pub fn set(&mut self, host: u16, address: IpAddr) {
        self.others.retain(|&(known, _)| known != host);
        self.others.push((host, address));
    }

    /// The address of a host.
    pub fn of(&self, host: u16) -> IpAddr {
        let known = self.others.iter().find(|&&(known, _)| known == host);
        known.map_or_else(
            || host_address(self.ip, host.into()),
            |&(_, address)| address,
        )
    }
}
