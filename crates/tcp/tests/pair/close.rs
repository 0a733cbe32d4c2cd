//! Closes in all orders, orphans, TIME-WAIT, keepalive.

use tcplab_plan::point::SocketOptions;
use tcplab_tcp::{ReadOutcome, SocketError, State};

use crate::link::{MS, Pair, S, SERVER, host, words};

fn states(pair: &mut Pair, ids: (tcplab_tcp::ConnId, tcplab_tcp::ConnId)) -> [Option<State>; 2] {
    let one = pair.hosts[0].get(ids.0).map(tcplab_tcp::Endpoint::state);
    let two = pair.hosts[1].get(ids.1).map(tcplab_tcp::Endpoint::state);
    [one, two]
}

#[test]
fn one_end_closes_then_the_other() {
    let mut pair = Pair::new();
    let ids = pair.established();
    pair.log.clear();
    let _ = pair.with(0, ids.0, |ep, cx| ep.shutdown_write(cx));
    pair.run(S);
    assert_eq!(
        states(&mut pair, ids),
        [Some(State::FinWait2), Some(State::CloseWait)]
    );
    assert_eq!(
        pair.with(1, ids.1, |ep, cx| ep.read(cx, 100)),
        ReadOutcome::End
    );
    pair.close(1, ids.1);
    pair.settle(S);
    assert_eq!(pair.short(), ["C F.", "S .", "S F.", "C ."]);
    assert_eq!(pair.count(0, "TcpExtTW"), 1);
    assert_eq!(pair.count(0, "TcpCurrEstab"), 0);
    assert_eq!(pair.count(1, "TcpCurrEstab"), 0);
    assert_eq!(states(&mut pair, ids), [Some(State::Close), None]);
    pair.close(0, ids.0);
    assert_eq!(states(&mut pair, ids), [None, None]);
    // TIME-WAIT is over after 60 s and what the wheel adds.
    pair.run(59 * S);
    assert!(pair.hosts[0].next_timer().is_some());
    pair.run(10 * S);
    assert!(pair.hosts[0].next_timer().is_none());
}

/// A last segment with FIN went out beyond the congestion window until some release before 6.12.
#[test]
fn a_last_fin_waits_for_the_congestion_window_or_not() {
    for (beyond, first) in [(true, 11), (false, 10)] {
        let mut client = host(1);
        client.profile.fin_beyond_cwnd = beyond;
        let mut pair = Pair::of([client, host(2)], 7);
        let (writer, _) = pair.established();
        pair.run(S);
        pair.log.clear();
        let _ = pair.with(0, writer, |ep, cx| ep.write(cx, 10 * 1448 + 100, false));
        pair.close(0, writer);
        let sent = pair.log.iter().filter(|l| l.1 == 0).count();
        assert_eq!(sent, first, "{:?}", pair.short());
    }
}

#[test]
fn both_ends_close_at_once() {
    let mut pair = Pair::new();
    let ids = pair.established();
    pair.run(S);
    pair.log.clear();
    pair.close(0, ids.0);
    pair.close(1, ids.1);
    pair.settle(S);
    assert_eq!(pair.short(), ["C F.", "S F.", "S .", "C ."]);
    for host in 0..2 {
        assert_eq!(pair.count(host, "TcpExtTW"), 1);
    }
    assert_eq!(states(&mut pair, ids), [None, None]);
}

#[test]
fn close_with_unread_data_resets() {
    let mut pair = Pair::new();
    let ids = pair.established();
    let _ = pair.with(0, ids.0, |ep, cx| ep.write(cx, 100, false));
    pair.settle(S);
    pair.log.clear();
    pair.close(1, ids.1);
    pair.settle(S);
    assert_eq!(pair.short(), ["S R."]);
    assert_eq!(pair.count(1, "TcpExtTCPAbortOnClose"), 1);
    assert_eq!(pair.count(1, "TcpEstabResets"), 1);
    let read = pair.with(0, ids.0, |ep, cx| ep.read(cx, 1));
    assert_eq!(read, ReadOutcome::Failed(SocketError::ConnReset));
    assert_eq!(pair.count(0, "TcpEstabResets"), 1);
}

#[test]
fn linger_zero_resets() {
    let mut pair = Pair::new();
    let ids = pair.established();
    pair.settle(S);
    pair.log.clear();
    pair.with(0, ids.0, |ep, _| ep.set_linger(Some(0)));
    pair.close(0, ids.0);
    pair.settle(S);
    assert_eq!(pair.short(), ["C R."]);
    assert_eq!(pair.count(0, "TcpExtTCPAbortOnData"), 1);
}

#[test]
fn data_for_an_orphan_are_reset() {
    let mut pair = Pair::new();
    let ids = pair.established();
    pair.close(0, ids.0);
    pair.settle(S);
    pair.log.clear();
    let _ = pair.with(1, ids.1, |ep, cx| ep.write(cx, 100, false));
    pair.settle(S);
    assert_eq!(pair.short(), ["S P.100", "C R"]);
    assert_eq!(states(&mut pair, ids), [None, Some(State::Close)]);
}

