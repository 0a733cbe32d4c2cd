//! Packets: from hosts onto links, and from links to hosts.

use std::sync::Arc;

use tcplab_base::{Duration, Instant};
use tcplab_link::ChangeError;
use tcplab_plan::point::Ip;
use tcplab_tcp::{Caqm, Event, Segment};
use tcplab_wire::TcpFlags;

use super::net::Net;
use crate::capture::Hop;
use crate::events::Wake;
use crate::host::Host;
use crate::network::Arm;
use crate::packet::{Body, Packet, Protocol};
use crate::ready::Source;
use crate::socket::Socket;
use crate::too_big::{self, Quoted};

impl Net {
    /// Hands a host's packets to the links, in their order.
    pub(super) fn send_all(&mut self, host: usize) {
        let mut segments = std::mem::take(&mut self.segments);
        while self.hosts[host].stack.take_segments(&mut segments) {
            for segment in &segments {
                match segment.gso_size {
                    0 => self.send_segment(host, segment),
                    _ => self.send_pieces(host, segment),
                }
            }
            segments.clear();
        }
        self.segments = segments;
        if self.hosts[host].has_others() {
            self.send_others(host);
        }
    }

    /// A super-segment, as a network card cuts it.
    #[cold]
    fn send_pieces(&mut self, host: usize, segment: &Segment) {
        if segment.caqm != Caqm::Plain {
            self.hosts[host].copied_tags += u64::from(segment.wire_packets()) - 1;
        }
        for piece in cut(segment, u32::from(segment.gso_size)) {
            self.send_segment(host, &piece);
        }
    }

    /// What is not of the host's own TCP.
    #[inline(never)]
    fn send_others(&mut self, host: usize) {
        for datagram in std::mem::take(&mut self.hosts[host].datagrams) {
            self.send_body(host, Body::Udp(datagram));
        }
        for packet in std::mem::take(&mut self.hosts[host].forward) {
            if !self.refuse_too_big(host, &packet) {
                self.send_packet(host, packet);
            }
        }
    }

    /// Tells the sender of a packet that its router cannot pass on; false: the packet fits.
    fn refuse_too_big(&mut self, router: usize, packet: &Packet) -> bool {
        let mtu = self.network.mtu(router, packet.to());
        let Some(&segment) = too_big::segment(packet, mtu) else {
            return false;
        };
        let sender = usize::from(segment.src.host);
        let Some(host) = self.hosts.get_mut(sender) else {
            return false;
        };
        let number = host.quoted.len() as u32;
        host.quoted.push(Quoted {
            segment,
            id: packet.id,
            ttl: packet.ttl,
        });
        let error = too_big::answer((packet, &segment), router, mtu, number);
        self.hosts[router].udp.counts_sent(error.protocol);
        self.send_body(router, Body::Udp(error));
        true
    }

    fn send_segment(&mut self, host: usize, segment: &Segment) {
        self.work.tcp_packets += 1;
        self.work.data_segments += u64::from(segment.len > 0);
        self.send_body(host, Body::Tcp(*segment));
    }

    #[inline]
    fn send_body(&mut self, host: usize, body: Body) {
        let mut packet = Packet {
            body,
            ip: self.point.ip,
            id: 0,
            ttl: self.hosts[host].ttl,
            tag_type: self.hosts[host].tag_type,
            corrupt: false,
        };
        if self.captures.is_some() {
            packet.id = self.id_of(host, &packet.body);
        }
        if packet.to() == host {
            self.loop_back(host, &packet);
        } else {
            self.send_packet(host, packet);
        }
    }

    #[cold]
    #[inline(never)]
    fn id_of(&mut self, host: usize, body: &Body) -> u16 {
        let Some(captures) = &mut self.captures else {
            return 0;
        };
        match (self.point.ip, body) {
            (Ip::V4, _) => captures.id(body),
            (Ip::V6, Body::Tcp(segment)) => {
                let rehashes = self.hosts[host].stack.rehashes(segment.src, segment.dst);
                captures.hash(segment, rehashes)
            }
            (Ip::V6, Body::Udp(_)) => 0,
        }
    }

    /// The capture at the begin of a way sees a packet, or that at its end.
    #[cold]
    #[inline(never)]
    fn capture(&mut self, number: usize, side: usize, packet: &Packet) {
        let file = self.network.ways[number].captures[side];
        if let Some(captures) = &mut self.captures {
            let quoted = quoted(&self.hosts, packet);
            captures.packet(file, self.now, (packet, quoted), hop(number));
        }
    }

