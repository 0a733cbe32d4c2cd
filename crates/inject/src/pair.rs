//! Two hosts of ours, joined in virtual time: the host under test, number 0, and its peer.

use std::net::IpAddr;

use tcplab_base::{Duration, Instant};
use tcplab_drill::packets::{Hosts, has_md5, icmp_error, segment};
use tcplab_plan::point::{Offload, Route, SocketOptions};
use tcplab_plan::profile::Profile;
use tcplab_tcp::{
    Addr, Addresses, Clock, ConnId, Endpoint, HostConfig, ListenId, RxTruesize, Segment, Stack,
    State, Sysctl,
};
use tcplab_wire::malformed::{Family, Flow};
use tcplab_wire::{Arrival, CAQM_ETHERTYPE, Quotation, Receiver, Refused, receive_any};

/// The host under test.
pub(super) const HOST: usize = 0;
const PEER: usize = 1;
/// Where it listens.
const PORT: u16 = 80;
/// One way between them.
const WAY: Duration = Duration::from_micros(50);
/// What a check of a connection carries, bytes each way.
const LOAD: u64 = 3_000;
const MTU: u32 = 1_500;

/// Ethernet addresses of both.
const MACS: [[u8; 6]; 2] = [[2, 0x77, 0, 0, 0, 1], [2, 0x77, 0, 0, 0, 2]];

/// A connection, at both ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conn {
    ids: [ConnId; 2],
    /// The peer's port.
    pub(super) port: u16,
}

/// Both hosts.
#[derive(Debug)]
pub(super) struct Pair {
    stacks: [Stack; 2],
    numbers: Hosts,
    addresses: [IpAddr; 2],
    pub(super) now: Instant,
    listener: ListenId,
    options: SocketOptions,
    /// The newest segment of each port of the peer and way: from the host, from the peer.
    newest: std::collections::BTreeMap<u16, [Option<Segment>; 2]>,
    /// Every segment that was carried, while somebody looks.
    pub(super) log: Option<Vec<(Instant, Segment)>>,
}

fn host(addresses: [IpAddr; 2], family: Family, seed: u64) -> HostConfig {
    let mut known = Addresses::default();
    for (number, address) in addresses.into_iter().enumerate() {
        known.set(number as u16, address);
    }
    HostConfig {
        profile: Profile::default(),
        sysctl: Sysctl {
            sysctl_caqm_enable: true,
            sysctl_caqm_filter_nics: u64::MAX,
            tcp_congestion_control: "caqm".into(),
            ..Sysctl::default()
        },
        clock: Clock::new(1000, 3_600_000_000_000),
        route: Route::default(),
        offload: Offload::None,
        queue: Default::default(),
        rx_truesize: RxTruesize::Kmalloc,
        ip_header: match family {
            Family::V4 => 20,
            Family::V6 => 40,
        },
        addresses: known,
        interfaces: Default::default(),
        secret: seed,
        external: None,
        paths: Default::default(),
    }
}

