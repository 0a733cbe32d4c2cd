//! CAQM: the handshake, the receivers' feedback, the senders' use of it, and the kernel's defects behind their
//! behaviours.

use tcplab_tcp::{Addr, Caqm, ConnId, HostConfig, OpenOptions, Segment};
use tcplab_wire::{CaqmInfo, TcpFlags};

use crate::link::{MS, Pair, S, SERVER, Switch, host};

/// The reserved bits of SYN and SYN-ACK.
const CLI: u16 = 0x100;
const SRV: u16 = 0x200;
/// A full segment's payload: 4 bytes less than others.
pub const MSS: u32 = 1444;

/// A host that speaks CAQM.
pub fn speaker(secret: u64) -> HostConfig {
    let mut host = host(secret);
    let sysctl = &mut host.sysctl;
    sysctl.sysctl_caqm_enable = true;
    sysctl.sysctl_caqm_filter_nics = 0xff;
    sysctl.tcp_congestion_control = "caqm".into();
    sysctl.tcp_wmem[1] = 1 << 20;
    host
}

/// A connection between such hosts with 100 us one way, after the handshake.
pub fn speakers(change: impl Fn(&mut HostConfig)) -> (Pair, ConnId, ConnId) {
    let mut hosts = [speaker(1), speaker(2)];
    hosts.iter_mut().for_each(change);
    let mut pair = Pair::of(hosts, 7);
    pair.delay_ns = MS / 10;
    let (client, server) = pair.established();
    pair.settle(MS);
    pair.log.clear();
    (pair, client, server)
}

pub fn write(pair: &mut Pair, client: ConnId, bytes: u64) {
    let wrote = pair.with(0, client, |ep, cx| ep.write(cx, bytes, false));
    assert_eq!(wrote, Ok(bytes));
}

fn cwnd(pair: &mut Pair, client: ConnId) -> i64 {
    let info = pair.with(0, client, |ep, cx| ep.info(cx));
    let found = info.into_iter().find(|(name, _)| *name == "tcpi_snd_cwnd");
    found.expect("tcp_info has it").1
}

/// Tags of segments that this host sent: payload, INFO.
pub fn tags(pair: &Pair, of: usize) -> Vec<(u32, u16)> {
    let sent = pair.log.iter().filter(|(_, from, _)| *from == of);
    sent.filter_map(|(.., seg)| Some((seg.len, seg.caqm.info()?.0)))
        .collect()
}

/// Data of the client in order, each with this tag, one at a time; what the server tells at once, in units.
fn told(pair: &mut Pair, given: &[Caqm]) -> Vec<i32> {
    let first = pair.log.iter().rev().find(|(_, from, _)| *from == 1);
    let server = first.map(|l| l.2).expect("the server has ACKed");
    let mut at = server.ack;
    let mut out = Vec::new();
    for tag in given {
        let seg = Segment {
            src: server.dst,
            dst: server.src,
            seq: at,
            ack: server.seq,
            len: 100,
            window: 1000,
            flags: TcpFlags(TcpFlags::ACK),
            caqm: *tag,
            options: tcplab_wire::TcpOptions {
                timestamps: server.options.timestamps.map(|(val, ecr)| (ecr, val)),
                ..Default::default()
            },
            ..Segment::default()
        };
        at = seg.end_seq();
        pair.log.clear();
        pair.inject(1, seg);
        out.extend(tags(pair, 1).iter().map(|(_, info)| units(*info)));
    }
    out
}

fn units(info: u16) -> i32 {
    let hint = i32::from(info & 0xff);
    match info >> 8 {
        1 => hint,
        2 => -hint,
        other => panic!("{other:#x} is not a feedback"),
    }
}

fn request(hint: u8) -> Caqm {
    Caqm::Tag(CaqmInfo::request(0, hint))
}

#[test]
fn both_ends_must_speak() {
    for (client, server, bits, name) in [
        (true, true, [CLI, SRV], "caqm"),
        (true, false, [CLI, 0], "caqm_reno"),
        (false, true, [0, 0], "cubic"),
        (false, false, [0, 0], "cubic"),
    ] {
        let make = |speaks, secret| {
            if speaks {
                speaker(secret)
            } else {
                host(secret)
            }
        };
        let mut pair = Pair::of([make(client, 1), make(server, 2)], 7);
        let (id, _) = pair.established();
        write(&mut pair, id, 10_000);
        pair.settle(S);
        let syns: Vec<u16> = pair.log[..2].iter().map(|l| l.2.flags.0 & 0xf00).collect();
        assert_eq!(syns, bits, "{client} {server}");
        let ours = pair.hosts[0].get(id).map(|ep| ep.congestion_name());
        assert_eq!(ours, Some(name), "{client} {server}");
        // SYN and SYN-ACK are plain in any case, all else has a tag or nothing has.
        let tagged = pair.log.iter().filter(|l| l.2.caqm != Caqm::Plain).count();
        let all = if name == "caqm" {
            pair.log.len() - 2
        } else {
            0
        };
        assert_eq!(tagged, all, "{client} {server}");
        // A client leaves room for a tag before it knows whether there will be tags.
        let longest = pair.log.iter().map(|l| l.2.len).max();
        assert_eq!(longest, Some(if client { MSS } else { 1448 }));
    }
}

