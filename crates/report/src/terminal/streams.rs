//! The table of streams, the interesting ones first. Wide terminals get one line for each
//! stream, narrow ones two.

use crate::glossary::short;
use std::cmp::Reverse;
use std::fmt::Write;

use tcplab_analyze::findings::{Finding, Id, Need, Severity};
use tcplab_analyze::report::{AcksSent, Direction, RoundTripFrom, State, Stream};

use super::bars::Bar;
use super::collect::heading;
use super::findings::word;
use super::style::Ink;
use super::table::{Align, Cell, Table};
use super::{Theme, units, untold};

/// What the table keeps of a stream.
#[derive(Debug)]
pub(super) struct Row {
    /// Stream number.
    pub number: u32,
    client: String,
    server: String,
    packets: u64,
    sent: u64,
    received: u64,
    duration: String,
    retransmissions: u64,
    round_trip: String,
    acks: [u64; 5],
    state: State,
    is_checked: bool,
    /// It was written out before its end.
    is_early: bool,
    /// Written out early, and packets came or may have come later.
    lacks_end: bool,
    /// TCP waited, and perhaps no finding says why.
    has_waits: bool,
    finding: Option<(Severity, String)>,
    /// Where its time went, when it was counted.
    pub bar: Option<Bar>,
}

/// Index of the delayed ones among the classes of ACKs.
const LATE: usize = 2;

/// The column RTT: the round trip of the path, one meaning for every stream. Time stamps give an upper bound only.
fn round_trip(s: &Stream) -> String {
    let Some(trip) = s.round_trip else {
        return "-".to_owned();
    };
    let bound = match trip.from {
        RoundTripFrom::Handshake | RoundTripFrom::Acks => "",
        RoundTripFrom::TimeStamps => "≤ ",
    };
    format!("{bound}{}", units::micros(trip.us.p50.into()))
}

/// From the first packet to the last; a capture without times does not tell.
fn duration(s: &Stream) -> String {
    let untimed = s.not_checked.iter().any(|l| l.lacks == Need::PacketTimes);
    match s.duration_us {
        0 if untimed => "-".to_owned(),
        us => units::micros(us),
    }
}

/// Payload bytes of a direction, each once. Without the packets of the other side nobody can tell what is a repetition.
pub(crate) fn once(d: &Direction) -> u64 {
    d.unique_bytes.unwrap_or(d.data_bytes)
}

/// How many rows are shown, of how many streams.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    /// Streams in the capture.
    pub of: u64,
    /// Rows at most.
    pub limit: Option<usize>,
}

impl Row {
    pub fn new(s: &Stream) -> Self {
        let (c, r) = (&s.client_to_server, &s.server_to_client);
        let classes = |a: &AcksSent| {
            [
                a.immediate,
                a.second_segment,
                a.delayed,
                a.piggybacked,
                a.other,
            ]
        };
        let mut acks = classes(&c.acks_sent);
        for (sum, n) in acks.iter_mut().zip(classes(&r.acks_sent)) {
            *sum += n;
        }
        let mut row = Self {
            number: s.stream,
            client: s.client.clone(),
            server: s.server.clone(),
            packets: c.packets + r.packets,
            sent: once(c),
            received: once(r),
            duration: duration(s),
            retransmissions: c.retransmissions.total + r.retransmissions.total,
            round_trip: round_trip(s),
            acks,
            state: s.state,
            has_waits: untold::long(s).iter().any(|us| *us > 0),
            is_checked: s.not_checked.is_empty() && c.acks_sent.unclear + r.acks_sent.unclear == 0,
            is_early: s.reported_early,
            lacks_end: false,
            finding: None,
            bar: Bar::of(s),
        };
        let unlisted = s.unlisted.iter();
        unlisted.for_each(|(id, severity)| row.found(*id, *severity));
        row
    }

    /// Notes the most severe finding of the stream.
    pub fn finding(&mut self, f: &Finding) {
        if !f.id.is_about_the_capture() {
            self.found(f.id, f.severity);
        }
    }

    fn found(&mut self, id: Id, severity: Severity) {
        let worse = |(known, _): &(Severity, String)| severity < *known;
        if self.finding.as_ref().is_none_or(worse) {
            self.finding = Some((severity, word(&id)));
        }
    }

    /// Packets of streams that were written out early came later.
    pub fn lacks_end(&mut self) {
        self.lacks_end = self.is_early;
        self.is_checked &= !self.lacks_end;
    }

