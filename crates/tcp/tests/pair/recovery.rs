//! Loss recovery of a sender, through segments: what is sent again, when, and how it is counted.

use tcplab_plan::point::SocketOptions;
use tcplab_plan::profile::{RtoEstimator, RtoFloor, TlpRule};
use tcplab_tcp::{Clock, ConnId, ReadOutcome, Segment, SocketError, State};
use tcplab_wire::TcpFlags;

use crate::link::{BOOT_NS, MS, Pair, S, host};

/// Drops these data segments of the client, counted from 1 in the order of their sending.
pub fn drop_data(pair: &mut Pair, lost: &'static [u64]) {
    let mut data = 0;
    pair.drop = Some(Box::new(move |_, from, seg: &Segment| {
        if from != 0 || seg.len == 0 {
            return false;
        }
        data += 1;
        lost.contains(&data)
    }));
}

/// The client writes `bytes`; the server reads all that comes for `ns`. Gives what it read.
pub fn transfer(pair: &mut Pair, ends: (ConnId, ConnId), bytes: u64, ns: i64) -> u64 {
    let end = pair.now.as_nanos() + ns;
    let (mut written, mut read) = (0, 0);
    loop {
        if written < bytes {
            written += pair
                .with(0, ends.0, |ep, cx| ep.write(cx, bytes - written, false))
                .unwrap_or(0);
        }
        if let ReadOutcome::Got(n) = pair.with(1, ends.1, |ep, cx| ep.read(cx, u64::MAX)) {
            read += n;
        }
        if pair.next().is_none_or(|at| at.as_nanos() > end) {
            return read;
        }
        pair.step();
    }
}

/// Times in ms after the first, of the client's segments that begin where `nth` of its data segments did.
pub fn sendings(pair: &Pair, nth: usize) -> Vec<i64> {
    let data: Vec<_> = (pair.log.iter())
        .filter(|(_, from, seg)| *from == 0 && seg.len > 0)
        .collect();
    let seq = data[nth].2.seq;
    let first = data[nth].0.as_nanos();
    (data.iter().filter(|(.., seg)| seg.seq == seq))
        .map(|(at, ..)| (at.as_nanos() - first) / MS)
        .collect()
}

fn cwnd(pair: &mut Pair, id: ConnId) -> i64 {
    let info = pair.with(0, id, |ep, cx| ep.info(cx));
    let found = info.iter().find(|(name, _)| *name == "tcpi_snd_cwnd");
    found.unwrap().1
}

#[track_caller]
fn counts(pair: &Pair, wanted: &[(&str, u64)]) {
    for (name, value) in wanted {
        assert_eq!(pair.count(0, name), *value, "{name}");
    }
}

#[test]
fn one_loss_is_sent_again_after_three_sacks() {
    let mut pair = Pair::new();
    let ends = pair.established();
    drop_data(&mut pair, &[3]);
    assert_eq!(transfer(&mut pair, ends, 14_480, S), 14_480);
    assert_eq!(sendings(&pair, 2), [0, 20]);
    counts(
        &pair,
        &[
            ("TcpExtTCPSackRecovery", 1),
            ("TcpExtTCPFastRetrans", 1),
            ("TcpRetransSegs", 1),
            ("TcpExtTCPTimeouts", 0),
            ("TcpExtTCPLossProbes", 0),
        ],
    );
}

#[test]
fn without_sack_three_duplicates_do_it() {
    let mut hosts = [host(1), host(2)];
    hosts[1].sysctl.tcp_sack = false;
    let mut pair = Pair::of(hosts, 1);
    let ends = pair.established();
    drop_data(&mut pair, &[3]);
    assert_eq!(transfer(&mut pair, ends, 40_000, S), 40_000);
    assert_eq!(sendings(&pair, 2), [0, 20]);
    let wanted = [("TcpExtTCPRenoRecovery", 1), ("TcpExtTCPFastRetrans", 1)];
    counts(&pair, &wanted);
}

