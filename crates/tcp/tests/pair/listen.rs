//! A listener's queues and their limits, and SYN cookies.

use tcplab_tcp::{OpenOptions, Segment, State};
use tcplab_wire::TcpFlags;

use crate::link::{MS, Pair, S, SERVER, host, words};

#[test]
fn a_full_syn_queue_sends_cookies_and_they_work() {
    let mut pair = Pair::new();
    let listener = pair.hosts[1].listen(SERVER, &OpenOptions::default(), 0, 1500);
    // A SYN that nobody will ACK fills the queue.
    let lost = Segment {
        src: tcplab_tcp::Addr { host: 9, port: 9 },
        dst: SERVER,
        flags: TcpFlags(TcpFlags::SYN),
        window: 1000,
        ..Segment::default()
    };
    pair.inject(1, lost);
    let client = pair.connect();
    pair.settle(100 * MS);
    assert_eq!(pair.count(1, "TcpExtSyncookiesSent"), 1);
    assert_eq!(pair.count(1, "TcpExtSyncookiesRecv"), 1);
    assert_eq!(pair.count(1, "TcpExtTCPReqQFullDoCookies"), 1);
    let (server, _) = pair.hosts[1]
        .accept(pair.now, listener)
        .expect("the cookie was good");
    assert_eq!(
        pair.hosts[0].get(client).unwrap().state(),
        State::Established
    );
    let wrote = pair.with(0, client, |ep, cx| ep.write(cx, 1000, false));
    assert_eq!(wrote, Ok(1000));
    pair.settle(100 * MS);
    assert_eq!(pair.hosts[1].get(server).unwrap().readable_bytes(), 1000);
    // Options came back in the time stamp: SACK and the scale.
    let data = pair.log.iter().rfind(|l| l.1 == 1).unwrap().2;
    assert!(data.options.timestamps.is_some());
}

/// In segments of the advertised MSS less 12 with the SYN-ACK (45 of 1,448 bytes), in those of the cookie's MSS after it (44
/// of 1,460), as uml:6.1 has it.
#[test]
fn a_cookie_connection_offers_segments_of_the_cookies_mss() {
    let mut server = host(2);
    server.sysctl.tcp_syncookies = 2;
    let mut pair = Pair::of([host(1), server], 7);
    pair.hosts[1].listen(SERVER, &OpenOptions::default(), 9, 1500);
    let client = pair.connect();
    pair.settle(S);
    let wrote = pair.with(0, client, |ep, cx| ep.write(cx, 100, false));
    assert_eq!(wrote, Ok(100));
    pair.settle(S);
    let sent = pair.log.iter().filter(|l| l.1 == 1);
    let windows: Vec<u16> = sent.map(|l| l.2.window).collect();
    assert_eq!(windows, [45 * 1448, u16::div_ceil(44 * 1460, 1 << 7)]);
}

/// One request more than the backlog since 6.1.125, the backlog before; without cookies, the last quarter of
/// `tcp_max_syn_backlog` is for known peers, also where it is less than what waits.
#[test]
fn how_many_requests_a_listener_holds() {
    for (at_backlog, most, held) in [
        (false, 128, 3),
        (true, 128, 2),
        (false, 1, 2),
        (false, 0, 1),
    ] {
        let mut server = host(2);
        server.profile.syn_queue_at_backlog = at_backlog;
        server.sysctl.tcp_syncookies = 0;
        server.sysctl.tcp_max_syn_backlog = most;
        let mut pair = Pair::of([host(1), server], 7);
        pair.hosts[1].listen(SERVER, &OpenOptions::default(), 2, 1500);
        for _ in 0..5 {
            pair.connect();
        }
        pair.run(15 * MS);
        let answers = pair.short().iter().filter(|seg| *seg == "S S.").count();
        assert_eq!(answers, held, "{at_backlog} {most}");
    }
}

#[test]
fn a_forged_cookie_is_reset() {
    let mut pair = Pair::new();
    pair.hosts[1].listen(SERVER, &OpenOptions::default(), 0, 1500);
    // The second of them gets a cookie.
    pair.connect();
    pair.connect();
    let ack = Segment {
        src: tcplab_tcp::Addr { host: 9, port: 9 },
        dst: SERVER,
        ack: tcplab_base::Seq(77),
        flags: TcpFlags(TcpFlags::ACK),
        ..Segment::default()
    };
    pair.run(15 * MS);
    assert_eq!(pair.count(1, "TcpExtSyncookiesSent"), 1);
    pair.inject(1, ack);
    assert_eq!(words(&pair.log.last().unwrap().2), "R");
    assert_eq!(pair.log.last().unwrap().2.seq, ack.ack);
}

#[test]
fn a_full_accept_queue_drops_syns() {
    let mut pair = Pair::new();
    let listener = pair.hosts[1].listen(SERVER, &OpenOptions::default(), 1, 1500);
    for _ in 0..3 {
        pair.connect();
        pair.settle(S / 2);
    }
    assert_eq!(pair.count(1, "TcpExtListenOverflows"), 1);
    assert_eq!(pair.count(1, "TcpExtListenDrops"), 1);
    assert_eq!(pair.count(1, "TcpPassiveOpens"), 2);
    // After accept(2) the third one's SYN, sent again, is heard.
    assert!(pair.hosts[1].accept(pair.now, listener).is_some());
    pair.run(2 * S);
    assert_eq!(pair.count(1, "TcpPassiveOpens"), 3);
}
