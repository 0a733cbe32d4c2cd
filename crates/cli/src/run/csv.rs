//! `tcplab run --csv`: the points as a table for other programs; with a folder also what happened over time.
//!
//! Every file has a heading. `point` is the number of the run, as in a result folder; values are plain numbers in the unit
//! that the heading says.

use std::collections::BTreeSet;
use std::path::Path;

use csv::Writer;
use tcplab_plan::Point;
use tcplab_plan::outcome::{End, Flow, LINK_SERIES, TCP_INFO_SERIES};
use tcplab_plan::result::{PointResult, RunDocument};

use crate::failure::Failure;
use crate::files::ResultFile;

/// One file: its name, its heading, and its rows as they are asked for.
struct Table<'a> {
    name: &'static str,
    heading: Vec<String>,
    rows: Box<dyn Iterator<Item = Vec<String>> + 'a>,
}

/// Whether a place is one file: by its name.
pub fn is_file(place: &Path) -> bool {
    let end = place.extension();
    end.is_some_and(|end| end.eq_ignore_ascii_case("csv"))
}

/// Makes the folder, so that a place that cannot be is told before the run.
pub fn prepare(place: &Path) -> Result<(), Failure> {
    match is_file(place) {
        true => Ok(()),
        false => std::fs::create_dir_all(place).map_err(|e| Failure::output(place, &e)),
    }
}

/// Writes a file of the points, or a folder of all tables that have rows.
pub fn write(place: &Path, document: &RunDocument, points: &[Point]) -> Result<(), Failure> {
    if is_file(place) {
        return put(place, of_points(document));
    }
    let tables = [
        of_points(document),
        connections(document),
        latencies(document),
        pings(document),
        tcp_info(document),
        links(document, points),
    ];
    for table in tables {
        put(&place.join(format!("{}.csv", table.name)), table)?;
    }
    Ok(())
}

fn put(path: &Path, table: Table<'_>) -> Result<(), Failure> {
    let mut rows = table.rows.peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    let failed = |e: csv::Error| Failure::output(path, &e.into());
    let mut out = Writer::from_writer(ResultFile::create(path)?);
    out.write_record(&table.heading).map_err(failed)?;
    for row in rows {
        out.write_record(&row).map_err(failed)?;
    }
    let file = out.into_inner();
    file.map_err(|e| Failure::output(path, e.error()))?.commit()
}

fn words<'a>(of: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    of.into_iter().map(str::to_owned).collect()
}

/// A row for each point: where it ran, its axes, its measures.
fn of_points(document: &RunDocument) -> Table<'_> {
    let axes = document.points.iter().flat_map(|point| point.axes.keys());
    let axes: BTreeSet<&String> = axes.collect();
    let mut heading = words(["point", "stack"]);
    heading.extend(axes.iter().map(|axis| (*axis).clone()));
    heading.extend(words(["seed", "cut_short", "error"]));
    heading.extend(document.measures.iter().map(|one| match one.unit.name() {
        "" => one.name.clone(),
        unit => format!("{} [{unit}]", one.name),
    }));
    let row = move |(at, point): (usize, &PointResult)| {
        let mut row = vec![at.to_string(), point.stack.clone()];
        row.extend(axes.iter().map(|axis| point.axis(axis)));
        row.push(point.seed.to_string());
        row.push(point.cut_short.to_string());
        row.push(point.error.clone().unwrap_or_default());
        row.extend(document.measures.iter().map(|one| {
            let value = point.measures.get(&one.name).copied().flatten();
            value.map_or(String::new(), |value| value.to_string())
        }));
        row
    };
    Table {
        name: "points",
        heading,
        rows: Box::new(document.points.iter().enumerate().map(row)),
    }
}

/// Every end of every connection, with its number of the point and what names it.
fn ends(document: &RunDocument) -> impl Iterator<Item = (Vec<String>, &Flow, &End)> {
    let points = document.points.iter().enumerate();
    points.flat_map(|(at, point)| {
        point.flows.iter().flat_map(move |flow| {
            let ends = [("client", &flow.client), ("server", &flow.server)];
            ends.map(|(name, end)| {
                let number = flow.connection.to_string();
                let names = vec![at.to_string(), flow.app.clone(), number, name.to_owned()];
                (names, flow, end)
            })
        })
    })
}

