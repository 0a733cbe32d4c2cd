//! The sending half through segments and calls: two stacks on a wire that delays.

mod mtu;
mod net;

use net::{MS, Net, host};
use tcplab_base::Instant;
use tcplab_plan::point::{Offload, Route};
use tcplab_tcp::OpenOptions;
use tcplab_wire::TcpFlags;

const RTT: i64 = 20 * MS;

/// The receiver ACKs each segment, so that delayed ACKs play no part.
fn pair() -> (Net, OpenOptions) {
    let options = OpenOptions::default();
    let mut receiver = host();
    receiver.route.quickack = Some(1);
    (Net::new(host(), receiver, &options, RTT / 2), options)
}

/// RFC 9293 3.7.4 as Minshall changed it: the second short segment waits for the first one's ACK.
#[test]
fn nagle_holds_a_short_segment_while_a_short_one_is_in_flight() {
    let (mut net, options) = pair();
    let (client, _) = net.open(&options);
    let start = net.now;
    for _ in 0..3 {
        net.write(0, client, 100);
    }
    net.run_for(RTT + MS);
    assert_eq!(net.data(start), [(0, 100), (20_000, 200)]);
}

/// A full segment in flight holds nothing back; a short one behind full ones goes at once.
#[test]
fn nagle_lets_a_short_tail_go_behind_full_segments() {
    let (mut net, options) = pair();
    let (client, _) = net.open(&options);
    let start = net.now;
    net.write(0, client, 1448);
    net.write(0, client, 1448 + 10);
    net.write(0, client, 10);
    net.run_for(MS);
    assert_eq!(net.data(start), [(0, 1448), (0, 1448), (0, 10)]);
}

#[test]
fn nodelay_sends_each_write() {
    let (mut net, mut options) = pair();
    options.nodelay = Some(true);
    let (client, _) = net.open(&options);
    let start = net.now;
    for _ in 0..3 {
        net.write(0, client, 100);
    }
    assert_eq!(net.data(start), [(0, 100), (0, 100), (0, 100)]);
}

/// RFC 6928, RFC 5681 3.1: ten segments, then two for each ACKed one.
#[test]
fn slow_start_doubles_the_window() {
    let (mut net, mut options) = pair();
    options.sndbuf = Some(200_000);
    let (client, server) = net.open(&options);
    net.reader = Some(server);
    let start = net.now;
    let mut left = 138 * 1448;
    let mut each_rtt = Vec::new();
    for _ in 0..4 {
        left -= net.write(0, client, left);
        let before = net.data(start).len();
        net.run_for(RTT - 1);
        each_rtt.push(before);
        net.run_for(1);
        left -= net.write(0, client, left);
    }
    assert_eq!(each_rtt, [10, 30, 70, 138]);
}

/// The send buffer counts memory: 46,080 bytes hold 21 segments of 1448 bytes and 832 of overhead; the write stops there.
#[test]
fn a_write_takes_what_the_send_buffer_holds() {
    let (mut net, options) = pair();
    let (client, _) = net.open(&options);
    assert_eq!(net.write(0, client, 1 << 20), 21 * 1448);
    assert_eq!(net.write(0, client, 1), 0);
}

/// PSH stands on the last segment of a write, not before (RFC 9293 3.9.1.2).
#[test]
fn psh_ends_a_write() {
    let (mut net, options) = pair();
    let (client, _) = net.open(&options);
    net.write(0, client, 3 * 1448);
    let pushed = |seen: &net::Seen| seen.segment.flags.has(TcpFlags::PSH);
    let marks: Vec<bool> = net.log.iter().map(pushed).collect();
    assert_eq!(marks, [false, false, true]);
}

/// A super-segment has PSH on the wire; a retransmitted part lacks it.
#[test]
fn psh_of_a_super_segment_is_not_of_its_parts() {
    let options = OpenOptions::default();
    let mut sender = host();
    sender.offload = Offload::Tso;
    let mut net = Net::new(sender, host(), &options, RTT / 2);
    let (client, _) = net.open(&options);
    net.lose = |_| true;
    net.write(0, client, 10 * 1448);
    let first = net.log[0].segment;
    assert!(first.gso_size > 0 && first.flags.has(TcpFlags::PSH));
    net.log.clear();
    net.run_for(2_000 * MS);
    let again = net.log.iter().find(|seen| seen.segment.seq == first.seq);
    let again = again.expect("the first one is sent again").segment;
    assert_eq!((again.len, again.flags.has(TcpFlags::PSH)), (1448, false));
}

/// `ip route change`: segments follow the route's MTU, time stamps taken off.
#[test]
fn a_route_that_changes_changes_the_segments() {
    let (mut net, options) = pair();
    let (client, _) = net.open(&options);
    for (mtu, len) in [(Some(1000), 948), (None, 1448)] {
        let route = Route {
            mtu,
            ..Route::default()
        };
        net.hosts[0].set_route(Instant::from_nanos(net.now), route, 1500);
        net.log.clear();
        net.write(0, client, 3 * len);
        let sent: Vec<u32> = net.log.iter().map(|seen| seen.segment.len).collect();
        assert_eq!(sent, [len as u32; 3]);
        net.run_for(5 * RTT);
    }
}

/// RFC 5681 4.1: after an idle time the window is the initial one again.
#[test]
fn an_idle_connection_starts_slowly_again() {
    let (mut net, mut options) = pair();
    options.sndbuf = Some(200_000);
    let (client, server) = net.open(&options);
    net.reader = Some(server);
    net.write(0, client, 70 * 1448);
    net.run_for(5 * RTT);
    for (idle, burst) in [(100 * MS, 70), (60_000 * MS, 10)] {
        net.run_for(idle);
        net.log.clear();
        net.write(0, client, 70 * 1448);
        let sent = net.data(0).len();
        assert_eq!(sent, burst, "after {} ms", idle / MS);
        net.run_for(5 * RTT);
    }
}

