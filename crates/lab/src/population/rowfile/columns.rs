//! The columns of a row: names with units, what they mean, and where their values come from.

use std::fmt::Write;

use tcplab_plan::population::{Drawn, LossKind};
use tcplab_sim::{Ended, World};
use tcplab_tcp::{COUNTERS as NAMES, Counter};

use super::cells::{put_int, put_ints, put_maybe, put_text};
use crate::population::sums::{COUNTERS, microseconds};

/// A connection that has run in an arm.
pub(crate) struct Seen<'a> {
    pub(crate) drawn: &'a Drawn,
    /// The arm's name.
    pub(crate) arm: &'a str,
    pub(crate) world: &'a World,
    /// The server's place among the hosts.
    pub(crate) server: usize,
}

impl Seen<'_> {
    /// The client's end, or the server's. A connection that the server never had has nothing.
    fn ended(&self, is_client: bool) -> Ended<'_> {
        self.world.ended(0, is_client).unwrap_or_default()
    }

    fn outcome(&self) -> &'static str {
        match self.world.responses().len() < self.drawn.responses.len() {
            _ if self.world.is_cut_short() => "cut_short",
            true => "unfinished",
            false => "done",
        }
    }
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A whole number.
    Int,
    /// One, or null.
    Maybe,
    /// A list of whole numbers.
    Ints,
    /// A text, or null.
    Text,
}

