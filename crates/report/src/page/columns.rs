//! The packets of one stream as bytes: columns of variable-length integers.
//!
//! A packet takes about 20 bytes this way (a typed array of every field would take 80), because
//! most fields repeat or follow from the packet before. `web/src/data/columns.ts` reads it back.
//!
//! Layout: for each column its length in bytes, then its bytes. Numbers are LEB128; signed ones
//! are zigzag-coded first. "Difference" means to the last packet of the same direction.
//!
//! | column | per packet |
//! |---|---|
//! | meta | bit 0 from the client, 1 spurious, 2 has ACK number, 3 has ACK row, 4 has RTT, 5 has SACK, 6-10 kind, 11 has verdicts |
//! | flags | TCP flags |
//! | number | frame number, difference to the packet before |
//! | time | nanoseconds since the packet before, signed |
//! | seq | signed difference to the end of the last segment |
//! | len | payload bytes |
//! | ack | signed difference (with an ACK number) |
//! | window | signed difference, bytes |
//! | flight | signed difference, bytes |
//! | rtt | microseconds (with an RTT) |
//! | sack | count; for each block: left edge minus ACK number, signed, and length (with SACK) |
//! | wait | class, bytes, segments, newest segment (signed difference), frame number minus trigger (signed), wait, time since the last data, path, credits + 1 (with an ACK row) |
//! | verdicts | bits of Wireshark's verdicts (with verdicts) |

use tcplab_analyze::trace::{AckClass, AckRow, Row, SegmentKind};
use tcplab_base::Instant;

/// Number of columns, in the order of the table above.
const COLUMNS: usize = 13;

/// Column numbers.
#[derive(Clone, Copy)]
enum Col {
    Meta,
    Flags,
    Number,
    Time,
    Seq,
    Len,
    Ack,
    Window,
    Flight,
    Rtt,
    Sack,
    Wait,
    Verdicts,
}

/// What the next packet of a direction is coded against.
#[derive(Clone, Copy, Default)]
struct Last {
    seq_end: i64,
    ack: i64,
    window: i64,
    flight: i64,
    newest: i64,
    path: i64,
}

/// Packs `rows` (see the table of the module).
pub(crate) fn encode(rows: &[Row]) -> Vec<u8> {
    let mut encoder = Encoder::default();
    for row in rows.iter().filter(|row| row.kind != SegmentKind::Quoted) {
        encoder.row(row);
    }
    encoder.finish()
}

#[derive(Default)]
struct Encoder {
    columns: [Vec<u8>; COLUMNS],
    last: [Last; 2],
    number: i64,
    time: i64,
    origin: Option<Instant>,
}

impl Encoder {
    fn row(&mut self, row: &Row) {
        self.heads(row);
        let mut last = self.last[usize::from(row.from_client)];
        let seq = clamp(row.seq);
        self.signed(Col::Seq, seq, last.seq_end);
        last.seq_end = seq.saturating_add(i64::from(row.len));
        self.plain(Col::Len, u64::from(row.len));
        if let Some(ack) = row.ack {
            self.signed(Col::Ack, clamp(ack), last.ack);
            last.ack = clamp(ack);
        }
        self.signed(Col::Window, i64::from(row.window), last.window);
        last.window = i64::from(row.window);
        self.signed(Col::Flight, i64::from(row.in_flight), last.flight);
        last.flight = i64::from(row.in_flight);
        if let Some(rtt) = row.rtt_us {
            self.plain(Col::Rtt, u64::from(rtt));
        }
        self.sack(row);
        if let Some(acked) = &row.acked {
            self.acked(row, acked, &mut last);
        }
        if !row.verdicts.is_empty() {
            self.plain(Col::Verdicts, u64::from(row.verdicts.0));
        }
        self.last[usize::from(row.from_client)] = last;
    }

