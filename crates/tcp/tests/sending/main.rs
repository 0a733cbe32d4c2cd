//! The sending half through segments and calls: two stacks on a wire that delays.

mod net;

use net::{MS, Net, host};
use tcplab_tcp::OpenOptions;

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
