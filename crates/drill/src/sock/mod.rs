//! The simulated host as a [`Target`]: the socket layer of Linux 6.1 over `tcplab_tcp::Stack`, in virtual time.
//!
//! Calls come in as data (`call.rs`), each is a step that is done or waits (`pending.rs`); packets come in and leave as
//! bytes (`wire.rs`). Everything that happens ends in [`Model::settle`]: what leaves is written down, sockets are
//! woken, waiting calls are looked at again.
//!
//! Left out: fragments of UDP, time stamps of what arrives, TCP-AO and TCP_MD5SIG keys.

mod accept;
mod call;
mod connect;
mod epoll;
mod errqueue;
mod explain;
mod fastopen;
mod fds;
mod files;
mod icmp;
mod info;
mod numbers;
mod open;
mod options;
mod pending;
mod poll;
mod recv;
mod send;
mod settings;
mod shutdown;
#[cfg(test)]
mod tests;
mod timestamps;
mod udp;
mod wire;
mod zerocopy;

use std::collections::VecDeque;
use std::net::SocketAddr;

use tcplab_base::{Duration, Instant};
use tcplab_plan::point::{Offload, Route};
use tcplab_plan::profile::Profile;
use tcplab_tcp::{
    Addr, Addresses, Clock, Cx, DeviceQueue, Endpoint, Event, HostConfig, Interfaces, RxTruesize,
    Segment, Stack, Sysctl,
};

use self::call::End;
use self::fds::{File, Files, Kind};
pub use self::icmp::icmp_error;
use self::numbers::ev;
use self::pending::{Blocked, Pending, Progress};
use self::wire::Arrived;
pub use self::wire::{Hosts, bytes_of, has_md5, segment};
use crate::call::{Call, Fd, Outcome};
use crate::target::{Happening, IpMode, Made, Network, Setting, Target, TargetError};

/// The host under test among [`Hosts`].
const LOCAL: u16 = 0;
/// The other end of most connections.
const REMOTE: u16 = 1;
/// An hour after boot: no counter is near its start.
const UPTIME_NS: i64 = 3_600_000_000_000;
/// The time of a system call that sets no other. On no machine do two calls share an instant (`uml:` takes twice as
/// long). It matters because Linux asks whether *more* than a millisecond has passed, or whether a round trip was
/// *shorter*.
const CALL: Duration = Duration::from_micros(1);
/// More things that happened and nobody asked for are dropped: a script has fewer packets.
const MOST_HAPPENINGS: usize = 100_000;

/// The simulated host.
#[derive(Debug)]
pub struct Model {
    stack: Stack,
    network: Network,
    now: Instant,
    hosts: Hosts,
    files: Files,
    /// Events that are not reported yet, with their time.
    happened: VecDeque<(Instant, Happening)>,
    blocked: Vec<Blocked>,
    calls: u32,
    /// The sysctls when the script began.
    sysctls: Sysctl,
    /// The kind of the device's qdisc; empty: the kernel's own.
    qdisc: String,
    /// The device takes no super-segments.
    cuts: bool,
    /// IP_TTL of connections, by their own end and the other one. It stays when the descriptor is closed.
    ttls: Vec<((Addr, Addr), u8)>,
}

impl Model {
    /// A host with this profile in this network; `hz` ticks a second, `phase_ns` after a tick when the script begins.
    pub fn new(profile: &Profile, network: Network, hz: u32, phase_ns: i64, seed: u64) -> Self {
        let mut hosts = Hosts::default();
        hosts.number(network.local);
        hosts.number(network.remote);
        let mut addresses = Addresses::default();
        addresses.set(LOCAL, network.local);
        addresses.set(REMOTE, network.remote);
        let mut sysctl = Sysctl::default();
        for (name, value) in profile.sysctl {
            // The model ignores names that it does not know.
            let _ = sysctl.set(name, value);
        }
        let host = HostConfig {
            profile: Profile {
                hz,
                ..profile.clone()
            },
            sysctl: sysctl.clone(),
            clock: Clock::new(hz, UPTIME_NS + phase_ns),
            route: Route::default(),
            // As packetdrill sets up its TUN device.
            offload: Offload::Gro,
            queue: Default::default(),
            rx_truesize: RxTruesize::Tun,
            ip_header: match network.mode {
                IpMode::Ipv6 => 40,
                IpMode::Ipv4 | IpMode::Mapped => 20,
            },
            addresses,
            interfaces: Interfaces::default(),
            secret: seed,
            external: None,
            paths: Default::default(),
        };
        Self {
            stack: Stack::new(host),
            network,
            now: Instant::from_nanos(0),
            hosts,
            files: Files::default(),
            happened: VecDeque::new(),
            blocked: Vec::new(),
            calls: 0,
            sysctls: sysctl,
            qdisc: String::new(),
            cuts: false,
            ttls: Vec::new(),
        }
    }

