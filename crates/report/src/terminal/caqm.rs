//! The table of CAQM's tags: one line for each side that sent some, in streams where somebody spoke of CAQM.

use tcplab_analyze::report::{CaqmOffer, CaqmTags, Direction, Stream};

use super::collect::heading;
use super::table::{Align, Cell, Table};
use super::{Theme, units};

/// Lines shown unless all are asked for.
const SHOWN: usize = 20;

/// What the table keeps.
#[derive(Debug)]
struct Line {
    stream: u32,
    from: &'static str,
    offer: &'static str,
    tags: CaqmTags,
}

/// The table in the making.
#[derive(Debug, Default)]
pub(super) struct Caqm {
    lines: Vec<Line>,
    /// Lines that are not kept.
    more: u64,
}

impl Caqm {
    /// Takes a stream; `all` keeps every line.
    pub fn stream(&mut self, s: &Stream, all: bool) {
        let offer = s.handshake.as_ref().and_then(|h| h.caqm);
        let sides = [
            ("client", &s.client_to_server),
            ("server", &s.server_to_client),
        ];
        let is_tagged = |d: &Direction| d.caqm_tags.is_some();
        if offer.is_none() && !sides.iter().any(|(_, d)| is_tagged(d)) {
            return;
        }
        for (from, direction) in sides {
            if !all && self.lines.len() >= SHOWN {
                self.more += 1;
                continue;
            }
            self.lines.push(Line {
                stream: s.stream,
                from,
                offer: word(offer),
                tags: direction.caqm_tags.as_deref().copied().unwrap_or_default(),
            });
        }
    }

    pub fn render(&self, theme: &Theme) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        let remark = match self.more {
            0 => String::new(),
            n => format!("{} more; --all shows all", units::plural(n, "line")),
        };
        let mut out = format!("\n{}\n", heading(theme, "CAQM", &remark));
        let wide = self.table(&WIDE);
        if wide.width() <= theme.width {
            out.push_str(&wide.render(theme));
        } else {
            out.push_str(&self.table(&REQUESTS).render(theme));
            out.push('\n');
            out.push_str(&self.table(&BYTES).render(theme));
        }
        out
    }

    /// With these of the columns.
    fn table(&self, columns: &[usize]) -> Table {
        let named: Vec<_> = columns.iter().filter_map(|i| COLUMNS.get(*i)).collect();
        let mut table = Table::new(&named.into_iter().copied().collect::<Vec<_>>());
        for line in &self.lines {
            let cells = cells(line);
            table.row(
                columns
                    .iter()
                    .filter_map(|i| cells.get(*i))
                    .cloned()
                    .collect(),
            );
        }
        table.drop_empty(&["0", "0 B"]);
        table
    }
}

/// All columns.
const WIDE: [usize; 15] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];
/// In a narrow terminal: what became of the requests, and below it the bytes.
const REQUESTS: [usize; 7] = [0, 1, 2, 4, 5, 6, 7];
const BYTES: [usize; 9] = [0, 2, 8, 9, 10, 11, 12, 13, 14];

const fn word(offer: Option<CaqmOffer>) -> &'static str {
    match offer {
        Some(CaqmOffer::Negotiated) => "yes",
        Some(CaqmOffer::NotAnswered) => "asked only",
        Some(CaqmOffer::NotAsked) => "not asked",
        Some(CaqmOffer::Ambiguous) => "or AccECN",
        None => "-",
    }
}

/// Requests and what became of them, then what the side told its peer.
const COLUMNS: [(&str, Align); 15] = [
    ("stream", Align::Right),
    ("agreed", Align::Left),
    ("from", Align::Left),
    ("asks", Align::Right),
    ("granted", Align::Right),
    ("refused", Align::Right),
    ("marked", Align::Right),
    ("both", Align::Right),
    ("last hop", Align::Right),
    ("asked", Align::Right),
    ("given", Align::Right),
    ("told", Align::Right),
    ("plus", Align::Right),
    ("minus", Align::Right),
    ("odd", Align::Right),
];

fn cells(line: &Line) -> Vec<Cell> {
    let t = &line.tags;
    let mut cells: Vec<Cell> = vec![
        line.stream.to_string().into(),
        line.offer.into(),
        line.from.into(),
    ];
    let counts = [
        t.requests,
        t.granted,
        t.refused,
        t.marked,
        t.contradictory,
        t.last_hop,
    ];
    cells.extend(counts.map(|n| Cell::from(units::count(n))));
    cells.extend([t.asked_bytes, t.granted_bytes].map(|n| Cell::from(units::bytes(n))));
    cells.push(units::count(t.feedback).into());
    let told = [t.feedback_plus_bytes, t.feedback_minus_bytes];
    cells.extend(told.map(|n| Cell::from(units::bytes(n))));
    cells.push(units::count(t.foreign + t.on_syn + t.oversize).into());
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcplab_analyze::report::Handshake;

    fn stream(number: u32) -> Stream {
        let mut s = Stream {
            stream: number,
            handshake: Some(Handshake {
                caqm: Some(CaqmOffer::Negotiated),
                ..Handshake::default()
            }),
            ..Stream::default()
        };
        s.client_to_server.caqm_tags = Some(Box::new(CaqmTags {
            requests: 12_345,
            granted: 12_000,
            refused: 300,
            marked: 45,
            last_hop: 45,
            asked_bytes: 12_641_280,
            granted_bytes: 12_288_000,
            ..CaqmTags::default()
        }));
        s.server_to_client.caqm_tags = Some(Box::new(CaqmTags {
            feedback: 6_000,
            feedback_plus_bytes: 12_288_000,
            ..CaqmTags::default()
        }));
        s
    }

    #[test]
    fn a_line_for_each_side_that_fits() {
        let mut caqm = Caqm::default();
        for number in 0..40 {
            caqm.stream(&stream(number), false);
        }
        for width in [80, 120, 160] {
            let color = false;
            let text = caqm.render(&Theme {
                color,
                width,
                ..Theme::default()
            });
            assert!(text.contains("60 lines more"), "{text}");
            assert_eq!(text.matches("12,000").count(), SHOWN / 2, "{text}");
            assert!(!text.contains("minus") && !text.contains("both"), "{text}");
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{line}");
            }
        }
    }

    #[test]
    fn caqm_is_unmentioned_if_neither_end_spoke() {
        let mut caqm = Caqm::default();
        caqm.stream(&Stream::default(), true);
        assert_eq!(caqm.render(&Theme::default()), "");
    }
}
