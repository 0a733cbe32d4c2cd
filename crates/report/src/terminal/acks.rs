//! `--acks`: one row for each ACK of new data, by stream and by the side that sent it. Columns
//! have fixed widths: rows are written as they come, without a table in memory.

use std::io::{self, Write};

use tcplab_analyze::trace::{AckClass, AckRow, Row, StreamTrace};

use super::Theme;
use super::style::Ink;

/// The ACKs of one stream. `client` and `server` are the names of its ends.
///
/// # Errors
/// Those of `out`.
pub fn write(
    theme: &Theme,
    trace: &StreamTrace,
    client: &str,
    server: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let origin = trace.start;
    for (from_client, who, from, to) in [
        (true, "client", client, server),
        (false, "server", server, client),
    ] {
        let mut rows = acks(trace)
            .filter(|(r, _)| r.from_client == from_client)
            .peekable();
        if rows.peek().is_none() {
            continue;
        }
        let title = format!("Stream {}: ACKs of the {who}, {from} → {to}", trace.stream);
        writeln!(out, "{}", theme.paint(Ink::Bold, &title))?;
        writeln!(out, "{}", theme.paint(Ink::Dim, HEADING))?;
        for (row, ack) in rows {
            let time = row.time.since(origin).as_secs_f64();
            line(theme, time, row, ack, out)?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The ACKs of new data among the packets.
pub fn acks(trace: &StreamTrace) -> impl Iterator<Item = (&Row, &AckRow)> {
    trace
        .rows
        .iter()
        .filter_map(|r| Some((r, r.acked.as_ref()?)))
}

const HEADING: &str =
    "      time s  packet    bytes segs newest trigger   wait us   last us path us class   credits";

fn line(theme: &Theme, time: f64, row: &Row, ack: &AckRow, out: &mut impl Write) -> io::Result<()> {
    let class = format!("{:<7}", short(ack.class));
    let class = match ack.class {
        AckClass::Delayed => theme.paint(Ink::Yellow, &class),
        _ => class,
    };
    let credits = ack
        .credits
        .map_or_else(|| "-".to_owned(), |n| n.to_string());
    writeln!(
        out,
        "{time:12.6} {:7} {:8} {:4} {:6} {:7} {:9} {:9} {:7} {class} {credits:>7}",
        row.number,
        ack.bytes,
        ack.segments,
        ack.newest_segment,
        ack.trigger,
        ack.wait_us,
        ack.since_last_us,
        ack.path_us,
    )
}

/// The class in the words of the table.
pub(super) fn short(class: AckClass) -> &'static str {
    match class {
        AckClass::Immediate => "now",
        AckClass::SecondSegment => "2nd",
        AckClass::Delayed => "late",
        AckClass::Piggybacked => "on data",
        AckClass::Other => "other",
    }
}

/// What the columns mean, for the foot of the output.
pub const LEGEND: &str = "\
newest: ordinal of the newest data segment it covers. trigger: packet that made the receiver answer.
wait: since the first unACKed data packet. last: since the last data packet. path: the path's share.
";

#[cfg(test)]
mod tests {
    use super::*;
    use tcplab_analyze::compat::Verdicts;
    use tcplab_analyze::trace::SegmentKind;
    use tcplab_base::Instant;

    #[test]
    fn one_line_for_each_ack_that_fits_a_terminal_of_100_columns() {
        let mut row = Row {
            number: 36,
            time: Instant::from_nanos(1_600_040_912_000),
            from_client: true,
            seq: 1,
            len: 0,
            flags: 16,
            ack: Some(17_409),
            window: 64_128,
            sack: Vec::new(),
            kind: SegmentKind::PureAck,
            spurious: false,
            acked: None,
            rtt_us: None,
            in_flight: 0,
            caqm: None,
            verdicts: Verdicts::default(),
        };
        let silent = row.clone();
        row.acked = Some(AckRow {
            class: AckClass::Delayed,
            bytes: 1024,
            segments: 1,
            newest_segment: 17,
            trigger: 35,
            wait_us: 40_912,
            since_last_us: 40_912,
            path_us: 300,
            credits: None,
        });
        let trace = StreamTrace::of(0, vec![silent, row]);
        let mut out = Vec::new();
        write(&Theme::default(), &trace, "a:1", "b:2", &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert!(lines[0].contains("ACKs of the client, a:1 → b:2"));
        assert_eq!(lines[1].len(), lines[2].len(), "{text}");
        assert!(lines[2].contains("40912") && lines[2].contains("late"));
        assert!(lines[2].len() <= 100);
    }
}
