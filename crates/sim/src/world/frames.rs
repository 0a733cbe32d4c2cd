//! Packets: from hosts onto links, and from links to hosts.

use tcplab_tcp::{Counter, Event, Segment};
use tcplab_wire::TcpFlags;

use super::World;
use crate::capture::Hop;
use crate::events::Wake;
use crate::packet::{Body, Packet, TTL};
use crate::ready::Source;

impl World {
    /// Hands a host's packets to the links, in their order.
    pub(super) fn send_all(&mut self, host: usize) {
        while let Some(segment) = self.hosts[host].stack.poll_segment() {
            match segment.gso_size {
                0 => self.send_segment(host, segment),
                size => {
                    for piece in cut(&segment, u32::from(size)) {
                        self.send_segment(host, piece);
                    }
                }
            }
        }
        if !self.hosts[host].datagrams.is_empty() {
            for datagram in std::mem::take(&mut self.hosts[host].datagrams) {
                self.send_body(host, Body::Udp(datagram));
            }
        }
        if !self.hosts[host].forward.is_empty() {
            for packet in std::mem::take(&mut self.hosts[host].forward) {
                self.send_packet(host, packet);
            }
        }
    }

    #[inline]
    fn send_segment(&mut self, host: usize, segment: Segment) {
        self.work.tcp_packets += 1;
        self.work.data_segments += u64::from(segment.len > 0);
        self.send_body(host, Body::Tcp(segment));
    }

    #[inline]
    fn send_body(&mut self, host: usize, body: Body) {
        let id = self.captures.as_mut().map_or(0, |c| c.id(&body));
        let packet = Packet {
            body,
            id,
            ttl: TTL,
            corrupt: false,
        };
        let packet = match self.spare.pop() {
            Some(mut there) => {
                *there = packet;
                there
            }
            None => Box::new(packet),
        };
        if packet.to() == host {
            self.loop_back(host, &packet);
        } else {
            self.send_packet(host, packet);
        }
    }

    fn send_packet(&mut self, host: usize, packet: Box<Packet>) {
        let Some(number) = self.network.way(host, packet.to()) else {
            self.hosts[host].undeliverable += 1;
            return;
        };
        let number = number as usize;
        let one = &mut self.network.ways[number];
        if let Some(captures) = &mut self.captures {
            captures.packet(one.captures[0], self.now, &packet, hop(number));
        }
        let (bytes, kind) = (packet.frame_len() as usize, packet.kind());
        one.way.enter(self.now, bytes, kind, packet);
        match one.way.next_time() {
            // A link without delay: it is there at once.
            Some(at) if at <= self.now => self.way_is_due(number),
            Some(_) => self.arm_way(number),
            None => {}
        }
    }

    #[inline]
    fn arm_way(&mut self, number: usize) {
        if let Some(at) = self.network.ways[number].arm(self.now) {
            self.events.set(at, Wake::Way(number as u32));
        }
    }

    /// Gives a host the packets that are due on a way.
    pub(super) fn way_is_due(&mut self, number: usize) {
        let to = self.network.ways[number].to;
        let mut came = false;
        while let Some(frame) = self.network.ways[number].way.poll(self.now) {
            let mut packet = frame.frame;
            if frame.mark {
                packet.mark();
            }
            packet.corrupt |= frame.corrupt;
            let file = self.network.ways[number].captures[1];
            if let Some(captures) = &mut self.captures {
                captures.packet(file, self.now, &packet, hop(number));
            }
            self.arrives(to, packet);
            came = true;
        }
        self.arm_way(number);
        if came {
            self.after_tcp(to);
        }
    }

    #[inline]
    fn arrives(&mut self, host: usize, mut packet: Box<Packet>) {
        if packet.to() != host {
            // RFC 791 3.2: what lived too long goes no further.
            packet.ttl -= 1;
            match packet.ttl {
                0 => self.hosts[host].undeliverable += 1,
                _ => self.hosts[host].forward.push(packet),
            }
            return;
        }
        self.receive(host, &packet);
        self.spare.push(packet);
    }

    #[inline]
    fn receive(&mut self, host: usize, packet: &Packet) {
        let host = &mut self.hosts[host];
        match &packet.body {
            Body::Tcp(_) if packet.corrupt => {
                // tcp_v4_rcv(): a segment with a wrong checksum is counted and dropped.
                for counter in [Counter::InSegs, Counter::InCsumErrors, Counter::InErrs] {
                    host.stack.mib.add(counter, 1);
                }
            }
            Body::Udp(_) if packet.corrupt => host.udp.count.damaged += 1,
            Body::Tcp(segment) => host.stack.on_segment(self.now, segment),
            Body::Udp(datagram) => {
                if let Some(end) = host.udp.on_datagram(datagram) {
                    self.end_is_ready(end as usize);
                }
            }
        }
    }

    /// The loopback device: what is sent is there at once.
    fn loop_back(&mut self, host: usize, packet: &Packet) {
        let file = self.network.loopback(host);
        if let (Some(captures), Some(file)) = (&mut self.captures, file) {
            captures.packet(file, self.now, packet, Hop::Loopback);
        }
        self.receive(host, packet);
        self.after_tcp(host);
    }

    /// After each call into a host's TCP: what it has to send, whom it has to tell, when it wants
    /// to be woken.
    #[inline]
    pub(super) fn after_tcp(&mut self, index: usize) {
        let host = &mut self.hosts[index];
        if !host.is_ready && host.has_packets() {
            host.is_ready = true;
            self.ready.push(Source::Host(index as u32));
        }
        if let Some(at) = host.arm() {
            self.events.set(at, Wake::Host(index as u32));
        }
        while let Some(event) = self.hosts[index].stack.poll_event() {
            match event {
                Event::Connected(id) | Event::Readable(id) | Event::Writable(id) => {
                    if let Some(end) = self.hosts[index].owner(id) {
                        self.end_is_ready(end as usize);
                    }
                }
                Event::Acceptable(listener) => self.listener_is_ready(index, listener),
            }
        }
    }
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