    /// Sorts the interesting ones first: findings by severity, trouble, size, number.
    pub fn rank(&self) -> impl Ord + use<> {
        let severity = self.finding.as_ref().map_or(3, |f| match f.0 {
            Severity::High => 0,
            Severity::Medium => 1,
            Severity::Info => 2,
        });
        let odd = matches!(self.state, State::HalfOpen | State::Refused);
        (
            severity,
            Reverse(odd),
            Reverse(self.retransmissions),
            Reverse(self.sent.saturating_add(self.received)),
            self.number,
        )
    }

    fn verdict(&self) -> (String, Option<Ink>) {
        if let Some((severity, id)) = &self.finding {
            return (short(id), Some(Ink::of(*severity)));
        }
        let text = match self.state {
            // Its answer may have come later.
            State::HalfOpen if self.lacks_end => self.calm(),
            State::HalfOpen => return ("no answer".into(), Some(Ink::Yellow)),
            State::Refused => return ("refused".into(), Some(Ink::Yellow)),
            State::Reset => "reset",
            State::Complete | State::Open | State::Middle => self.calm(),
        };
        (text.into(), None)
    }

    /// The verdict on a stream without a finding. "ok" is said where everything was looked at and nothing is left over.
    fn calm(&self) -> &'static str {
        let late = self.acks[LATE];
        match (self.retransmissions, late, self.is_checked) {
            (1.., _, _) => "resent, not explained",
            (0, 1.., _) => "late ACKs, not explained",
            (0, 0, _) if self.has_waits => "waits, not explained",
            (0, 0, false) => "partly checked",
            (0, 0, true) => "ok",
        }
    }
}

/// The table.
pub(super) fn render(theme: &Theme, rows: &[Row], shown: Shown) -> String {
    let rows = &rows[..rows.len().min(shown.limit.unwrap_or(usize::MAX))];
    let hidden = shown.of.saturating_sub(rows.len() as u64);
    let remark = match hidden {
        0 => String::new(),
        _ => format!(
            "{} of {}, the interesting ones first; --all shows all",
            rows.len(),
            units::count(shown.of)
        ),
    };
    let mut out = heading(theme, "Streams", &remark);
    out.push('\n');
    let wide = wide(rows);
    if wide.width() <= theme.width {
        out.push_str(&wide.render(theme));
    } else {
        narrow(theme, rows, &mut out);
    }
    out
}

const FIGURES: [(&str, Align); 11] = [
    ("packets", Align::Right),
    ("sent", Align::Right),
    ("received", Align::Right),
    ("time", Align::Right),
    ("retrans", Align::Right),
    ("RTT", Align::Right),
    ("ACKs now", Align::Right),
    ("2nd", Align::Right),
    ("late", Align::Right),
    ("on data", Align::Right),
    ("other", Align::Right),
];

fn figures(row: &Row) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![
        units::count(row.packets).into(),
        units::bytes(row.sent).into(),
        units::bytes(row.received).into(),
        row.duration.as_str().into(),
        units::count(row.retransmissions).into(),
        row.round_trip.as_str().into(),
    ];
    cells.extend(row.acks.iter().map(|n| Cell::from(units::count(*n))));
    cells
}

/// One line for each stream.
fn wide(rows: &[Row]) -> Table {
    let mut columns = vec![
        ("stream", Align::Right),
        ("client", Align::Left),
        ("server", Align::Left),
    ];
    columns.extend(FIGURES);
    columns.push(("verdict", Align::Left));
    let mut table = Table::new(&columns);
    for row in rows {
        let mut cells: Vec<Cell> = vec![
            row.number.to_string().into(),
            row.client.as_str().into(),
            row.server.as_str().into(),
        ];
        cells.extend(figures(row));
        cells.push(verdict(row));
        table.row(cells);
    }
    table.drop_empty(&["0", "-"]);
    table
}

fn verdict(row: &Row) -> Cell {
    match row.verdict() {
        (text, Some(ink)) => Cell::inked(text, ink),
        (text, None) => text.into(),
    }
}

