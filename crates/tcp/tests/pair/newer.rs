//! What Linux 7.2 does and 6.1 does not: each behaviour of its profile that shows in a segment or two.

use tcplab_plan::profile::named;
use tcplab_tcp::{HostConfig, Segment, State, Sysctl};
use tcplab_wire::TcpFlags;

use crate::link::{MS, Pair, S, host};

/// A host with this profile and its sysctls.
fn host_of(secret: u64, profile: &str) -> HostConfig {
    let mut host = host(secret);
    host.profile = named(profile).unwrap();
    let mut sysctl = Sysctl::default();
    for (name, value) in host.profile.sysctl {
        sysctl.set(name, value).unwrap();
    }
    host.sysctl = sysctl;
    host
}

fn pair(profile: &str) -> Pair {
    Pair::of([host_of(1, profile), host_of(2, profile)], 7)
}

/// The last segment that a host sent.
fn last(pair: &Pair, from: usize) -> Segment {
    let sent = pair.log.iter().rev().find(|(_, host, _)| *host == from);
    sent.unwrap().2
}

/// What the server counted; kernels before 7.2 do not know all of these.
fn counted(pair: &Pair, name: &str) -> u64 {
    let mut all = pair.hosts[1].mib.iter();
    all.find(|(known, _)| *known == name).map_or(0, |it| it.1)
}

/// How many segments the server sends in answer to one that is the client's last, changed.
fn answers(profile: &str, change: impl FnOnce(&mut Segment)) -> (usize, Pair) {
    let mut pair = pair(profile);
    let (client, _) = pair.established();
    pair.with(0, client, |ep, cx| ep.write(cx, 100, false))
        .unwrap();
    pair.settle(S);
    let mut seg = last(&pair, 0);
    seg.len = 0;
    seg.seq = seg.seq + 100;
    seg.flags = TcpFlags(TcpFlags::ACK);
    let (tsval, _) = seg.options.timestamps.unwrap();
    seg.options.timestamps = Some((tsval + 1000, 0));
    change(&mut seg);
    pair.log.clear();
    pair.inject(1, seg);
    pair.run(MS);
    (pair.log.len(), pair)
}

#[test]
fn ack_of_unsent_data_is_challenged() {
    let unsent = |profile| answers(profile, |seg| seg.ack = seg.ack + 5000).0;
    assert_eq!((unsent("linux-6.1"), unsent("linux-7.2")), (0, 1));
}

#[test]
fn an_overtaken_ack_gets_no_answer() {
    let old = |profile| {
        let (sent, pair) = answers(profile, |seg| {
            seg.seq = seg.seq - 50;
            seg.options.timestamps = seg
                .options
                .timestamps
                .map(|(tsval, ecr)| (tsval - 5000, ecr));
        });
        (
            sent,
            pair.count(1, "TcpExtPAWSEstab"),
            counted(&pair, "TcpExtPAWSOldAck"),
        )
    };
    assert_eq!(old("linux-6.1"), (1, 1, 0));
    assert_eq!(old("linux-7.2"), (0, 0, 1));
}

/// The server does not read, so it refuses a segment that ends beyond its window.
#[test]
fn a_segment_must_end_within_the_window() {
    let beyond = |profile| {
        let (_, pair) = answers(profile, |seg| {
            seg.len = 1200;
            seg.seq = seg.seq + 64_500;
        });
        (
            pair.count(1, "TcpExtTCPOFOQueue"),
            counted(&pair, "TcpExtBeyondWindow"),
        )
    };
    assert_eq!(beyond("linux-6.1"), (1, 0));
    assert_eq!(beyond("linux-7.2"), (0, 1));
}

/// The ACK of the SYN-ACK echoes a time stamp that no SYN-ACK had.
#[test]
fn a_handshake_ends_with_an_echo_of_its_own() {
    let stands = |profile| {
        let mut pair = pair(profile);
        let listener = pair.listen();
        pair.switch = Some(Box::new(|from, seg| {
            if from == 0 && seg.flags.0 & TcpFlags::SYN == 0 {
                let stamps = seg.options.timestamps;
                seg.options.timestamps = stamps.map(|(tsval, ecr)| (tsval, ecr + 7));
            }
        }));
        pair.connect();
        pair.run(50 * MS);
        let accepted = pair.hosts[1].accept(pair.now, listener).is_some();
        (accepted, counted(&pair, "TcpExtTSEcrRejected"))
    };
    assert_eq!(stands("linux-6.1"), (true, 0));
    assert_eq!(stands("linux-7.2"), (false, 1));
}

/// The third SYN-ACK, behind two timeouts, has no ECE.
#[test]
fn a_syn_ack_stops_to_offer_ecn() {
    let echoes = |profile: &str| {
        let mut hosts = [host_of(1, profile), host_of(2, profile)];
        hosts[0].sysctl.tcp_ecn = 1;
        let mut pair = Pair::of(hosts, 7);
        pair.listen();
        pair.drop = Some(Box::new(|_, from, _| from == 1));
        pair.connect();
        pair.run(4 * S);
        let of_server = pair.log.iter().filter(|(at, from, _)| {
            let again = at.as_nanos() / MS % 1000;
            // Answers to a SYN that came again are no timeouts' SYN-ACKs.
            *from == 1 && again >= 10
        });
        let ece = of_server.map(|(.., seg)| seg.flags.has(TcpFlags::ECE));
        ece.collect::<Vec<_>>()
    };
    assert!(echoes("linux-6.1").iter().all(|ece| *ece));
    assert!(echoes("linux-7.2").iter().any(|ece| !ece));
}

