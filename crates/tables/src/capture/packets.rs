//! A row for each packet, by stream.

use tcplab_analyze::trace::{AckRow, Row, SegmentKind, StreamTrace};

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
        SegmentKind::Quoted => "icmp_quote",
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
                 `retransmission`, `keep_alive`, `zero_window_probe` or `icmp_quote` (no packet of this end: an ICMP \
                 error quotes one).",
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
    table.extend(&trace.rows, |columns, rows| {
        // In the order of the fields above.
        let [names, columns @ ..] = columns else {
            return;
        };
        let [stream, packet, time, from, letters, columns @ ..] = columns else {
            return;
        };
        let [seq, payload, ack, window, sack, kind, columns @ ..] = columns else {
            return;
        };
        let [spurious, in_flight, rtt, acked, class, wait] = columns else {
            return;
        };
        let rows = rows.iter();
        names.words(rows.clone().map(|_| Some((0, file))));
        stream.ints(rows.clone().map(|_| trace.stream.into()));
        packet.ints(rows.clone().map(|p| p.number as i64));
        time.ints(rows.clone().map(|p| p.time.as_nanos()));
        let sent = |p: &Row| Some((p.from_client.into(), side(p.from_client)));
        from.words(rows.clone().map(sent));
        let set = |p: &Row| Some((p.flags as u8, flags.of(p.flags)));
        letters.words(rows.clone().map(set));
        seq.ints(rows.clone().map(|p| p.seq as i64));
        payload.ints(rows.clone().map(|p| p.len.into()));
        ack.maybe_ints(rows.clone().map(|p| p.ack.map(|n| n as i64)));
        window.ints(rows.clone().map(|p| p.window.into()));
        sack.ints(rows.clone().map(|p| p.sack.len() as i64));
        kind.words(
            rows.clone()
                .map(|p| Some((p.kind as u8, kind_name(p.kind)))),
        );
        spurious.flags(rows.clone().map(|p| p.spurious));
        in_flight.ints(rows.clone().map(|p| p.in_flight.into()));
        rtt.maybe_ints(rows.clone().map(|p| p.rtt_us.map(i64::from)));
        let acks = rows.map(|p| p.acked.as_ref());
        acked.maybe_ints(acks.clone().map(|ack| ack.map(|ack| ack.bytes.into())));
        let why = |ack: Option<&AckRow>| ack.map(|ack| (ack.class as u8, class_name(ack.class)));
        class.words(acks.clone().map(why));
        wait.maybe_ints(acks.map(|ack| ack.map(|ack| ack.wait_us.into())));
    });
}

#[cfg(test)]
mod tests {
    use tcplab_base::Instant;

    use super::*;

    #[test]
    fn every_column_has_its_cell() {
        let packet = |number: u64| Row {
            number,
            time: Instant::from_nanos(number as i64 * 10),
            from_client: number == 1,
            seq: number * 100,
            len: 7,
            flags: 0x18,
            ack: (number == 2).then_some(5),
            window: 9,
            sack: vec![(1, 2)],
            kind: SegmentKind::Tlp,
            spurious: number == 2,
            acked: None,
            rtt_us: (number == 2).then_some(3),
            in_flight: 11,
            caqm: None,
            verdicts: Default::default(),
        };
        let trace = StreamTrace::of(4, vec![packet(1), packet(2)]);
        let mut table = table();
        rows(&mut table, &Flags::new(), "f", &trace);
        let all: Vec<String> = table.plain().map(|row| row.join(" ")).collect();
        assert_eq!(
            all,
            [
                "f 4 1 10 client P. 100 7  9 1 tail_loss_probe false 11    ",
                "f 4 2 20 server P. 200 7 5 9 1 tail_loss_probe true 11 3   ",
            ]
        );
    }
}