/// RFC 9293 3.8.6.1: probes of a closed window come at doubling intervals, with the byte before the window.
#[test]
fn a_closed_window_is_probed_ever_more_rarely() {
    let (mut net, options) = pair();
    let (client, _) = net.open(&options);
    for _ in 0..20 {
        net.write(0, client, 1 << 20);
        net.run_for(2 * RTT);
    }
    net.log.clear();
    net.run_for(20_000 * MS);
    let probes: Vec<i64> = net
        .log
        .iter()
        .filter(|seen| seen.from == 0)
        .map(|seen| seen.at / MS)
        .collect();
    assert!(probes.len() >= 5, "{probes:?}");
    let gaps: Vec<i64> = probes.windows(2).map(|p| p[1] - p[0]).collect();
    for pair in gaps.windows(2) {
        let ratio = pair[1] * 100 / pair[0];
        assert!((180..=220).contains(&ratio), "{gaps:?}");
    }
}

/// tcp_retrans_try_collapse(): short segments that are sent again go as one.
#[test]
fn short_segments_are_joined_when_they_are_sent_again() {
    let (mut net, mut options) = pair();
    options.nodelay = Some(true);
    let (client, _) = net.open(&options);
    net.lose = |seen| seen.from == 0 && seen.segment.len > 0 && seen.at < 130 * MS;
    for _ in 0..3 {
        net.write(0, client, 100);
    }
    net.run_for(1000 * MS);
    let lengths: Vec<u32> = net.data(0).iter().map(|(_, len)| *len).collect();
    // Three of their own, the loss probe, and all in one after the timeout.
    assert_eq!(lengths, [100, 100, 100, 100, 300]);
}

/// tcp_tso_autosize(): far away a super-segment holds a millisecond of the rate, two segments at least; near by as much
/// as half of the window.
#[test]
fn super_segments_are_larger_the_nearer_the_peer_is() {
    let burst = |rtt: i64| {
        let options = OpenOptions::default();
        let mut sender = host();
        sender.offload = tcplab_plan::point::Offload::Tso;
        let mut net = Net::new(sender, host(), &options, rtt / 2);
        let (client, _) = net.open(&options);
        net.write(0, client, 12 * 1448);
        let data = net.data(0);
        data.iter().map(|(_, len)| len / 1448).collect::<Vec<_>>()
    };
    assert_eq!(burst(RTT), [2, 2, 2, 2, 2]);
    assert_eq!(burst(MS / 5), [5, 5]);
}

/// RFC 9293 3.8.5, RFC 6093: urgent data passes Nagle's rule, and its pointer stands on each segment before it until
/// it is ACKed. A reader steps over the byte.
#[test]
fn urgent_data_has_its_pointer_until_it_is_acked() {
    let (mut net, options) = pair();
    let (client, server) = net.open(&options);
    net.write(0, client, 100);
    net.write_urgent(client, 50);
    net.write(0, client, 10);
    let pointers = |net: &Net| {
        let of = |seen: &net::Seen| {
            let s = seen.segment;
            (s.len, s.flags.has(TcpFlags::URG), s.urgent)
        };
        let sent = |seen: &&net::Seen| seen.from == 0 && seen.segment.len > 0;
        net.log.iter().filter(sent).map(of).collect::<Vec<_>>()
    };
    // The last ten bytes stand behind the pointer, yet urgent mode goes on: Nagle does not hold them.
    assert_eq!(
        pointers(&net),
        [(100, false, 0), (50, true, 50), (10, false, 0)]
    );
    net.run_for(RTT);
    net.log.clear();
    net.write(0, client, 10);
    assert_eq!(pointers(&net), [(10, false, 0)]);
    net.run_for(RTT);
    assert_eq!(net.read(server), 149, "up to the urgent byte");
    assert_eq!(net.read(server), 20, "behind it");
}

/// A retransmission has the pointer too, and a closed window is probed twice in urgent mode: with the pointer, and
/// with the number that the peer must answer.
#[test]
fn the_pointer_is_told_again_while_it_is_not_acked() {
    let (mut net, mut options) = pair();
    options.sndbuf = Some(400_000);
    let (client, _) = net.open(&options);
    net.lose = |seen| seen.from == 0 && seen.segment.len > 0 && seen.at < 100 * MS;
    net.write_urgent(client, 50);
    net.run_for(1000 * MS);
    let urgent = |seen: &&net::Seen| seen.segment.flags.has(TcpFlags::URG);
    let sent: Vec<u16> = (net.log.iter().filter(urgent))
        .map(|seen| seen.segment.urgent)
        .collect();
    assert_eq!(sent, [50, 50]);

    // Until the window is shut: the pointer is told within 64 KiB only.
    let mut left = 100;
    while net.log.iter().any(|seen| seen.segment.len > 0) {
        left -= 1;
        assert!(left > 0, "the window stays open");
        net.log.clear();
        net.write(0, client, 10_000);
        net.run_for(2 * RTT);
    }
    net.write_urgent(client, 1);
    net.run_for(1000 * MS);
    net.log.clear();
    net.run_for(5000 * MS);
    let probes: Vec<_> = (net.log.iter())
        .filter(|seen| seen.from == 0)
        .map(|seen| (seen.segment.seq, seen.segment.flags.has(TcpFlags::URG)))
        .collect();
    assert!(probes.len() >= 4, "{probes:?}");
    for pair in probes.chunks_exact(2) {
        assert_eq!((pair[0].0 - pair[1].0, pair[0].1), (1, true), "{probes:?}");
    }
}