    /// Meta, flags, frame number, time.
    fn heads(&mut self, row: &Row) {
        let bits = u64::from(row.from_client)
            | u64::from(row.spurious) << 1
            | u64::from(row.ack.is_some()) << 2
            | u64::from(row.acked.is_some()) << 3
            | u64::from(row.rtt_us.is_some()) << 4
            | u64::from(!row.sack.is_empty()) << 5
            | kind_code(row.kind) << 6
            | u64::from(!row.verdicts.is_empty()) << 11;
        self.plain(Col::Meta, bits);
        self.plain(Col::Flags, u64::from(row.flags));
        self.signed(Col::Number, clamp(row.number), self.number);
        self.number = clamp(row.number);
        let origin = *self.origin.get_or_insert(row.time);
        let time = row.time.since(origin).as_nanos();
        // The reader adds differences up, so code against what it will have, not what we had.
        let step = time.saturating_sub(self.time);
        self.signed(Col::Time, step, 0);
        self.time = self.time.saturating_add(step);
    }

    fn sack(&mut self, row: &Row) {
        if row.sack.is_empty() {
            return;
        }
        self.plain(Col::Sack, row.sack.len() as u64);
        let base = clamp(row.ack.unwrap_or(0));
        for &(left, right) in &row.sack {
            self.signed(Col::Sack, clamp(left), base);
            self.plain(Col::Sack, right.saturating_sub(left));
        }
    }

    fn acked(&mut self, row: &Row, acked: &AckRow, last: &mut Last) {
        self.plain(Col::Wait, class_code(acked.class));
        self.plain(Col::Wait, u64::from(acked.bytes));
        self.plain(Col::Wait, u64::from(acked.segments));
        self.signed(Col::Wait, clamp(acked.newest_segment), last.newest);
        last.newest = clamp(acked.newest_segment);
        self.signed(Col::Wait, clamp(row.number), clamp(acked.trigger));
        self.plain(Col::Wait, u64::from(acked.wait_us));
        self.plain(Col::Wait, u64::from(acked.since_last_us));
        self.signed(Col::Wait, i64::from(acked.path_us), last.path);
        last.path = i64::from(acked.path_us);
        let credits = acked.credits.map_or(0, |c| u64::from(c) + 1);
        self.plain(Col::Wait, credits);
    }

    fn plain(&mut self, column: Col, value: u64) {
        leb128(&mut self.columns[column as usize], value);
    }

    fn signed(&mut self, column: Col, value: i64, base: i64) {
        let d = value.saturating_sub(base);
        leb128(
            &mut self.columns[column as usize],
            ((d << 1) ^ (d >> 63)) as u64,
        );
    }

    fn finish(self) -> Vec<u8> {
        let total: usize = self.columns.iter().map(|c| c.len() + 10).sum();
        let mut out = Vec::with_capacity(total);
        for column in &self.columns {
            leb128(&mut out, column.len() as u64);
            out.extend_from_slice(column);
        }
        out
    }
}

pub(super) fn leb128(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The page counts in floats, so nothing above 2^53 is worth keeping exact.
fn clamp(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Also the order of `KINDS` in `web/src/data/columns.ts`.
fn kind_code(kind: SegmentKind) -> u64 {
    match kind {
        SegmentKind::PureAck => 0,
        SegmentKind::New => 1,
        SegmentKind::OutOfOrder => 2,
        SegmentKind::Fast => 3,
        SegmentKind::Rto => 4,
        SegmentKind::Tlp => 5,
        SegmentKind::Retransmission => 6,
        SegmentKind::KeepAlive => 7,
        SegmentKind::ZeroWindowProbe => 8,
        SegmentKind::Quoted => 9,
    }
}

/// Also the order of `CLASSES` in `web/src/data/columns.ts`.
fn class_code(class: AckClass) -> u64 {
    match class {
        AckClass::Immediate => 0,
        AckClass::SecondSegment => 1,
        AckClass::Delayed => 2,
        AckClass::Piggybacked => 3,
        AckClass::Other => 4,
    }
}
