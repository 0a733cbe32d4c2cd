//! `docs/experiment.md` lists every key of the form and every measure, in the words of the code.
//! `TCPLAB_WRITE_DOCS=1 cargo test -p tcplab-plan --test documents` writes the tables.

use std::fmt::Write;
use std::path::Path;

use tcplab_plan::measure::{APP, Direction, Known, LINK, LOG, PACKETS, RUN, Values};
use tcplab_plan::set::STATISTICS;
use tcplab_plan::{Experiment, Population};

/// Name, meaning, unit and direction of a measure.
fn row(known: &Known) -> String {
    let Values {
        unit, direction, ..
    } = known.values;
    let better = match direction {
        Direction::More => "more",
        Direction::Less => "less",
        Direction::Neither(_) => "",
    };
    let (name, meaning) = (known.name, known.meaning);
    format!("| `{name}` | {meaning} | {} | {better} |", unit.name())
}

/// The tables of measures.
fn measures() -> String {
    let mut out = String::from(
        "\n### `HOST.`, from the packets\n\n\
         These measures cover all TCP connections in the capture at that host, in the direction that the host sends; if a host talks to itself, they cover both directions. They are fields of \
         [`tcplab analyze --json`](analyze.md). The last column says how the values of several connections become one value.\n\n\
         | name | meaning | unit | better | of several |\n|---|---|---|---|---|\n",
    );
    for of in &PACKETS {
        let _ = writeln!(out, "{} {} |", row(&of.known), of.over.word());
    }
    for (title, known) in [
        ("`APP.`", &APP[..]),
        (
            "`APP.client.`, `APP.server.`, from the log (`log = true`)",
            &LOG,
        ),
        ("`link.A-B.a_to_b.`, `link.A-B.b_to_a.`", &LINK),
        ("`run.`", &RUN),
    ] {
        let _ = write!(
            out,
            "\n### {title}\n\n| name | meaning | unit | better |\n|---|---|---|---|\n"
        );
        for known in known {
            let _ = writeln!(out, "{}", row(known));
        }
    }
    out += "\n### `SET.SERIES.`, of the series of `kind = \"rrul\"` ([rrul.md](rrul.md))\n\n\
            Goodput is in Mbit/s (more is better). The time of a ping is in ms (less is better).\n\n\
            | name | meaning |\n|---|---|\n";
    for (name, meaning) in STATISTICS {
        let _ = writeln!(out, "| `{name}` | {meaning} |");
    }
    out
}

/// Puts `tables` between two marks.
fn with_section(text: &str, begin: &str, end: &str, tables: &str) -> String {
    let (head, rest) = text
        .split_once(begin)
        .unwrap_or_else(|| panic!("no mark {begin}"));
    let (_, tail) = rest
        .split_once(end)
        .unwrap_or_else(|| panic!("no mark {end}"));
    format!("{head}{begin}\n{tables}\n{end}{tail}")
}

#[test]
fn every_key_and_measure_is_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/experiment.md");
    let written = std::fs::read_to_string(&path).unwrap();
    let right = with_section(
        &written,
        "<!-- keys of the file -->",
        "<!-- end of keys -->",
        &Experiment::reference(),
    );
    let right = with_section(
        &right,
        "<!-- measures -->",
        "<!-- end of measures -->",
        &measures(),
    );
    if std::env::var_os("TCPLAB_WRITE_DOCS").is_some() {
        std::fs::write(&path, &right).unwrap();
        return;
    }
    let differs = written.lines().zip(right.lines()).find(|(w, r)| w != r);
    assert!(
        written == right,
        "docs/experiment.md is not what the code says; TCPLAB_WRITE_DOCS=1 cargo test -p tcplab-plan \
         --test documents writes it. First difference: {differs:?}"
    );
}

#[test]
fn every_key_of_a_population_is_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/population.md");
    let written = std::fs::read_to_string(&path).unwrap();
    let right = with_section(
        &written,
        "<!-- keys of a population -->",
        "<!-- end of keys -->",
        &Population::reference(),
    );
    if std::env::var_os("TCPLAB_WRITE_DOCS").is_some() {
        std::fs::write(&path, &right).unwrap();
        return;
    }
    assert!(
        written == right,
        "docs/population.md is not what the code says; TCPLAB_WRITE_DOCS=1 cargo test -p tcplab-plan \
         --test documents writes it"
    );
}