impl Kind {
    fn words(self) -> &'static str {
        match self {
            Self::Int => "integer",
            Self::Maybe => "integer or null",
            Self::Ints => "list of integers",
            Self::Text => "text",
        }
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
enum Get {
    Int(fn(&Seen<'_>) -> i64),
    Maybe(fn(&Seen<'_>) -> Option<i64>),
    Ints(fn(&Seen<'_>) -> Vec<i64>),
    Text(for<'a> fn(&'a Seen<'_>) -> Option<&'a str>),
    Counter(Counter),
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    get: Get,
    meaning: &'static str,
}

impl Column {
    pub(crate) fn kind(&self) -> Kind {
        match self.get {
            Get::Int(_) | Get::Counter(_) => Kind::Int,
            Get::Maybe(_) => Kind::Maybe,
            Get::Ints(_) => Kind::Ints,
            Get::Text(_) => Kind::Text,
        }
    }
}

const fn column(name: &'static str, get: Get, meaning: &'static str) -> Column {
    Column { name, get, meaning }
}

/// What was drawn: the names of `tcplab population connection --json`.
const DRAWN: &[Column] = &[
    column(
        "connection",
        Get::Int(|s| s.drawn.number as i64),
        "number; `tcplab population connection FILE NUMBER` runs it again; its group is the number modulo 2,048",
    ),
    column("arm", Get::Text(|s| Some(s.arm)), "the arm's name"),
    column("rtt_ns", Get::Int(|s| s.drawn.rtt_ns), "RTT without queues"),
    column(
        "rate_bps",
        Get::Int(|s| s.drawn.rate_bps as i64),
        "bottleneck rate, both ways",
    ),
    column(
        "buffer_bytes",
        Get::Int(|s| s.drawn.buffer_bytes as i64),
        "bottleneck queue",
    ),
    column(
        "jitter_ns",
        Get::Int(|s| s.drawn.jitter_ns),
        "mean of the exponential jitter",
    ),
    column(
        "loss",
        Get::Text(|s| {
            Some(match s.drawn.loss {
                LossKind::None => "none",
                LossKind::Independent(_) => "independent",
                LossKind::Bursts(_) => "bursts",
            })
        }),
        "losses outside full queues: `none`, `independent`, `bursts`",
    ),
    column(
        "loss_ppb",
        Get::Int(|s| match s.drawn.loss {
            LossKind::None => 0,
            LossKind::Independent(ppb) | LossKind::Bursts(ppb) => i64::from(ppb),
        }),
        "mean loss in the data's direction, parts per billion (10^9)",
    ),
    column(
        "outage_from_ns",
        Get::Maybe(|s| s.drawn.outage.map(|o| o.from_ns)),
        "start of an outage, after the run's start; null if none",
    ),
    column(
        "outage_until_ns",
        Get::Maybe(|s| s.drawn.outage.and_then(|o| o.until_ns)),
        "end of the outage; null if it never ends",
    ),
    column(
        "reorder_least_ns",
        Get::Maybe(|s| (s.drawn.faults.reorder_ppb > 0).then_some(s.drawn.faults.reorder_least_ns)),
        "least extra delay of an overtaken data packet; null if none",
    ),
    column(
        "reorder_most_ns",
        Get::Maybe(|s| (s.drawn.faults.reorder_ppb > 0).then_some(s.drawn.faults.reorder_ns)),
        "largest extra delay of an overtaken data packet",
    ),
    column(
        "client",
        Get::Int(|s| s.drawn.client as i64),
        "client's place in `clients`, from 0",
    ),
    column(
        "client_timeout_ns",
        Get::Int(|s| s.drawn.client_timeout_ns),
        "time after which the client stops waiting for its socket",
    ),
    column(
        "server_timeout_ns",
        Get::Int(|s| s.drawn.server_timeout_ns),
        "time after which the server stops waiting for its socket",
    ),
    column(
        "request_bytes",
        Get::Int(|s| s.drawn.request_bytes as i64),
        "size of each request",
    ),
    column(
        "response_bytes",
        Get::Ints(|s| s.drawn.responses.iter().map(|n| *n as i64).collect()),
        "drawn size of each response",
    ),
    column(
        "think_ns",
        Get::Ints(|s| s.drawn.think_ns.clone()),
        "time before each request but the first",
    ),
];

/// The outcome.
const CAME: &[Column] = &[
    column(
        "outcome",
        Get::Text(|s| Some(s.outcome())),
        "`done`: every response was fully ACKed; `unfinished`: some were not; `cut_short`: the run's limit of one hour ended it",
    ),
    column(
        "latency_us",
        Get::Ints(|s| {
            let responses = s.world.responses().iter();
            responses.map(|r| i64::from(microseconds(r.took))).collect()
        }),
        "each fully ACKed response, in order: first byte sent to last byte ACKed, at the server",
    ),
    column(
        "recovery_us",
        Get::Ints(|s| {
            let recoveries = s.world.recoveries(s.server).iter();
            recoveries.map(|us| i64::from(*us)).collect()
        }),
        "duration of each completed recovery (TCPRecovLat)",
    ),
    column(
        "client_opened_ns",
        Get::Maybe(|s| s.ended(true).opened_ns),
        "time from the run's start until the client was connected; null if never",
    ),
    column(
        "client_closed_ns",
        Get::Maybe(|s| s.ended(true).closed_ns),
        "when the client's application was done",
    ),
    column(
        "client_error",
        Get::Text(|s| s.ended(true).error),
        "error that ended the client's connection (`ETIMEDOUT`); `ETIME`: the client gave up waiting for its socket; null if none",
    ),
    column(
        "server_opened_ns",
        Get::Maybe(|s| s.ended(false).opened_ns),
        "when the server accepted the connection; null if never",
    ),
    column(
        "server_closed_ns",
        Get::Maybe(|s| s.ended(false).closed_ns),
        "when the server's application was done",
    ),
    column(
        "server_error",
        Get::Text(|s| s.ended(false).error),
        "error that ended the server's connection, as in `client_error`",
    ),
];

/// All columns in their order: draws, what came of it, the server's counters by nstat's names.
pub(crate) fn columns() -> Vec<Column> {
    let counters = COUNTERS.iter().map(|counter| {
        let name = NAMES.iter().find(|(c, _)| c == counter);
        let name = name.map_or("?", |(_, name)| *name);
        column(name, Get::Counter(*counter), "the server's counter")
    });
    DRAWN.iter().chain(CAME).copied().chain(counters).collect()
}

/// Adds the bytes of a row.
pub(crate) fn put(columns: &[Column], seen: &Seen<'_>, out: &mut Vec<u8>) {
    for column in columns {
        match column.get {
            Get::Int(get) => put_int(out, get(seen)),
            Get::Maybe(get) => put_maybe(out, get(seen)),
            Get::Ints(get) => put_ints(out, &get(seen)),
            Get::Text(get) => put_text(out, get(seen)),
            Get::Counter(counter) => {
                put_int(out, seen.world.counter(seen.server, counter) as i64);
            }
        }
    }
}

/// The columns as a Markdown table, for `docs/population.md`.
pub fn reference() -> String {
    let mut out = "\n| column | holds | meaning |\n|---|---|---|\n".to_owned();
    for column in DRAWN.iter().chain(CAME) {
        let (name, kind) = (column.name, column.kind().words());
        let _ = writeln!(out, "| `{name}` | {kind} | {} |", column.meaning);
    }
    let counters = columns();
    let names: Vec<String> = counters[DRAWN.len() + CAME.len()..]
        .iter()
        .map(|column| format!("`{}`", column.name))
        .collect();
    let _ = writeln!(
        out,
        "| {} | integer | the server's counters by nstat's names |",
        names.join(", ")
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_name_of_its_own() {
        let mut names: Vec<&str> = columns().iter().map(|c| c.name).collect();
        let all = names.len();
        assert!(!names.contains(&"?"));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    /// `TCPLAB_WRITE_DOCS=1 cargo test -p tcplab-lab columns` writes the table.
    #[test]
    fn the_columns_are_documented() {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/population.md");
        let written = std::fs::read_to_string(&path).unwrap();
        let [begin, end] = ["<!-- columns of a row -->", "<!-- end of columns -->"];
        let (head, rest) = written.split_once(begin).unwrap();
        let (_, tail) = rest.split_once(end).unwrap();
        let right = format!("{head}{begin}\n{}\n{end}{tail}", reference());
        if std::env::var_os("TCPLAB_WRITE_DOCS").is_some() {
            return std::fs::write(&path, &right).unwrap();
        }
        assert!(
            written == right,
            "docs/population.md is not what the code says; TCPLAB_WRITE_DOCS=1 cargo test -p tcplab-lab columns writes it"
        );
    }
}
