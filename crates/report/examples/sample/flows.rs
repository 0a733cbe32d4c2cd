//! Made-up packets. A small linear congruential generator gives the jitter, so that the page is
//! the same each time.

use tcplab_analyze::report::Direction;
use tcplab_analyze::trace::{AckClass, AckRow, Row, SegmentKind, StreamTrace};
use tcplab_base::Instant;

use super::budget;

/// First time stamp.
pub const START_NS: i64 = 1_700_000_000_123_456_000;
/// Frame number of the first SYN of stream 3.
pub const SYN_NUMBER: u64 = 200_001;

const MSS: u32 = 1_448;

/// Jitter.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Adds packets in the order of time.
struct Flow {
    trace: StreamTrace,
    number: u64,
}

impl Flow {
    fn new(stream: u32, number: u64) -> Self {
        Self {
            trace: StreamTrace::of(stream, Vec::new()),
            number,
        }
    }

    fn done(self) -> StreamTrace {
        StreamTrace::of(self.trace.stream, self.trace.rows)
    }

    fn push(&mut self, us: i64, from_client: bool) -> &mut Row {
        self.trace.rows.push(Row {
            number: self.number,
            time: Instant::from_nanos(START_NS + us * 1_000),
            from_client,
            seq: 1,
            len: 0,
            flags: 0x10,
            ack: Some(1),
            window: 64_128,
            sack: Vec::new(),
            kind: SegmentKind::PureAck,
            spurious: false,
            acked: None,
            rtt_us: None,
            in_flight: 0,
            caqm: None,
            verdicts: Default::default(),
        });
        self.number += 1;
        self.trace.rows.last_mut().expect("just pushed")
    }

    fn handshake(&mut self, us: i64, rtt: i64) {
        let syn = self.push(us, true);
        (syn.seq, syn.ack, syn.flags, syn.kind) = (0, None, 0x02, SegmentKind::New);
        let answer = self.push(us + rtt, false);
        (answer.seq, answer.flags, answer.kind) = (0, 0x12, SegmentKind::New);
        self.push(us + rtt + 20, true);
    }
}

/// All streams.
pub fn all() -> Vec<StreamTrace> {
    let mut traces = vec![
        quick_then_delayed(),
        lossy(),
        bulk(50_000),
        unanswered(),
        one_direction(),
    ];
    traces.extend((5..12).map(exchange));
    traces.extend([requests(), middle()]);
    for trace in &mut traces {
        trace.spans = budget::spans(trace);
    }
    traces
}

/// Frame numbers of the first delayed ACKs of stream 0.
pub fn delayed_packets() -> Vec<u64> {
    let trace = quick_then_delayed();
    let delayed = |r: &&Row| r.acked.is_some_and(|a| a.class == AckClass::Delayed);
    let rows = trace.rows.iter().filter(delayed);
    rows.map(|r| r.number).take(4).collect()
}

/// Frame numbers of the timeouts of stream 1.
pub fn rto_packets() -> Vec<u64> {
    let trace = lossy();
    let rows = trace.rows.iter().filter(|r| r.kind == SegmentKind::Rto);
    rows.map(|r| r.number).take(2).collect()
}

/// Counts a row into the figures of its direction.
pub fn count(d: &mut Direction, row: &Row) {
    d.packets += 1;
    if row.len > 0 {
        d.data_segments += 1;
        d.data_bytes += u64::from(row.len);
    }
    let r = &mut d.retransmissions;
    match row.kind {
        SegmentKind::Fast => r.fast += 1,
        SegmentKind::Rto => r.rto += 1,
        SegmentKind::Tlp => r.tlp += 1,
        SegmentKind::Retransmission => r.other += 1,
        _ => {}
    }
    r.total = r.fast + r.rto + r.tlp + r.other;
    r.spurious += u64::from(row.spurious);
    if let Some(acked) = row.acked {
        let a = &mut d.acks_sent;
        a.total += 1;
        match acked.class {
            AckClass::Immediate => a.immediate += 1,
            AckClass::SecondSegment => a.second_segment += 1,
            AckClass::Delayed => a.delayed += 1,
            AckClass::Piggybacked => a.piggybacked += 1,
            AckClass::Other => a.other += 1,
        }
        if acked.class == AckClass::Delayed {
            let s = &mut a.delayed_us;
            s.max = s.max.max(acked.wait_us);
            s.min = if s.min == 0 {
                acked.wait_us
            } else {
                s.min.min(acked.wait_us)
            };
            s.p50 = s.min / 2 + s.max / 2;
        }
    }
}

