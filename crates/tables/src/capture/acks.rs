//! A row for each ACK of new data.

use tcplab_analyze::trace::{AckClass, StreamTrace};

use super::side;
use crate::field::{Field, Kind};
use crate::table::Table;

/// The class of an ACK in the words of the JSON.
pub fn class_name(class: AckClass) -> &'static str {
    match class {
        AckClass::Immediate => "immediate",
        AckClass::SecondSegment => "second_segment",
        AckClass::Delayed => "delayed",
        AckClass::Piggybacked => "piggybacked",
        AckClass::Other => "other",
    }
}

pub(super) fn table() -> Table {
    Table::new(
        "acks",
        Field::all(&[
            ("file", Kind::Word, "Capture."),
            ("stream", Kind::Int, "Number of the stream, as tcp.stream."),
            ("from", Kind::Word, "Who sent it: `client` or `server`."),
            ("time_ns", Kind::Int, "Time stamp, since 1970."),
            ("packet", Kind::Int, "Frame number."),
            ("ack", Kind::Int, "ACK number, relative to the ISN."),
            ("bytes", Kind::Int, "Bytes that it newly acknowledges."),
            (
                "segments",
                Kind::Int,
                "Data segments that it newly acknowledges.",
            ),
            (
                "newest_segment",
                Kind::Int,
                "Ordinal of the newest data segment that it covers.",
            ),
            (
                "trigger",
                Kind::Int,
                "Frame number of the data packet that most likely made the receiver answer.",
            ),
            (
                "wait_us",
                Kind::Int,
                "From the first data packet without an ACK to this ACK.",
            ),
            ("since_last_us", Kind::Int, "From the last data packet."),
            ("path_us", Kind::Int, "The path's share of the wait."),
            (
                "class",
                Kind::Word,
                "`immediate`, `second_segment`, `delayed`, `piggybacked` or `other`.",
            ),
            (
                "credits",
                Kind::Int,
                "Quick-ACK credits left, where the model can know them.",
            ),
        ]),
    )
}

pub(super) fn rows(table: &mut Table, file: &str, trace: &StreamTrace) {
    for packet in &trace.rows {
        let Some(ack) = &packet.acked else {
            continue;
        };
        let mut row = table.row();
        row.text(file);
        row.int(trace.stream);
        row.text(side(packet.from_client));
        row.int(packet.time.as_nanos());
        row.int(packet.number);
        row.maybe(packet.ack.map(|n| n as i64));
        row.int(ack.bytes);
        row.int(ack.segments);
        row.int(ack.newest_segment);
        row.int(ack.trigger);
        row.int(ack.wait_us);
        row.int(ack.since_last_us);
        row.int(ack.path_us);
        row.text(class_name(ack.class));
        row.maybe(ack.credits.map(i64::from));
    }
}
