//! A table of points that fits into the terminal, for any names of measures.
//!
//! Four forms are tried in this order. Names on one line; names in several lines, broken behind `.`, `_` and `-`;
//! a line for each measure and a column for each point; several tables, each with the columns that identify the
//! point.

use super::Theme;
use super::table::{Align, Cell, Table};

/// What stands in the table, by names.
#[derive(Clone, Debug, Default)]
pub struct Points {
    /// What says which point it is: names, then the texts of each point.
    pub keys: Vec<String>,
    /// What was measured.
    pub measures: Vec<String>,
    /// For each point its keys and its measures.
    pub rows: Vec<(Vec<String>, Vec<String>)>,
}

/// Lines of a heading at most.
const TALL: usize = 4;
/// Letters that a part of a name has at least when it is broken.
const LEAST: usize = 8;

impl Points {
    /// Draws it into the theme's width.
    pub fn render(&self, theme: &Theme) -> String {
        let all: Vec<usize> = (0..self.measures.len()).collect();
        let fits = |table: &Table| table.width() <= theme.width;
        if let Some(table) = self.broken(&all, theme.width) {
            return table.render(theme);
        }
        let turned = self.turned();
        if fits(&turned) {
            return turned.render(theme);
        }
        // In as few tables as fit, of one measure at least.
        let parts = |n: &usize| {
            let parts = all.chunks(all.len().div_ceil(*n).max(1));
            let tables = parts.map(|part| self.broken(part, theme.width));
            tables.collect::<Option<Vec<Table>>>()
        };
        let tables = (2..=all.len()).find_map(|n| parts(&n));
        let tables = tables.unwrap_or_else(|| {
            let single = all.chunks(1).map(|one| self.across(one, LEAST));
            single.collect()
        });
        let tables: Vec<String> = tables.iter().map(|table| table.render(theme)).collect();
        tables.join("\n")
    }

    /// With names broken as little as needed; none: that is not enough.
    fn broken(&self, measures: &[usize], width: usize) -> Option<Table> {
        let longest = measures.iter().map(|m| self.measures[*m].chars().count());
        let longest = longest.max().unwrap_or(0).max(LEAST);
        let mut tables = (LEAST..=longest)
            .rev()
            .map(|most| self.across(measures, most));
        tables.find(|table| table.width() <= width && table.heading() <= TALL)
    }

    /// A row for each point, with parts of names of so many letters.
    fn across(&self, measures: &[usize], most: usize) -> Table {
        let names = measures
            .iter()
            .map(|m| (broken(&self.measures[*m], most), Align::Right));
        let keys = self.keys.iter().map(|key| (key.clone(), Align::Left));
        let columns: Vec<(String, Align)> = keys.chain(names).collect();
        let columns: Vec<(&str, Align)> = columns.iter().map(|(n, a)| (n.as_str(), *a)).collect();
        let mut table = Table::new(&columns);
        for (keys, values) in &self.rows {
            let values = measures.iter().map(|m| values[*m].clone());
            table.row(keys.iter().cloned().chain(values).map(Cell::from).collect());
        }
        table
    }

    /// A row for each measure.
    fn turned(&self) -> Table {
        let names = self.rows.iter().map(|(keys, _)| keys.join("\n"));
        let names: Vec<String> = std::iter::once(self.keys.join("\n")).chain(names).collect();
        let columns = names.iter().enumerate().map(|(i, name)| {
            let align = if i == 0 { Align::Left } else { Align::Right };
            (name.as_str(), align)
        });
        let mut table = Table::new(&columns.collect::<Vec<_>>());
        for (m, name) in self.measures.iter().enumerate() {
            let values = self.rows.iter().map(|(_, values)| values[m].as_str());
            table.row(
                std::iter::once(name.as_str())
                    .chain(values)
                    .map(Cell::from)
                    .collect(),
            );
        }
        table
    }
}

