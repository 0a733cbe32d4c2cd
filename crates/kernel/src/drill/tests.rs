//! The target by hand: packets as bytes, calls as data, on this machine's kernel.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use nix::unistd::geteuid;
use tcplab_base::{Duration, Instant};
use tcplab_drill::call::{Buffer, Call, OptValue, Outcome, Output, SendTo};
use tcplab_drill::{Happening, IpMode, Made, Network, Setting, Target};
use tcplab_os::clock::Pace;

use super::KernelTarget;

const LOCAL: Ipv4Addr = Ipv4Addr::new(192, 168, 0, 1);
const REMOTE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const SYN: u8 = 2;
const PSH: u8 = 8;
const ACK: u8 = 16;

fn target() -> Option<KernelTarget> {
    if !geteuid().is_root() {
        eprintln!("skipped: this needs root (the command makes a user namespace)");
        return None;
    }
    let network = Network {
        mode: IpMode::Ipv4,
        local: LOCAL.into(),
        remote: REMOTE.into(),
        gateway: LOCAL.into(),
        prefix: 16,
        mtu: 1500,
        gso_size: None,
    };
    Some(KernelTarget::new(&network, Pace::Real, Duration::from_secs(30)).unwrap())
}

fn sum(bytes: &[u8], first: u32) -> u16 {
    let pairs = bytes.chunks(2);
    let pairs = pairs.map(|p| u32::from(p[0]) << 8 | u32::from(p.get(1).copied().unwrap_or(0)));
    let mut sum = first + pairs.sum::<u32>();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    !(sum as u16)
}

/// A segment from port 40,000 to 8,080.
fn segment(flags: u8, seq: u32, ack: u32, len: usize) -> Vec<u8> {
    let mut tcp = [40_000_u16.to_be_bytes(), 8_080_u16.to_be_bytes()].concat();
    tcp.extend([seq.to_be_bytes(), ack.to_be_bytes()].concat());
    tcp.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    tcp.resize(20 + len, 0);
    let mut ip = vec![0x45, 0];
    ip.extend((20 + tcp.len() as u16).to_be_bytes());
    ip.extend([0, 0, 0, 0, 64, 6, 0, 0]);
    ip.extend(REMOTE.octets());
    ip.extend(LOCAL.octets());
    let pseudo = 6 + tcp.len() as u32 + u32::from(!sum(&ip[12..20], 0));
    let check = sum(&tcp, pseudo);
    tcp[16..18].copy_from_slice(&check.to_be_bytes());
    let check = sum(&ip, 0);
    ip[10..12].copy_from_slice(&check.to_be_bytes());
    [ip, tcp].concat()
}

/// Flags, sequence number, acknowledgement and payload of a packet that has left, its checksum verified.
fn read(packet: &[u8]) -> (u8, u32, u32, usize) {
    let tcp = &packet[20..];
    let pseudo = 6 + tcp.len() as u32 + u32::from(!sum(&packet[12..20], 0));
    assert_eq!(sum(tcp, pseudo), 0, "checksum");
    let word = |at: usize| u32::from_be_bytes(tcp[at..at + 4].try_into().unwrap());
    let header = usize::from(tcp[12] >> 4) * 4;
    (tcp[13], word(4), word(8), tcp.len() - header)
}

fn done(target: &mut KernelTarget, call: &Call) -> Outcome {
    match target.call(call, false).unwrap() {
        Made::Done(outcome) => outcome,
        Made::Blocks(_) => panic!("{call:?} waits"),
    }
}

fn next(target: &mut KernelTarget) -> Happening {
    let until = target.now() + Duration::from_secs(5);
    let (at, happening) = target.wait(until).unwrap().expect("nothing happened");
    assert!(at > Instant::default() && at <= target.now());
    happening
}

fn packet(target: &mut KernelTarget) -> (u8, u32, u32, usize) {
    match next(target) {
        Happening::Packet(packet) => read(&packet),
        other => panic!("{other:?}"),
    }
}

fn listener(target: &mut KernelTarget) -> i32 {
    let socket = Call::Socket {
        domain: libc::AF_INET,
        kind: libc::SOCK_STREAM,
        protocol: libc::IPPROTO_TCP,
    };
    let fd = done(target, &socket).result as i32;
    let addr = SocketAddr::new(IpAddr::V4(LOCAL), 8080);
    let bind = Call::Bind { fd, addr };
    assert_eq!(done(target, &bind), Outcome::ok(0));
    assert_eq!(done(target, &Call::Listen { fd, backlog: 1 }).result, 0);
    fd
}