impl Pair {
    /// Both hosts, one listening.
    pub(super) fn new(family: Family, seed: u64) -> Self {
        let addresses = [1_u8, 2].map(|n| match family {
            Family::V4 => IpAddr::from([192, 0, 2, n]),
            Family::V6 => IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, u16::from(n)]),
        });
        let mut numbers = Hosts::default();
        for address in addresses {
            numbers.number(address);
        }
        let mut stacks = [seed, !seed].map(|seed| Stack::new(host(addresses, family, seed)));
        let options = SocketOptions {
            nodelay: Some(true),
            ..SocketOptions::default()
        };
        let here = Addr {
            host: HOST as u16,
            port: PORT,
        };
        let listener = stacks[HOST].listen(here, &options, 4_096, MTU);
        Self {
            stacks,
            numbers,
            addresses,
            now: Instant::from_nanos(0),
            listener,
            options,
            newest: Default::default(),
            log: None,
        }
    }

    /// Carries segments until both are silent.
    fn settle(&mut self) {
        // Two hosts that answer each other without end would be a defect; a check finds the data missing then.
        for _ in 0..1_000 {
            let mut any = false;
            let mut carried = [Vec::new(), Vec::new()];
            for (stack, segments) in self.stacks.iter_mut().zip(&mut carried) {
                any |= stack.take_segments(segments);
                while stack.poll_event().is_some() {}
            }
            if !any {
                return;
            }
            self.pass(WAY);
            let [from_host, from_peer] = carried;
            for (from, segments) in [(HOST, from_host), (PEER, from_peer)] {
                for segment in segments {
                    self.deliver(from, segment);
                }
            }
        }
    }

    fn deliver(&mut self, from: usize, segment: Segment) {
        let to = usize::from(segment.dst.host);
        let port = if from == PEER {
            segment.src.port
        } else {
            segment.dst.port
        };
        if let Some(newest) = self.newest.get_mut(&port) {
            newest[from] = Some(segment);
        }
        if let Some(log) = &mut self.log {
            log.push((self.now, segment));
        }
        // Answers to addresses that nobody has are lost.
        if let Some(stack) = self.stacks.get_mut(to).filter(|_| to != from) {
            stack.on_segment(self.now, &segment);
        }
    }

    /// Time passes, and timers run.
    pub(super) fn pass(&mut self, by: Duration) {
        let end = self.now + by;
        loop {
            let next = self.stacks.iter().filter_map(Stack::next_timer).min();
            match next {
                Some(at) if at <= end => {
                    self.now = self.now.max(at);
                    for stack in &mut self.stacks {
                        stack.on_timer(self.now);
                    }
                }
                _ => break,
            }
        }
        self.now = end;
    }

    /// Time passes, and what timers send is carried.
    pub(super) fn rest(&mut self, by: Duration) {
        self.settle();
        self.pass(by);
        self.settle();
    }

    /// A new connection from the peer.
    pub(super) fn connect(&mut self) -> Result<Conn, String> {
        let to = Addr {
            host: HOST as u16,
            port: PORT,
        };
        let opened = self.stacks[PEER].connect(self.now, PEER as u16, to, &self.options, MTU);
        let (peer, local) = opened.map_err(|e| e.0)?;
        self.newest.insert(local.port, [None, None]);
        // A SYN may be sent again: its first answer is lost when requests of a flood fill the queue.
        for _ in 0..40 {
            self.rest(Duration::from_millis(100));
            while let Some((id, from)) = self.stacks[HOST].accept(self.now, self.listener) {
                if from == local {
                    let conn = Conn {
                        ids: [id, peer],
                        port: local.port,
                    };
                    return Ok(conn);
                }
                // Somebody whom a frame made: nobody serves it.
                self.stacks[HOST].close(self.now, id);
            }
        }
        Err("a new connection does not open within 4 s".into())
    }

    /// Whether data goes both ways; gives the time until it was answered.
    pub(super) fn carry(&mut self, conn: &Conn) -> Result<Duration, String> {
        let begin = self.now;
        for (from, to) in [(PEER, HOST), (HOST, PEER)] {
            let wrote = self.stacks[from]
                .with(self.now, conn.ids[from], |ep, cx| ep.write(cx, LOAD, false));
            match wrote {
                Some(Ok(LOAD)) => {}
                other => return Err(format!("a write gives {other:?}")),
            }
            self.settle();
            let now = self.now;
            let read = self.stacks[to].with(now, conn.ids[to], |ep, cx| {
                let there = ep.readable_bytes();
                ep.read(cx, there);
                there
            });
            if read != Some(LOAD) {
                return Err(format!(
                    "only {} of {LOAD} bytes arrived",
                    read.unwrap_or(0)
                ));
            }
        }
        self.settle();
        let took = Duration::from_nanos(self.now.as_nanos() - begin.as_nanos());
        // What is delayed leaves.
        self.rest(Duration::from_millis(300));
        Ok(took)
    }

    /// Both ends close.
    pub(super) fn close(&mut self, conn: &Conn) {
        for (stack, id) in self.stacks.iter_mut().zip(conn.ids) {
            stack.close(self.now, id);
        }
        self.newest.remove(&conn.port);
        self.rest(Duration::from_millis(100));
    }

    /// Whether it stands at the host and at its peer.
    pub(super) fn stands(&mut self, conn: &Conn) -> bool {
        let ids = conn.ids;
        let mut ends = self.stacks.iter_mut().zip(ids);
        ends.all(|(stack, id)| {
            stack
                .get(id)
                .is_some_and(|ep| ep.state() == State::Established && ep.shutdown_bits().is_empty())
        })
    }

    /// The host's end.
    pub(super) fn end(&mut self, conn: &Conn) -> Option<&Endpoint> {
        self.stacks[HOST].get(conn.ids[HOST])
    }

    /// The host's counters, as text.
    pub(super) fn counters(&self) -> String {
        format!("{:?}", self.stacks[HOST].mib)
    }

    /// What the host's stack says must hold.
    pub(super) fn check(&self) {
        self.stacks[HOST].check();
    }

    /// What frames from the peer on this connection have to look like.
    pub(super) fn flow(&mut self, conn: &Conn) -> Option<Flow> {
        let newest = self.newest.get(&conn.port).copied()?;
        let ep = self.end(conn)?;
        let (seq, rcv_wnd) = ep.receive_space();
        let (_, ack, _) = ep.send_space();
        let [from_host, from_peer] = newest;
        let stamps = |segment: Option<Segment>| segment?.options.timestamps;
        let end = |n: usize, port| tcplab_wire::Endpoint {
            ip: self.addresses[n],
            port,
        };
        Some(Flow {
            src_mac: MACS[PEER],
            dst_mac: MACS[HOST],
            src: end(PEER, conn.port),
            dst: end(HOST, PORT),
            seq,
            ack,
            window: from_peer.map_or(502, |segment| segment.window),
            rcv_wnd,
            timestamps: stamps(from_peer)
                .zip(stamps(from_host))
                .map(|(p, h)| (p.0, h.0)),
            caqm_ethertype: CAQM_ETHERTYPE,
        })
    }

    /// A frame arrives at the host.
    pub(super) fn arrive(&mut self, frame: &[u8]) -> Result<(), Refused> {
        let addresses = [self.addresses[HOST]];
        let host = Receiver {
            mac: MACS[HOST],
            addresses: &addresses,
            caqm_ethertype: Some(CAQM_ETHERTYPE),
        };
        let received = match receive_any(&host, frame)? {
            Arrival::Segment(received) => received,
            Arrival::Icmp(quotation) => {
                self.hear(&quotation);
                return Ok(());
            }
        };
        // tcp_inbound_md5_hash(): no socket here has a key.
        if !has_md5(received.segment) {
            let segment = segment(&mut self.numbers, &received.packet, received.tos);
            self.stacks[HOST].on_segment(self.now, &segment);
        }
        Ok(())
    }

    /// An ICMP error about a segment of the host's.
    fn hear(&mut self, quotation: &Quotation) {
        let Some(what) = icmp_error(quotation) else {
            return;
        };
        let [local, remote] = [quotation.local, quotation.remote].map(|end| Addr {
            host: self.numbers.number(end.ip),
            port: end.port,
        });
        self.stacks[HOST].on_icmp(self.now, local, remote, quotation.seq, what);
    }

    /// The numbers of both addresses.
    pub(super) fn hosts(&self) -> Hosts {
        self.numbers.clone()
    }

    /// Whether the host has something to say.
    pub(super) fn has_answer(&self) -> bool {
        self.stacks[HOST].has_segments()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_carries_and_closes() {
        for family in [Family::V4, Family::V6] {
            let mut pair = Pair::new(family, 1);
            let conn = pair.connect().unwrap();
            assert!(pair.stands(&conn));
            assert!(pair.carry(&conn).unwrap() < Duration::from_millis(10));
            let flow = pair.flow(&conn).unwrap();
            assert_eq!(flow.src.port, conn.port);
            assert!(flow.rcv_wnd > 10_000 && flow.timestamps.is_some());
            pair.close(&conn);
            assert!(!pair.stands(&conn));
        }
    }
}
