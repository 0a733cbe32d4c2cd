//! The packets of a connection as points of a time-sequence graph, in columns.

use serde::Serialize;
use tcplab_analyze::trace::{Row, SegmentKind, StreamTrace};

/// Points of one connection in one arm at most; the first ones are kept.
const MAX_POINTS: usize = 5_000;

/// What the server sent, and the ACKs that came to it. Sequence numbers are relative to the server's ISN.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Points {
    /// Points that the connection has; those beyond the columns are left out.
    pub all: usize,
    /// Time after the point before (the first: after the connection's first packet), in microseconds.
    pub after_us: Vec<i64>,
    /// First byte of a segment, or the ACK number, less that of the point before.
    pub step: Vec<i64>,
    /// Bytes; 0 for an ACK.
    pub len: Vec<u32>,
    /// A letter each: `d` data, `f` fast retransmission, `r` timeout, `t` tail loss probe or timeout of a single segment, `x` another retransmission,
    /// `a` an ACK.
    pub kind: String,
}

impl Points {
    /// The points of a connection whose server is looked at.
    pub fn of(trace: &StreamTrace) -> Self {
        let mut points = Self::default();
        let Some(first) = trace.rows.first() else {
            return points;
        };
        let (mut time, mut at) = (first.time.as_nanos() / 1_000, 0);
        for row in &trace.rows {
            let Some((letter, place)) = point(row) else {
                continue;
            };
            points.all += 1;
            if points.all > MAX_POINTS {
                continue;
            }
            let (now, place) = (row.time.as_nanos() / 1_000, place as i64);
            points.after_us.push(now.wrapping_sub(time));
            points.step.push(place.wrapping_sub(at));
            points.len.push(if letter == 'a' { 0 } else { row.len });
            points.kind.push(letter);
            (time, at) = (now, place);
        }
        points
    }
}

/// Letter and sequence number; none: neither the server's data nor an ACK for it.
fn point(row: &Row) -> Option<(char, u64)> {
    if row.from_client {
        return Some(('a', row.ack?));
    }
    let letter = match row.kind {
        _ if row.len == 0 => return None,
        SegmentKind::Quoted => return None,
        SegmentKind::Fast => 'f',
        SegmentKind::Rto => 'r',
        SegmentKind::Tlp => 't',
        SegmentKind::Retransmission => 'x',
        SegmentKind::PureAck
        | SegmentKind::New
        | SegmentKind::OutOfOrder
        | SegmentKind::KeepAlive
        | SegmentKind::ZeroWindowProbe => 'd',
    };
    Some((letter, row.seq))
}