/// The probe repairs the loss: no timeout.
#[test]
fn a_lost_tail_is_probed() {
    let mut pair = Pair::new();
    let ends = pair.established();
    drop_data(&mut pair, &[4]);
    assert_eq!(transfer(&mut pair, ends, 4 * 1448, S), 4 * 1448);
    let again = sendings(&pair, 3);
    assert_eq!(again.len(), 2);
    // One segment is out when the probe is armed anew, 20 ms later: 2 RTT and 200 ms are later than the timeout of 221.
    assert!((241..=250).contains(&again[1]), "{again:?}");
    // Only an ACK beyond the probe proves that it was needed.
    counts(&pair, &[("TcpExtTCPLossProbeRecovery", 0)]);
    transfer(&mut pair, ends, 1000, S);
    counts(
        &pair,
        &[
            ("TcpExtTCPLossProbes", 1),
            ("TcpExtTCPLossProbeRecovery", 1),
            ("TcpExtTCPTimeouts", 0),
        ],
    );
}

#[test]
fn the_probe_rule_of_2016_waits_for_a_delayed_ack_of_200_ms() {
    let mut hosts = [host(1), host(2)];
    hosts[0].profile.tlp_rule = TlpRule::DelackMax;
    hosts[0].profile.rto_floor_ms = 1000;
    let mut pair = Pair::of(hosts, 1);
    let ends = pair.established();
    drop_data(&mut pair, &[1]);
    transfer(&mut pair, ends, 100, S);
    let again = sendings(&pair, 0);
    // 1.5 * 21 + 200 ms, in jiffies of 1 ms; the wheel counts 8 of them at this distance.
    assert!((231..=248).contains(&again[1]), "{again:?}");
    counts(&pair, &[("TcpExtTCPLossProbes", 1)]);
}

/// RFC 6298 5.5, and the end: the first time-out is armed by the probe's rule.
#[test]
fn the_timeout_doubles_and_ends_after_924_6_s() {
    let mut pair = Pair::new();
    let ends = pair.established();
    pair.drop = Some(Box::new(|_, from, seg| from == 0 && seg.len > 0));
    transfer(&mut pair, ends, 100, 1200 * S);
    let times = sendings(&pair, 0);
    let gaps: Vec<i64> = times.windows(2).map(|two| two[1] - two[0]).collect();
    for two in gaps[1..11].windows(2) {
        let ratio = two[1] as f64 / two[0] as f64;
        assert!((1.9..2.15).contains(&ratio), "{gaps:?}");
    }
    assert!(
        gaps[11..]
            .iter()
            .all(|gap| (120_000..130_000).contains(gap)),
        "{gaps:?}"
    );
    let error = pair.with(0, ends.0, |ep, _| ep.take_error());
    assert_eq!(error, Some(SocketError::TimedOut));
    counts(&pair, &[("TcpExtTCPAbortOnTimeout", 1)]);
    assert_eq!(pair.count(0, "TcpExtTCPTimeouts"), times.len() as u64 - 1);
}

#[test]
fn a_user_timeout_ends_it_sooner() {
    let mut pair = Pair::new();
    let listener = pair.listen();
    let options = SocketOptions {
        user_timeout_ns: Some(3 * S),
        ..SocketOptions::default()
    };
    let client = pair.connect_with(&options);
    pair.run(S);
    let (server, _) = pair.hosts[1].accept(pair.now, listener).unwrap();
    pair.drop = Some(Box::new(|_, from, seg| from == 0 && seg.len > 0));
    let start = pair.now.as_nanos();
    transfer(&mut pair, (client, server), 100, 60 * S);
    let end = pair.events.iter().any(|(side, _)| *side == 0);
    assert!(end);
    let error = pair.with(0, client, |ep, _| ep.take_error());
    assert_eq!(error, Some(SocketError::TimedOut));
    let last = pair.log.iter().rfind(|(_, from, _)| *from == 0).unwrap().0;
    assert!(last.as_nanos() - start < 4 * S);
}

