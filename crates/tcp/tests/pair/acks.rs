//! When a receiver ACKs: the goldens of the delayed-ACK investigations, and the rules behind them.

use tcplab_plan::point::{Route, SocketOptions};
use tcplab_plan::profile::{AckEngine, AckPushRule, CompressedSack, Profile, QuickackAccounting};
use tcplab_tcp::{Clock, ConnId, HostConfig, ReadOutcome, RxTruesize, Segment};
use tcplab_wire::TcpFlags;

use crate::link::{BOOT_NS, MS, Pair, S, host};

/// What a reader's ACKs were.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
struct Acks {
    /// ACKs of the reader in all.
    all: usize,
    /// Those within 2 ms of the last data segment that they cover.
    at_once: usize,
    /// Number of the first data segment whose ACK came later, from 1; 0: none.
    first_late: usize,
}

/// The server's host writes, the client's host reads with `reader`'s settings.
struct Stream {
    pair: Pair,
    reader: ConnId,
    writer: ConnId,
}

impl Stream {
    fn new(reader: HostConfig, writer: HostConfig, nodelay: bool) -> Self {
        let mut pair = Pair::of([reader, writer], 1);
        pair.delay_ns = 100_000;
        let (reader, writer) = pair.established();
        pair.with(1, writer, |ep, cx| ep.set_nodelay(cx, nodelay));
        pair.settle(S);
        pair.log.clear();
        Self {
            pair,
            reader,
            writer,
        }
    }

    /// Writes `size` bytes every `every` nanoseconds, `count` times; each arrival is read at once.
    fn write_every(&mut self, size: u64, every: i64, count: usize) {
        for _ in 0..count {
            let written = self
                .pair
                .with(1, self.writer, |ep, cx| ep.write(cx, size, false));
            assert_eq!(written, Ok(size));
            self.read_for(every);
        }
        self.read_for(S);
    }

    fn read_for(&mut self, ns: i64) {
        let end = self.pair.now.as_nanos() + ns;
        while self.pair.next().is_some_and(|at| at.as_nanos() <= end) {
            self.pair.step();
            if self.pair.hosts[0]
                .get(self.reader)
                .is_some_and(|ep| ep.readable_bytes() > 0)
            {
                let got = self.pair.with(0, self.reader, |ep, cx| ep.read(cx, 65_536));
                assert!(matches!(got, ReadOutcome::Got(_)));
            }
        }
        self.pair.run(end - self.pair.now.as_nanos());
    }

    fn acks(&self) -> Acks {
        let mut seen = Acks {
            all: 0,
            at_once: 0,
            first_late: 0,
        };
        let (mut arrived, mut segments) = (0, 0);
        for (at, from, seg) in &self.pair.log {
            if *from == 1 && seg.len > 0 {
                arrived = at.as_nanos() + self.pair.delay_ns;
                segments += 1;
            } else if *from == 0 {
                seen.all += 1;
                if at.as_nanos() - arrived < 2 * MS {
                    seen.at_once += 1;
                } else if seen.first_late == 0 {
                    seen.first_late = segments;
                }
            }
        }
        seen
    }
}

fn profile(of: impl FnOnce(&mut Profile)) -> HostConfig {
    let mut host = host(1);
    of(&mut host.profile);
    host
}

/// Linux 6.1.56: what 6.1.57 changed is undone.
fn old() -> HostConfig {
    profile(|p| {
        p.ack_push_rule = AckPushRule::Short;
        p.quickack_accounting = QuickackAccounting::PerPacket;
    })
}

/// Linux 4.18 of el8 with frames of 2304 bytes of memory.
fn el8() -> HostConfig {
    let mut host = old();
    host.profile.rcvbuf_fixup = true;
    host.profile.tx_header = 320;
    host.sysctl.tcp_rmem = [4096, 87_380, 6_291_456];
    host.rx_truesize = RxTruesize::Fixed(2304);
    host
}

fn one_way(reader: HostConfig, nodelay: bool, size: u64, every_ms: i64, count: usize) -> Acks {
    let mut stream = Stream::new(reader, host(2), nodelay);
    stream.write_every(size, every_ms * MS, count);
    stream.acks()
}

#[test]
fn one_kilobyte_every_100_ms_is_acked_at_once_since_6_1_57() {
    let acks = one_way(host(1), false, 1024, 100, 60);
    assert_eq!(
        acks,
        Acks {
            all: 60,
            at_once: 60,
            first_late: 0
        }
    );
}

/// 16 credits, then the timer: only the rule of PSH matters, not that of the credits.
#[test]
fn one_kilobyte_every_100_ms_before_6_1_57_is_late_from_the_17th_on() {
    let late = Acks {
        all: 60,
        at_once: 16,
        first_late: 17,
    };
    assert_eq!(one_way(old(), false, 1024, 100, 60), late);
    let push_only = profile(|p| p.ack_push_rule = AckPushRule::Short);
    assert_eq!(one_way(push_only, false, 1024, 100, 60), late);
    let credits_only = profile(|p| p.quickack_accounting = QuickackAccounting::PerPacket);
    assert_eq!(one_way(credits_only, false, 1024, 100, 60).at_once, 60);
}

