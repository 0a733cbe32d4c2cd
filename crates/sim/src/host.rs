//! A host: its TCP, its UDP, and which application has which socket.

use std::collections::BTreeMap;

use tcplab_base::{Instant, Random};
use tcplab_plan::Point;
use tcplab_plan::network::{HOST_SYSCTLS, first_hops};
use tcplab_plan::point::{Ip, Offload, SysctlChange};
use tcplab_plan::profile::Profile;
use tcplab_tcp::{
    Addresses, Clock, ConnId, Counter, HostConfig, IcmpError, Interfaces, RxTruesize, Stack, Sysctl,
};

use crate::card::{Card, Polled};
use crate::datagram::{Datagrams, Udp};
use crate::gro::Gro;
use crate::packet::{Body, Datagram, Packet, Protocol, TTL};
use crate::too_big::Quoted;
use crate::unreachable::{self, Limit};
use crate::world::{SimError, refused_sysctl, refused_timers};

/// No event is set for it.
pub(crate) const NEVER: Instant = Instant::from_nanos(i64::MAX);

/// A host.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) stack: Stack,
    pub(crate) udp: Udp,
    /// Segments that routers found too big.
    pub(crate) quoted: Vec<Quoted>,
    /// Of the ICMP errors that it sends.
    icmp_errors: Limit,
    /// Datagrams that leave.
    pub(crate) datagrams: Datagrams,
    /// Packets of others on their way through.
    pub(crate) forward: Vec<Packet>,
    /// The application's end that has a connection, by the connection's number.
    sockets: Vec<u32>,
    /// When its TCP is woken next.
    armed: Instant,
    /// It waits in the list of what is ready.
    pub(crate) is_ready: bool,
    /// Packets that it forwarded to nowhere, or whose time to live was over.
    pub(crate) undeliverable: u64,
    /// It knows an EtherType of CAQM's tag.
    knows_tag: bool,
    /// Which one: that of its own tags.
    pub(crate) tag_type: u16,
    /// Time to live of what it sends.
    pub(crate) ttl: u8,
    /// Its card's GRO.
    gro: Option<Box<Gro>>,
    /// Copies of CAQM's tag that its card made as it cut super-segments.
    pub(crate) copied_tags: u64,
    /// Its card, when it is more than a way in.
    card: Option<Box<Card>>,
    /// Changes of sysctls that were made.
    changed: usize,
}

/// The time to live of what it sends.
fn ttl(ip: Ip, sysctl: &Sysctl) -> u8 {
    match ip {
        Ip::V4 => sysctl.ip_default_ttl,
        Ip::V6 => TTL,
    }
}

/// No application has it.
const NOBODY: u32 = u32::MAX;

/// The sysctls of every host, then the profile's, then the point's.
fn sysctl_of(point: &Point, index: usize, profile: &Profile) -> Result<Sysctl, SimError> {
    let host = &point.hosts[index];
    let mut sysctl = Sysctl::default();
    let defaults = profile.sysctl.iter().copied();
    let own = host.sysctl.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    for (key, value) in HOST_SYSCTLS.into_iter().chain(defaults).chain(own) {
        if let Err(why) = sysctl.set(key, value)
            && !point.tolerates(key)
        {
            let refusal = refused_sysctl(&host.name, (key, value), &why);
            return Err(SimError::Cannot(refusal.to_string()));
        }
    }
    Ok(sysctl)
}

impl Host {
    /// The host of this number. A sysctl that cannot be set is an error, unless the point tolerates it.
    pub(crate) fn new(
        point: &Point,
        index: usize,
        profile: &Profile,
        boot_ns: i64,
    ) -> Result<Self, SimError> {
        let host = &point.hosts[index];
        let sysctl = sysctl_of(point, index, profile)?;
        let clock = Clock::new(profile.hz, boot_ns);
        if let Some(refusal) = refused_timers(point, index, &clock) {
            return Err(SimError::Cannot(refusal.to_string()));
        }
        let secret = Random::stream(point.seed, &format!("host/{index}/secret")).below(u64::MAX);
        let config = HostConfig {
            profile: profile.clone(),
            sysctl,
            clock,
            route: host.route.clone(),
            offload: host.offload,
            queue: Default::default(),
            rx_truesize: match profile.rx_truesize {
                0 => RxTruesize::Kmalloc,
                bytes => RxTruesize::Fixed(bytes),
            },
            ip_header: point.ip.header_bytes(),
            addresses: Addresses::new(point.ip),
            interfaces: numbers(point, index),
            secret,
            external: None,
            paths: Default::default(),
        };
        let units = config.sysctl.caqm_units();
        let knows_tag = config.sysctl.sysctl_caqm_enable;
        let tag_type = config.sysctl.sysctl_caqm_tpid;
        let ttl = ttl(point.ip, &config.sysctl);
        Ok(Self {
            stack: Stack::new(config),
            udp: Udp::new(point.ip),
            quoted: Vec::new(),
            icmp_errors: Limit::default(),
            datagrams: Datagrams::default(),
            forward: Vec::new(),
            sockets: Vec::new(),
            armed: NEVER,
            is_ready: false,
            undeliverable: 0,
            knows_tag,
            tag_type,
            ttl,
            gro: (host.offload == Offload::Gro && host.card.is_none())
                .then(|| Box::new(Gro::new(units))),
            copied_tags: 0,
            card: host.card.as_ref().map(|card| {
                let gro = (host.offload == Offload::Gro).then_some(units);
                Box::new(Card::new(card, point.seed, index, gro))
            }),
            changed: 0,
        })
    }

