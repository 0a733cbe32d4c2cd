//! Two stacks joined by a small deterministic link, stepped one event at a time; every step ends with a check of all
//! that must hold.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tcplab_base::Instant;
use tcplab_plan::point::{Offload, Route};
use tcplab_plan::profile::Profile;
use tcplab_tcp::{
    Addr, Addresses, Clock, ConnId, Event, HostConfig, Interfaces, ListenId, OpenOptions,
    RxTruesize, Segment, Stack, Sysctl,
};

/// One millisecond in nanoseconds.
pub const MS: i64 = 1_000_000;
/// One second in nanoseconds.
pub const S: i64 = 1_000_000_000;
/// From the boot of both hosts to the start.
pub const BOOT_NS: i64 = 300 * S + 123_456;
/// The server's port.
pub const PORT: u16 = 80;
/// The client's host is 0, the server's 1.
pub const SERVER: Addr = Addr {
    host: 1,
    port: PORT,
};

/// What may happen to a segment on its way, each in parts of a thousand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub loss: u32,
    pub duplicate: u32,
    /// Delayed by up to three more one-way delays.
    pub reorder: u32,
    /// Dropped at the receiver because its checksum is wrong.
    pub corrupt: u32,
}

/// A segment on its way: when it arrives, its number, where.
#[derive(Clone, Copy, Debug)]
struct Flight {
    at: Instant,
    number: u64,
    to: usize,
    seg: Segment,
}

impl PartialEq for Flight {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}
impl Eq for Flight {}
impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Flight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// A decision about one segment: its number from 0 among all that were sent, who sent it, what it is; true drops it.
pub type Drop = Box<dyn FnMut(u64, usize, &Segment) -> bool>;

/// Changes a segment on its way: who sent it, what it is.
pub type Switch = Box<dyn FnMut(usize, &mut Segment)>;

/// Two hosts and the link between them.
pub struct Pair {
    pub now: Instant,
    pub hosts: [Stack; 2],
    /// One-way delay.
    pub delay_ns: i64,
    pub faults: Faults,
    /// Drops chosen segments.
    pub drop: Option<Drop>,
    /// Changes segments, after the log has them.
    pub switch: Option<Switch>,
    /// All that was sent: when, by whom, what.
    pub log: Vec<(Instant, usize, Segment)>,
    pub keep_log: bool,
    /// Packs what is idle after each step and call.
    pub pack: bool,
    pub events: Vec<(usize, Event)>,
    flights: BinaryHeap<Reverse<Flight>>,
    sent: u64,
    state: u64,
}

/// Settings of a host of Linux 6.1 with HZ=1000.
pub fn host(secret: u64) -> HostConfig {
    HostConfig {
        profile: Profile::default(),
        sysctl: Sysctl::default(),
        clock: Clock::new(1000, BOOT_NS),
        route: Route::default(),
        offload: Offload::None,
        queue: Default::default(),
        rx_truesize: RxTruesize::Kmalloc,
        ip_header: 20,
        addresses: Addresses::default(),
        interfaces: Interfaces::default(),
        secret,
        external: None,
        paths: Default::default(),
    }
}

impl Pair {
    pub fn new() -> Self {
        Self::of([host(1), host(2)], 7)
    }

    pub fn of(hosts: [HostConfig; 2], seed: u64) -> Self {
        Self {
            now: Instant::from_nanos(0),
            hosts: hosts.map(Stack::new),
            delay_ns: 10 * MS,
            faults: Faults::default(),
            drop: None,
            switch: None,
            log: Vec::new(),
            keep_log: true,
            pack: false,
            events: Vec::new(),
            flights: BinaryHeap::new(),
            sent: 0,
            state: seed.wrapping_mul(2).wrapping_add(1),
        }
    }

