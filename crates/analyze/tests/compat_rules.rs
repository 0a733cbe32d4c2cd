//! Each of Wireshark's rules and its negation, as short conversations.
//!
//! A line as `common::script` reads it, and the verdicts that tshark 4.0.17 gives, by the end of their names.
//! `cargo xtask tshark` compares the same rules with the installed tshark on many more conversations.

mod common;

use common::script::parse;
use tcplab_analyze::compat::{Compat, Verdicts};
use tcplab_wire::{Standing, TcpPacket};

fn names(v: Verdicts) -> String {
    let short = |name: &'static str| name.strip_prefix("tcp.analysis.").unwrap();
    v.fields().map(short).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(script: &[(&str, &str)]) -> Compat {
    let mut compat = Compat::default();
    for (number, (line, expected)) in (1..).zip(script) {
        let (time, from_a, packet) = parse(line);
        if compat.reuses(from_a, &packet) {
            compat = Compat::new(true);
        }
        let got = compat.packet(time, number, from_a, &packet);
        assert_eq!(names(got), *expected, "frame {number}: {line}");
    }
    compat
}

const HANDSHAKE: [(&str, &str); 3] = [
    ("0 > S 100 0 0 1000", ""),
    ("10 < S. 500 101 0 1000", ""),
    ("20 > . 101 501 0 1000", ""),
];

#[track_caller]
fn after_handshake(script: &[(&str, &str)]) -> Compat {
    let mut all = HANDSHAKE.to_vec();
    all.extend_from_slice(script);
    check(&all)
}

#[test]
fn an_ordinary_connection_gets_no_verdict() {
    after_handshake(&[
        ("30 > P. 101 501 100 1000", ""),
        ("40 < . 501 201 0 1000", ""),
        ("50 < P. 501 201 200 1000", ""),
        ("51 < P. 701 201 200 1000", ""),
        ("60 > . 201 901 0 1000", ""),
        ("70 > F. 201 901 0 1000", ""),
        ("80 < F. 901 202 0 1000", ""),
        ("90 > . 202 902 0 1000", ""),
    ]);
}

#[test]
fn zero_windows_probes_and_answers() {
    after_handshake(&[
        ("30 < . 501 101 0 0", "zero_window"),
        ("40 > . 101 501 1 1000", "zero_window_probe"),
        ("50 < . 501 101 0 0", "zero_window zero_window_probe_ack"),
        // The probe did not count: the same byte again is a probe again.
        ("90 > . 101 501 1 1000", "zero_window_probe"),
        ("95 < . 501 101 0 500", "window_update"),
        ("99 > . 101 501 1 1000", ""),
    ]);
    // Two bytes are no probe, a SYN, FIN or RST has no zero window.
    after_handshake(&[
        ("30 < . 501 101 0 0", "zero_window"),
        ("40 > . 101 501 2 1000", ""),
        ("50 < R. 501 103 0 0", ""),
    ]);
}

#[test]
fn a_window_of_zero_twice_without_a_probe_is_no_probe_ack() {
    after_handshake(&[
        ("30 < . 501 101 0 0", "zero_window"),
        ("40 < . 501 101 0 0", "zero_window"),
    ]);
}

#[test]
fn keep_alives_and_answers() {
    after_handshake(&[
        ("900 < . 501 101 0 1000", "duplicate_ack"),
        ("1000 > . 100 501 0 1000", "keep_alive"),
        ("1010 < . 501 101 0 1000", "keep_alive_ack"),
        ("2000 > . 100 501 1 1000", "keep_alive"),
        ("2010 < . 501 101 0 1000", "keep_alive_ack"),
        // Not after something else came between.
        ("3000 > . 101 501 0 1000", "duplicate_ack"),
        ("3010 < . 501 101 0 1000", "duplicate_ack"),
        // Two bytes are data, and SYN, FIN and RST keep nothing alive.
        ("4000 > . 100 501 2 1000", ""),
        ("5000 > F. 101 501 0 1000", "retransmission"),
    ]);
}

#[test]
fn window_updates_change_only_the_window() {
    after_handshake(&[
        ("30 > . 101 501 0 2000", "window_update"),
        ("31 > . 101 501 0 2000", "duplicate_ack"),
        ("32 > . 101 502 0 3000", "ack_lost_segment"),
        ("33 > . 101 502 0 0", "zero_window"),
        ("34 > . 101 502 0 4000", "window_update"),
    ]);
}

#[test]
fn window_full_needs_known_scaling() {
    // No window scale option in the SYN: the windows hold as they stand.
    after_handshake(&[
        ("30 > . 101 501 999 1000", ""),
        ("31 > . 1100 501 1 1000", "window_full"),
        ("32 > . 1101 501 1 1000", ""),
    ]);
    // The SYN was not captured: nothing is known.
    check(&[
        ("0 < . 501 101 0 1000", ""),
        ("1 > . 101 501 1000 1000", ""),
    ]);
}

#[test]
fn window_scale_counts_after_the_first_ack() {
    check(&[
        ("0 > S 100 0 0 1000 ws=2", ""),
        ("10 < S. 500 101 0 1000 ws=1", ""),
        ("20 > . 101 501 0 1000", ""),
        // The window of the SYN-ACK is not scaled.
        ("30 > . 101 501 1000 1000", "window_full"),
        ("40 < . 501 1101 0 1000", ""),
        ("50 > . 1101 501 1000 1000", ""),
        ("51 > . 2101 501 1000 1000", "window_full"),
        ("60 < . 501 3101 0 1000", ""),
        ("61 < . 501 3101 4000 1000", "window_full"),
    ]);
    // The SYN-ACK has the option, the SYN had not: no scaling.
    check(&[
        ("0 > S 100 0 0 1000", ""),
        ("10 < S. 500 101 0 1000 ws=1", ""),
        ("20 > . 101 501 0 1000", ""),
        ("30 < . 501 101 0 1000", "duplicate_ack"),
        ("40 > . 101 501 1000 1000", "window_full"),
    ]);
}

#[test]
fn a_hole_before_the_segment_is_a_lost_segment() {
    after_handshake(&[
        ("30 > . 101 501 100 1000", ""),
        ("31 > . 301 501 100 1000", "lost_segment"),
        ("32 > R. 501 501 0 1000", ""),
    ]);
    // Nothing was seen before: no verdict.
    check(&[
        ("0 > . 5000 1 100 1000", ""),
        ("1 > . 5101 1 0 1000", "lost_segment"),
    ]);
}

#[test]
fn ack_of_uncaptured_data_is_told_once() {
    after_handshake(&[
        ("30 < . 501 301 0 1000", "ack_lost_segment"),
        ("31 < . 501 401 0 1000", ""),
        // The other side's new ACK opens it again.
        ("32 > . 101 502 0 1000", "ack_lost_segment"),
        ("33 < . 501 501 0 1000", "ack_lost_segment"),
    ]);
    // Captured, but behind a hole: the ACK tells that the hole was filled.
    after_handshake(&[
        ("30 > . 101 501 100 1000", ""),
        ("31 > . 301 501 100 1000", "lost_segment"),
        ("40 < . 501 401 0 1000", "ack_lost_segment"),
        ("50 < . 501 401 0 1000", "duplicate_ack"),
    ]);
}

#[test]
fn duplicate_acks_are_counted_from_the_first_repetition() {
    let mut script = HANDSHAKE.to_vec();
    script.push(("30 < . 501 101 0 1000", "duplicate_ack"));
    script.push(("31 < . 501 101 0 1000", "duplicate_ack"));
    assert_eq!(check(&script).duplicate_ack(false), (2, 2));
    // Data, FIN and another window are no duplicates.
    after_handshake(&[
        ("30 < . 501 101 10 1000", ""),
        ("31 < . 511 101 0 900", "window_update"),
        ("32 < F. 511 101 0 900", ""),
    ]);
}

#[test]
fn retransmission_by_time_out() {
    after_handshake(&[
        ("30 > . 101 501 100 1000", ""),
        ("31 > . 201 501 100 1000", ""),
        ("300 > . 101 501 100 1000", "retransmission"),
        // The highest segment again is never out of order, however soon.
        ("300.1 > . 201 501 100 1000", "retransmission"),
    ]);
}

#[test]
fn out_of_order_within_the_rtt_of_the_handshake() {
    // SYN to ACK took 20 ms.
    after_handshake(&[
        ("30 > . 101 501 100 1000", ""),
        ("31 > . 301 501 100 1000", "lost_segment"),
        ("50.9 > . 201 501 100 1000", "out_of_order"),
        ("51 > . 201 501 100 1000", "retransmission"),
    ]);
    // If the handshake is missing, the limit is 3 ms.
    check(&[
        ("30 > . 101 501 100 1000", ""),
        ("31 > . 301 501 100 1000", "lost_segment"),
        ("33.9 > . 201 501 100 1000", "out_of_order"),
        ("34 > . 201 501 100 1000", "retransmission"),
    ]);
}

#[test]
fn fast_retransmission_needs_two_duplicate_acks_and_20_ms() {
    let lost = [
        ("30 > . 101 501 100 1000", ""),
        ("31 > . 201 501 100 1000", ""),
        ("32 > . 301 501 100 1000", ""),
        ("40 < . 501 101 0 1000", "duplicate_ack"),
    ];
    let with = |more: &[(&'static str, &'static str)]| {
        let mut script = lost.to_vec();
        script.extend_from_slice(more);
        after_handshake(&script);
    };
    let second = ("41 < . 501 101 0 1000", "duplicate_ack");
    with(&[
        second,
        (
            "60.9 > . 101 501 100 1000",
            "retransmission fast_retransmission",
        ),
    ]);
    with(&[second, ("61 > . 101 501 100 1000", "retransmission")]);
    // Another segment than the one asked for; one duplicate only.
    with(&[second, ("60 > . 201 501 100 1000", "retransmission")]);
    with(&[("60 > . 101 501 100 1000", "retransmission")]);
}

#[test]
fn acked_data_again_is_spurious() {
    after_handshake(&[
        ("30 > . 101 501 100 1000", ""),
        ("40 < . 501 201 0 1000", ""),
        (
            "50 > . 101 501 100 1000",
            "retransmission spurious_retransmission",
        ),
        // One new byte in it.
        ("60 > . 101 501 101 1000", "retransmission"),
    ]);
}

#[test]
fn a_syn_again_is_a_retransmission_also_after_a_reset() {
    check(&[
        ("0 > S 100 0 0 1000", ""),
        ("1000 > S 100 0 0 1000", "retransmission"),
        ("1010 > R 9000 0 0 0", ""),
        ("2000 > S 100 0 0 1000", "retransmission"),
        ("2010 > . 101 0 0 1001", "window_update"),
    ]);
}

#[test]
fn another_syn_begins_another_stream() {
    after_handshake(&[
        ("5000 > S 7000 0 0 1000", "reused_ports"),
        ("5010 < S. 9000 7001 0 1000", ""),
        ("5020 > . 7001 9001 0 1000", ""),
        ("6000 < S 9500 0 0 1000", "reused_ports"),
    ]);
    let mut seen = Compat::default();
    let (time, from_a, ack) = parse("0 > . 101 501 0 1000");
    seen.packet(time, 1, from_a, &ack);
    for (line, reuses) in [
        ("1 > S 100 0 0 1000", false),
        ("1 > S 101 0 0 1000", true),
        // The other side's first number is known from the ACK.
        ("1 < S 500 0 0 1000", false),
        ("1 < S 501 0 0 1000", true),
        ("1 > S. 7 0 0 1000", false),
        ("1 > F 7 0 0 1000", false),
    ] {
        let (_, from_a, packet) = parse(line);
        assert_eq!(seen.reuses(from_a, &packet), reuses, "{line}");
    }
}

#[test]
fn another_syn_ack_stays_in_the_stream() {
    check(&[
        ("0 > S 100 0 0 1000", ""),
        ("10 < S. 500 101 0 1000", ""),
        ("11 < S. 800 101 0 1000", "lost_segment reused_ports"),
        ("12 < S. 800 101 0 1000", "retransmission"),
    ]);
}

#[test]
fn sequence_numbers_wrap() {
    check(&[
        ("0 > S 4294967190 0 0 1000", ""),
        ("10 < S. 500 4294967191 0 1000", ""),
        ("20 > . 4294967191 501 0 1000", ""),
        ("30 > . 4294967191 501 200 1000", ""),
        ("31 > . 95 501 100 1000", ""),
        ("32 > . 295 501 100 1000", "lost_segment"),
        ("300 > . 195 501 100 1000", "retransmission"),
        ("310 < . 501 395 0 1000", ""),
    ]);
    // A next number of exactly 0 counts as not known.
    check(&[
        ("0 > . 4294967196 501 100 1000", ""),
        ("10 > . 500 501 100 1000", ""),
    ]);
}

#[test]
fn packets_without_a_length_get_a_stream_but_no_verdict() {
    let (time, from_a, whole) = parse("0 > . 101 501 100 1000");
    for standing in [
        Standing::Quoted,
        Standing::FirstFragment,
        Standing::ShortSegment,
    ] {
        let mut compat = Compat::default();
        compat.packet(time, 1, from_a, &whole);
        let odd = TcpPacket { standing, ..whole };
        assert!(compat.packet(time, 2, from_a, &odd).is_empty());
        let again = compat.packet(time, 3, from_a, &whole);
        assert!(again.has(Verdicts::RETRANSMISSION), "{standing:?}");
    }
}

#[test]
fn a_header_cut_by_the_capture_is_remembered_but_not_judged() {
    let (time, from_a, whole) = parse("0 > . 101 501 100 1000");
    let cut = TcpPacket {
        header_truncated: true,
        ..whole
    };
    let mut compat = Compat::default();
    compat.packet(time, 1, from_a, &cut);
    assert!(compat.packet(time, 2, from_a, &cut).is_empty());
    let judged = compat.packet(time, 3, from_a, &whole);
    assert!(judged.has(Verdicts::RETRANSMISSION));
}

#[test]
fn a_fin_nobody_acks_takes_no_number_after_ten_thousand_segments() {
    for (segments, fin_counts) in [(9_999_u32, true), (10_000, false)] {
        let mut compat = Compat::default();
        for i in 0..segments {
            let (time, from_a, mut p) = parse("0 > . 101 501 10 1000");
            p.seq = p.seq + 10 * i;
            compat.packet(time, u64::from(i), from_a, &p);
        }
        let (time, from_a, mut p) = parse("0 > F. 101 501 0 1000");
        p.seq = p.seq + 10 * segments;
        compat.packet(time, 20_000, from_a, &p);
        let (time, from_a, mut p) = parse("0 > . 102 502 0 1000");
        p.seq = p.seq + 10 * segments;
        let last = compat.packet(time, 20_001, from_a, &p);
        assert_eq!(last.has(Verdicts::LOST_SEGMENT), !fin_counts);
    }
}

#[test]
fn the_state_is_small() {
    assert!(std::mem::size_of::<Compat>() <= 160);
}