    /// The next of these changes is made. The point was checked: a sysctl that cannot be set is tolerated.
    pub(crate) fn changes(&mut self, all: &[SysctlChange], ip: Ip) {
        if let Some(change) = all.get(self.changed) {
            let _ = self.stack.set_sysctl(&change.name, &change.value);
            self.ttl = ttl(ip, &self.stack.host.sysctl);
        }
        self.changed += 1;
    }

    /// The application's end that has this connection.
    #[inline]
    pub(crate) fn owner(&self, id: ConnId) -> Option<u32> {
        let end = *self.sockets.get(id.0 as usize)?;
        (end != NOBODY).then_some(end)
    }

    pub(crate) fn owns(&mut self, id: ConnId, end: u32) {
        let place = id.0 as usize;
        if self.sockets.len() <= place {
            self.sockets.resize(place + 1, NOBODY);
        }
        self.sockets[place] = end;
    }

    /// close(2): the connection goes on without an owner.
    pub(crate) fn close(&mut self, now: Instant, id: ConnId) {
        self.stack.close(now, id);
        if let Some(end) = self.sockets.get_mut(id.0 as usize) {
            *end = NOBODY;
        }
    }

    /// Whether its card joins packets.
    #[inline]
    pub(crate) fn joins(&self) -> bool {
        self.gro.is_some()
    }

    /// Whether frames wait in its card.
    #[inline]
    pub(crate) fn has_card(&self) -> bool {
        self.card.is_some()
    }

    /// A frame for it arrives at its card; the CPU to wake, and when.
    #[cold]
    #[inline(never)]
    pub(crate) fn card_takes(&mut self, now: Instant, packet: &Packet) -> Option<(u32, Instant)> {
        if self.knows_tag && self.is_foreign(packet) {
            // Before GRO, which joins what the host knows.
            self.undeliverable += 1;
            return None;
        }
        self.card.as_mut()?.takes(now, packet)
    }

    /// A CPU of its card has something to do.
    pub(crate) fn card_wakes(&mut self, now: Instant, cpu: u32, out: &mut Polled) {
        let Some(card) = &mut self.card else { return };
        card.wakes(now, cpu, out);
        if !self.knows_tag {
            let before = out.up.len();
            out.up.retain(|packet| !packet.has_tag());
            self.undeliverable += (before - out.up.len()) as u64;
        }
    }

    /// It has a tag of an EtherType that this host does not know.
    #[inline]
    fn is_foreign(&self, packet: &Packet) -> bool {
        packet.has_tag() && !(self.knows_tag && self.tag_type == packet.tag_type)
    }

    /// A packet for it arrives at its card: as [`Host::receive`], but GRO may hold it until the poll is over.
    #[inline]
    pub(crate) fn receive_from_link(&mut self, now: Instant, packet: &Packet) -> Option<u32> {
        if self.is_foreign(packet) {
            // An EtherType that nobody here waits for.
            self.undeliverable += 1;
            return None;
        }
        match self.gro {
            None => self.receive(now, packet),
            Some(_) => self.receive_with_gro(now, packet),
        }
    }

    #[cold]
    #[inline(never)]
    fn receive_with_gro(&mut self, now: Instant, packet: &Packet) -> Option<u32> {
        match (&mut self.gro, &packet.body) {
            (Some(gro), Body::Tcp(segment)) if !packet.corrupt => {
                for segment in gro.receive(segment, packet.ttl).into_iter().flatten() {
                    self.stack.on_segment(now, &segment);
                }
                None
            }
            _ => self.receive(now, packet),
        }
    }

    /// The poll of its card is over: what GRO still holds goes up.
    #[cold]
    #[inline(never)]
    pub(crate) fn ends_poll(&mut self, now: Instant) {
        while let Some(segment) = self.gro.as_mut().and_then(|gro| gro.next()) {
            self.stack.on_segment(now, &segment);
        }
    }

    /// A packet for it arrives. It gives the end whose datagram it was.
    #[inline]
    pub(crate) fn receive(&mut self, now: Instant, packet: &Packet) -> Option<u32> {
        match &packet.body {
            Body::Tcp(segment) if !packet.corrupt => self.stack.on_segment(now, segment),
            _ => return self.receive_seldom(now, packet),
        }
        None
    }