/// Tags leave only by interfaces that the mask names; the handshake agrees all the same.
#[test]
fn no_tag_leaves_by_an_interface_outside_the_mask() {
    for (mask, sends) in [
        (0, false),
        (1 << 2, true),
        (1 << 3, false),
        (u64::MAX, true),
    ] {
        let (mut pair, client, _) = speakers(|h| h.sysctl.sysctl_caqm_filter_nics = mask);
        write(&mut pair, client, 1000);
        pair.settle(S);
        assert_eq!(!tags(&pair, 0).is_empty(), sends, "{mask:#x}");
    }
}

/// A SYN from a host that is not one of the two; the SYN-ACK's reserved bits.
fn answer(pair: &mut Pair, from: u16, flags: u16) -> u16 {
    let syn = Segment {
        src: Addr {
            host: from,
            port: 9,
        },
        dst: SERVER,
        window: 1000,
        flags: TcpFlags(TcpFlags::SYN | flags),
        ..Segment::default()
    };
    pair.log.clear();
    pair.inject(1, syn);
    pair.log.last().expect("a SYN-ACK").2.flags.0 & 0xf00
}

#[test]
fn each_request_is_answered_by_itself() {
    let ask = |change: fn(&mut HostConfig)| {
        let mut server = speaker(2);
        change(&mut server);
        let mut pair = Pair::of([host(1), server], 7);
        pair.listen();
        let accurate = CLI | TcpFlags::ECE | TcpFlags::CWR;
        [0, CLI, 0, accurate].map(|flags| {
            let from = 9 + (pair.count(1, "TcpInSegs") as u16);
            answer(&mut pair, from, flags) & SRV != 0
        })
    };
    assert_eq!(ask(|_| {}), [false, true, false, false]);
    let unasked = ask(|h| h.profile.caqm_unasked_srv = true);
    assert_eq!(unasked, [true, true, true, true]);
    // After one speaker all are taken for speakers.
    let kept = ask(|h| h.profile.caqm_listener_flags = true);
    assert_eq!(kept, [false, true, true, true]);
    // AccECN's way of asking (RFC 9768 3.1.1).
    let accurate = ask(|h| h.profile.caqm_syn_with_ecn = true);
    assert_eq!(accurate, [false, true, false, true]);
    assert_eq!(ask(|h| h.sysctl.sysctl_caqm_enable = false), [false; 4]);
}

/// A SYN does not ask for ECN beside CAQM, unless it does as the kernel.
#[test]
fn a_syn_asks_for_one_thing() {
    for (as_kernel, bits) in [(false, CLI), (true, CLI | TcpFlags::ECE | TcpFlags::CWR)] {
        let mut client = speaker(1);
        client.sysctl.tcp_ecn = 1;
        client.profile.caqm_syn_with_ecn = as_kernel;
        let mut pair = Pair::of([client, speaker(2)], 7);
        pair.listen();
        pair.connect();
        assert_eq!(pair.log[0].2.flags.0 & !TcpFlags::SYN, bits);
    }
}

#[test]
fn a_cookie_has_no_room_for_it() {
    let mut pair = Pair::of([speaker(1), speaker(2)], 7);
    pair.hosts[1].listen(SERVER, &OpenOptions::default(), 0, 1500);
    answer(&mut pair, 9, 0);
    let client = pair.connect();
    pair.settle(S);
    assert_eq!(pair.count(1, "TcpExtSyncookiesRecv"), 1);
    let name = pair.hosts[0].get(client).map(|ep| ep.congestion_name());
    assert_eq!(name, Some("caqm_reno"));
    assert!(tags(&pair, 0).is_empty());
}

