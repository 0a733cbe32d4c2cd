//! Calls and packets: what a script would do, in Rust.

use tcplab_base::{Errno, Seq};
use tcplab_plan::profile::named;
use tcplab_wire::{TcpFlags, TcpOptions};

use super::numbers::*;
use super::*;
use crate::call::{Buffer, EpollEvent, OptValue, Output, PollFd, SendTo};

const FIN: u16 = TcpFlags::FIN;
const SYN: u16 = TcpFlags::SYN;
const RST: u16 = TcpFlags::RST;
const ACK: u16 = TcpFlags::ACK;

/// A host and the peer that the test plays.
pub(super) struct Bench {
    pub(super) model: Model,
    peer: Hosts,
    /// First sequence numbers: the host's, learnt from its SYN, and the peer's.
    isn: Seq,
    port: u16,
}

pub(super) fn bench() -> Bench {
    bench_in(IpMode::Ipv4, "192.168.0.1", "192.0.2.1")
}

fn bench_in(mode: IpMode, local: &str, remote: &str) -> Bench {
    let network = Network {
        mode,
        local: local.parse().unwrap(),
        remote: remote.parse().unwrap(),
        gateway: remote.parse().unwrap(),
        prefix: 16,
        mtu: 1500,
        gso_size: None,
    };
    let mut peer = Hosts::default();
    peer.number(network.local);
    peer.number(network.remote);
    Bench {
        model: Model::new(&named("linux-6.1").unwrap(), network, 1000, 0, 1),
        peer,
        isn: Seq(0),
        port: 8080,
    }
}

impl Bench {
    /// A call that must not block: result and errno.
    pub(super) fn call(&mut self, call: Call) -> (i64, i32) {
        let outcome = self.outcome(call);
        (outcome.result, outcome.errno)
    }

    fn outcome(&mut self, call: Call) -> Outcome {
        match self.model.call(&call, false).unwrap() {
            Made::Done(outcome) => outcome,
            Made::Blocks(_) => panic!("{call:?} blocks"),
        }
    }

    fn blocks(&mut self, call: Call) -> u32 {
        match self.model.call(&call, true).unwrap() {
            Made::Done(outcome) => panic!("{call:?} gives {outcome:?}"),
            Made::Blocks(number) => number,
        }
    }

    /// What happens until so many milliseconds from now.
    fn next(&mut self, ms: i64) -> Option<Happening> {
        let until = self.model.now() + Duration::from_millis(ms);
        self.model.wait(until).unwrap().map(|(_, what)| what)
    }

    /// The next packet that leaves now.
    pub(super) fn sent(&mut self) -> Segment {
        match self.next(0) {
            Some(Happening::Packet(bytes)) => {
                let Arrived::Tcp(segment) = wire::read(&mut self.peer, &bytes, None) else {
                    panic!("no segment: {bytes:?}");
                };
                if segment.flags.has(SYN) {
                    self.isn = segment.seq;
                    self.port = segment.src.port;
                }
                *segment
            }
            other => panic!("{other:?}"),
        }
    }

    /// The peer sends `len` bytes from `seq`, counted from 1, and ACKs up to `ack`.
    pub(super) fn gets(&mut self, flags: u16, seq: u32, len: u32, ack: u32) {
        let options = match flags & SYN {
            0 => TcpOptions::default(),
            _ => TcpOptions {
                mss: Some(1000),
                window_scale: Some(7),
                sack_permitted: true,
                ..TcpOptions::default()
            },
        };
        let segment = Segment {
            src: Addr {
                host: 1,
                port: 9000,
            },
            dst: Addr {
                host: 0,
                port: self.port,
            },
            seq: Seq(seq),
            ack: self.isn + ack,
            len,
            window: if flags & SYN == 0 { 257 } else { 32_792 },
            flags: TcpFlags(flags),
            options,
            ..Segment::default()
        };
        let bytes = wire::bytes_of(&self.peer, &segment).unwrap();
        self.model.inject(&bytes).unwrap();
    }

    /// A listener at 3, a connection at 4.
    pub(super) fn accepted(&mut self) {
        self.listens();
        self.gets(SYN, 0, 0, 0);
        assert_eq!(self.sent().flags.0, SYN | ACK);
        self.gets(ACK, 1, 0, 1);
        assert_eq!(self.call(Call::Accept { fd: 3, flags: 0 }), (4, 0));
    }

    fn listens(&mut self) {
        let domain = match self.model.network.mode {
            IpMode::Ipv4 => AF_INET,
            _ => AF_INET6,
        };
        let socket = Call::Socket {
            domain,
            kind: SOCK_STREAM,
            protocol: IPPROTO_TCP,
        };
        assert_eq!(self.call(socket), (3, 0));
        let any = match domain {
            AF_INET => "0.0.0.0:8080",
            _ => "[::]:8080",
        };
        let addr = any.parse().unwrap();
        assert_eq!(self.call(Call::Bind { fd: 3, addr }), (0, 0));
        assert_eq!(self.call(Call::Listen { fd: 3, backlog: 1 }), (0, 0));
    }