/// FIN-WAIT-2 of an orphan is a small record for tcp_fin_timeout, then nothing.
#[test]
fn an_orphan_in_fin_wait_2_is_forgotten_after_a_minute() {
    let mut pair = Pair::new();
    let ids = pair.established();
    pair.close(0, ids.0);
    pair.run(S);
    assert_eq!(states(&mut pair, ids), [None, Some(State::CloseWait)]);
    pair.run(70 * S);
    assert!(pair.hosts[0].next_timer().is_none());
    pair.log.clear();
    pair.close(1, ids.1);
    pair.settle(S);
    assert_eq!(pair.short(), ["S F.", "C R"]);
}

#[test]
fn an_orphan_that_gets_no_answer_gives_up() {
    let mut pair = Pair::new();
    let ids = pair.established();
    pair.settle(S);
    pair.drop = Some(Box::new(|_, from, _| from == 0));
    pair.close(0, ids.0);
    pair.run(600 * S);
    assert!(
        pair.hosts[0].next_timer().is_none(),
        "the orphan still waits"
    );
    assert_eq!(pair.count(0, "TcpExtTCPAbortOnTimeout"), 1);
}

#[test]
fn a_new_syn_in_time_wait_opens_a_new_connection() {
    let mut pair = Pair::new();
    let (client, server) = pair.established();
    // The server closes first, so it keeps the record.
    pair.close(1, server);
    pair.settle(S);
    let local = pair.hosts[0].get(client).unwrap().local();
    pair.close(0, client);
    pair.settle(S);
    assert_eq!(pair.count(1, "TcpExtTW"), 1);
    pair.run(2 * S);
    let open = SocketOptions::default();
    let again = pair.hosts[0]
        .connect_from(pair.now, local, SERVER, &open, 1500)
        .unwrap();
    pair.drain();
    pair.settle(S);
    assert_eq!(
        pair.hosts[0].get(again).unwrap().state(),
        State::Established
    );
    assert_eq!(pair.count(1, "TcpPassiveOpens"), 2);
}

#[test]
fn keepalive_probes_a_quiet_peer_and_gives_up() {
    let open = SocketOptions {
        keepalive_ns: Some(10 * S),
        ..SocketOptions::default()
    };
    let mut pair = Pair::new();
    pair.listen();
    let client = pair.connect_with(&open);
    pair.settle(S);
    pair.log.clear();
    pair.run(35 * S);
    // Each probe is one byte before what was ACKed, and is answered.
    assert_eq!(pair.short(), ["C .", "S ."].repeat(3));
    assert_eq!(pair.count(0, "TcpExtTCPKeepAlive"), 3);
    pair.drop = Some(Box::new(|_, from, _| from == 0));
    pair.log.clear();
    pair.run(200 * S);
    assert_eq!(pair.log.len(), 10, "{:?}", pair.short());
    assert_eq!(words(&pair.log[9].2), "R.");
    let error = pair.with(0, client, |ep, _| ep.take_error());
    assert_eq!(error, Some(SocketError::TimedOut));
    assert_eq!(pair.count(0, "TcpExtTCPAbortOnTimeout"), 1);
}

#[test]
fn user_timeout_ends_a_connection_that_gets_no_answer() {
    let open = SocketOptions {
        user_timeout_ns: Some(5 * S),
        ..SocketOptions::default()
    };
    let mut pair = Pair::new();
    pair.listen();
    let client = pair.connect_with(&open);
    pair.settle(S);
    pair.drop = Some(Box::new(|_, from, _| from == 0));
    let start = pair.now.as_nanos();
    let _ = pair.with(0, client, |ep, cx| ep.write(cx, 100, false));
    while pair.hosts[0].get(client).unwrap().state() != State::Close {
        assert!(pair.step(), "it never ends");
    }
    let took = (pair.now.as_nanos() - start) / MS;
    assert!((5_000..6_000).contains(&took), "{took} ms");
    let error = pair.with(0, client, |ep, _| ep.take_error());
    assert_eq!(error, Some(SocketError::TimedOut));
}

#[test]
fn a_server_may_answer_after_the_client_has_closed_its_half() {
    let mut pair = Pair::of([host(5), host(6)], 3);
    let ids = pair.established();
    let _ = pair.with(0, ids.0, |ep, cx| ep.shutdown_write(cx));
    pair.settle(S);
    let _ = pair.with(1, ids.1, |ep, cx| ep.write(cx, 5000, false));
    pair.settle(S);
    assert_eq!(
        pair.with(0, ids.0, |ep, cx| ep.read(cx, 10_000)),
        ReadOutcome::Got(5000)
    );
    let write = pair.with(0, ids.0, |ep, cx| ep.write(cx, 1, false));
    assert_eq!(write, Err(SocketError::Pipe));
}
