//! Two stacks and a wire that delays.

use std::collections::VecDeque;

use tcplab_base::Instant;
use tcplab_plan::point::{Offload, Route};
use tcplab_plan::profile::Profile;
use tcplab_tcp::{
    Addr, Addresses, Clock, ConnId, HostConfig, Interfaces, ListenId, OpenOptions, ReadOutcome,
    RxTruesize, Segment, Stack, Sysctl,
};

pub const MS: i64 = 1_000_000;
const MTU: u32 = 1500;
const PORT: u16 = 5001;

pub fn host() -> HostConfig {
    HostConfig {
        profile: Profile::default(),
        sysctl: Sysctl::default(),
        clock: Clock::new(1000, 5_000_000_000),
        route: Route::default(),
        offload: Offload::None,
        queue: Default::default(),
        rx_truesize: RxTruesize::Kmalloc,
        ip_header: 20,
        addresses: Addresses::default(),
        interfaces: Interfaces::default(),
        secret: 7,
        external: None,
        paths: Default::default(),
    }
}

/// A segment that crossed the wire: when it left, which host sent it.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub at: i64,
    pub from: usize,
    pub segment: Segment,
}

pub struct Net {
    pub hosts: [Stack; 2],
    pub now: i64,
    pub log: Vec<Seen>,
    /// One way, in ns.
    pub delay: i64,
    /// Which segments are lost: called with each one.
    pub lose: fn(&Seen) -> bool,
    /// The connection of host 1 that reads what comes at once.
    pub reader: Option<ConnId>,
    wire: VecDeque<(i64, usize, Segment)>,
    listener: ListenId,
}

impl Net {
    pub fn new(a: HostConfig, b: HostConfig, options: &OpenOptions, delay: i64) -> Self {
        let mut hosts = [Stack::new(a), Stack::new(b)];
        let at = Addr {
            host: 1,
            port: PORT,
        };
        let listener = hosts[1].listen(at, options, 16, MTU);
        Self {
            hosts,
            now: 0,
            log: Vec::new(),
            delay,
            lose: |_| false,
            reader: None,
            wire: VecDeque::new(),
            listener,
        }
    }

    /// A connection of host 0 to host 1 that stands; both ends.
    pub fn open(&mut self, options: &OpenOptions) -> (ConnId, ConnId) {
        let to = Addr {
            host: 1,
            port: PORT,
        };
        let now = Instant::from_nanos(self.now);
        let (client, _) = self.hosts[0].connect(now, 0, to, options, MTU).unwrap();
        self.collect();
        self.run_for(3 * self.delay + MS);
        let now = Instant::from_nanos(self.now);
        let (server, _) = self.hosts[1].accept(now, self.listener).unwrap();
        self.log.clear();
        (client, server)
    }

    pub fn write(&mut self, host: usize, id: ConnId, bytes: u64) -> u64 {
        let now = Instant::from_nanos(self.now);
        let wrote = self.hosts[host].with(now, id, |end, cx| end.write(cx, bytes, false));
        self.collect();
        wrote.unwrap().unwrap_or(0)
    }

    /// Host 0 writes with MSG_OOB.
    pub fn write_urgent(&mut self, id: ConnId, bytes: u64) {
        let now = Instant::from_nanos(self.now);
        let wrote = self.hosts[0].with(now, id, |end, cx| end.write_urgent(cx, bytes));
        self.collect();
        assert_eq!(wrote, Some(Ok(bytes)));
    }

    /// One read at host 1; the bytes.
    pub fn read(&mut self, id: ConnId) -> u64 {
        let now = Instant::from_nanos(self.now);
        let went = self.hosts[1].with(now, id, |end, cx| end.read(cx, 1 << 20));
        self.collect();
        match went {
            Some(ReadOutcome::Got(bytes)) => bytes,
            other => panic!("{other:?}"),
        }
    }

    fn collect(&mut self) {
        for host in 0..2 {
            while let Some(segment) = self.hosts[host].poll_segment() {
                let seen = Seen {
                    at: self.now,
                    from: host,
                    segment,
                };
                self.log.push(seen);
                if !(self.lose)(&seen) {
                    self.wire
                        .push_back((self.now + self.delay, 1 - host, segment));
                }
            }
        }
    }

    /// Runs the next event that is due by `end`; false if no event is due.
    fn step(&mut self, end: i64) -> bool {
        let timer = (0..2)
            .filter_map(|host| Some((self.hosts[host].next_timer()?.as_nanos(), host)))
            .min();
        let frame = self.wire.front().map(|(at, ..)| *at);
        let at = match (timer, frame) {
            (Some((t, _)), Some(f)) => t.min(f),
            (Some((t, _)), None) => t,
            (None, Some(f)) => f,
            (None, None) => return false,
        };
        if at > end {
            return false;
        }
        self.now = self.now.max(at);
        let now = Instant::from_nanos(self.now);
        if frame == Some(at) {
            let (_, host, segment) = self.wire.pop_front().unwrap();
            self.hosts[host].on_segment(now, &segment);
            if let (1, Some(id)) = (host, self.reader) {
                self.hosts[1].with(now, id, |end, cx| end.read(cx, 1 << 20));
            }
        } else if let Some((_, host)) = timer {
            self.hosts[host].on_timer(now);
        }
        self.collect();
        for host in &mut self.hosts {
            for (_, end) in host.connections() {
                end.check();
            }
        }
        true
    }

    pub fn run_for(&mut self, ns: i64) {
        let end = self.now + ns;
        while self.step(end) {}
        self.now = end;
    }

    /// Lengths of the data segments that host 0 has sent, and when, in us since `from`.
    pub fn data(&self, from: i64) -> Vec<(i64, u32)> {
        self.log
            .iter()
            .filter(|seen| seen.from == 0 && seen.segment.len > 0)
            .map(|seen| ((seen.at - from) / 1000, seen.segment.len))
            .collect()
    }
}
