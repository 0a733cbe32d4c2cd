//! A host's TCP under any segments, calls and times: a listener, connections that it opened, and a peer that knows all
//! numbers on the wire and sends what it likes.

use tcplab_base::Instant;
use tcplab_plan::point::{Offload, Route, SocketOptions};
use tcplab_plan::profile::Profile;
use tcplab_tcp::{
    Addr, Addresses, Caqm, Clock, ConnId, Event, HostConfig, Interfaces, ListenId, RxTruesize,
    Segment, Stack, Sysctl,
};
use tcplab_wire::{CaqmInfo, FastOpen, TcpFlags, TcpOptions};

const PORT: u16 = 80;
/// Most segments that one operation may bring out: a window of small ones.
const MOST_OUT: usize = 100_000;

/// Reads the input as small numbers; 0 behind its end.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    fn long(&mut self) -> u32 {
        u32::from(self.word()) << 16 | u32::from(self.word())
    }

    /// A distance: mostly near, sometimes anything.
    fn near(&mut self) -> u32 {
        let small = self.byte();
        match small {
            0..128 => u32::from(small & 3),
            128..160 => u32::from(small) * 97,
            160..192 => (u32::from(small) * 97).wrapping_neg(),
            192..224 => u32::from(self.word()),
            _ => self.long(),
        }
    }
}

struct World {
    stack: Stack,
    now: i64,
    listener: ListenId,
    held: Vec<ConnId>,
    /// The last segments that left, most recent last.
    seen: Vec<Segment>,
}

fn host(bytes: &mut Bytes<'_>) -> HostConfig {
    let mut sysctl = Sysctl::default();
    let bits = bytes.byte();
    sysctl.tcp_sack = bits & 1 == 0;
    sysctl.tcp_timestamps = u8::from(bits & 2 == 0);
    sysctl.tcp_window_scaling = bits & 4 == 0;
    sysctl.tcp_ecn = (bits >> 3) & 1;
    sysctl.tcp_syncookies = (bits >> 4) & 3;
    sysctl.tcp_abort_on_overflow = bits & 64 != 0;
    let names = ["cubic", "reno", "dctcp", "bbr"];
    let more = bytes.byte();
    sysctl.tcp_congestion_control = names[usize::from(more & 3)].into();
    sysctl.tcp_recovery = (more >> 2) & 1;
    sysctl.tcp_fastopen = [1, 3, 0x607, 0x403][usize::from(more >> 6)];
    sysctl.tcp_fastopen_blackhole_timeout_sec = u32::from(more & 16) * 5;
    HostConfig {
        profile: Profile::default(),
        sysctl,
        clock: Clock::new(
            [100, 250, 1000, 1000][usize::from(more >> 6)],
            77_000_000_000,
        ),
        route: Route::default(),
        offload: if more & 8 == 0 {
            Offload::None
        } else {
            Offload::Tso
        },
        queue: Default::default(),
        rx_truesize: RxTruesize::Kmalloc,
        ip_header: 20,
        external: None,
        paths: Default::default(),
        addresses: Addresses::default(),
        interfaces: Interfaces::default(),
        secret: u64::from(more >> 4),
    }
}

fn options(bytes: &mut Bytes<'_>) -> SocketOptions {
    let bits = bytes.byte();
    SocketOptions {
        nodelay: Some(bits & 1 != 0),
        rcvbuf: (bits & 2 != 0).then(|| u32::from(bytes.word())),
        sndbuf: (bits & 4 != 0).then(|| u32::from(bytes.word())),
        maxseg: (bits & 8 != 0).then(|| u32::from(bytes.word())),
        user_timeout_ns: (bits & 16 != 0).then(|| i64::from(bytes.word()) * 1_000_000),
        keepalive_ns: (bits & 32 != 0).then(|| i64::from(bytes.byte()) * 1_000_000_000),
        rcvlowat: (bits & 64 != 0).then(|| bytes.long()),
        notsent_lowat: (bits & 128 != 0).then(|| bytes.long()),
        ..SocketOptions::default()
    }
}

impl World {
    fn of(bytes: &mut Bytes<'_>) -> Self {
        let mut stack = Stack::new(host(bytes));
        let here = Addr {
            host: 0,
            port: PORT,
        };
        let backlog = u32::from(bytes.byte() & 7);
        let listener = stack.listen(here, &options(bytes), backlog, 1500);
        Self {
            stack,
            now: 0,
            listener,
            held: Vec::new(),
            seen: Vec::new(),
        }
    }

    fn at(&self) -> Instant {
        Instant::from_nanos(self.now)
    }

