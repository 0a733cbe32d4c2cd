//! The tables of a run: its points, and what happened over time.
//!
//! `point` is the number of the run, as in a result folder.

mod axes;
mod ends;
mod links;
mod summary;
mod verdicts;

use tcplab_plan::result::RunDocument;

use crate::field::{Field, Kind};
use crate::table::Table;

pub use verdicts::verdicts;

/// All tables of a run, those without rows as well.
pub fn all(document: &RunDocument) -> Vec<Table> {
    vec![
        points(document),
        summary::summary(document),
        ends::connections(document),
        ends::latencies(document),
        ends::pings(document),
        ends::tcp_info(document),
        links::series(document),
        links::totals(document),
        counters(document),
    ]
}

/// A row for each point: where it ran, its axes, its measures.
pub fn points(document: &RunDocument) -> Table {
    let axes = axes::axes(document);
    let mut fields = Field::all(&[
        ("point", Kind::Int, "Number of the run, from 0."),
        ("stack", Kind::Word, "Stack that it ran on."),
    ]);
    fields.extend(axes.iter().map(axes::Axis::field));
    let seed = match document
        .points
        .iter()
        .all(|p| i64::try_from(p.seed).is_ok())
    {
        true => Kind::Int,
        // Some need 64 bits.
        false => Kind::Unsigned,
    };
    fields.extend(Field::all(&[
        ("seed", seed, "Seed of the random streams."),
        ("cut_short", Kind::Flag, "The run reached its `max` first."),
        ("error", Kind::Text, "Why the point has no result."),
    ]));
    fields.extend(document.measures.iter().map(|one| Field {
        name: one.name.clone(),
        kind: Kind::Float,
        unit: one.unit.name().to_owned(),
        about: format!("Measure {} (docs/experiment.md).", one.name),
    }));
    let mut table = Table::new("points", fields);
    for (number, point) in document.numbered() {
        let mut row = table.row();
        row.int(number);
        row.text(&point.stack);
        axes.iter().for_each(|axis| axis.put(&mut row, point));
        match seed {
            Kind::Int => row.int(point.seed),
            _ => row.unsigned(Some(point.seed)),
        }
        row.flag(point.cut_short);
        row.maybe_text(point.error.as_deref());
        for one in &document.measures {
            row.float(point.measures.get(&one.name).copied().flatten());
        }
    }
    table
}

/// The kernel's counters of each host, by nstat's names.
fn counters(document: &RunDocument) -> Table {
    let mut table = Table::new(
        "counters",
        Field::all(&[
            ("point", Kind::Int, "Number of the run, from 0."),
            ("host", Kind::Word, "Name of the host."),
            ("counter", Kind::Word, "nstat's name of the counter."),
            ("value", Kind::Int, "Its difference over the run."),
        ]),
    );
    for (number, point) in document.numbered() {
        for (host, counters) in &point.counters {
            for (counter, value) in counters {
                let mut row = table.row();
                row.int(number);
                row.text(host);
                row.text(counter);
                row.int(*value);
            }
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_of_64_bits_is_preserved() {
        let of = |seeds: [u64; 2]| {
            let point = |seed| tcplab_plan::result::PointResult {
                seed,
                ..Default::default()
            };
            points(&RunDocument {
                points: seeds.map(point).into(),
                ..RunDocument::default()
            })
        };
        let seeds = |table: Table| table.plain().map(|row| row[2].clone()).collect::<Vec<_>>();
        let (few, many) = (of([7, 1]), of([7, u64::MAX]));
        assert_eq!(
            (few.fields[2].kind, many.fields[2].kind),
            (Kind::Int, Kind::Unsigned)
        );
        assert_eq!(seeds(few), ["7", "1"]);
        assert_eq!(seeds(many), ["7", "18446744073709551615"]);
    }
}