/// The server writes 1,024 bytes every 100 ms; the client's quick ACKs end after 16.
fn quick_then_delayed() -> StreamTrace {
    let mut f = Flow::new(0, 1);
    let mut random = Random(1);
    f.handshake(0, 300);
    for i in 0..100_u64 {
        let sent = 50_000 + i as i64 * 100_000;
        let data = f.push(sent, false);
        (data.seq, data.len, data.flags) = (1 + i * 1_024, 1_024, 0x18);
        (data.kind, data.in_flight) = (SegmentKind::New, 1_024);
        let trigger = data.number;
        let delayed = i >= 16;
        let wait =
            if delayed { 40_000 } else { 290 } + random.below(if delayed { 4_300 } else { 80 });
        let ack = f.push(sent + wait as i64, true);
        ack.ack = Some(1 + (i + 1) * 1_024);
        ack.rtt_us = Some(wait as u32);
        let class = if delayed {
            AckClass::Delayed
        } else {
            AckClass::Immediate
        };
        ack.acked = Some(ack_row(class, 1_024, 1, i + 1, trigger, wait as u32));
    }
    f.done()
}

fn ack_row(
    class: AckClass,
    bytes: u32,
    segments: u32,
    newest: u64,
    trigger: u64,
    wait: u32,
) -> AckRow {
    AckRow {
        class,
        bytes,
        segments,
        newest_segment: newest,
        trigger,
        wait_us: wait,
        since_last_us: wait.min(60),
        path_us: 299,
        credits: (newest <= 16).then(|| 16 - newest as u8),
    }
}

/// The server sends in rounds of one RTT; now and then a segment is lost.
fn lossy() -> StreamTrace {
    let mut f = Flow::new(1, 1_001);
    let mut random = Random(7);
    f.handshake(1_000_000, 30_000);
    let (mut seq, mut now, mut ordinal) = (1_u64, 1_100_000_i64, 0_u64);
    for round in 0..60_u64 {
        let window = 10 + (round * 3) % 40;
        let lost = (round % 6 == 3).then_some(window / 2);
        let round_seq = seq;
        for i in 0..window {
            let data = f.push(now + i as i64 * 110, false);
            (data.seq, data.len, data.flags, data.kind) = (seq, MSS, 0x10, SegmentKind::New);
            data.in_flight = (i as u32 + 1) * MSS;
            seq += u64::from(MSS);
        }
        let arrive = now + 30_000;
        let hole = lost.map(|l| round_seq + l * u64::from(MSS));
        acks_of_round(
            &mut f,
            &mut random,
            arrive,
            round_seq,
            window,
            hole,
            &mut ordinal,
        );
        now = arrive + 9_000;
        if let Some(hole) = hole {
            now = repair(&mut f, now, round, hole, seq);
        }
    }
    f.done()
}

/// One ACK for two segments; above a hole duplicates with a growing SACK block.
fn acks_of_round(
    f: &mut Flow,
    random: &mut Random,
    at: i64,
    from: u64,
    window: u64,
    hole: Option<u64>,
    ordinal: &mut u64,
) {
    let mss = u64::from(MSS);
    for i in (1..window).step_by(2) {
        let top = from + (i + 1) * mss;
        let trigger = f.number.saturating_sub(window);
        let wait = 110 + random.below(60) as u32;
        let ack = f.push(at + i as i64 * 110, true);
        ack.window = 400_000;
        match hole {
            Some(hole) if top > hole => {
                ack.ack = Some(hole);
                ack.sack = vec![(hole + mss, top.max(hole + 2 * mss))];
            }
            _ => {
                *ordinal += 2;
                ack.ack = Some(top);
                ack.rtt_us = Some(30_000 + random.below(4_000) as u32);
                ack.acked = Some(ack_row(
                    AckClass::SecondSegment,
                    2 * MSS,
                    2,
                    *ordinal,
                    trigger,
                    wait,
                ));
            }
        }
    }
}