    /// Takes what came out, and checks.
    fn drain(&mut self) {
        let mut out = 0;
        while let Some(seg) = self.stack.poll_segment() {
            out += 1;
            self.seen.push(seg);
        }
        assert!(out <= MOST_OUT, "{out} segments from one operation");
        let old = self.seen.len().saturating_sub(64);
        self.seen.drain(..old);
        while let Some(event) = self.stack.poll_event() {
            if let Event::Connected(id) | Event::Readable(id) | Event::Writable(id) = event {
                assert!(
                    self.held.contains(&id),
                    "an event of a connection that nobody holds"
                );
            }
        }
        self.stack.check();
    }

    /// One operation.
    fn step(&mut self, bytes: &mut Bytes<'_>) {
        let what = bytes.byte();
        match what % 16 {
            0..=6 => {
                let seg = self.answer(bytes);
                self.stack.on_segment(self.at(), &seg);
            }
            7 => self.time(bytes),
            8 => self.connect(bytes),
            9 => {
                if let Some((id, _)) = self.stack.accept(self.at(), self.listener) {
                    self.held.push(id);
                }
            }
            10 => {
                let most = u64::from(bytes.near() & 0xf_ffff);
                self.call(bytes, |ep, cx| {
                    let _ = ep.write(cx, most, what & 16 != 0);
                });
            }
            11 => {
                let most = u64::from(bytes.near());
                self.call(bytes, |ep, cx| {
                    ep.read(cx, most);
                });
            }
            12 => self.call(bytes, |ep, cx| {
                let _ = ep.shutdown_write(cx);
            }),
            13 => self.close(bytes),
            14 => self.option(bytes),
            _ => {
                // The timers, as they come.
                for _ in 0..=what >> 4 {
                    self.next_timer();
                    self.drain();
                }
            }
        }
        self.drain();
    }

    fn next_timer(&mut self) {
        if let Some(at) = self.stack.next_timer() {
            self.now = self.now.max(at.as_nanos());
            self.stack.on_timer(self.at());
            let next = self.stack.next_timer();
            assert!(
                next.is_none_or(|next| next > self.at()),
                "a timer stays due"
            );
        }
    }

    fn time(&mut self, bytes: &mut Bytes<'_>) {
        let to = self.now + i64::from(bytes.near()) * 1000;
        while self
            .stack
            .next_timer()
            .is_some_and(|at| at.as_nanos() <= to)
        {
            self.next_timer();
            self.drain();
        }
        self.now = to;
        self.stack.pack_idle();
    }

    fn connect(&mut self, bytes: &mut Bytes<'_>) {
        let how = bytes.byte();
        let to = Addr {
            host: 1,
            port: u16::from(how & 1),
        };
        let mtu = 68 + u32::from(bytes.word());
        let options = options(bytes);
        if how & 0x80 != 0 {
            return self.connect_with_data(to, mtu, &options, u64::from(how) * 30);
        }
        if self.held.len() < 32
            && let Ok((id, _)) = self.stack.connect(self.at(), 0, to, &options, mtu)
        {
            self.held.push(id);
        }
    }

    fn connect_with_data(&mut self, to: Addr, mtu: u32, options: &SocketOptions, bytes: u64) {
        let now = self.at();
        let socket = self.stack.socket(now, 0, options);
        let local = Addr { host: 0, port: 0 };
        if self.held.len() < 32
            && let Ok((id, _)) = self.stack.connect_deferred(now, socket, local, to, mtu)
        {
            self.held.push(id);
            self.stack
                .with(now, id, |ep, cx| ep.connect_with_data(cx, bytes));
        }
    }

    fn pick(&self, bytes: &mut Bytes<'_>) -> Option<ConnId> {
        let n = usize::from(bytes.byte());
        self.held.get(n % self.held.len().max(1)).copied()
    }