const END: [&str; 4] = ["point", "app", "connection", "end"];

fn connections(document: &RunDocument) -> Table<'_> {
    let own = [
        "client_port",
        "opened_ns",
        "closed_ns",
        "error",
        "written_bytes",
        "read_bytes",
        "completed",
    ];
    let time = |ns: Option<i64>| ns.map_or(String::new(), |ns| ns.to_string());
    let row = move |(mut names, flow, end): (Vec<String>, &Flow, &End)| {
        names.extend([
            flow.client_port.to_string(),
            time(end.opened_ns),
            time(end.closed_ns),
            end.error.clone().unwrap_or_default(),
            end.written_bytes.to_string(),
            end.read_bytes.to_string(),
            end.completed.to_string(),
        ]);
        names
    };
    Table {
        name: "connections",
        heading: words(END.into_iter().chain(own)),
        rows: Box::new(ends(document).map(row)),
    }
}

fn latencies(document: &RunDocument) -> Table<'_> {
    let rows = ends(document).flat_map(|(names, _, end)| {
        let numbered = end.latency_ns.iter().enumerate();
        let row = move |(at, ns): (usize, &i64)| {
            [names.clone(), vec![at.to_string(), ns.to_string()]].concat()
        };
        numbered.map(row)
    });
    Table {
        name: "latencies",
        heading: words(END.into_iter().chain(["transaction", "latency_ns"])),
        rows: Box::new(rows),
    }
}

fn pings(document: &RunDocument) -> Table<'_> {
    let rows = ends(document).flat_map(|(names, _, end)| {
        let row = move |(sent, answer): &(i64, Option<i64>)| {
            let answer = answer.map_or(String::new(), |ns| ns.to_string());
            [names.clone(), vec![sent.to_string(), answer]].concat()
        };
        end.pings.iter().map(row)
    });
    Table {
        name: "pings",
        heading: words(END.into_iter().chain(["sent_ns", "latency_ns"])),
        rows: Box::new(rows),
    }
}

/// A row of a series: what names it, the time, the values.
fn sample(names: &[String], (time, values): &(i64, Vec<i64>)) -> Vec<String> {
    let mut row = names.to_vec();
    row.push(time.to_string());
    row.extend(values.iter().map(i64::to_string));
    row
}

fn tcp_info(document: &RunDocument) -> Table<'_> {
    let rows = ends(document).flat_map(|(names, _, end)| {
        let series = end.tcp_info_series.iter();
        series.map(move |one| sample(&names, one))
    });
    let heading = END.into_iter().chain(["time_ns"]).chain(TCP_INFO_SERIES);
    Table {
        name: "tcp_info",
        heading: words(heading),
        rows: Box::new(rows),
    }
}

fn links<'a>(document: &'a RunDocument, points: &'a [Point]) -> Table<'a> {
    // Stacks one after the other, each with all points.
    let results = document.points.iter().enumerate();
    let rows = results
        .zip(points.iter().cycle())
        .flat_map(|((at, result), point)| {
            let host = |at: usize| point.hosts.get(at).map_or("", |host| host.name.as_str());
            point
                .links
                .iter()
                .zip(&result.link_series)
                .flat_map(move |(link, series)| {
                    let name = format!("{}-{}", host(link.a), host(link.b));
                    let ways = [("a_to_b", &series.a_to_b), ("b_to_a", &series.b_to_a)];
                    ways.into_iter().flat_map(move |(way, samples)| {
                        let names = [at.to_string(), name.clone(), way.to_owned()];
                        samples.iter().map(move |one| sample(&names, one))
                    })
                })
        });
    let heading = ["point", "link", "way", "time_ns"].into_iter();
    Table {
        name: "links",
        heading: words(heading.chain(LINK_SERIES)),
        rows: Box::new(rows),
    }
}