    /// A call on a socket's endpoint in any state: not connected, listening, connected. `None` for a socket without
    /// one.
    fn with<R>(&mut self, fd: Fd, call: impl FnOnce(&mut Endpoint, &mut Cx<'_>) -> R) -> Option<R> {
        let socket = self.files.socket_mut(fd)?;
        match &mut socket.kind {
            Kind::Fresh(endpoint) => Some(self.stack.with_socket(self.now, endpoint, call)),
            Kind::Listener(id) => self.stack.listener(self.now, *id, call),
            Kind::Conn(id) => self.stack.with(self.now, *id, call),
            Kind::Udp(_) => None,
        }
    }

    /// An address as the host counts hosts.
    fn addr(&mut self, addr: SocketAddr) -> Addr {
        Addr {
            host: self.hosts.number(addr.ip()),
            port: addr.port(),
        }
    }

    /// The other way round, as calls of this script's sockets show it.
    fn socket_addr(&self, addr: Addr) -> Option<SocketAddr> {
        let ip = match (self.hosts.ip(addr.host)?, self.network.mode) {
            (std::net::IpAddr::V4(v4), IpMode::Mapped) => v4.to_ipv6_mapped().into(),
            (ip, _) => ip,
        };
        Some(SocketAddr::new(ip, addr.port))
    }

    fn happens(&mut self, what: Happening) {
        if self.happened.len() < MOST_HAPPENINGS {
            self.happened.push_back((self.now, what));
        }
    }

    /// Carries on until nothing more follows at this instant.
    fn settle(&mut self) {
        // A call that waits and is woken may send, which may wake another one; nothing does so without end.
        const MOST: usize = 10_000;
        for _ in 0..MOST {
            let mut quiet = true;
            while let Some(segment) = self.stack.poll_segment() {
                quiet = false;
                self.leaves(&segment);
            }
            while let Some(event) = self.stack.poll_event() {
                quiet = false;
                self.note(event);
            }
            self.look_at_acks();
            quiet &= !self.go_on();
            if quiet {
                return;
            }
        }
    }

    /// A segment leaves the host.
    fn leaves(&mut self, segment: &Segment) {
        if self.stack.host.queue == DeviceQueue::Drops {
            // What no endpoint asks the queue for (SYN-ACKs, RSTs, ACKs of TIME-WAIT) is dropped there too.
            return;
        }
        let ttl = self.ttl_of(segment);
        if segment.len > 0 {
            self.stamp_departure(segment);
        }
        let mut next = Some(*segment);
        while let Some(whole) = next {
            let (first, rest) = match self.cuts {
                true => wire::cut(&whole),
                false => (whole, None),
            };
            if let Some(bytes) = wire::bytes_with(&self.hosts, &first, ttl) {
                self.happens(Happening::Packet(bytes));
            }
            next = rest;
        }
    }

    /// SO_TIMESTAMPING: a byte that is watched may be in it.
    fn stamp_departure(&mut self, segment: &Segment) {
        let now = self.now;
        let mut ends = None;
        for (fd, socket) in self.files.sockets_mut() {
            let Kind::Conn(id) = socket.kind else {
                continue;
            };
            if socket.stamps.is_idle() {
                continue;
            }
            let is_its = (self.stack.get(id))
                .is_some_and(|ep| ep.local() == segment.src && ep.remote() == segment.dst);
            if !is_its {
                continue;
            }
            let entries = socket.stamps.left(now, segment.seq, segment.end_seq());
            if !entries.is_empty() {
                ends = Some(fd);
            }
            entries
                .into_iter()
                .for_each(|entry| socket.errors.push(entry));
        }
        if let Some(fd) = ends {
            self.wake(fd, ev::ERR);
        }
    }

    /// What ACKs complete: sends without copies, time stamps.
    fn look_at_acks(&mut self) {
        let mut woken = Vec::new();
        for (fd, socket) in self.files.sockets_mut() {
            let Kind::Conn(id) = socket.kind else {
                continue;
            };
            if socket.zerocopy.is_idle() && socket.stamps.is_idle() {
                continue;
            }
            let una = match self.stack.get(id) {
                // Queues are emptied when it ends: nothing is held any more.
                Some(ep) if ep.is_closed() => ep.send_space().2,
                Some(ep) => ep.send_space().0,
                None => continue,
            };
            while let Some(number) = socket.zerocopy.complete(una) {
                let code = numbers::SO_EE_CODE_ZEROCOPY_COPIED;
                socket.errors.complete(number, number, code);
                woken.push(fd);
            }
            for entry in socket.stamps.acked(self.now, una) {
                socket.errors.push(entry);
                woken.push(fd);
            }
        }
        for fd in woken {
            self.wake(fd, ev::ERR);
        }
    }

    /// The stack says something of a socket.
    fn note(&mut self, event: Event) {
        match event {
            Event::Acceptable(id) => {
                if let Some(fd) = self.files.of_listener(id) {
                    self.wake(fd, ev::IN | ev::RDNORM);
                }
            }
            Event::Connected(id) => {
                if let Some(fd) = self.files.of_conn(id) {
                    self.wake(fd, 0);
                }
            }
            Event::Readable(id) => {
                let ended = self.stack.get(id).is_none_or(|ep| {
                    !ep.shutdown_bits().is_empty() || ep.is_closed() || ep.pending_error().is_some()
                });
                if let Some(fd) = self.files.of_conn(id) {
                    // sk_state_change() and sk_error_report() wake everybody, sk_data_ready() readers.
                    let keys = ev::IN | ev::PRI | ev::RDNORM | ev::RDBAND;
                    self.wake(fd, if ended { 0 } else { keys });
                }
            }
            Event::Writable(id) => {
                if let Some(fd) = self.files.of_conn(id) {
                    self.wake(fd, ev::OUT | ev::WRNORM | ev::WRBAND);
                }
            }
        }
    }

    /// Wakes the calls that wait for a socket; `keys` are the events that came, 0: any.
    fn wake(&mut self, fd: Fd, keys: u32) {
        let Some(socket) = self.files.socket_mut(fd) else {
            return;
        };
        let any = keys == 0 || keys & ev::ERR != 0;
        socket.woken.read |= any || keys & ev::IN != 0;
        socket.woken.write |= any || keys & ev::OUT != 0;
        let serial = socket.serial;
        for epoll in self.files.epolls_mut() {
            epoll.wake(fd, serial, keys);
        }
    }

    /// Takes the news that a setter made room.
    fn told_of_room(&mut self, fd: Fd) {
        if self.with(fd, |ep, _| ep.take_write_space()) == Some(true) {
            self.wake(fd, ev::OUT | ev::WRNORM | ev::WRBAND);
        }
    }

    /// Waiting calls that may go on; true: one is over.
    fn go_on(&mut self) -> bool {
        let mut over = false;
        let mut at = 0;
        while at < self.blocked.len() {
            let mut blocked = self.blocked.remove(at);
            match self.retry(&mut blocked) {
                Some(outcome) => {
                    over = true;
                    self.happens(Happening::Returned(blocked.number, outcome));
                }
                None => {
                    let at_end = at.min(self.blocked.len());
                    self.blocked.insert(at_end, blocked);
                    at += 1;
                }
            }
        }
        for (_, socket) in self.files.sockets_mut() {
            socket.woken = fds::Woken::default();
        }
        over
    }

    /// Makes a step of a call that waits, when something woke it or its time is over.
    fn retry(&mut self, blocked: &mut Blocked) -> Option<Outcome> {
        let late = blocked.until.is_some_and(|until| until <= self.now);
        if !late && !self.is_woken(&blocked.call) {
            return None;
        }
        match self.step(&mut blocked.call, late) {
            Progress::Done(outcome) => Some(outcome),
            Progress::Wait => None,
        }
    }

    /// When something happens next by itself.
    fn next(&self) -> Option<Instant> {
        let calls = self.blocked.iter().filter_map(|call| call.until);
        calls.chain(self.stack.next_timer()).min()
    }
}

impl Target for Model {
    fn now(&self) -> Instant {
        self.now
    }

