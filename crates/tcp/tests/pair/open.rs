//! Handshakes.

use tcplab_base::Instant;
use tcplab_tcp::{Event, OpenOptions, SocketError, State};

use crate::link::{MS, PORT, Pair, S, host};

#[test]
fn three_segments_open_a_connection_and_agree_on_options() {
    let mut pair = Pair::new();
    let (client, server) = pair.established();
    assert_eq!(pair.short(), ["C S", "S S.", "C ."]);
    let [syn, syn_ack, ack] = [pair.log[0].2, pair.log[1].2, pair.log[2].2];
    assert_eq!(syn.options.mss, Some(1460));
    assert_eq!(syn.options.window_scale, Some(7));
    assert_eq!(
        (syn.window, syn_ack.window, ack.window),
        (64_240, 65_160, 502)
    );
    assert!(syn.options.sack_permitted && syn_ack.options.sack_permitted);
    let (tsval, tsecr) = syn_ack.options.timestamps.unwrap();
    assert_eq!(Some(tsecr), syn.options.timestamps.map(|t| t.0));
    assert_eq!(ack.options.timestamps.unwrap().1, tsval);
    assert_eq!(
        pair.hosts[0].get(client).unwrap().state(),
        State::Established
    );
    assert_eq!(
        pair.hosts[1].get(server).unwrap().state(),
        State::Established
    );
    assert_eq!(pair.events[0], (0, Event::Connected(client)));
    assert_eq!(pair.count(0, "TcpActiveOpens"), 1);
    assert_eq!(pair.count(1, "TcpPassiveOpens"), 1);
    for host in 0..2 {
        assert_eq!(pair.count(host, "TcpCurrEstab"), 1);
    }
}

#[test]
fn ports_of_connect_are_even_and_differ() {
    let mut pair = Pair::new();
    pair.listen();
    let mut ports = Vec::new();
    for _ in 0..200 {
        let id = pair.connect();
        ports.push(pair.hosts[0].get(id).unwrap().local().port);
    }
    assert!(
        ports
            .iter()
            .all(|p| p % 2 == 0 && (32_768..=60_999).contains(p))
    );
    ports.sort_unstable();
    ports.dedup();
    assert_eq!(ports.len(), 200);
}

/// 1, 3, 7, 15, 31, 63 s and the end at 127 s: RFC 6298 5.5 with tcp_syn_retries 6.
#[test]
fn a_syn_without_answer_is_sent_six_times_again() {
    let mut pair = Pair::new();
    pair.drop = Some(Box::new(|_, _, _| true));
    let client = pair.connect();
    pair.run(200 * S);
    let seconds: Vec<_> = pair.log.iter().map(|(at, ..)| at.as_nanos() / S).collect();
    assert_eq!(seconds, [0, 1, 3, 7, 15, 31, 63], "{seconds:?}");
    let error = pair.with(0, client, |ep, _| ep.take_error());
    assert_eq!(error, Some(SocketError::TimedOut));
    assert_eq!(pair.events, [(0, Event::Connected(client))]);
    assert_eq!(pair.count(0, "TcpExtTCPSynRetrans"), 6);
    assert_eq!(pair.count(0, "TcpExtTCPTimeouts"), 7);
    assert_eq!(pair.count(0, "TcpExtTCPAbortOnTimeout"), 1);
    assert_eq!(pair.count(0, "TcpAttemptFails"), 1);
}

#[test]
fn a_syn_ack_without_answer_is_sent_five_times_again() {
    let mut pair = Pair::new();
    pair.drop = Some(Box::new(|_, _, _| true));
    pair.listen();
    pair.connect();
    let syn = pair.log[0].2;
    pair.log.clear();
    pair.inject(1, syn);
    pair.run(100 * S);
    let server: Vec<_> = pair
        .log
        .iter()
        .filter(|l| l.1 == 1)
        .map(|l| l.0.as_nanos() / S)
        .collect();
    assert_eq!(server.len(), 6, "{server:?}");
    assert_eq!(server[..5], [0, 1, 3, 7, 15]);
    assert_eq!(pair.count(1, "TcpExtTCPSynRetrans"), 5);
    assert_eq!(pair.count(1, "TcpExtTCPTimeouts"), 6);
    assert!(pair.hosts[1].next_timer().is_none(), "the request is gone");
}

