//! Early and forward retransmissions, which Linux had until 4.10.

use tcplab_plan::profile::TlpRule;

use crate::link::{Faults, Pair, S, host};
use crate::recovery::{drop_data, sendings, transfer};

/// A client of the time of Linux 4.6: no RACK, `net.ipv4.tcp_early_retrans` as given.
fn old(early_retrans: u8) -> Pair {
    let mut client = host(1);
    client.profile.early_retransmit = true;
    client.profile.forward_retransmit = true;
    client.profile.tlp_rule = TlpRule::DelackMax;
    client.sysctl.tcp_recovery = 0;
    client.sysctl.tcp_early_retrans = early_retrans;
    Pair::of([client, host(2)], 1)
}

/// Times of the first of three segments, which is lost.
fn first_of_three(mut pair: Pair) -> Vec<i64> {
    let ends = pair.established();
    drop_data(&mut pair, &[1]);
    assert_eq!(transfer(&mut pair, ends, 3 * 1448, S), 3 * 1448);
    sendings(&pair, 0)
}

/// RFC 5827: one duplicate is enough for a window of three, after a quarter of the round trip of 20 ms where
/// reordering is thought possible.
#[test]
fn a_small_window_does_not_wait_for_three_duplicates() {
    assert_eq!(first_of_three(old(1)), [0, 20]);
    for delayed in [2, 3] {
        let again = first_of_three(old(delayed));
        assert_eq!(again.len(), 2);
        assert!((25..=27).contains(&again[1]), "{again:?}");
    }
    // Off: the timeout of 220 ms and its tick.
    let again = first_of_three(old(0));
    assert!(again[1] >= 220, "{again:?}");
}

/// The late segment comes within the wait: nothing is sent again.
#[test]
fn a_late_segment_ends_the_wait() {
    let mut pair = old(2);
    let ends = pair.established();
    let mut late = None;
    drop_data(&mut pair, &[1]);
    let mut read = transfer(&mut pair, ends, 3 * 1448, 12_000_000);
    for (_, from, seg) in &pair.log {
        if *from == 0 && seg.len > 0 && late.is_none() {
            late = Some(*seg);
        }
    }
    pair.inject(1, late.unwrap());
    read += transfer(&mut pair, ends, 0, S);
    assert_eq!(read, 3 * 1448);
    assert_eq!(pair.count(0, "TcpRetransSegs"), 0);
}

/// RFC 6675's third rule: two SACKed segments above a hole prove no loss, yet it is sent again when there is nothing
/// new.
#[test]
fn a_hole_is_sent_again_when_nothing_new_can_go() {
    let again = |forward: bool| {
        let mut client = host(1);
        client.profile.forward_retransmit = forward;
        client.sysctl.tcp_recovery = 0;
        let mut pair = Pair::of([client, host(2)], 1);
        let ends = pair.established();
        drop_data(&mut pair, &[1, 8]);
        assert_eq!(transfer(&mut pair, ends, 10 * 1448, S), 10 * 1448);
        let counted = pair.hosts[0].mib.get(tcplab_tcp::Counter::ForwardRetrans);
        (sendings(&pair, 7), counted)
    };
    // The receiver holds its later SACKs back for a millisecond.
    assert_eq!(again(true), (vec![0, 21], 1));
    let (times, counted) = again(false);
    assert_eq!(counted, 0);
    assert!(times[1] > 20, "{times:?}");
}

/// Whatever the path does: all bytes arrive, and each step keeps the scoreboard's sums.
#[test]
fn old_recovery_gets_everything_through_a_bad_path() {
    for seed in 0..60 {
        let mut client = host(1);
        client.profile.early_retransmit = true;
        client.profile.forward_retransmit = true;
        client.sysctl.tcp_recovery = 0;
        client.sysctl.tcp_fack = seed % 2 == 0;
        client.sysctl.tcp_early_retrans = (seed % 4) as u8;
        let mut pair = Pair::of([client, host(2)], seed);
        let ends = pair.established();
        pair.faults = Faults {
            loss: 80,
            duplicate: 20,
            reorder: 60,
            corrupt: 5,
        };
        assert_eq!(transfer(&mut pair, ends, 60_000, 600 * S), 60_000, "{seed}");
    }
}
