//! The tables of a published test report (tests/compare/README.md: source and licence): changes recomputed, directions known, the alarm
//! that a retest dissolved, and what a careful reader would object to.

use std::path::Path;

use tcplab_compare::import::{Input, read};
use tcplab_compare::{
    Arm, Better, Comparison, FlagKind, Metric, Options, Row, Run, Verdict, compare,
};

fn seed(name: &str) -> Comparison {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/compare")
        .join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let input = Input { name, text: &text };
    let document = read(&input, None).unwrap();
    let [before, after] = document.arms.as_slice() else {
        panic!("two arms in {name}");
    };
    compare(before, after, &Options::default())
}

/// The change that was printed with a row.
fn stated(name: &str, row: &Row) -> f64 {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/compare")
        .join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let role = match row.label() {
        label if label.ends_with("(client)") => ",client,",
        label if label.ends_with("(server)") => ",server,",
        _ => ",",
    };
    let is_of = |line: &&str| line.starts_with(&format!("{},", row.metric)) && line.contains(role);
    let line = text.lines().find(is_of).unwrap();
    line.rsplit(',').next().unwrap().parse().unwrap()
}

#[test]
fn percent_changes_are_those_that_were_printed() {
    let found = seed("seed-netperf.csv");
    assert_eq!(found.rows.len(), 52);
    for row in &found.rows {
        let near = match row.metric.contains(" 1 B ") {
            true => 0.2,
            false => 0.01,
        };
        let gap = (row.change_percent.unwrap() - stated("seed-netperf.csv", row)).abs();
        // Printed with two digits: half of the last one is rounding.
        assert!(gap <= near + 0.005, "{}: {gap}", row.label());
        assert_eq!(row.verdict, Verdict::Undecided, "{}", row.label());
        assert!(
            row.why.starts_with("1 run per side decides nothing"),
            "{}",
            row.why
        );
    }
    let first = seed("seed-nginx-first.csv");
    for row in &first.rows {
        let gap = (row.change_percent.unwrap() - stated("seed-nginx-first.csv", row)).abs();
        assert!(gap <= 0.01, "{}: {gap}", row.label());
        assert_eq!(row.verdict, Verdict::Undecided);
    }
    let odd = |c: &Comparison| c.flags.iter().any(|f| f.kind == FlagKind::StatedChange);
    assert!(!odd(&found) && !odd(&first));
}

#[test]
fn latency_rows_know_their_direction() {
    let found = seed("seed-lmbench.csv");
    let (latency, bandwidth) = found.rows.split_at(2);
    for row in latency {
        // A fall by the per cent that was printed as an improvement.
        assert!(
            row.better == Better::Lower && row.is_gain() == Some(true),
            "{row:?}"
        );
        let gap = row.change_percent.unwrap() + stated("seed-lmbench.csv", row);
        // 15.93 and 15.63 are rounded themselves, to 0.03 of a per cent each.
        let near = if row.metric.starts_with("TCP") {
            0.06
        } else {
            0.01
        };
        assert!(gap.abs() <= near, "{}: {gap}", row.label());
    }
    for row in bandwidth {
        assert!(
            row.better == Better::Higher && row.is_gain() == Some(true),
            "{row:?}"
        );
        let gap = row.change_percent.unwrap() - stated("seed-lmbench.csv", row);
        assert!(gap.abs() <= 0.01, "{}: {gap}", row.label());
    }
    assert!(
        found
            .flags
            .iter()
            .all(|flag| flag.kind != FlagKind::StatedChange)
    );
}

#[test]
fn the_alarming_row_with_its_retests_is_no_effect() {
    let first = &seed("seed-nginx-first.csv").rows[0];
    assert!(first.change_percent.unwrap() < -6.5 && first.verdict == Verdict::Undecided);
    let found = seed("seed-nginx.csv");
    let row = &found.rows[0];
    assert!(row.change_percent.unwrap().abs() < 1.0, "{row:?}");
    let (low, high) = row.interval_percent.unwrap();
    assert!(low < -5.0 && high > 4.0, "{row:?}");
    assert!(
        row.verdict.is_open() && row.adjusted_p.unwrap() > 0.5,
        "{row:?}"
    );
    let flag = found
        .flags
        .iter()
        .find(|flag| flag.kind == FlagKind::NoiseAboveChange);
    assert!(flag.unwrap().text.contains("within the noise"), "{flag:?}");
    assert!(
        flag.unwrap().rows[0].starts_with("http short (7.2 %"),
        "{flag:?}"
    );
}