/// SO_RCVBUF on an open connection moves the clamp.
#[test]
fn a_buffer_that_is_set_later_sets_the_clamp() {
    let clamp = |profile| {
        let mut pair = pair(profile);
        let (_, server) = pair.established();
        pair.with(1, server, |ep, cx| {
            ep.set_rcvbuf(cx, 20_000, false);
            ep.window_clamp()
        })
    };
    assert_eq!(
        (clamp("linux-6.1"), clamp("linux-7.2")),
        (65_536 - 1448, 20_000)
    );
}

/// tcp_rto_max_ms bounds each timeout, and with it the time until the connection is given up.
#[test]
fn the_largest_timeout_is_a_sysctl() {
    let mut hosts = [host(1), host(2)];
    hosts[0].sysctl.tcp_rto_max_ms = 2000;
    let mut pair = Pair::of(hosts, 1);
    pair.drop = Some(Box::new(|_, _, _| true));
    let client = pair.connect();
    pair.run(200 * S);
    let seconds: Vec<_> = pair.log.iter().map(|(at, ..)| at.as_nanos() / S).collect();
    assert_eq!(seconds, [0, 1, 3, 5, 7, 9, 11]);
    let state = pair.hosts[0].get(client).map(tcplab_tcp::Endpoint::state);
    assert!(matches!(state, None | Some(State::Close)), "{state:?}");
}

/// TCP_RTO_MIN_US: the first retransmission of an established connection comes after it and the round trip.
#[test]
fn a_socket_has_its_own_least_timeout() {
    let after = |own: Option<i64>| {
        let mut pair = pair("linux-7.2");
        let (client, _) = pair.established();
        pair.with(0, client, |ep, cx| {
            assert_eq!(
                (ep.rto_min_us(cx), ep.delack_max_us(cx)),
                (200_000, 200_000)
            );
            // Two ticks, and 200 ms, are the bounds.
            assert!(!ep.set_rto_min(cx, MS) && !ep.set_rto_min(cx, 201 * MS));
            if let Some(ns) = own {
                assert!(ep.set_rto_min(cx, ns));
            }
            ep.write(cx, 100, false).unwrap();
        });
        pair.settle(S);
        pair.drop = Some(Box::new(|_, _, _| true));
        pair.log.clear();
        pair.with(0, client, |ep, cx| ep.write(cx, 100, false))
            .unwrap();
        pair.run(10 * S);
        // The probe of RFC 8985 after it, and what the timeout sends.
        let at: Vec<_> = pair.log.iter().map(|(at, ..)| at.as_nanos() / MS).collect();
        at[1] - at[0]
    };
    let (usual, own) = (after(None), after(Some(20 * MS)));
    assert!(usual >= 200 && own < 100, "{usual} ms, {own} ms");
}

/// RFC 7323 2.4: what was allowed once is taken after the window shrank (0e24d17bd966).
#[test]
fn data_up_to_the_largest_window_are_taken() {
    let taken = |keeps: bool| {
        let mut hosts = [host_of(1, "linux-7.2"), host_of(2, "linux-7.2")];
        hosts[1].profile.keeps_largest_edge = keeps;
        hosts[1].sysctl.tcp_shrink_window = true;
        hosts[1].sysctl.tcp_rmem = [4096, 32_768, 4_194_304];
        let mut pair = Pair::of(hosts, 7);
        let (client, server) = pair.established();
        pair.with(0, client, |ep, cx| ep.write(cx, 3_000, false))
            .unwrap();
        pair.settle(S);
        // A smaller buffer: the right edge comes back.
        pair.with(1, server, |ep, cx| ep.set_rcvbuf(cx, 10_000, false));
        pair.with(0, client, |ep, cx| ep.write(cx, 100, false))
            .unwrap();
        pair.settle(S);
        let acks = pair.log.iter().filter(|(_, host, _)| *host == 1);
        let edges: Vec<_> = acks
            .filter(|(.., seg)| !seg.flags.has(TcpFlags::SYN))
            .map(|(.., seg)| seg.ack + (u32::from(seg.window) << 7))
            .collect();
        let newest = *edges.last().unwrap();
        let largest = newest
            + edges
                .iter()
                .map(|edge| edge.distance(newest))
                .max()
                .unwrap() as u32;
        assert!(newest.before(largest), "{edges:?}");
        let base = last(&pair, 0);
        let from = base.end_seq();
        let mut takes = |len: u32| {
            let mut seg = base;
            (seg.seq, seg.len) = (from, len);
            seg.flags = TcpFlags(TcpFlags::ACK);
            pair.inject(1, seg);
            pair.run(MS);
            pair.with(1, server, |ep, _| ep.receive_space().0) == from + len
        };
        let most = largest - from;
        // One byte more than was ever offered is not taken.
        (takes(most + 1), takes(most))
    };
    assert_eq!((taken(false), taken(true)), ((false, false), (false, true)));
}