#[test]
fn delayed_ack_takes_40_to_41_ms_at_1000_hz_and_up_to_44_at_250() {
    for (hz, most) in [(1000, 41), (250, 44), (100, 50)] {
        let mut reader = old();
        reader.clock = Clock::new(hz, BOOT_NS);
        let mut stream = Stream::new(reader, host(2), false);
        stream.write_every(1024, 100 * MS, 60);
        let log = &stream.pair.log;
        let late: Vec<i64> = log
            .windows(2)
            .filter(|w| w[0].1 == 1 && w[1].1 == 0)
            .map(|w| w[1].0.as_nanos() - w[0].0.as_nanos() - 100_000)
            .filter(|&ns| ns > 2 * MS)
            .collect();
        assert_eq!(late.len(), 44, "{hz}");
        for ns in late {
            assert!(ns > 40 * MS && ns <= most * MS, "{hz}: {ns}");
        }
        assert_eq!(stream.pair.count(0, "TcpExtDelayedACKs"), 44);
    }
}

#[test]
fn quickack_of_the_route_needs_no_credits() {
    let mut reader = old();
    reader.route = Route {
        quickack: Some(1),
        ..Route::default()
    };
    assert_eq!(one_way(reader, false, 1024, 100, 60).at_once, 60);
}

/// A pause longer than the receiver's RTO gives new credits.
#[test]
fn writes_further_apart_than_the_rto_are_never_late() {
    assert_eq!(one_way(old(), false, 1024, 250, 60).at_once, 60);
}

/// The window of 4.18 grows from 20 segments, and each step gives a credit: 77 steps and 14 credits.
#[test]
fn el8_acks_91_segments_at_once() {
    for every in [50, 100] {
        let count = 100_000 / every as usize;
        let acks = one_way(el8(), true, 1024, every, count);
        assert_eq!(
            (acks.all, acks.at_once, acks.first_late),
            (count, 91, 92),
            "{every} ms"
        );
    }
}

/// Nagle's rule at the sender makes full segments, and they meet the delayed ACK of the receiver: the table that a
/// kernel gave (ACKs, those at once, first late one).
#[test]
fn el8_and_nagle_give_the_table_of_a_kernel() {
    for (every, all, at_once) in [
        (10, 7523, 7522),
        (20, 3773, 3772),
        (30, 2793, 1711),
        (40, 2446, 253),
        (50, 2000, 91),
    ] {
        let count = 100_000 / every as usize;
        let acks = one_way(el8(), false, 1024, every, count);
        let close = |have: usize, want: usize| have.abs_diff(want) * 100 <= want;
        assert!(
            close(acks.all, all)
                && (acks.at_once.abs_diff(at_once) <= 1 || close(acks.at_once, at_once)),
            "{every} ms: {acks:?} instead of {all} and {at_once}"
        );
    }
}

#[test]
fn bsd_acks_every_second_segment_or_after_40_ms() {
    let bsd = profile(|p| p.ack_engine = AckEngine::EverySecond);
    let single = one_way(bsd.clone(), true, 1, 100, 20);
    assert_eq!((single.all, single.at_once), (20, 0));
    let pairs = one_way(bsd, true, 2 * 1448, 100, 20);
    assert_eq!((pairs.all, pairs.at_once), (20, 20));
}

/// An answer within the expected interval makes the connection interactive; the ACK travels with the answer.
#[test]
fn an_echo_carries_the_ack() {
    let mut stream = Stream::new(old(), host(2), true);
    for _ in 0..60 {
        let _ = stream
            .pair
            .with(1, stream.writer, |ep, cx| ep.write(cx, 1024, false));
        stream.read_for(MS);
        let _ = stream
            .pair
            .with(0, stream.reader, |ep, cx| ep.write(cx, 1, false));
        stream.read_for(99 * MS);
    }
    let pure = |seg: &Segment| seg.len == 0 && !seg.flags.has(TcpFlags::SYN);
    let pure = stream
        .pair
        .log
        .iter()
        .filter(|(_, from, seg)| *from == 0 && pure(seg));
    // The first credits are spent before the first answer makes it interactive.
    assert!(pure.count() <= 1);
}

#[test]
fn quickack_zero_waits_once_and_quickack_one_sends_what_is_due() {
    let mut stream = Stream::new(host(1), host(2), true);
    stream
        .pair
        .with(0, stream.reader, |ep, cx| ep.set_quickack(cx, 0));
    assert!(!stream.pair.with(0, stream.reader, |ep, cx| ep.quickack(cx)));
    stream.write_every(100, 100 * MS, 3);
    let acks = stream.acks();
    assert_eq!((acks.all, acks.at_once, acks.first_late), (3, 2, 1));
    // The timer ended the interactive mode.
    stream
        .pair
        .with(0, stream.reader, |ep, cx| ep.set_quickack(cx, 0));
    stream.pair.log.clear();
    let _ = stream
        .pair
        .with(1, stream.writer, |ep, cx| ep.write(cx, 100, false));
    stream.read_for(5 * MS);
    assert_eq!(stream.pair.log.len(), 1, "no ACK yet");
    stream
        .pair
        .with(0, stream.reader, |ep, cx| ep.set_quickack(cx, 1));
    assert_eq!(stream.pair.log.len(), 2, "the ACK that was due");
}

