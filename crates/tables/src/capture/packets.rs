//! A row for each packet, by stream.

use tcplab_analyze::trace::{SegmentKind, StreamTrace};

use super::acks::class_name;
use super::side;
use crate::field::{Field, Kind};
use crate::table::Table;

/// What kind of segment it is.
fn kind_name(kind: SegmentKind) -> &'static str {
    match kind {
        SegmentKind::PureAck => "ack",
        SegmentKind::New => "new",
        SegmentKind::OutOfOrder => "out_of_order",
        SegmentKind::Fast => "fast_retransmission",
        SegmentKind::Rto => "rto_retransmission",
        SegmentKind::Tlp => "tail_loss_probe",
        SegmentKind::Retransmission => "retransmission",
        SegmentKind::KeepAlive => "keep_alive",
        SegmentKind::ZeroWindowProbe => "zero_window_probe",
    }
}

/// The letters of TCP flags as tcpdump writes them, in the order of the bits from FIN to CWR.
const LETTERS: [&str; 8] = ["F", "S", "R", "P", ".", "U", "E", "W"];

/// All sets of the eight flags, so that no packet makes a text of its own.
#[derive(Debug)]
pub(super) struct Flags(Vec<String>);

impl Flags {
    pub(super) fn new() -> Self {
        let letters = |set: usize| {
            let is_set =
                |(bit, letter): (usize, &&'static str)| (set >> bit & 1 == 1).then_some(*letter);
            LETTERS.iter().enumerate().filter_map(is_set).collect()
        };
        Self((0..256).map(letters).collect())
    }

    fn of(&self, flags: u16) -> &str {
        &self.0[usize::from(flags as u8)]
    }
}

pub(super) fn table() -> Table {
    Table::new(
        "packets",
        Field::all(&[
            ("file", Kind::Word, "Capture."),
            ("stream", Kind::Int, "Number of the stream, as tcp.stream."),
            ("packet", Kind::Int, "Frame number."),
            ("time_ns", Kind::Int, "Time stamp, since 1970."),
            ("from", Kind::Word, "Who sent it: `client` or `server`."),
            (
                "flags",
                Kind::Word,
                "TCP flags as tcpdump writes them: `S`, `S.`, `.`, `P.`, `F.`, `R`.",
            ),
            (
                "seq",
                Kind::Int,
                "Sequence number of the first byte, relative to the ISN; does not wrap.",
            ),
            ("payload_bytes", Kind::Int, "Payload."),
            ("ack", Kind::Int, "ACK number, relative to the ISN."),
            (
                "window_bytes",
                Kind::Int,
                "Advertised window, scaled; a lower bound where the scale is not known.",
            ),
            ("sack_blocks", Kind::Int, "SACK blocks in it."),
            (
                "kind",
                Kind::Word,
                "`ack`, `new`, `out_of_order`, `fast_retransmission`, `rto_retransmission`, `tail_loss_probe`, \
                 `retransmission`, `keep_alive` or `zero_window_probe`.",
            ),
            (
                "spurious",
                Kind::Flag,
                "The retransmission was spurious, as what followed shows.",
            ),
            (
                "in_flight_bytes",
                Kind::Int,
                "What its sender has in flight after it.",
            ),
            (
                "rtt_us",
                Kind::Int,
                "Sample of the round trip that this ACK gives.",
            ),
            (
                "acked_bytes",
                Kind::Int,
                "Bytes that it newly acknowledges.",
            ),
            (
                "ack_class",
                Kind::Word,
                "Why the ACK was sent when it was; missing: it acknowledges nothing new.",
            ),
            (
                "ack_wait_us",
                Kind::Int,
                "From the first data packet without an ACK to this ACK.",
            ),
        ]),
    )
}

pub(super) fn rows(table: &mut Table, flags: &Flags, file: &str, trace: &StreamTrace) {
    for packet in &trace.rows {
        let acked = packet.acked.as_ref();
        let mut row = table.row();
        row.text(file);
        row.int(trace.stream);
        row.int(packet.number);
        row.int(packet.time.as_nanos());
        row.text(side(packet.from_client));
        row.text(flags.of(packet.flags));
        row.int(packet.seq);
        row.int(packet.len);
        row.maybe(packet.ack.map(|n| n as i64));
        row.int(packet.window);
        row.int(packet.sack.len());
        row.text(kind_name(packet.kind));
        row.flag(packet.spurious);
        row.int(packet.in_flight);
        row.maybe(packet.rtt_us.map(i64::from));
        row.maybe(acked.map(|ack| ack.bytes.into()));
        row.maybe_text(acked.map(|ack| class_name(ack.class)));
        row.maybe(acked.map(|ack| ack.wait_us.into()));
    }
}