    #[inline]
    fn send_packet(&mut self, host: usize, packet: Packet) {
        if self.outside.is_some() {
            return self.goes_outside(&packet);
        }
        let Some(number) = self.network.way(host, packet.to()) else {
            self.hosts[host].undeliverable += 1;
            return;
        };
        let number = number as usize;
        if self.captures.is_some() {
            self.capture(number, 0, &packet);
        }
        let (to, arm) = self.network.enter(number, self.now, packet);
        match arm {
            Arm::Nothing => {}
            Arm::At(at) => self.events.set(at, Wake::Link(number as u32 / 2)),
            // One poll finds all pieces of a super-segment.
            Arm::Now if self.hosts[to].joins() => {
                self.events.set(self.now, Wake::Link(number as u32 / 2));
            }
            // A link without delay: it is there at once.
            Arm::Now => {
                self.way_is_due(number);
                self.arms_link(number / 2);
            }
        }
    }

    /// Sets the times at which settings of links, hosts and sockets change.
    pub(super) fn set_changes(&mut self) {
        for (number, one) in self.network.ways.iter().enumerate() {
            let Some(schedule) = &one.schedule else {
                continue;
            };
            for at in schedule.times() {
                let at = Instant::default() + at;
                self.events.set(at, Wake::Change(number as u32));
            }
        }
        let ways = self.network.ways.len();
        for (host, settings) in self.point.hosts.iter().enumerate() {
            for change in &settings.changes {
                let at = Instant::default() + Duration::from_nanos(change.at_ns);
                self.events.set(at, Wake::Change((ways + host) as u32));
            }
        }
        let before = ways + self.hosts.len();
        for (app, settings) in self.point.apps.iter().enumerate() {
            for change in &settings.changes {
                let at = Instant::default() + Duration::from_nanos(change.at_ns);
                self.events.set(at, Wake::Change((before + app) as u32));
            }
        }
    }

    /// What [`Wake::Change`] says is made: something happens to a way, or other settings of a host or of sockets.
    #[cold]
    pub(super) fn changes(&mut self, number: usize) -> Result<(), ChangeError> {
        if let Some(host) = number.checked_sub(self.network.ways.len()) {
            match host.checked_sub(self.hosts.len()) {
                Some(app) => self.sockets_change(app),
                None => {
                    let point = Arc::clone(&self.point);
                    self.hosts[host].changes(&point.hosts[host].changes, point.ip);
                }
            }
            return Ok(());
        }
        let one = &mut self.network.ways[number];
        if let Some(schedule) = &mut one.schedule {
            schedule.next(self.now, &mut one.way)?;
        }
        self.network.disarm(number / 2);
        self.link_is_due(number / 2);
        Ok(())
    }

    /// Gives the hosts the packets that are due on a link, the one way's first.
    pub(super) fn link_is_due(&mut self, link: usize) {
        let (one, back) = (2 * link, 2 * link + 1);
        if self.network.ways[one].is_due(self.now) {
            self.way_is_due(one);
        }
        if self.network.ways[back].is_due(self.now) {
            self.way_is_due(back);
        }
        self.arms_link(link);
    }

    #[inline]
    fn arms_link(&mut self, link: usize) {
        if let Arm::At(at) = self.network.arm_both(link, self.now) {
            self.events.set(at, Wake::Link(link as u32));
        }
    }

    /// Gives a host the packets that are due on a way.
    fn way_is_due(&mut self, number: usize) {
        let one = &mut self.network.ways[number];
        let to = one.to;
        let mut came = false;
        while let Some(due) = one.way.due(self.now) {
            let packet = due.frame;
            if due.mark {
                packet.mark();
            }
            packet.corrupt |= due.corrupt;
            if let Some(captures) = &mut self.captures {
                let quoted = quoted(&self.hosts, packet);
                captures.packet(one.captures[1], self.now, (packet, quoted), hop(number));
            }
            let host = &mut self.hosts[to];
            if packet.to() != to {
                host.passes_on(packet);
            } else if host.has_card() {
                if let Some((cpu, at)) = host.card_takes(self.now, packet) {
                    self.events.set(at, Wake::Card((to as u32) << 8 | cpu));
                }
            } else if let Some(end) = host.receive_from_link(self.now, packet) {
                self.sockets.touched(&mut self.ready, end);
            }
            one.way.remove();
            came = true;
        }
        one.looks_ahead();
        if came {
            if self.hosts[to].joins() {
                self.hosts[to].ends_poll(self.now);
            }
            if self.responses.is_some() {
                self.time_open_responses();
            }
            self.after_tcp(to);
        }
    }