/// Sums in bytes, told in units of 64 towards zero, at most 255 of them; the rest is kept.
#[test]
fn a_receiver_tells_what_it_got() {
    let data = CaqmInfo::request(0, 128);
    let mark = Caqm::Tag(data.marked(true));
    let refused = Caqm::Tag(data.refused());
    let other = Caqm::Tag(CaqmInfo::request(2, 128));
    for (given, right) in [
        (vec![request(128)], vec![16]),
        // 56 bytes are no unit; 8 more make one.
        (vec![request(7), request(1)], vec![0, 1]),
        (vec![mark], vec![-8]),
        (vec![refused], vec![0]),
        (vec![other], vec![0]),
        // 1024 - 512 - 512 - 512 and 24: -488 is -7 units, and 40 bytes are left to tell.
        (
            vec![request(128), mark, mark, request(3)],
            vec![16, -8, -8, 0],
        ),
        (vec![Caqm::Joined(-100), Caqm::Joined(30)], vec![-1, 0]),
        // 40,000 bytes: 16,320 in each ACK.
        (
            vec![Caqm::Joined(40_000), refused, refused, refused],
            vec![255, 255, 115, 0],
        ),
        (vec![Caqm::Joined(-20_000), refused], vec![-255, -57]),
    ] {
        let (mut pair, client, _) = speakers(|_| {});
        write(&mut pair, client, 1);
        pair.settle(MS);
        // The answer to the first byte is told already, or comes first.
        let first = told(&mut pair, &[refused]);
        assert!(first == [16] || first == [0], "{first:?}");
        assert_eq!(told(&mut pair, &given), right, "{given:?}");
    }
}

/// A segment that came before counts once; in the kernel it counts again.
#[test]
fn an_old_duplicate_grants_nothing() {
    for (as_kernel, right) in [(false, 0), (true, 16)] {
        let (mut pair, client, _) = speakers(|h| h.profile.caqm_counts_all = as_kernel);
        write(&mut pair, client, 1000);
        pair.settle(MS);
        let again = pair.log[0].2;
        assert_eq!(again.len, 1000);
        pair.log.clear();
        pair.run(10 * MS);
        pair.inject(1, again);
        pair.run(50 * MS);
        let sum: i32 = tags(&pair, 1).iter().map(|(_, info)| units(*info)).sum();
        assert_eq!(sum, right, "as the kernel: {as_kernel}");
    }
}

/// Refuses, or marks, all requests from the n-th on.
pub fn judge(from: usize, verdict: fn(CaqmInfo) -> CaqmInfo) -> Switch {
    let mut seen = 0;
    Box::new(move |_, seg: &mut Segment| {
        let Some(info) = seg.caqm.info().filter(|info| info.is_data()) else {
            return;
        };
        seen += 1;
        if seen > from {
            seg.caqm = Caqm::Tag(verdict(info));
        }
    })
}

#[test]
fn the_window_is_what_was_granted() {
    // All is granted: a packet of window for each packet of 1,024 bytes that was asked for.
    let (mut pair, client, _) = speakers(|_| {});
    write(&mut pair, client, u64::from(MSS) * 10);
    pair.settle(S);
    assert_eq!(tags(&pair, 0), vec![(MSS, 0x0580); 10]);
    assert_eq!(cwnd(&mut pair, client), 20);
    // Nothing is granted: it stays, and slow start is over. 200 us: 1,024 bytes in a window of ten, 12.8 units each.
    let (mut pair, client, _) = speakers(|_| {});
    pair.switch = Some(judge(0, CaqmInfo::refused));
    write(&mut pair, client, u64::from(MSS) * 10);
    pair.settle(S);
    assert_eq!(cwnd(&mut pair, client), 10);
    pair.log.clear();
    write(&mut pair, client, u64::from(MSS) * 10);
    pair.settle(S);
    let asked: Vec<u16> = tags(&pair, 0).iter().map(|(_, info)| info & 0xff).collect();
    assert!(
        asked.iter().all(|hint| (12..=13).contains(hint)),
        "{asked:?}"
    );
    // Each mark takes 512 bytes: ten are five packets.
    let (mut pair, client, _) = speakers(|_| {});
    pair.switch = Some(judge(0, |info| info.marked(false)));
    write(&mut pair, client, u64::from(MSS) * 10);
    pair.settle(S);
    assert_eq!(cwnd(&mut pair, client), 5);
    // It does not fall below sysctl_caqm_min_cwnd.
    for least in [1, 4] {
        let (mut pair, client, _) = speakers(|h| h.sysctl.sysctl_caqm_min_cwnd = least);
        pair.switch = Some(judge(0, |info| info.marked(false)));
        write(&mut pair, client, u64::from(MSS) * 60);
        pair.run(5 * S);
        assert_eq!(cwnd(&mut pair, client), i64::from(least));
    }
}

/// A window that is not used does not grow.
#[test]
fn unused_window_grants_are_lost() {
    let (mut pair, client, _) = speakers(|_| {});
    for _ in 0..20 {
        write(&mut pair, client, 100);
        pair.settle(MS);
    }
    assert_eq!(cwnd(&mut pair, client), 10);
}