    /// A number below `n`, the same for the same seed.
    pub fn draw(&mut self, n: u32) -> u32 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.state >> 33) as u32) % n.max(1)
    }

    pub fn listen(&mut self) -> ListenId {
        self.hosts[1].listen(SERVER, &OpenOptions::default(), 128, 1500)
    }

    pub fn connect(&mut self) -> ConnId {
        self.connect_with(&OpenOptions::default())
    }

    pub fn connect_with(&mut self, options: &OpenOptions) -> ConnId {
        let opened = self.hosts[0].connect(self.now, 0, SERVER, options, 1500);
        let (id, _) = opened.expect("a port is free");
        self.drain();
        id
    }

    /// Connects with so many bytes for the SYN; gives how many went with it.
    pub fn connect_with_data(&mut self, options: &OpenOptions, bytes: u64) -> (ConnId, u64) {
        let client = &mut self.hosts[0];
        let socket = client.socket(self.now, 0, options);
        let local = Addr { host: 0, port: 0 };
        let opened = client.connect_deferred(self.now, socket, local, SERVER, 1500);
        let (id, _) = opened.expect("a port is free");
        let copied = self.with(0, id, |ep, cx| ep.connect_with_data(cx, bytes));
        (id, copied)
    }

    /// Listens, connects, and runs until the server has accepted.
    pub fn established(&mut self) -> (ConnId, ConnId) {
        let listener = self.listen();
        let client = self.connect();
        for _ in 0..100 {
            self.step();
            if let Some((server, _)) = self.hosts[1].accept(self.now, listener) {
                return (client, server);
            }
        }
        panic!("no connection after 100 steps");
    }

    /// A call on a connection.
    pub fn with<R>(
        &mut self,
        host: usize,
        id: ConnId,
        call: impl FnOnce(&mut tcplab_tcp::Endpoint, &mut tcplab_tcp::Cx<'_>) -> R,
    ) -> R {
        let result = self.hosts[host].with(self.now, id, call);
        self.drain();
        result.expect("the connection is still held")
    }

    pub fn close(&mut self, host: usize, id: ConnId) {
        self.hosts[host].close(self.now, id);
        self.drain();
    }

    /// Takes what the hosts send and say.
    pub fn drain(&mut self) {
        for from in 0..2 {
            while let Some(seg) = self.hosts[from].poll_segment() {
                self.send(from, seg);
            }
            while let Some(event) = self.hosts[from].poll_event() {
                self.events.push((from, event));
            }
            if self.pack {
                self.hosts[from].pack_idle();
            }
            self.hosts[from].check();
        }
    }

    fn send(&mut self, from: usize, mut seg: Segment) {
        let number = self.sent;
        self.sent += 1;
        if self.keep_log {
            self.log.push((self.now, from, seg));
        }
        if let Some(drop) = &mut self.drop
            && drop(number, from, &seg)
        {
            return;
        }
        if let Some(switch) = &mut self.switch {
            switch(from, &mut seg);
        }
        let f = self.faults;
        if self.draw(1000) < f.loss || self.draw(1000) < f.corrupt {
            return;
        }
        let copies = 1 + u64::from(self.draw(1000) < f.duplicate);
        for copy in 0..copies {
            let mut at = self.now.as_nanos() + self.delay_ns;
            if self.draw(1000) < f.reorder {
                at += i64::from(self.draw(3_000)) * self.delay_ns / 1000;
            }
            self.flights.push(Reverse(Flight {
                at: Instant::from_nanos(at),
                number: number * 2 + copy,
                to: 1 - from,
                seg,
            }));
        }
    }

    /// A segment that nobody of the two sent.
    pub fn inject(&mut self, to: usize, seg: Segment) {
        self.hosts[to].on_segment(self.now, &seg);
        self.drain();
    }

    /// When the next thing happens.
    pub fn next(&self) -> Option<Instant> {
        let flight = self.flights.peek().map(|f| f.0.at);
        let timers = self.hosts.iter().filter_map(Stack::next_timer);
        timers.chain(flight).min()
    }

    /// The next arrival or timer; false: nothing will ever happen.
    pub fn step(&mut self) -> bool {
        let Some(at) = self.next() else {
            return false;
        };
        assert!(at >= self.now || self.hosts.iter().any(|h| h.next_timer() == Some(at)));
        self.now = self.now.max(at);
        let arrives = self.flights.peek().is_some_and(|f| f.0.at <= self.now);
        if arrives {
            if let Some(Reverse(flight)) = self.flights.pop() {
                self.hosts[flight.to].on_segment(self.now, &flight.seg);
            }
        } else {
            for host in &mut self.hosts {
                host.on_timer(self.now);
                let next = host.next_timer();
                assert!(next.is_none_or(|next| next > self.now), "a timer stays due");
            }
        }
        self.drain();
        true
    }

    /// Runs for this long.
    pub fn run(&mut self, ns: i64) {
        let end = Instant::from_nanos(self.now.as_nanos() + ns);
        while self.next().is_some_and(|at| at <= end) {
            self.step();
        }
        self.now = end;
    }

    /// Runs until nothing is on its way, at most `ns`.
    pub fn settle(&mut self, ns: i64) {
        let end = Instant::from_nanos(self.now.as_nanos() + ns);
        while !self.flights.is_empty() && self.next().is_some_and(|at| at <= end) {
            self.step();
        }
    }

    pub fn count(&self, host: usize, name: &str) -> u64 {
        let found = self.hosts[host].mib.iter().find(|(n, _)| *n == name);
        found.unwrap_or_else(|| panic!("no counter {name}")).1
    }

    /// The sent segments in short: sender, flags, payload.
    pub fn short(&self) -> Vec<String> {
        self.log
            .iter()
            .map(|(_, from, seg)| format!("{} {}", ['C', 'S'][*from], words(seg)))
            .collect()
    }
}

/// Flags and length of a segment, as tcpdump writes them.
pub fn words(seg: &Segment) -> String {
    let mut text = String::new();
    let letters = ['F', 'S', 'R', 'P', '.', 'U', 'E', 'W'];
    for (bit, letter) in letters.into_iter().enumerate() {
        if seg.flags.0 & (1 << bit) != 0 {
            text.push(letter);
        }
    }
    if seg.len > 0 {
        text.push_str(&seg.len.to_string());
    }
    text
}