/// The peer closes its window while data are out, and keeps saying so: at 250 Hz Linux before 6.7 compares jiffies with
/// milliseconds.
#[test]
fn a_user_timeout_ends_a_closed_window_in_jiffies_before_6_7() {
    for (in_jiffies, seconds) in [(true, 12), (false, 3)] {
        let mut hosts = [host(1), host(2)];
        for host in &mut hosts {
            host.clock = Clock::new(250, BOOT_NS);
            host.profile.user_timeout_in_jiffies = in_jiffies;
        }
        let mut pair = Pair::of(hosts, 1);
        let listener = pair.listen();
        let client = pair.connect_with(&SocketOptions {
            user_timeout_ns: Some(3 * S),
            ..SocketOptions::default()
        });
        pair.run(S);
        pair.hosts[1].accept(pair.now, listener).unwrap();
        pair.drop = Some(Box::new(|_, from, _| from == 0));
        let start = pair.now.as_nanos();
        pair.with(0, client, |ep, cx| ep.write(cx, 100, false))
            .unwrap();
        let (una, next) = pair.with(0, client, |ep, _| (ep.send_space().0, ep.receive_space().0));
        let synack = &pair.log.iter().find(|(_, from, _)| *from == 1).unwrap().2;
        let closed = Segment {
            seq: next,
            ack: una,
            len: 1,
            window: 0,
            flags: TcpFlags(TcpFlags::ACK),
            options: tcplab_wire::TcpOptions {
                timestamps: synack.options.timestamps,
                ..Default::default()
            },
            ..*synack
        };
        let again = Segment {
            seq: next + 1,
            len: 0,
            ..closed
        };
        pair.inject(0, closed);
        while pair.hosts[0].get(client).unwrap().state() != State::Close {
            pair.run(100 * MS);
            pair.inject(0, again);
        }
        let took = (pair.now.as_nanos() - start) / S;
        assert!(
            (seconds..seconds + 2).contains(&took),
            "{in_jiffies}: {took} s"
        );
    }
}

/// All of a flight is late, not lost: F-RTO's test with new data shows it (RFC 5682), or the echoed time stamps do.
#[test]
fn a_late_flight_is_no_loss() {
    for stamps in [true, false] {
        let mut hosts = [host(1), host(2)];
        hosts[0].sysctl.tcp_timestamps = u8::from(stamps);
        hosts[0].sysctl.tcp_early_retrans = 0;
        let mut pair = Pair::of(hosts, 1);
        let ends = pair.established();
        transfer(&mut pair, ends, 50_000, S);
        pair.delay_ns = 400 * MS;
        pair.with(0, ends.0, |ep, cx| ep.write(cx, 14_480, false))
            .unwrap();
        pair.run(300 * MS);
        pair.delay_ns = 10 * MS;
        assert_eq!(transfer(&mut pair, ends, 60_000, 3 * S), 74_480);
        let timeouts = pair.count(0, "TcpExtTCPTimeouts");
        assert!(timeouts >= 1, "no timeout: the test tests nothing");
        assert!(
            pair.count(0, "TcpExtTCPLossUndo") >= 1,
            "time stamps {stamps}"
        );
        let frto = pair.count(0, "TcpExtTCPSpuriousRTOs");
        assert_eq!(frto, u64::from(!stamps), "time stamps are faster");
        assert_eq!(pair.count(0, "TcpExtTCPSackRecovery"), 0);
    }
}

/// One segment overtaken by few others is no loss; the path's reordering is learnt.
#[test]
fn reordering_is_seen_when_a_hole_fills_by_itself() {
    let mut pair = Pair::new();
    let ends = pair.established();
    transfer(&mut pair, ends, 20_000, S);
    pair.delay_ns = 12 * MS;
    pair.with(0, ends.0, |ep, cx| ep.write(cx, 1448, false))
        .unwrap();
    pair.delay_ns = 10 * MS;
    pair.with(0, ends.0, |ep, cx| ep.write(cx, 2 * 1448, false))
        .unwrap();
    transfer(&mut pair, ends, 0, S);
    let wanted = [("TcpExtTCPSACKReorder", 1), ("TcpRetransSegs", 0)];
    counts(&pair, &wanted);
}