/// Loses one segment of a window, so that all behind it is out of order: how many ACKs repeat.
fn dup_acks(reader: HostConfig) -> (usize, u64) {
    let mut writer = host(2);
    writer.sysctl.tcp_wmem = [4096, 1 << 20, 4 << 20];
    let mut stream = Stream::new(reader, writer, true);
    stream.pair.delay_ns = 20 * MS;
    stream.write_every(1448 * 10, 90 * MS, 3);
    stream.pair.log.clear();
    let mut lost = false;
    stream.pair.drop = Some(Box::new(move |_, from, seg| {
        let drop = !lost && from == 1 && seg.len > 0;
        lost |= drop;
        drop
    }));
    let _ = stream
        .pair
        .with(1, stream.writer, |ep, cx| ep.write(cx, 1448 * 10, false));
    stream.read_for(41 * MS);
    let acks = stream
        .pair
        .log
        .iter()
        .filter(|(_, from, _)| *from == 0)
        .count();
    (acks, stream.pair.count(0, "TcpExtTCPAckCompressed"))
}

#[test]
fn acks_of_out_of_order_data_wait_behind_the_third() {
    assert_eq!(
        dup_acks(profile(|p| p.compressed_sack = CompressedSack::Never)),
        (9, 0)
    );
    let (acks, compressed) = dup_acks(host(1));
    assert_eq!((acks, compressed), (4, 5));
    let (acks, compressed) = dup_acks(profile(|p| p.compressed_sack = CompressedSack::All));
    assert_eq!((acks, compressed), (1, 8));
}

/// An ACK of data costs one credit; a window update costs one before 6.1.57, none after it.
#[test]
fn a_window_update_costs_a_credit_before_6_1_57() {
    let credits = |mut reader: HostConfig| {
        reader.sysctl.tcp_rmem = [4096, 131_072, 131_072];
        let mut stream = Stream::new(reader, host(2), true);
        let _ = stream
            .pair
            .with(1, stream.writer, |ep, cx| ep.write(cx, 1448, false));
        stream.pair.settle(S);
        let quick = |s: &mut Stream| {
            s.pair.hosts[0]
                .get(s.reader)
                .map(tcplab_tcp::Endpoint::quick_credits)
        };
        let after_data = quick(&mut stream);
        // Unread data closes more than half of the window, and the read opens it again.
        for _ in 0..30 {
            let _ = stream
                .pair
                .with(1, stream.writer, |ep, cx| ep.write(cx, 1448, false));
            stream.pair.settle(S);
        }
        let before = quick(&mut stream);
        stream.pair.log.clear();
        let _ = stream
            .pair
            .with(0, stream.reader, |ep, cx| ep.read(cx, 1 << 20));
        assert_eq!(stream.pair.log.len(), 1, "the window update");
        (after_data, before, quick(&mut stream))
    };
    let (first, before, after) = credits(host(1));
    assert_eq!(first, Some(15));
    assert_eq!(before, after);
}

#[test]
fn a_small_buffer_announces_less_and_a_read_opens_the_window() {
    let options = SocketOptions {
        rcvbuf: Some(8192),
        ..SocketOptions::default()
    };
    let mut writer = host(2);
    writer.sysctl.tcp_wmem = [4096, 1 << 20, 4 << 20];
    let mut pair = Pair::of([host(1), writer], 1);
    let listener = pair.listen();
    let reader = pair.connect_with(&options);
    pair.settle(S);
    let (writer, _) = pair.hosts[1].accept(pair.now, listener).expect("accepted");
    let _ = pair.with(1, writer, |ep, cx| ep.write(cx, 100_000, false));
    pair.run(2 * S);
    let unread = pair.hosts[0]
        .get(reader)
        .map_or(0, |ep| ep.readable_bytes());
    assert!((4000..16_384).contains(&unread), "{unread}");
    let last = pair.log.iter().rev().find(|(_, from, _)| *from == 0);
    assert_eq!(
        last.map(|(_, _, seg)| seg.window),
        Some(0),
        "the window is closed"
    );
    pair.log.clear();
    let got = pair.with(0, reader, |ep, cx| ep.read(cx, 100_000));
    assert_eq!(got, ReadOutcome::Got(unread));
    let update = pair.log.first().expect("a window update");
    assert!(update.1 == 0 && update.2.len == 0 && update.2.window > 0);
    let mut total = unread;
    for _ in 0..400 {
        pair.run(50 * MS);
        if let ReadOutcome::Got(n) = pair.with(0, reader, |ep, cx| ep.read(cx, 100_000)) {
            total += n;
        }
    }
    assert_eq!(total, 100_000);
}
