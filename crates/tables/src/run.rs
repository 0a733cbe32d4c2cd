//! The tables of a run: its points, and what happened over time.
//!
//! `point` is the number of the run, as in a result folder.

mod ends;
mod links;
mod summary;

use std::collections::BTreeSet;

use tcplab_plan::result::{RunDocument, axis_text};

use crate::field::{Field, Kind};
use crate::table::Table;

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
    let axes = document.points.iter().flat_map(|point| point.axes.keys());
    let axes: BTreeSet<&String> = axes.collect();
    let mut fields = Field::all(&[
        ("point", Kind::Int, "Number of the run, from 0."),
        ("stack", Kind::Word, "Stack that it ran on."),
    ]);
    for axis in &axes {
        let about = format!("Value on the axis `{axis}`, as the experiment writes it.");
        let mut field = Field::new(axis.as_str(), Kind::Text, about);
        field.unit.clear();
        fields.push(field);
    }
    fields.extend(Field::all(&[
        ("seed", Kind::Int, "Seed of the random streams."),
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
    for (at, point) in document.points.iter().enumerate() {
        let mut row = table.row();
        row.int(at);
        row.text(&point.stack);
        for axis in &axes {
            let value = point.axes.get(*axis).map(axis_text);
            row.maybe_text(value.as_deref());
        }
        // As two's complement where it needs 64 bits.
        row.maybe(Some(point.seed as i64));
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
    for (at, point) in document.points.iter().enumerate() {
        for (host, counters) in &point.counters {
            for (counter, value) in counters {
                let mut row = table.row();
                row.int(at);
                row.text(host);
                row.text(counter);
                row.int(*value);
            }
        }
    }
    table
}