    pub(super) fn set(&mut self, fd: Fd, level: i32, name: i32, value: i64) -> (i64, i32) {
        self.call(Call::Setsockopt {
            fd,
            level,
            name,
            value: OptValue::Int(value),
            len: 4,
        })
    }

    fn get(&mut self, fd: Fd, level: i32, name: i32) -> i64 {
        let len = 4;
        match self.outcome(Call::Getsockopt {
            fd,
            level,
            name,
            len,
        }) {
            Outcome {
                out: Output::Opt(OptValue::Int(value)),
                ..
            } => value,
            other => panic!("{other:?}"),
        }
    }
}

pub(super) fn read(fd: Fd, len: u64) -> Call {
    Call::Recv {
        fd,
        buffer: Buffer::Len(len),
        flags: 0,
    }
}

pub(super) fn write(fd: Fd, len: u64, flags: i32) -> Call {
    Call::Send {
        fd,
        buffer: Buffer::Len(len),
        flags,
        to: SendTo::Connected,
    }
}

#[test]
fn a_passive_open_from_socket_to_close() {
    for (mode, local, remote) in [
        (IpMode::Ipv4, "192.168.0.1", "192.0.2.1"),
        (IpMode::Mapped, "192.168.0.1", "192.0.2.1"),
        (IpMode::Ipv6, "fd3d:1::1", "fd3d:2::1"),
    ] {
        let mut b = bench_in(mode, local, remote);
        b.accepted();
        b.gets(ACK, 1, 1000, 1);
        assert_eq!(b.sent().ack, Seq(1001));
        assert_eq!(b.call(read(4, 5000)), (1000, 0));
        assert_eq!(b.call(write(4, 500, 0)), (500, 0));
        assert_eq!(b.sent().len, 500);
        b.gets(ACK, 1001, 0, 501);
        assert_eq!(b.call(Call::Close { fd: 4 }), (0, 0));
        assert_eq!(b.sent().flags.0, FIN | ACK);
        b.gets(FIN | ACK, 1001, 0, 502);
        assert_eq!(b.sent().ack, Seq(1002));
        assert_eq!(b.call(read(4, 1)), (-1, Errno::EBADF.0));
        assert_eq!(b.next(1000), None);
    }
}

#[test]
fn a_blocking_read_and_its_end() {
    let mut b = bench();
    b.accepted();
    let number = b.blocks(read(4, 2000));
    assert_eq!(b.next(100), None);
    b.gets(ACK, 1, 700, 1);
    let happened = [b.next(0), b.next(0)];
    let end = Happening::Returned(number, Outcome::ok(700));
    assert!(happened.contains(&Some(end)), "{happened:?}");
    b.gets(RST | ACK, 701, 0, 1);
    assert_eq!(b.call(read(4, 1)), (-1, Errno::ECONNRESET.0));
    assert_eq!(b.call(read(4, 1)), (0, 0));
    assert_eq!(b.call(write(4, 1, 0)), (-1, Errno::EPIPE.0));
}

#[test]
fn an_active_open_that_does_not_block() {
    let mut b = bench();
    b.call(Call::Socket {
        domain: AF_INET,
        kind: SOCK_STREAM | SOCK_NONBLOCK,
        protocol: 0,
    });
    let to = SendTo::Addr("192.0.2.1:9000".parse().unwrap());
    let connect = Call::Connect { fd: 3, to };
    assert_eq!(b.call(connect.clone()), (-1, Errno::EINPROGRESS.0));
    assert_eq!(b.sent().options.mss, Some(1460));
    assert_eq!(b.call(connect.clone()), (-1, Errno::EALREADY.0));
    b.gets(SYN | ACK, 0, 0, 1);
    assert_eq!(b.sent().flags.0, ACK);
    assert_eq!(b.call(connect.clone()), (0, 0));
    assert_eq!(b.call(connect), (-1, Errno::EISCONN.0));
    assert_eq!(b.get(3, SOL_SOCKET, so::ERROR), 0);
}