/// Sends the hole again, each time for another reason, and ACKs everything.
fn repair(f: &mut Flow, now: i64, round: u64, hole: u64, seq: u64) -> i64 {
    let (kind, pause) = match (round / 6) % 5 {
        0 => (SegmentKind::Fast, 300),
        1 => (SegmentKind::Rto, 231_000),
        2 => (SegmentKind::Tlp, 62_000),
        3 => (SegmentKind::Retransmission, 5_000),
        _ => (SegmentKind::OutOfOrder, 100),
    };
    let again = f.push(now + pause, false);
    (again.seq, again.len, again.kind) = (hole, MSS, kind);
    again.spurious = kind == SegmentKind::Rto;
    again.in_flight = (seq - hole) as u32;
    let trigger = again.number;
    let ack = f.push(now + pause + 30_000, true);
    ack.ack = Some(seq);
    ack.window = 400_000;
    let segments = ((seq - hole) / u64::from(MSS)) as u32;
    let mut row = ack_row(
        AckClass::Other,
        (seq - hole) as u32,
        segments,
        0,
        trigger,
        30_000,
    );
    row.newest_segment = (seq - 1) / u64::from(MSS);
    ack.acked = Some(row);
    now + pause + 31_000
}

/// `n` data segments and as many ACKs.
fn bulk(n: u64) -> StreamTrace {
    let mut f = Flow::new(2, 50_001);
    let mut random = Random(3);
    f.handshake(2_000_000, 8_000);
    for i in 0..n {
        let us = 2_020_000 + i as i64 * 120;
        let again = i % 997 == 500;
        let data = f.push(us, true);
        data.seq = 1 + (if again { i - 40 } else { i }) * u64::from(MSS);
        data.len = MSS;
        data.kind = if again {
            SegmentKind::Fast
        } else {
            SegmentKind::New
        };
        data.in_flight = ((i % 3_000) as u32 / 4 + 60) * MSS;
        let trigger = data.number;
        let ack = f.push(us + 60, false);
        ack.ack = Some(1 + i.saturating_sub(66) * u64::from(MSS));
        ack.window = 3_000_000;
        if i > 66 {
            let wait = (20 + random.below(100) * (1 + u64::from(i % 5_000 == 0) * 400)) as u32;
            ack.rtt_us = Some(8_000 + wait + (i % 3_000) as u32);
            ack.acked = Some(ack_row(AckClass::Immediate, MSS, 1, i - 66, trigger, wait));
        }
    }
    f.done()
}

/// Four SYNs, no answer.
fn unanswered() -> StreamTrace {
    let mut f = Flow::new(3, SYN_NUMBER);
    for (i, us) in [0, 1_000_000, 3_000_000, 7_000_000].into_iter().enumerate() {
        let syn = f.push(us, true);
        (syn.seq, syn.ack, syn.flags) = (0, None, 0x02);
        syn.kind = if i == 0 {
            SegmentKind::New
        } else {
            SegmentKind::Rto
        };
    }
    f.done()
}

/// Data without a single packet of the other side.
fn one_direction() -> StreamTrace {
    let mut f = Flow::new(4, 201_001);
    for i in 0..500_u64 {
        let data = f.push(i as i64 * 2_000, true);
        (data.seq, data.len, data.kind) = (1 + i * u64::from(MSS), MSS, SegmentKind::New);
    }
    f.done()
}