    fn call(
        &mut self,
        bytes: &mut Bytes<'_>,
        call: impl FnOnce(&mut tcplab_tcp::Endpoint, &mut tcplab_tcp::Cx<'_>),
    ) {
        if let Some(id) = self.pick(bytes) {
            let found = self.stack.with(self.at(), id, call);
            assert!(found.is_some(), "a held connection is gone");
        }
    }

    fn close(&mut self, bytes: &mut Bytes<'_>) {
        if let Some(id) = self.pick(bytes) {
            self.stack.close(self.at(), id);
            self.held.retain(|&other| other != id);
        }
    }

    fn option(&mut self, bytes: &mut Bytes<'_>) {
        let (which, value) = (bytes.byte(), bytes.word());
        self.call(bytes, |ep, cx| match which % 8 {
            0 => ep.set_quickack(cx, i32::from(value) - 9),
            1 => ep.set_linger((value & 1 == 0).then_some(u32::from(value))),
            2 => ep.set_linger2(cx, i32::from(value) - 9),
            3 => ep.set_user_timeout(u32::from(value)),
            4 => ep.set_keepalive(cx, u32::from(value & 15), u32::from(value >> 8), 3),
            5 => ep.set_cork(cx, value & 1 != 0),
            6 => ep.set_nodelay(cx, value & 1 != 0),
            _ => assert!(!ep.info(cx).is_empty()),
        });
    }

    /// A segment that answers one of ours, more or less.
    fn answer(&self, bytes: &mut Bytes<'_>) -> Segment {
        let shape = bytes.byte();
        let n = usize::from(bytes.byte());
        let base = self.seen.get(n % self.seen.len().max(1)).copied();
        let base = base.filter(|_| shape & 7 != 0).unwrap_or(Segment {
            src: Addr {
                host: 0,
                port: PORT,
            },
            dst: Addr {
                host: 1,
                port: u16::from(shape >> 5),
            },
            ..Segment::default()
        });
        let flags = match shape >> 4 {
            0 => u16::from(bytes.byte()),
            1 => TcpFlags::SYN,
            2 => TcpFlags::SYN | TcpFlags::ACK,
            3 => TcpFlags::FIN | TcpFlags::ACK,
            4 => TcpFlags::RST,
            _ => TcpFlags::ACK,
        };
        let len = match bytes.byte() {
            0..100 => 0,
            100..200 => 1448,
            other => u32::from(other) * 300,
        };
        let ack = base.end_seq() + bytes.near();
        Segment {
            src: base.dst,
            dst: base.src,
            seq: base.ack + bytes.near(),
            ack,
            len,
            window: bytes.word() >> (shape & 15),
            urgent: if flags & TcpFlags::URG != 0 {
                bytes.word()
            } else {
                0
            },
            flags: TcpFlags(flags & 0x1ff),
            gso_size: if len > 1448 { 1448 } else { 0 },
            tos: bytes.byte() & 3,
            options: self.tcp_options(bytes, &base),
            caqm: tag(bytes),
        }
    }

    fn tcp_options(&self, bytes: &mut Bytes<'_>, base: &Segment) -> TcpOptions {
        let bits = bytes.byte();
        let stamps = base.options.timestamps.unwrap_or_default();
        let mut options = TcpOptions {
            mss: (bits & 1 != 0).then(|| bytes.word()),
            window_scale: (bits & 2 != 0).then(|| bytes.byte()),
            sack_permitted: bits & 4 != 0,
            timestamps: (bits & 8 == 0).then(|| {
                let tsval = stamps.1.wrapping_add(bytes.near());
                (tsval, stamps.0.wrapping_add(bytes.near()))
            }),
            ..TcpOptions::default()
        };
        for _ in 0..(bits >> 4) & 3 {
            // Mostly what we sent, sometimes beside it.
            let n = usize::from(bytes.byte());
            let one = self.seen.get(n % self.seen.len().max(1)).unwrap_or(base);
            let left = one.seq + bytes.near();
            options.sack.push(left, one.end_seq() + bytes.near());
        }
        // A cookie that we gave, or the request for one.
        options.set_fast_open(match bits >> 6 {
            0 => None,
            1 => Some(FastOpen::request(bits & 1 != 0)),
            _ => self
                .seen
                .iter()
                .rev()
                .find_map(|seg| seg.options.fast_open()),
        });
        options
    }
}

/// No segment, call or time makes the host panic, break what must hold, or grow without end.
pub fn endpoint(input: &[u8]) {
    let mut bytes = Bytes(input);
    let mut world = World::of(&mut bytes);
    while !bytes.is_empty() {
        world.step(&mut bytes);
    }
    // Whatever happened: without the peer, all that nobody holds ends.
    for id in std::mem::take(&mut world.held) {
        world.stack.close(world.at(), id);
        world.drain();
    }
    world.stack.close_listener(world.at(), world.listener);
    world.drain();
    for _ in 0..10_000 {
        if world.stack.next_timer().is_none() {
            break;
        }
        world.next_timer();
        world.drain();
    }
    assert_eq!(world.stack.next_timer(), None, "a timer without end");
    assert_eq!(
        world.stack.connections().count(),
        0,
        "a connection without end"
    );
}

/// A tag of CAQM, or several that were joined.
fn tag(bytes: &mut Bytes<'_>) -> Caqm {
    match bytes.byte() {
        0..128 => Caqm::Plain,
        128..224 => Caqm::Tag(CaqmInfo(bytes.word())),
        more => Caqm::Joined((i32::from(bytes.word()) - 0x8000) << (more & 15)),
    }
}