    fn wait(&mut self, until: Instant) -> Result<Option<(Instant, Happening)>, TargetError> {
        // A timer that never moves on would be a defect of the model; the script must still end.
        for _ in 0..10_000_000 {
            if let Some(happened) = self.happened.pop_front() {
                return Ok(Some(happened));
            }
            match self.next().filter(|&at| at <= until) {
                Some(at) => {
                    self.now = self.now.max(at);
                    self.stack.on_timer(self.now);
                    self.settle();
                }
                None => {
                    self.now = self.now.max(until);
                    return Ok(None);
                }
            }
        }
        Err(TargetError("the model's timers do not move on".into()))
    }

    fn inject(&mut self, packet: &[u8]) -> Result<(), TargetError> {
        let arrived = wire::read(&mut self.hosts, packet, self.network.gso_size);
        self.has_what_it_needs(&arrived)?;
        match arrived {
            Arrived::Tcp(segment) => self.stack.on_segment(self.now, &segment),
            Arrived::Icmp(icmp) => self.on_icmp(&icmp),
            Arrived::Udp { from, to, len } => self.on_datagram(from, to, len),
            Arrived::Nothing(_) => {}
        }
        self.settle();
        Ok(())
    }

    fn call(&mut self, call: &Call, _may_block: bool) -> Result<Made, TargetError> {
        let mut pending = match self.begin(call) {
            Ok(pending) => pending,
            Err(End::Over(outcome)) => {
                self.settle();
                return Ok(Made::Done(outcome));
            }
            Err(End::Cannot(e)) => return Err(e),
        };
        if let Progress::Done(outcome) = self.step(&mut pending, false) {
            self.settle();
            self.now = self.now + CALL;
            return Ok(Made::Done(outcome));
        }
        let until = self.patience(&pending);
        self.calls += 1;
        let number = self.calls;
        self.blocked.push(Blocked {
            number,
            call: pending,
            until,
        });
        self.settle();
        Ok(Made::Blocks(number))
    }