/// A name in lines of at most so many letters where it can be broken.
fn broken(name: &str, most: usize) -> String {
    let mut lines = vec![String::new()];
    for part in name.split_inclusive(['.', '_', '-', ' ']) {
        let line = lines.last_mut().expect("there is one");
        let both = line.chars().count() + part.trim_end().chars().count();
        match line.is_empty() || both <= most {
            true => line.push_str(part),
            false => lines.push(part.to_owned()),
        }
    }
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shape of examples/caqm-incast.toml.
    fn incast() -> Points {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        let row = |variant: &str, values: &[&str]| {
            let values = values.iter().map(|v| (*v).to_owned()).collect();
            (vec!["model".to_owned(), variant.to_owned()], values)
        };
        Points {
            keys: words("stack variant"),
            measures: words(
                "flow.goodput_bps flow.connection_bps.min flow.connection_bps.max \
                 link.switch-sink.a_to_b.queue_mean_bytes link.switch-sink.a_to_b.queue_p99_bytes \
                 link.switch-sink.a_to_b.queue_drops",
            ),
            rows: vec![
                row(
                    "caqm",
                    &[
                        "9.388 Gbit/s",
                        "4.695 Gbit/s",
                        "4.697 Gbit/s",
                        "133.2 kB",
                        "152.9 kB",
                        "0",
                    ],
                ),
                row(
                    "caqm-qt0",
                    &[
                        "4.092 Gbit/s",
                        "1.26 Gbit/s",
                        "2.831 Gbit/s",
                        "2.102 kB",
                        "10.56 kB",
                        "0",
                    ],
                ),
                row(
                    "cubic",
                    &[
                        "9.408 Gbit/s",
                        "4.367 Gbit/s",
                        "5.047 Gbit/s",
                        "3.244 MB",
                        "3.527 MB",
                        "146",
                    ],
                ),
            ],
        }
    }

    fn drawn(points: &Points, width: usize) -> String {
        let theme = Theme {
            width,
            ..Theme::default()
        };
        let text = points.render(&theme);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width), "{widest:?} of {width}\n{text}");
        text
    }

    #[test]
    fn names_are_broken_as_little_as_the_terminal_asks() {
        let wide = drawn(&incast(), 220);
        assert_eq!(wide.lines().count(), 4);
        assert_eq!(
            format!("\n{}", drawn(&incast(), 120)),
            "
                                                                             link.switch-     link.switch-  link.switch-
                                     flow.connection_  flow.connection_      sink.a_to_b.     sink.a_to_b.  sink.a_to_b.
  stack  variant   flow.goodput_bps           bps.min           bps.max  queue_mean_bytes  queue_p99_bytes   queue_drops
  model  caqm          9.388 Gbit/s      4.695 Gbit/s      4.697 Gbit/s          133.2 kB         152.9 kB             0
  model  caqm-qt0      4.092 Gbit/s       1.26 Gbit/s      2.831 Gbit/s          2.102 kB         10.56 kB             0
  model  cubic         9.408 Gbit/s      4.367 Gbit/s      5.047 Gbit/s          3.244 MB         3.527 MB           146
"
        );
    }

    #[test]
    fn a_narrow_terminal_gets_a_line_for_each_measure_or_several_tables() {
        let mut two = incast();
        two.rows.truncate(2);
        assert_eq!(
            format!("\n{}", drawn(&two, 74)),
            "
  stack                                            model         model
  variant                                           caqm      caqm-qt0
  flow.goodput_bps                          9.388 Gbit/s  4.092 Gbit/s
  flow.connection_bps.min                   4.695 Gbit/s   1.26 Gbit/s
  flow.connection_bps.max                   4.697 Gbit/s  2.831 Gbit/s
  link.switch-sink.a_to_b.queue_mean_bytes      133.2 kB      2.102 kB
  link.switch-sink.a_to_b.queue_p99_bytes       152.9 kB      10.56 kB
  link.switch-sink.a_to_b.queue_drops                  0             0
"
        );
        let text = drawn(&incast(), 80);
        assert_eq!(text.matches("variant").count(), 2, "{text}");
        assert_eq!(text.matches("caqm-qt0").count(), 2, "{text}");
        // All of it is there, however narrow.
        let narrow = drawn(&incast(), 40);
        assert!(
            narrow.contains("3.527 MB") && narrow.contains("146"),
            "{narrow}"
        );
    }

    #[test]
    fn a_name_breaks_where_its_parts_end() {
        assert_eq!(
            broken("link.switch-sink.a_to_b", 12),
            "link.switch-\nsink.a_to_b"
        );
        assert_eq!(
            broken("rrul.Ping (ms) avg.p99", 10),
            "rrul.Ping\n(ms) avg.\np99"
        );
        assert_eq!(broken("TcpExtDelayedACKs", 8), "TcpExtDelayedACKs");
    }
}