    /// A CPU of a host's card goes on: what it hands up goes into the host.
    #[cold]
    #[inline(never)]
    pub(super) fn card_polls(&mut self, cpu: u32) {
        let (to, mut polled) = ((cpu >> 8) as usize, std::mem::take(&mut self.polled));
        let host = &mut self.hosts[to];
        host.card_wakes(self.now, cpu & 0xff, &mut polled);
        for (cpu, at) in polled.wakes.drain(..) {
            self.events.set(at, Wake::Card((to as u32) << 8 | cpu));
        }
        for packet in &polled.up {
            if let Some(end) = host.receive(self.now, packet) {
                self.sockets.touched(&mut self.ready, end);
            }
        }
        if !polled.up.is_empty() {
            if self.responses.is_some() {
                self.time_open_responses();
            }
            self.after_tcp(to);
        }
        polled.up.clear();
        self.polled = polled;
    }

    /// The loopback device: what is sent is there at once.
    #[inline(never)]
    fn loop_back(&mut self, host: usize, packet: &Packet) {
        let file = self.network.loopback(host);
        if let (Some(captures), Some(file)) = (&mut self.captures, file) {
            captures.packet(file, self.now, (packet, None), Hop::Loopback);
        }
        if let Some(end) = self.hosts[host].receive(self.now, packet) {
            self.sockets.touched(&mut self.ready, end);
        }
        self.after_tcp(host);
    }

    /// After each call into a host's TCP: what it has to send, whom it has to tell, when it wants
    /// to be woken.
    #[inline]
    pub(super) fn after_tcp(&mut self, index: usize) {
        let host = &mut self.hosts[index];
        if !host.is_ready && host.has_packets() {
            host.is_ready = true;
            while let Some(event) = self.hosts[index].stack.poll_event_ahead() {
                self.tells(index, event);
            }
            self.ready.push(Source::Host(index as u32));
        }
        let host = &mut self.hosts[index];
        if let Some(at) = host.arm() {
            self.events.set(at, Wake::Host(index as u32));
        }
        while let Some(event) = self.hosts[index].stack.poll_event() {
            self.tells(index, event);
        }
    }

    /// The owner of a host's socket is told of news.
    #[inline]
    fn tells(&mut self, index: usize, event: Event) {
        match event {
            Event::Connected(id) | Event::Readable(id) | Event::Writable(id) => {
                if let Some(end) = self.hosts[index].owner(id) {
                    self.sockets.touched(&mut self.ready, end);
                }
            }
            Event::Acceptable(listener) => {
                self.sockets.listens(&mut self.ready, index, listener);
            }
        }
    }

    /// Segments have come to servers: which responses were ACKed whole?
    #[inline(never)]
    fn time_open_responses(&mut self) {
        let Some(responses) = &mut self.responses else {
            return;
        };
        for place in (0..responses.open.len()).rev() {
            let open = responses.open[place];
            let sock = self.sockets.of[open.end as usize];
            let Socket::Tcp(id) = sock.socket else {
                // Nobody waits for it any more.
                responses.open.swap_remove(place);
                continue;
            };
            let stack = &mut self.hosts[usize::from(sock.host)].stack;
            let space = stack.get(id).map(|e| e.send_space());
            if open.left == 0 && space.is_some_and(|(una, _, written)| una == written) {
                responses.end(place, self.now);
            }
        }
    }
}

/// The segment that a packet's ICMP error is about.
#[cold]
fn quoted<'a>(hosts: &'a [Host], packet: &Packet) -> Option<&'a Quoted> {
    let Body::Udp(error) = &packet.body else {
        return None;
    };
    let Protocol::TooBig(_) = error.protocol else {
        return None;
    };
    let host = hosts.get(usize::from(error.dst.host))?;
    host.quoted.get(error.number as usize)
}

/// A packet goes over this way.
fn hop(way: usize) -> Hop {
    Hop::Link {
        number: way / 2,
        side: way % 2,
    }
}

/// The wire packets of a super-segment (tcp_gso_segment()): FIN and PSH go with the last one, CWR
/// with the first one.
fn cut(segment: &Segment, size: u32) -> impl Iterator<Item = Segment> {
    const LAST: u16 = TcpFlags::FIN | TcpFlags::PSH;
    let whole = *segment;
    let pieces = whole.wire_packets();
    (0..pieces).map(move |n| {
        let mut piece = whole;
        let at = n * size;
        piece.seq = whole.seq + at;
        piece.len = (whole.len - at).min(size);
        piece.gso_size = 0;
        if n + 1 < pieces {
            piece.flags = TcpFlags(piece.flags.0 & !LAST);
        }
        if n > 0 {
            piece.flags = TcpFlags(piece.flags.0 & !TcpFlags::CWR);
        }
        piece
    })
}
