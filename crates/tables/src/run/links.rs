//! Tables of links: samples over time, and what each did in all.

use tcplab_plan::outcome::LINK_SERIES;
use tcplab_plan::result::RunDocument;

use crate::field::{Field, Kind};
use crate::table::{Row, Table};

const NAMES: [(&str, Kind, &str); 3] = [
    ("point", Kind::Int, "Number of the run, from 0."),
    ("link", Kind::Word, "Name of the link, `a-b` by its hosts."),
    ("way", Kind::Word, "`a_to_b` or `b_to_a`."),
];

/// The name of a link; empty in results of older versions, which lack names.
fn name(names: &[String], at: usize) -> &str {
    names.get(at).map_or("", String::as_str)
}

fn names(row: &mut Row<'_>, point: usize, link: &str, way: &str) {
    row.int(point);
    row.text(link);
    row.text(way);
}

/// Samples over time (`run.link_every`).
pub(super) fn series(document: &RunDocument) -> Table {
    let abouts = [
        "Frames in the queue, the one on its way out included.",
        "Bytes in the queue.",
        "Bytes that came out since the run's start.",
        "Fewest bytes in the queue since the sample before.",
        "Most bytes in the queue since the sample before.",
    ];
    let mut fields = Field::all(&NAMES);
    fields.push(Field::new("time_ns", Kind::Int, "After the run's start."));
    let own = LINK_SERIES.iter().zip(abouts);
    fields.extend(own.map(|(name, about)| Field::new(*name, Kind::Int, about)));
    let mut table = Table::new("links", fields);
    for (point, result) in document.numbered() {
        for (at, series) in result.link_series.iter().enumerate() {
            let link = name(&result.link_names, at);
            for (way, samples) in [("a_to_b", &series.a_to_b), ("b_to_a", &series.b_to_a)] {
                for (time, values) in samples {
                    let mut row = table.row();
                    names(&mut row, point, link, way);
                    row.int(*time);
                    values.iter().for_each(|value| row.int(*value));
                }
            }
        }
    }
    table
}

/// What each way did.
pub(super) fn totals(document: &RunDocument) -> Table {
    let own = [
        ("frames", Kind::Int, "Frames that entered."),
        ("bytes", Kind::Int, "Bytes of them."),
        ("delivered", Kind::Int, "Frames that came out."),
        (
            "queue_drops",
            Kind::Int,
            "Frames that the queue dropped: it was full, or its qdisc chose so.",
        ),
        (
            "lost",
            Kind::Int,
            "Frames lost by the link's chance, a listed event, an outage or a rule of a middle box.",
        ),
        ("peak_pkts", Kind::Int, "The longest queue."),
    ];
    let mut table = Table::new("link_totals", Field::all(&[&NAMES[..], &own].concat()));
    for (point, result) in document.numbered() {
        for (at, link) in result.links.iter().enumerate() {
            for (way, count) in [("a_to_b", &link.a_to_b), ("b_to_a", &link.b_to_a)] {
                let mut row = table.row();
                names(&mut row, point, name(&result.link_names, at), way);
                row.int(count.frames);
                row.int(count.bytes);
                row.int(count.delivered);
                row.int(count.queue_drops);
                row.int(count.lost);
                row.int(count.peak_pkts);
            }
        }
    }
    table
}