/// A connection whose accept(2) waited: the descriptor, the next numbers of both sides.
fn connection(target: &mut KernelTarget) -> (i32, u32, u32) {
    let listener = listener(target);
    let accept = Call::Accept {
        fd: listener,
        flags: 0,
    };
    let Made::Blocks(number) = target.call(&accept, true).unwrap() else {
        panic!("there was nothing to accept");
    };
    target.inject(&segment(SYN, 100, 0, 0)).unwrap();
    let (flags, isn, ack, _) = packet(target);
    assert_eq!((flags, ack), (SYN | ACK, 101));
    target.inject(&segment(ACK, 101, isn + 1, 0)).unwrap();
    let Happening::Returned(which, outcome) = next(target) else {
        panic!("accept did not return");
    };
    assert_eq!(which, number);
    let peer = SocketAddr::new(IpAddr::V4(REMOTE), 40_000);
    assert_eq!(outcome.out, Output::Addr(peer));
    (outcome.result as i32, 101, isn + 1)
}

#[test]
#[ignore = "needs root and /dev/net/tun"]
fn a_connection_by_hand() {
    let Some(mut target) = target() else { return };
    let (fd, theirs, ours) = connection(&mut target);
    let sack = Setting::Sysctl("net.ipv4.tcp_sack".into(), "0".into());
    target.set(&sack).unwrap();
    target.set(&Setting::RestoreSysctls).unwrap();
    target.set(&Setting::FlushMetrics).unwrap();
    for words in [&["pfifo"][..], &["pfifo", "limit", "7"], &[]] {
        let words = words.iter().map(|w| (*w).to_owned()).collect();
        target.set(&Setting::Qdisc(words)).unwrap();
    }
    // One packet of four segments of the smallest MSS: the device segments.
    let write = Call::Send {
        fd,
        buffer: Buffer::Len(4 * 536),
        flags: 0,
        to: SendTo::Connected,
    };
    assert_eq!(done(&mut target, &write).result, 4 * 536);
    assert_eq!(packet(&mut target), (PSH | ACK, ours, theirs, 4 * 536));
    let acked = segment(PSH | ACK, theirs, ours + 4 * 536, 1000);
    target.inject(&acked).unwrap();
    assert_eq!(packet(&mut target).2, theirs + 1000);
    let recv = Call::Recv {
        fd,
        buffer: Buffer::Len(2000),
        flags: 0,
    };
    assert_eq!(done(&mut target, &recv).result, 1000);
    let info = target.tcp_info(fd).unwrap();
    let unacked = info.iter().find(|f| f.0 == "tcpi_unacked").unwrap();
    assert_eq!(unacked.1, 0);
    assert!(target.explain(None).starts_with("ESTABLISHED, open"));
    let until = target.now() + Duration::from_millis(20);
    assert_eq!(target.wait(until).unwrap(), None);
    assert!(target.now() >= until);
}

#[test]
#[ignore = "needs root and /dev/net/tun"]
fn waiting_calls_are_seen_and_leftovers_ended() {
    let Some(mut target) = target() else { return };
    let (fd, ..) = connection(&mut target);
    let recv = Call::Recv {
        fd,
        buffer: Buffer::Len(10),
        flags: 0,
    };
    // Nobody said that it waits.
    assert!(matches!(
        target.call(&recv, false).unwrap(),
        Made::Blocks(_)
    ));
    let woken = target.workers.end();
    let [back] = woken.as_slice() else {
        panic!("{woken:?}");
    };
    let outcome = back.outcome.clone().unwrap();
    assert_eq!(outcome, Outcome::failed(libc::EINTR));
}

#[test]
#[ignore = "needs root and /dev/net/tun"]
fn wrong_arguments_get_the_kernels_answer() {
    let Some(mut target) = target() else { return };
    let fd = listener(&mut target);
    let null = Call::Setsockopt {
        fd,
        level: libc::SOL_SOCKET,
        name: libc::SO_SNDBUF,
        value: OptValue::Null,
        len: 4,
    };
    assert_eq!(done(&mut target, &null), Outcome::failed(libc::EFAULT));
    // A script cannot use a descriptor of the test process.
    let foreign = Call::Close { fd: 0 };
    assert_eq!(done(&mut target, &foreign), Outcome::failed(libc::EBADF));
    let local = Call::Socket {
        domain: libc::AF_UNIX,
        kind: libc::SOCK_STREAM,
        protocol: 0,
    };
    assert!(target.call(&local, false).is_err());
    let huge = Call::Recv {
        fd,
        buffer: Buffer::Len(u64::MAX),
        flags: 0,
    };
    assert!(target.call(&huge, false).is_err());
    let wrong = Setting::Sysctl("net.ipv4.tcp_sack".into(), "x".into());
    assert!(target.set(&wrong).is_err());
    let missing = Setting::Sysctl("net.ipv4.tcp_no".into(), "1".into());
    assert!(target.set(&missing).is_err());
    // Between two commands of a shell that is no error.
    let passed_over = Setting::SysctlIfThere("net.ipv4.tcp_no".into(), "1".into());
    target.set(&passed_over).unwrap();
}