#[test]
fn a_port_without_a_listener_answers_with_a_reset() {
    let mut pair = Pair::new();
    let client = pair.connect();
    pair.settle(S);
    assert_eq!(pair.short(), ["C S", "S R."]);
    assert_eq!(pair.log[1].2.ack, pair.log[0].2.seq + 1);
    let error = pair.with(0, client, |ep, _| ep.take_error());
    assert_eq!(error, Some(SocketError::ConnRefused));
    assert_eq!(pair.count(1, "TcpOutRsts"), 1);
    assert_eq!(pair.count(0, "TcpAttemptFails"), 1);
}

#[test]
fn crossed_syns_make_one_connection() {
    let mut pair = Pair::new();
    let a = tcplab_tcp::Addr {
        host: 0,
        port: 1000,
    };
    let b = tcplab_tcp::Addr {
        host: 1,
        port: 2000,
    };
    let open = OpenOptions::default();
    let one = pair.hosts[0]
        .connect_from(pair.now, a, b, &open, 1500)
        .unwrap();
    let two = pair.hosts[1]
        .connect_from(pair.now, b, a, &open, 1500)
        .unwrap();
    pair.drain();
    pair.settle(S);
    assert_eq!(pair.short()[..4], ["C S", "S S", "S S.", "C S."]);
    for (host, id) in [(0, one), (1, two)] {
        assert_eq!(
            pair.hosts[host].get(id).unwrap().state(),
            State::Established
        );
        assert_eq!(pair.count(host, "TcpCurrEstab"), 1);
        assert!(pair.events.contains(&(host, Event::Connected(id))));
    }
}

#[test]
fn deferred_accept_waits_for_data() {
    let mut pair = Pair::new();
    let listener = pair.listen();
    pair.hosts[1].defer_accept(listener, 5);
    let client = pair.connect();
    pair.settle(100 * MS);
    assert!(pair.hosts[1].accept(pair.now, listener).is_none());
    assert_eq!(pair.count(1, "TcpExtTCPDeferAcceptDrop"), 1);
    let _ = pair.with(0, client, |ep, cx| ep.write(cx, 10, false));
    pair.settle(100 * MS);
    let (server, _) = pair.hosts[1].accept(pair.now, listener).expect("data came");
    assert_eq!(pair.hosts[1].get(server).unwrap().readable_bytes(), 10);
}

#[test]
fn ecn_is_agreed_on_and_given_up_when_the_first_syn_is_lost() {
    let asks = |lose_first: bool| {
        let mut hosts = [host(1), host(2)];
        hosts[0].sysctl.tcp_ecn = 1;
        let mut pair = Pair::of(hosts, 1);
        pair.drop = Some(Box::new(move |n, _, _| lose_first && n == 0));
        pair.established();
        pair.short()
    };
    assert_eq!(asks(false)[..2], ["C SEW", "S S.E"]);
    assert_eq!(asks(true)[..3], ["C SEW", "C S", "S S."]);
}

#[test]
fn options_can_be_switched_off() {
    let mut hosts = [host(1), host(2)];
    hosts[0].sysctl.tcp_timestamps = 0;
    hosts[0].sysctl.tcp_sack = false;
    hosts[1].sysctl.tcp_window_scaling = false;
    let mut pair = Pair::of(hosts, 1);
    pair.established();
    let (syn, syn_ack) = (pair.log[0].2.options, pair.log[1].2.options);
    assert_eq!(
        (syn.timestamps, syn.sack_permitted, syn.window_scale),
        (None, false, Some(7))
    );
    assert_eq!(
        (
            syn_ack.timestamps,
            syn_ack.sack_permitted,
            syn_ack.window_scale
        ),
        (None, false, None)
    );
    assert_eq!(syn_ack.mss, Some(1460));
}

