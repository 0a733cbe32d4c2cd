//! Where the time of streams and requests went.

use tcplab_analyze::budget::Class;
use tcplab_analyze::report::Stream;
use tcplab_analyze::trace::StreamTrace;

use crate::field::{Field, Kind};
use crate::table::Table;

const NAMES: [(&str, Kind, &str); 2] = [
    ("file", Kind::Word, "Capture."),
    ("stream", Kind::Int, "Number of the stream, as tcp.stream."),
];
const CLASS: (&str, Kind, &str) = (
    "class",
    Kind::Word,
    "What the time went to (docs/analyze.md).",
);

pub(super) fn table() -> Table {
    let time = ("time_us", Kind::Int, "How long.");
    Table::new("budget", Field::all(&[&NAMES[..], &[CLASS, time]].concat()))
}

/// The parts of a stream's life, which sum to it.
pub(super) fn rows(table: &mut Table, file: &str, stream: &Stream) {
    for (class, us) in stream.budget_us.parts() {
        let mut row = table.row();
        row.text(file);
        row.int(stream.stream);
        row.text(class.name());
        row.int(us);
    }
}

pub(super) fn spans_table() -> Table {
    let own = [
        (
            "from_us",
            Kind::Int,
            "Where it begins, after the first packet of the stream.",
        ),
        ("to_us", Kind::Int, "Where it ends."),
        CLASS,
    ];
    Table::new("spans", Field::all(&[&NAMES[..], &own].concat()))
}

/// Stretches of a stream's life without a gap.
pub(super) fn spans(table: &mut Table, file: &str, trace: &StreamTrace) {
    for span in &trace.spans {
        let mut row = table.row();
        row.text(file);
        row.int(trace.stream);
        row.int(span.from_us);
        row.int(span.to_us);
        row.text(span.class.name());
    }
}

pub(super) fn requests_table() -> Table {
    let own = [
        ("request", Kind::Int, "Number within the stream, from 0."),
        ("packet", Kind::Int, "Frame number of its first packet."),
        (
            "start_us",
            Kind::Int,
            "Its first packet, after that of the stream.",
        ),
        (
            "duration_us",
            Kind::Int,
            "From its first packet to the last of the answer.",
        ),
        ("request_bytes", Kind::Int, "Payload of the request."),
        ("response_bytes", Kind::Int, "Payload of the answer."),
    ];
    let mut fields = Field::all(&[&NAMES[..], &own].concat());
    fields.extend(Class::ALL.iter().map(|class| {
        let about = format!("Of its duration: {}.", class.words());
        Field::new(format!("{}_us", class.name()), Kind::Int, about)
    }));
    Table::new("requests", fields)
}

/// Requests and their answers.
pub(super) fn requests(table: &mut Table, file: &str, stream: &Stream) {
    for (at, request) in stream.requests.iter().enumerate() {
        let mut row = table.row();
        row.text(file);
        row.int(stream.stream);
        row.int(at);
        row.int(request.packet);
        row.int(request.start_us);
        row.int(request.duration_us);
        row.int(request.request_bytes);
        row.int(request.response_bytes);
        for class in Class::ALL {
            row.int(request.budget_us.of(class));
        }
    }
}