    /// A datagram, or a packet with a wrong checksum.
    #[inline(never)]
    fn receive_seldom(&mut self, now: Instant, packet: &Packet) -> Option<u32> {
        match &packet.body {
            Body::Tcp(_) => {
                // tcp_v4_rcv(): a segment with a wrong checksum is counted and dropped.
                for counter in [Counter::InSegs, Counter::InCsumErrors, Counter::InErrs] {
                    self.stack.mib.add(counter, 1);
                }
            }
            Body::Udp(datagram) if packet.corrupt => match datagram.protocol {
                Protocol::Udp => self.udp.count.damaged += 1,
                _ => self.udp.count.damaged_icmp += 1,
            },
            Body::Udp(request) if request.protocol == Protocol::EchoRequest => {
                let reply = self.udp.echo(request);
                self.datagrams.push(reply);
            }
            Body::Udp(datagram) => {
                if let Protocol::TooBig(mtu) = datagram.protocol {
                    self.learns_mtu(now, datagram.number, mtu);
                }
                if self.udp.refuses(datagram) && self.may_refuse(now, datagram) {
                    let error = unreachable::answer(packet, datagram);
                    self.udp.counts_sent(error.protocol);
                    self.datagrams.push(error);
                }
                return self.udp.on_datagram(datagram);
            }
        }
        None
    }

    /// A router says that a segment did not fit into its next link.
    fn learns_mtu(&mut self, now: Instant, number: u32, mtu: u32) {
        let Some(Quoted { segment, .. }) = self.quoted.get(number as usize).copied() else {
            return;
        };
        let (local, remote) = (segment.src, segment.dst);
        let what = IcmpError::FragmentationNeeded(mtu);
        self.stack.on_icmp(now, local, remote, segment.seq, what);
    }

    /// Whether the sender of a datagram is told of an error. Over the loopback device there is no limit
    /// (`icmpv4_xrlim_allow()`).
    fn may_refuse(&mut self, now: Instant, datagram: &Datagram) -> bool {
        let (clock, peer) = (self.stack.host.clock, datagram.src.host);
        let hz = 1_000_000_000 / clock.tick_ns();
        peer == datagram.dst.host
            || (self.icmp_errors).allows(peer, clock.jiffies(now), hz.unsigned_abs())
    }

    /// A packet for another host arrives (RFC 791 3.2: what lived too long goes no further).
    #[inline(never)]
    pub(crate) fn passes_on(&mut self, packet: &Packet) {
        let mut packet = *packet;
        packet.ttl -= 1;
        match packet.ttl {
            0 => self.undeliverable += 1,
            _ => self.forward.push(packet),
        }
    }

    /// Bytes of its TCP's connections and of their owners.
    pub(crate) fn memory(&self) -> usize {
        self.stack.memory() + self.sockets.capacity() * size_of::<u32>()
    }

    /// Whether something waits to leave.
    #[inline]
    pub(crate) fn has_packets(&self) -> bool {
        self.stack.has_segments() || self.has_others()
    }

    /// Whether datagrams or packets of other hosts are among it.
    #[inline]
    pub(crate) fn has_others(&self) -> bool {
        !self.datagrams.is_empty() || !self.forward.is_empty()
    }

    /// The time for which an event must be set now; none: there is one that is early enough.
    #[inline]
    pub(crate) fn arm(&mut self) -> Option<Instant> {
        let next = self.stack.next_timer()?;
        (next < self.armed).then(|| {
            self.armed = next;
            next
        })
    }

    /// Its event has come. A stale one, whose timer was moved or stopped, finds nothing due.
    pub(crate) fn wake(&mut self, now: Instant) {
        if self.armed <= now {
            self.armed = NEVER;
        }
        if self.stack.next_timer().is_some_and(|at| at <= now) {
            self.stack.on_timer(now);
        }
    }

    /// Its counters by nstat's names.
    pub(crate) fn counters(&self) -> BTreeMap<String, i64> {
        let all = self.stack.mib.iter().chain(self.udp.counters());
        let card = self.card.iter().flat_map(|card| card.counters());
        let copied = ("tx_tso_copied_caqm", self.copied_tags);
        let copied = Some(copied).filter(|(_, n)| *n > 0 || self.card.is_some());
        all.chain(copied)
            .map(|(name, value)| (name.to_owned(), value as i64))
            .chain(card.map(|(name, value)| (name, value as i64)))
            .collect()
    }
}

/// The interface to each peer: 1 is the loopback device, 2 the one to the first link.
fn numbers(point: &Point, index: usize) -> Interfaces {
    let mut numbers = Interfaces::default();
    let links = point.links.iter().enumerate();
    let own = links.filter(|(_, link)| link.a == index || link.b == index);
    let own: Vec<usize> = own.map(|(number, _)| number).collect();
    numbers.set(index as u16, 1);
    // Those of the first interface need no entry.
    for (peer, hop) in first_hops(point, index).into_iter().enumerate() {
        let place = hop.and_then(|hop| own.iter().position(|&link| link == hop));
        if let Some(place) = place.filter(|&place| place > 0) {
            numbers.set(peer as u16, place as u32 + 2);
        }
    }
    numbers
}
