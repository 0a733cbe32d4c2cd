//! Made-up budgets of the made-up packets: good enough to look at, no rule of the analyser.

use tcplab_analyze::budget::{Budget, Class, Request, Span};
use tcplab_analyze::trace::{AckClass, Row, SegmentKind, StreamTrace};

const SYN: u16 = 0x02;
const FIN: u16 = 0x01;

/// What the time before `row` went to.
fn class(stream: u32, index: usize, before: &Row, row: &Row) -> Class {
    let acked = row.acked.map(|a| a.class);
    match row.kind {
        _ if stream == 4 => Class::Unknown,
        _ if (row.flags | before.flags) & SYN != 0 => Class::Handshake,
        SegmentKind::Rto if row.spurious => Class::Spurious,
        SegmentKind::Rto => Class::Rto,
        SegmentKind::Tlp => Class::Tlp,
        SegmentKind::Fast | SegmentKind::Retransmission => Class::FastRecovery,
        _ if acked == Some(AckClass::Delayed) => Class::DelayedAck,
        _ if row.flags & FIN != 0 => Class::Closing,
        _ if stream == 2 => {
            [Class::CongestionWindow, Class::Pacing, Class::ReceiveWindow][index / 9_000 % 3]
        }
        _ if row.len == 0 => Class::Path,
        _ if row.from_client => Class::ClientThinks,
        _ if before.from_client && before.len > 0 => Class::ServerThinks,
        _ if before.from_client && stream == 0 => Class::Idle,
        _ => Class::Sender,
    }
}

/// The spans of a stream.
pub fn spans(trace: &StreamTrace) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let at = |row: &Row| (row.time.since(trace.start).as_nanos() / 1_000).max(0) as u64;
    for (index, pair) in trace.rows.windows(2).enumerate() {
        let class = class(trace.stream, index, &pair[0], &pair[1]);
        match spans.last_mut() {
            Some(last) if last.class == class => last.to_us = at(&pair[1]),
            _ => spans.push(Span {
                from_us: at(&pair[0]),
                to_us: at(&pair[1]),
                class,
            }),
        }
    }
    spans
}

/// The sum of the spans between two times.
pub fn sum(spans: &[Span], from_us: u64, to_us: u64) -> Budget {
    let mut budget = Budget::default();
    for span in spans {
        let (from, to) = (span.from_us.max(from_us), span.to_us.min(to_us));
        budget.add(span.class, to.saturating_sub(from));
    }
    budget
}

/// Each request of the client with the answer to it.
pub fn requests(trace: &StreamTrace) -> Vec<Request> {
    let at = |row: &Row| (row.time.since(trace.start).as_nanos() / 1_000).max(0) as u64;
    let mut all: Vec<Request> = Vec::new();
    for row in trace.rows.iter().filter(|r| r.len > 0) {
        let open = all.last_mut();
        if row.from_client {
            match open {
                Some(request) if request.response_bytes == 0 => {
                    request.request_bytes += u64::from(row.len);
                }
                _ => all.push(Request {
                    packet: row.number,
                    start_us: at(row),
                    request_bytes: u64::from(row.len),
                    ..Request::default()
                }),
            }
        } else if let Some(request) = open {
            request.response_bytes += u64::from(row.len);
            request.duration_us = at(row) - request.start_us;
        }
    }
    all.retain(|r| r.response_bytes > 0);
    for r in &mut all {
        r.budget_us = sum(&trace.spans, r.start_us, r.start_us + r.duration_us);
    }
    all
}