#[test]
fn opposite_signs_are_objected_to() {
    let found = seed("seed-netperf.csv");
    let flag = found
        .flags
        .iter()
        .find(|flag| flag.kind == FlagKind::OppositeSigns)
        .unwrap();
    let has = |part: &str| flag.rows.iter().any(|row| row.contains(part));
    assert!(
        has("TCP_RR pinned (client +8.92 %, server -15.17 %)"),
        "{flag:?}"
    );
    assert!(
        has("TCP_STREAM 512 B pinned (client +8.17 %, server -7.19 %)"),
        "{flag:?}"
    );
    assert!(!has("TCP_CRR"), "{flag:?}");
}

#[test]
fn counts_that_do_not_fit_are_objected_to() {
    let found = seed("seed-tests.csv");
    let rows = |kind: FlagKind| -> Vec<String> {
        let flags = found.flags.iter().filter(|flag| flag.kind == kind);
        flags.flat_map(|flag| flag.rows.clone()).collect()
    };
    assert_eq!(rows(FlagKind::MoreSkipped), ["ltp syscalls (439 to 466)"]);
    assert_eq!(
        rows(FlagKind::CountToldTwice),
        [
            "ltp syscalls in after (12226 passed; summary says 788, which is the count of ltp network)"
        ]
    );
    assert_eq!(
        rows(FlagKind::OtherTests),
        ["ltp syscalls (12623 to 12697)", "ltp network (458 to 802)"]
    );
    assert_eq!(
        rows(FlagKind::CountsDoNotAddUp),
        [
            "packetdrill in before (399 counted, 468 told)",
            "packetdrill in after (399 counted, 468 told)"
        ]
    );
    let verdict = |name: &str| {
        found
            .counts
            .iter()
            .find(|c| c.name == name)
            .unwrap()
            .verdict
    };
    assert_eq!(verdict("ltp network"), Verdict::Worse);
    assert_eq!(verdict("ltp syscalls"), Verdict::Differs);
    assert_eq!(verdict("packetdrill"), Verdict::Equal);
}

#[test]
fn a_missing_first_cell_is_objected_to() {
    let text = ",unit,better,before,after\nTCP_RR,1/s,higher,1,2\n,1/s,higher,3,4\n";
    let input = Input {
        name: "x.csv",
        text,
    };
    let document = read(&input, None).unwrap();
    let found = compare(&document.arms[0], &document.arms[1], &Options::default());
    let flag = found
        .flags
        .iter()
        .find(|flag| flag.kind == FlagKind::MissingCell)
        .unwrap();
    assert_eq!(flag.rows.len(), 2, "{flag:?}");
    assert!(
        flag.rows[0].contains("line 3") && flag.rows[0].contains("`TCP_RR`"),
        "{flag:?}"
    );
}

#[test]
fn units_of_one_quantity_are_converted_and_others_refused() {
    let arm = |name: &str, unit: &str, values: [f64; 3]| {
        let mut arm = Arm::named(name);
        let runs = values.map(Run::of).to_vec();
        arm.metrics.push(Metric {
            runs,
            ..Metric::new("rate", unit, Better::Higher)
        });
        arm
    };
    let against = |before: (&str, [f64; 3]), after: (&str, [f64; 3])| {
        let before = arm("before", before.0, before.1);
        compare(
            &before,
            &arm("after", after.0, after.1),
            &Options::default(),
        )
    };
    let (mega, giga) = ([900.0, 1_000.0, 1_100.0], [0.9, 1.0, 1.1]);
    let up = against(("Mbit/s", mega), ("Gbit/s", giga));
    let row = &up.rows[0];
    assert_eq!(
        (row.unit.as_str(), row.change_percent),
        ("Mbit/s", Some(0.0))
    );
    assert_eq!(row.runs_after, mega);
    let flag = up.flags.iter().find(|f| f.kind == FlagKind::Converted);
    assert_eq!(flag.unwrap().rows, ["rate (Gbit/s after, shown in Mbit/s)"]);
    let down = against(("Gbit/s", giga), ("Mbit/s", mega));
    assert_eq!(
        (down.rows[0].unit.as_str(), &down.rows[0].runs_after[..]),
        ("Gbit/s", &giga[..])
    );
    assert_ne!(down.rows[0].verdict, Verdict::Invalid);
    let other = against(("Mbit/s", mega), ("MB/s", giga));
    assert_eq!(other.rows[0].verdict, Verdict::Invalid);
    assert!(other.flags.iter().any(|f| f.kind == FlagKind::Units));
    assert!(!other.flags.iter().any(|f| f.kind == FlagKind::Converted));
}
