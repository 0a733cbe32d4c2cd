//! Tables with a row for each end of a connection, or for something that it did.

use tcplab_plan::outcome::{End, Flow, TCP_INFO_SERIES};
use tcplab_plan::result::RunDocument;

use crate::field::{Field, Kind};
use crate::table::{Row, Table};

/// An end: the number of its point, its connection, which one of the two it is.
#[derive(Clone, Copy)]
struct Which<'a> {
    point: usize,
    flow: &'a Flow,
    name: &'static str,
    end: &'a End,
}

/// The columns that name an end.
const NAMES: [(&str, Kind, &str); 4] = [
    ("point", Kind::Int, "Number of the run, from 0."),
    ("app", Kind::Word, "Name of the application."),
    (
        "connection",
        Kind::Int,
        "Number of the connection within the application, from 0.",
    ),
    ("end", Kind::Word, "`client` or `server`."),
];

impl Which<'_> {
    fn names(&self, row: &mut Row<'_>) {
        row.int(self.point);
        row.text(&self.flow.app);
        row.int(self.flow.connection);
        row.text(self.name);
    }
}

fn ends(document: &RunDocument) -> impl Iterator<Item = Which<'_>> {
    let points = document.numbered();
    points.flat_map(|(point, result)| {
        result.flows.iter().flat_map(move |flow| {
            let ends = [("client", &flow.client), ("server", &flow.server)];
            ends.map(|(name, end)| Which {
                point,
                flow,
                name,
                end,
            })
        })
    })
}

fn table(name: &'static str, own: &[(&str, Kind, &str)]) -> Table {
    Table::new(name, Field::all(&[&NAMES, own].concat()))
}

pub(super) fn connections(document: &RunDocument) -> Table {
    let own = [
        ("client_port", Kind::Int, "Port of the client."),
        (
            "opened_ns",
            Kind::Int,
            "When it was connected or accepted, after the run's start; missing: it never was.",
        ),
        (
            "closed_ns",
            Kind::Int,
            "When its application was done with it, after the run's start.",
        ),
        ("error", Kind::Text, "Error that ended it (`ETIMEDOUT`)."),
        (
            "written_bytes",
            Kind::Int,
            "Bytes that its application wrote.",
        ),
        ("read_bytes", Kind::Int, "Bytes that its application read."),
        (
            "completed",
            Kind::Int,
            "Transactions or writes that its application completed.",
        ),
    ];
    let mut table = table("connections", &own);
    for which in ends(document) {
        let end = which.end;
        let mut row = table.row();
        which.names(&mut row);
        row.int(which.flow.client_port);
        row.maybe(end.opened_ns);
        row.maybe(end.closed_ns);
        row.maybe_text(end.error.as_deref());
        row.int(end.written_bytes);
        row.int(end.read_bytes);
        row.int(end.completed);
    }
    table
}

pub(super) fn latencies(document: &RunDocument) -> Table {
    let own = [
        ("transaction", Kind::Int, "Its number, from 0."),
        ("latency_ns", Kind::Int, "Time that it took."),
    ];
    let mut table = table("latencies", &own);
    for which in ends(document) {
        for (at, ns) in which.end.latency_ns.iter().enumerate() {
            let mut row = table.row();
            which.names(&mut row);
            row.int(at);
            row.int(*ns);
        }
    }
    table
}

pub(super) fn pings(document: &RunDocument) -> Table {
    let own = [
        (
            "sent_ns",
            Kind::Int,
            "When it was sent, after the run's start.",
        ),
        (
            "latency_ns",
            Kind::Int,
            "Time to its answer; missing: it was lost.",
        ),
    ];
    let mut table = table("pings", &own);
    for which in ends(document) {
        for (sent, answer) in &which.end.pings {
            let mut row = table.row();
            which.names(&mut row);
            row.int(*sent);
            row.maybe(*answer);
        }
    }
    table
}

/// Samples of `struct tcp_info`, in the kernel's units.
pub(super) fn tcp_info(document: &RunDocument) -> Table {
    let mut fields = Field::all(&NAMES);
    fields.push(Field::new("time_ns", Kind::Int, "After the run's start."));
    fields.extend(TCP_INFO_SERIES.iter().map(|name| {
        let about = format!("{name} of getsockopt(TCP_INFO).");
        let unit = match *name {
            "tcpi_rtt" | "tcpi_rttvar" | "tcpi_rto" | "tcpi_ato" => "us",
            "tcpi_bytes_acked" | "tcpi_bytes_received" => "bytes",
            _ => "packets",
        };
        let mut field = Field::new(*name, Kind::Int, about);
        unit.clone_into(&mut field.unit);
        field
    }));
    let mut table = Table::new("tcp_info", fields);
    for which in ends(document) {
        for (time, values) in &which.end.tcp_info_series {
            let mut row = table.row();
            which.names(&mut row);
            row.int(*time);
            values.iter().for_each(|value| row.int(*value));
        }
    }
    table
}