/// Two lines for each stream: who and verdict, then the figures.
fn narrow(theme: &Theme, rows: &[Row], out: &mut String) {
    let mut table = Table::new(&FIGURES.map(|(name, align)| (short_heading(name), align)));
    for row in rows {
        table.row(figures(row));
    }
    table.drop_empty(&["0", "-"]);
    table.indent(8);
    let text = table.render(theme);
    let mut lines = text.lines();
    let title = format!("{:>8}  client → server: verdict", "stream");
    let _ = writeln!(out, "{}", theme.paint(Ink::Dim, &title));
    let _ = writeln!(out, "{}", lines.next().unwrap_or_default());
    for (row, figures) in rows.iter().zip(lines) {
        let (text, ink) = row.verdict();
        let verdict = ink.map_or_else(|| text.clone(), |ink| theme.paint(ink, &text));
        let number = theme.paint(Ink::Bold, &format!("{:>8}", row.number));
        let ends = row.client.chars().count() + row.server.chars().count() + 15;
        if ends + text.chars().count() <= theme.width {
            let _ = writeln!(out, "{number}  {} → {}: {verdict}", row.client, row.server);
        } else {
            let _ = writeln!(out, "{number}  {}", row.client);
            let _ = writeln!(out, "{:8}→ {}: {verdict}", "", row.server);
        }
        let _ = writeln!(out, "{figures}");
    }
}

fn short_heading(name: &str) -> &str {
    match name {
        "received" => "recvd",
        "retrans" => "retr",
        "ACKs now" => "ACK now",
        "on data" => "data",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcplab_analyze::findings::Lacks;

    fn stream(number: u32, client: &str) -> Stream {
        let mut s = Stream {
            stream: number,
            client: client.into(),
            server: client.into(),
            duration_us: 100_240_000,
            ..Stream::default()
        };
        s.client_to_server.data_bytes = 999_999_999;
        s.client_to_server.packets = 1_000_000;
        s.client_to_server.retransmissions.total = 12_345;
        s.server_to_client.acks_sent.delayed = 985;
        s.server_to_client.acks_sent.second_segment = 123_456;
        s
    }

    fn drawn(width: usize, client: &str) -> String {
        let rows: Vec<Row> = (0..3).map(|n| Row::new(&stream(n, client))).collect();
        let theme = Theme {
            width,
            ..Theme::default()
        };
        let shown = Shown { of: 3, limit: None };
        render(&theme, &rows, shown)
    }

    #[test]
    fn fits_narrow_and_wide_terminals() {
        for client in [
            "192.168.100.200:65535",
            "[2001:db8:1234:5678:abcd:ef01:2345:6789]:65535",
        ] {
            for width in [80, 100, 120, 160, 200] {
                let text = drawn(width, client);
                for line in text.lines() {
                    assert!(line.chars().count() <= width, "{width}: {line}");
                }
                assert_eq!(text.matches("985").count(), 3, "{text}");
            }
        }
    }

    #[test]
    fn repeated_bytes_count_once_where_that_is_known() {
        let mut s = stream(0, "10.0.0.1:1");
        s.client_to_server.unique_bytes = Some(200);
        s.server_to_client.data_bytes = 7;
        let row = Row::new(&s);
        assert_eq!((row.sent, row.received), (200, 7));
    }

    #[test]
    fn stream_without_its_end_is_partly_checked() {
        for state in [State::Complete, State::HalfOpen] {
            let mut row = Row::new(&Stream {
                state,
                reported_early: true,
                ..Stream::default()
            });
            assert_ne!(row.verdict().0, "partly checked");
            row.lacks_end();
            assert_eq!(row.verdict().0, "partly checked");
        }
    }

    /// What the capture lacks for some findings is no doubt about the answer.
    #[test]
    fn early_syn_without_a_later_packet_has_no_answer() {
        let mut row = Row::new(&Stream {
            state: State::HalfOpen,
            reported_early: true,
            not_checked: vec![Lacks {
                lacks: Need::Handshake,
                findings: vec![],
            }],
            ..Stream::default()
        });
        assert_eq!(row.verdict().0, "no answer");
        row.lacks_end();
        assert_eq!(row.verdict().0, "partly checked");
    }

    #[test]
    fn unlisted_finding_is_the_verdict() {
        let mut s = stream(0, "10.0.0.1:1");
        let id = Id::of("rto_stall").expect("an id");
        s.unlisted = vec![(id, Severity::High)];
        assert_eq!(Row::new(&s).verdict().0, "RTO stall");
    }

    #[test]
    fn a_finding_moves_a_stream_up() {
        let calm = Row::new(&stream(0, "10.0.0.1:1"));
        let mut hit = Row::new(&stream(1, "10.0.0.1:1"));
        hit.finding = Some((Severity::Info, "rto_stall".into()));
        assert!(hit.rank() < calm.rank());
        assert_eq!(hit.verdict().0, "RTO stall");
        assert_eq!(short("black_hole"), "black hole");
        assert_eq!(short("caqm_no_switch"), "CAQM: no switch");
    }
}