/// The state after something happened: what the next packet asks for says which it is.
pub fn asks(pair: &mut Pair, client: ConnId) -> u16 {
    pair.log.clear();
    write(pair, client, 1000);
    let sent = tags(pair, 0);
    pair.settle(S);
    sent.first().expect("a segment of data").1 & 0xff
}

#[test]
fn slow_start_ends_by_a_refusal_of_new_data_or_a_loss() {
    let empty_ack = |pair: &mut Pair| {
        let last = pair
            .log
            .iter()
            .rev()
            .find(|(_, from, seg)| *from == 1 && seg.len == 0);
        let ack = last.map(|l| l.2).expect("an ACK");
        let empty = Segment {
            window: ack.window + 1,
            caqm: Caqm::Tag(CaqmInfo::feedback(0, 0)),
            ..ack
        };
        pair.inject(0, empty);
    };
    for (as_kernel, begins) in [(false, 128), (true, 13)] {
        let (mut pair, client, _) = speakers(|h| h.profile.caqm_empty_ack_ends_start = as_kernel);
        write(&mut pair, client, 1000);
        pair.settle(MS);
        empty_ack(&mut pair);
        let hint = asks(&mut pair, client);
        assert!(hint.abs_diff(begins) <= 3, "{as_kernel}: {hint}");
    }
    // The fifth of twenty packets is lost, and all is granted.
    for (as_kernel, starts) in [(false, false), (true, true)] {
        let (mut pair, client, _) = speakers(|h| h.profile.caqm_start_after_loss = as_kernel);
        let mut seen = 0;
        pair.drop = Some(Box::new(move |_, from, seg| {
            seen += u32::from(from == 0 && seg.len > 0);
            from == 0 && seg.len > 0 && seen == 5
        }));
        write(&mut pair, client, u64::from(MSS) * 20);
        pair.settle(S);
        assert!(pair.count(0, "TcpRetransSegs") > 0);
        assert_eq!(asks(&mut pair, client) == 128, starts, "{as_kernel}");
    }
}

#[test]
fn slow_start_comes_back_after_idle_times() {
    for (as_kernel, starts) in [(false, true), (true, false)] {
        let (mut pair, client, _) = speakers(|h| h.profile.caqm_never_restarts = as_kernel);
        pair.switch = Some(judge(0, CaqmInfo::refused));
        write(&mut pair, client, u64::from(MSS) * 10);
        pair.settle(S);
        // Nine round trips are not enough, eleven are.
        pair.run(MS);
        assert_ne!(asks(&mut pair, client), 128);
        pair.run(4 * MS);
        assert_eq!(asks(&mut pair, client) == 128, starts, "{as_kernel}");
    }
}

/// A window of one packet: the receiver does not wait 40 ms to say what it got.
#[test]
fn a_window_of_one_packet_is_acked_at_once() {
    for (as_kernel, late) in [(false, false), (true, true)] {
        let (mut pair, client, _) = speakers(|h| h.profile.caqm_feedback_waits = as_kernel);
        pair.switch = Some(judge(0, |info| info.marked(false)));
        // The quick ACKs of the begin are used up.
        write(&mut pair, client, u64::from(MSS) * 60);
        pair.run(5 * S);
        assert_eq!(cwnd(&mut pair, client), 1);
        pair.log.clear();
        write(&mut pair, client, u64::from(MSS) * 6);
        pair.run(5 * S);
        let acks = pair.log.iter().filter(|(_, from, _)| *from == 1);
        let times: Vec<i64> = acks.map(|(at, ..)| at.as_nanos()).collect();
        let took = times
            .last()
            .zip(pair.log.first())
            .map(|(end, first)| end - first.0.as_nanos());
        assert_eq!(took > Some(40 * MS), late, "{as_kernel}: {took:?}");
    }
}

/// A segment that is sent again asks for what it asked for the first time.
#[test]
fn a_retransmission_carries_its_first_tag() {
    let (mut pair, client, _) = speakers(|_| {});
    pair.drop = Some(Box::new(|number, from, seg| {
        from == 0 && seg.len > 0 && number < 10
    }));
    write(&mut pair, client, 1000);
    let first = pair.log[0].2;
    pair.run(2 * S);
    let again: Vec<Segment> = (pair.log.iter().map(|l| l.2))
        .filter(|seg| seg.seq == first.seq && seg.len == first.len)
        .collect();
    assert!(again.len() > 1, "it was not sent again");
    assert!(again.iter().all(|seg| seg.caqm == first.caqm));
}

/// The longest segment, and a window at its clamp, as the kernel has them.
#[test]
fn long_frames_are_the_first_versions() {
    let (mut pair, client, _) = speakers(|h| h.profile.caqm_long_frames = true);
    write(&mut pair, client, 3000);
    let longest = pair.log.iter().map(|l| l.2.len).max();
    assert_eq!(longest, Some(1448));
}