/// A request, a reply that carries the ACK, the end.
fn exchange(stream: u32) -> StreamTrace {
    let mut f = Flow::new(stream, 210_000 + u64::from(stream) * 100);
    let start = i64::from(stream) * 300_000;
    f.handshake(start, 12_000);
    let request = f.push(start + 12_100, true);
    (request.len, request.flags, request.kind) = (200 + stream, 0x18, SegmentKind::New);
    let (len, trigger) = (request.len, request.number);
    let reply = f.push(start + 26_000, false);
    (reply.len, reply.flags, reply.kind) = (900, 0x18, SegmentKind::New);
    reply.ack = Some(1 + u64::from(len));
    reply.rtt_us = Some(13_900);
    reply.acked = Some(ack_row(AckClass::Piggybacked, len, 1, 1, trigger, 13_900));
    let trigger = reply.number;
    let ack = f.push(start + 26_050, true);
    (ack.seq, ack.ack) = (1 + u64::from(len), Some(901));
    ack.acked = Some(ack_row(AckClass::Immediate, 900, 1, 1, trigger, 50));
    let fin = f.push(start + 40_000, true);
    (fin.seq, fin.ack, fin.flags) = (1 + u64::from(len), Some(901), 0x11);
    fin.kind = SegmentKind::New;
    f.done()
}

/// Requests over one connection; the server thinks before each answer, sometimes for long.
fn requests() -> StreamTrace {
    let mut f = Flow::new(12, 300_001);
    let mut random = Random(11);
    f.handshake(500_000, 12_000);
    let (mut now, mut asked, mut answered) = (512_200_i64, 1_u64, 1_u64);
    for i in 0..250_u64 {
        let request = f.push(now, true);
        (request.seq, request.len, request.flags, request.ack) = (asked, 180, 0x18, Some(answered));
        (request.kind, request.in_flight) = (SegmentKind::New, 180);
        let trigger = request.number;
        asked += 180;
        let think = 4_000 + random.below(3_000) + if i % 9 == 4 { 40_000 } else { 0 };
        let think = think + if i == 31 { 310_000 } else { 0 };
        now += 12_000 + think as i64;
        for k in 0..6_u64 {
            let late = i % 20 == 7 && k == 5;
            let answer = f.push(now + k as i64 * 80 + if late { 201_000 } else { 0 }, false);
            (answer.seq, answer.len, answer.flags, answer.ack) = (answered, MSS, 0x10, Some(asked));
            (answer.in_flight, answer.rtt_us) = ((k as u32 + 1) * MSS, (k == 0).then_some(12_000));
            answer.kind = if late {
                SegmentKind::Rto
            } else {
                SegmentKind::New
            };
            if k == 0 {
                answer.acked = Some(ack_row(
                    AckClass::Piggybacked,
                    180,
                    1,
                    i + 1,
                    trigger,
                    12_000,
                ));
            }
            answered += u64::from(MSS);
            now += if late { 201_000 } else { 0 };
        }
        now += 500;
        let ack = f.push(now, true);
        (ack.seq, ack.ack) = (asked, Some(answered));
        ack.acked = Some(ack_row(
            AckClass::SecondSegment,
            6 * MSS,
            6,
            6 * (i + 1),
            ack.number - 1,
            90,
        ));
        now += 3_000 + random.below(9_000) as i64;
    }
    f.done()
}

/// A capture that begins in the middle: an ACK for each second segment, windows without their scale.
fn middle() -> StreamTrace {
    let mut f = Flow::new(13, 310_001);
    let mut random = Random(13);
    for i in 0..120_u64 {
        let us = 3_000_000 + i as i64 * 2_500;
        for k in 0..2 {
            let data = f.push(us + k as i64 * 40, false);
            (data.seq, data.len, data.window) = (1 + (2 * i + k) * u64::from(MSS), MSS, 229);
            (data.kind, data.in_flight) = (SegmentKind::New, 2 * MSS);
        }
        let wait = 60 + random.below(20) as u32;
        let ack = f.push(us + 40 + i64::from(wait), true);
        (ack.ack, ack.window) = (Some(1 + (2 * i + 2) * u64::from(MSS)), 502);
        ack.acked = Some(ack_row(
            AckClass::SecondSegment,
            2 * MSS,
            2,
            2 * i + 2,
            ack.number - 1,
            wait,
        ));
    }
    f.done()
}