/// Overtaken by many, it is sent again; the DSACK says that this was needless.
#[test]
fn a_needless_retransmission_is_undone() {
    for stamps in [true, false] {
        let mut hosts = [host(1), host(2)];
        hosts[0].sysctl.tcp_timestamps = u8::from(stamps);
        let mut pair = Pair::of(hosts, 1);
        let ends = pair.established();
        transfer(&mut pair, ends, 40_000, S);
        let before = cwnd(&mut pair, ends.0);
        pair.delay_ns = 35 * MS;
        pair.with(0, ends.0, |ep, cx| ep.write(cx, 1448, false))
            .unwrap();
        pair.delay_ns = 10 * MS;
        pair.with(0, ends.0, |ep, cx| ep.write(cx, 8 * 1448, false))
            .unwrap();
        transfer(&mut pair, ends, 0, S);
        let names = ["Full", "Partial", "Loss", "DSACK"];
        let undos: u64 = (names.iter())
            .map(|name| pair.count(0, &format!("TcpExtTCP{name}Undo")))
            .sum();
        assert_eq!(pair.count(0, "TcpRetransSegs"), 1, "time stamps {stamps}");
        assert_eq!(undos, 1, "time stamps {stamps}");
        assert_eq!(pair.count(0, "TcpExtTCPDSACKRecv"), 1);
        assert!(cwnd(&mut pair, ends.0) >= before);
    }
}

/// Without RACK a loss takes three SACKed segments above it; FACK (until 4.14) counts the holes too.
#[test]
fn fack_counts_the_holes_below_the_highest_sack() {
    for fack in [true, false] {
        let mut hosts = [host(1), host(2)];
        let s = &mut hosts[0].sysctl;
        (s.tcp_fack, s.tcp_recovery, s.tcp_early_retrans) = (fack, 0, 0);
        let mut pair = Pair::of(hosts, 1);
        let ends = pair.established();
        drop_data(&mut pair, &[1, 2, 3]);
        assert_eq!(transfer(&mut pair, ends, 5 * 1448, 4 * S), 5 * 1448);
        counts(&pair, &[("TcpExtTCPSackRecovery", u64::from(fack))]);
        assert_eq!(pair.count(0, "TcpExtTCPFastRetrans") > 0, fack);
    }
}

/// A lost retransmission: RACK sees that later ones arrived (RFC 8985), without a timeout.
#[test]
fn a_lost_retransmission_needs_no_timeout() {
    let mut pair = Pair::new();
    let ends = pair.established();
    let (mut data, mut third, mut copies) = (0, None, 0);
    pair.drop = Some(Box::new(move |_, from, seg| {
        if from != 0 || seg.len == 0 {
            return false;
        }
        data += 1;
        if data == 3 {
            third = Some(seg.seq);
        }
        copies += u64::from(third == Some(seg.seq));
        third == Some(seg.seq) && copies <= 2
    }));
    assert_eq!(transfer(&mut pair, ends, 200_000, 2 * S), 200_000);
    let wanted = [("TcpExtTCPLostRetransmit", 1), ("TcpExtTCPTimeouts", 0)];
    counts(&pair, &wanted);
}

/// The estimators of the 2016 patch: after constant round trips only the floor counts.
#[test]
fn floors_of_the_timeout_are_data() {
    let wait = |estimator, floor, ms| {
        let mut hosts = [host(1), host(2)];
        let p = &mut hosts[0].profile;
        (p.rto_estimator, p.rto_floor, p.rto_floor_ms) = (estimator, floor, ms);
        hosts[0].sysctl.tcp_early_retrans = 0;
        let mut pair = Pair::of(hosts, 1);
        pair.delay_ns = 50 * MS;
        let ends = pair.established();
        for _ in 0..30 {
            transfer(&mut pair, ends, 1000, S);
        }
        pair.log.clear();
        drop_data(&mut pair, &[1]);
        transfer(&mut pair, ends, 1000, 3 * S);
        sendings(&pair, 0)[1]
    };
    // A segment alone is ACKed at once or after 40 ms: the round trip is 100 to 140 ms.
    let linux = wait(RtoEstimator::Linux, RtoFloor::Deviation, 0);
    assert!((300..=365).contains(&linux), "{linux}");
    let rfc = wait(RtoEstimator::Rfc6298, RtoFloor::Timeout, 1000);
    assert!((1000..=1064).contains(&rfc), "{rfc}");
    let low = wait(RtoEstimator::Rfc6298, RtoFloor::Timeout, 200);
    assert!((200..=264).contains(&low), "{low}");
}