#[test]
fn the_listener_may_close_before_the_handshake_is_over() {
    let mut pair = Pair::new();
    let listener = pair.listen();
    let client = pair.connect();
    pair.step();
    pair.hosts[1].close_listener(pair.now, listener);
    pair.settle(S);
    assert_eq!(pair.short(), ["C S", "S S.", "C .", "S R"]);
    assert_eq!(pair.hosts[0].get(client).unwrap().state(), State::Close);
    assert!(pair.now > Instant::from_nanos(0) && PORT == 80);
}

/// The second connection's first RTO comes from the first one's round trip, when that was longer than the handshake's
/// (Linux tcp_metrics).
#[test]
fn a_peers_round_trip_is_remembered() {
    let rto = |save: u8| {
        let mut hosts = [host(1), host(2)];
        hosts[0]
            .sysctl
            .set(
                "net.ipv4.tcp_no_metrics_save",
                ["1", "0"][usize::from(save)],
            )
            .unwrap();
        let mut pair = Pair::of(hosts, 1);
        pair.delay_ns = 200 * MS;
        let (client, server) = pair.established();
        pair.close(0, client);
        pair.close(1, server);
        pair.run(S);
        pair.delay_ns = 10 * MS;
        let listener = tcplab_tcp::ListenId(0);
        let again = pair.connect();
        pair.settle(S);
        assert!(pair.hosts[1].accept(pair.now, listener).is_some());
        let info = pair.with(0, again, |ep, cx| ep.info(cx));
        let get = |name| info.iter().find(|f| f.0 == name).unwrap().1;
        (get("tcpi_rtt"), get("tcpi_rto"))
    };
    assert_eq!(rto(0), (20_000, 220_000));
    // 400 ms and twice as much.
    assert_eq!(rto(1), (20_000, 1_200_000));
}

/// tcp_syn_linear_timeouts 4: five seconds between equal steps, then the timeout doubles.
#[test]
fn the_first_syns_may_come_in_equal_steps() {
    let mut hosts = [host(1), host(2)];
    hosts[0].sysctl.tcp_syn_linear_timeouts = 4;
    let mut pair = Pair::of(hosts, 1);
    pair.drop = Some(Box::new(|_, _, _| true));
    pair.connect();
    pair.run(200 * S);
    let seconds: Vec<_> = pair.log.iter().map(|(at, ..)| at.as_nanos() / S).collect();
    assert_eq!(seconds[..8], [0, 1, 2, 3, 4, 5, 7, 11]);
    assert_eq!(seconds.len(), 11);
}

#[test]
fn icmp_ends_an_open_and_only_warns_a_connection() {
    use tcplab_tcp::IcmpError;
    let mut pair = Pair::new();
    let opening = pair.connect();
    let syn = pair.log[0].2;
    let unreachable = IcmpError::host_unreachable();
    pair.hosts[0].on_icmp(pair.now, syn.src, syn.dst, syn.seq - 1, unreachable);
    assert_eq!(pair.count(0, "TcpExtOutOfWindowIcmps"), 1);
    assert_eq!(pair.hosts[0].get(opening).unwrap().state(), State::SynSent);
    pair.hosts[0].on_icmp(pair.now, syn.src, syn.dst, syn.seq, unreachable);
    pair.drain();
    let error = pair.with(0, opening, |ep, _| ep.take_error());
    assert_eq!(error, Some(SocketError::HostUnreach));

    let mut pair = Pair::new();
    let (client, _) = pair.established();
    let _ = pair.with(0, client, |ep, cx| ep.write(cx, 5000, false));
    let data = pair.log.last().unwrap().2;
    pair.hosts[0].on_icmp(pair.now, data.src, data.dst, data.seq, unreachable);
    assert_eq!(
        pair.hosts[0].get(client).unwrap().state(),
        State::Established
    );
    let smaller = IcmpError::FragmentationNeeded(1000);
    pair.hosts[0].on_icmp(pair.now, data.src, data.dst, data.seq, smaller);
    pair.drain();
    // Each full segment goes out again in two.
    assert_eq!(pair.short()[7..], ["C .948", "C .500"].repeat(3));
}