#[test]
fn a_refused_connect_leaves_a_socket() {
    let mut b = bench();
    b.call(Call::Socket {
        domain: AF_INET,
        kind: SOCK_STREAM,
        protocol: 0,
    });
    let to = SendTo::Addr("192.0.2.1:9000".parse().unwrap());
    b.set(3, SOL_TCP, tcp::NODELAY, 1);
    let number = b.blocks(Call::Connect { fd: 3, to });
    b.sent();
    b.gets(RST | ACK, 0, 0, 1);
    let refused = Outcome::failed(Errno::ECONNREFUSED.0);
    assert_eq!(b.next(0), Some(Happening::Returned(number, refused)));
    assert_eq!(b.get(3, SOL_TCP, tcp::NODELAY), 1);
    b.blocks(Call::Connect { fd: 3, to });
    assert_eq!(b.sent().flags.0, SYN);
}

#[test]
fn epoll_tells_edges_once_and_levels_again() {
    for (flags, again) in [(0, 1), (ev::ET, 0), (ev::ONESHOT, 0)] {
        let mut b = bench();
        b.accepted();
        assert_eq!(b.call(Call::EpollCreate { size: 1 }), (5, 0));
        let event = EpollEvent {
            events: ev::IN | flags,
            data: 4,
        };
        let add = Call::EpollCtl {
            epoll: 5,
            op: 1,
            fd: 4,
            event,
        };
        assert_eq!(b.call(add.clone()), (0, 0));
        assert_eq!(b.call(add), (-1, Errno::EEXIST.0));
        let wait = Call::EpollWait {
            epoll: 5,
            most: 1,
            timeout_ms: 0,
        };
        assert_eq!(b.call(wait.clone()), (0, 0));
        b.gets(ACK, 1, 10, 1);
        assert_eq!(b.call(wait.clone()), (1, 0));
        assert_eq!(b.call(wait.clone()), (again, 0));
        b.gets(ACK, 11, 10, 1);
        let more = i64::from(flags != ev::ONESHOT);
        assert_eq!(b.call(wait), (more, 0));
    }
}

#[test]
fn poll_sees_a_hangup() {
    let mut b = bench();
    b.accepted();
    let asks = PollFd {
        fd: 4,
        events: (ev::IN | ev::OUT | ev::RDHUP) as i16,
        revents: 0,
    };
    let poll = Call::Poll {
        fds: vec![asks],
        timeout_ms: 0,
    };
    let seen = |b: &mut Bench| b.outcome(poll.clone()).out;
    assert_eq!(seen(&mut b), Output::Poll(vec![ev::OUT as i16]));
    b.gets(FIN | ACK, 1, 0, 1);
    let all = ev::IN | ev::OUT | ev::RDHUP;
    assert_eq!(seen(&mut b), Output::Poll(vec![all as i16]));
    b.gets(RST | ACK, 2, 0, 1);
    let all = all | ev::ERR | ev::HUP;
    assert_eq!(seen(&mut b), Output::Poll(vec![all as i16]));
}

#[test]
fn zerocopy_sends_complete_when_they_are_acked() {
    let mut b = bench();
    b.accepted();
    assert_eq!(b.set(4, SOL_SOCKET, so::ZEROCOPY, 1), (0, 0));
    b.set(4, SOL_TCP, tcp::NODELAY, 1);
    for _ in 0..2 {
        assert_eq!(b.call(write(4, 400, msg::ZEROCOPY)), (400, 0));
    }
    let errors = Call::Recvmsg {
        fd: 4,
        lens: vec![0],
        control_len: 100,
        flags: msg::ERRQUEUE,
    };
    assert_eq!(b.call(errors.clone()), (-1, Errno::EAGAIN.0));
    b.gets(ACK, 1, 0, 801);
    let Output::Message { control, .. } = b.outcome(errors).out else {
        panic!("no message");
    };
    let crate::call::ControlData::Error(error) = control[0].data else {
        panic!("{control:?}");
    };
    assert_eq!((error.info, error.data, error.code), (0, 1, 1));
}

#[test]
fn calls_on_non_sockets_have_their_errno() {
    let mut b = bench();
    assert_eq!(b.call(read(9, 1)), (-1, Errno::EBADF.0));
    assert_eq!(b.call(Call::Pipe).0, 0);
    assert_eq!(
        b.call(Call::Listen { fd: 3, backlog: 1 }),
        (-1, Errno::ENOTSOCK.0)
    );
    b.call(Call::Socket {
        domain: AF_INET,
        kind: SOCK_STREAM,
        protocol: 0,
    });
    assert_eq!(b.call(read(5, 1)), (-1, Errno::ENOTCONN.0));
    assert_eq!(b.call(write(5, 1, 0)), (-1, Errno::EPIPE.0));
    assert_eq!(
        b.call(Call::Shutdown { fd: 5, how: 1 }),
        (-1, Errno::ENOTCONN.0)
    );
    assert_eq!(
        b.call(Call::Accept { fd: 5, flags: 0 }),
        (-1, Errno::EINVAL.0)
    );
    assert!(b.model.explain(None).contains("not connected"));
}