    fn set(&mut self, setting: &Setting) -> Result<(), TargetError> {
        self.apply(setting)
    }

    fn has_sysctl(&mut self, name: &str) -> Result<bool, TargetError> {
        settings::has_sysctl(name)
    }

    fn counters(&mut self) -> Result<Vec<(String, i64)>, TargetError> {
        let all = self.stack.mib.iter();
        Ok(all.map(|(name, n)| (name.to_string(), n as i64)).collect())
    }

    fn listens(&mut self, port: u16) -> Result<bool, TargetError> {
        Ok(self.files.listens(port))
    }

    fn tcp_info(&mut self, fd: i32) -> Option<Vec<(&'static str, i64)>> {
        self.with(fd, |ep, cx| {
            let mut info = ep.info(cx);
            info.push(("SK_MEMINFO_RCVBUF", ep.rcvbuf().into()));
            info.push(("SK_MEMINFO_SNDBUF", ep.sndbuf().into()));
            info
        })
    }

    fn explain(&mut self, fd: Option<i32>) -> String {
        self.explained(fd)
    }
}

/// The key of a wake-up by an error.
const fn poll_err() -> u32 {
    ev::ERR
}

/// When a call with this time-out ends; `None` for a negative one, which waits without limit.
fn deadline(now: Instant, timeout_ms: i32) -> Option<Instant> {
    (timeout_ms >= 0).then(|| now + Duration::from_millis(i64::from(timeout_ms)))
}

impl Model {
    /// Whether something is there that this call waits for.
    fn is_woken(&self, call: &Pending) -> bool {
        let woken = |fd: &Fd| self.files.socket(*fd).map(|socket| socket.woken);
        match call {
            Pending::Send(send) => woken(&send.fd).is_none_or(|woken| woken.write),
            Pending::Recv(recv) => woken(&recv.fd).is_none_or(|woken| woken.read),
            _ => true,
        }
    }

    /// Whether the descriptor is open.
    fn file(&self, fd: Fd) -> Option<&File> {
        self.files.get(fd)
    }
}
