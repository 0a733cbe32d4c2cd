//! Reports of failed runs, and files that contradict themselves: none of them is judged silently.

use tcplab_compare::import::{Input, read};
use tcplab_compare::{
    Arm, Better, Comparison, FlagKind, Metric, Options, Row, Run, Verdict, compare,
};

fn arms(text: &str) -> Vec<Arm> {
    read(&Input { name: "f", text }, None).unwrap().arms
}

fn error(text: &str) -> String {
    read(&Input { name: "f", text }, None)
        .unwrap_err()
        .to_string()
}

/// Several files a side.
fn compared(before: &[String], after: &[String]) -> Comparison {
    let side = |files: &[String]| {
        let mut all = files.iter().map(|text| arms(text).remove(0));
        let mut arm = all.next().unwrap();
        all.for_each(|other| arm.absorb(other));
        arm
    };
    compare(&side(before), &side(after), &Options::default())
}

/// A CSV file with both arms.
fn csv(text: &str) -> Comparison {
    let arms = arms(text);
    compare(&arms[0], &arms[1], &Options::default())
}

fn flag(found: &Comparison, kind: FlagKind) -> &[String] {
    let flag = found.flags.iter().find(|flag| flag.kind == kind);
    flag.map_or(&[], |flag| flag.rows.as_slice())
}

fn iperf3(seconds: u32, bits_per_second: &str, retransmits: u32, began: u32) -> String {
    format!(
        r#"{{"start":{{"timestamp":{{"timesecs":{began}}},"test_start":{{"protocol":"TCP","duration":{seconds},"bytes":0}}}},
        "end":{{"sum_sent":{{"bits_per_second":{bits_per_second},"retransmits":{retransmits}}}}}}}"#
    )
}

fn row<'a>(found: &'a Comparison, name: &str) -> &'a Row {
    let is_it = |row: &&Row| row.metric.starts_with(name);
    found.rows.iter().find(is_it).unwrap()
}

#[test]
fn zero_throughput_is_a_value_and_a_missing_one_a_failure() {
    let good = |at: u32| iperf3(10, "1e9", 3, at);
    let before: Vec<String> = (0..8).map(|n| good(2 * n)).collect();
    let after: Vec<String> = (0..8)
        .map(|n| iperf3(10, if n % 2 == 0 { "0" } else { "1e9" }, 3, 2 * n + 1))
        .collect();
    let stalled = compared(&before, &after);
    assert_eq!(row(&stalled, "TCP throughput").after, Some(5e8));
    let lost = compared(&before[..1], &[iperf3(10, "null", 3, 1)]);
    assert_eq!(
        flag(&lost, FlagKind::FailedRun),
        ["TCP throughput in f: `sum_sent` has no `bits_per_second`"]
    );
}

#[test]
fn totals_of_different_durations_are_not_compared() {
    let found = compared(&[iperf3(1, "1e9", 1, 1)], &[iperf3(10, "1e9", 10, 2)]);
    let again = row(&found, "TCP retransmissions");
    assert_eq!(
        (again.verdict, again.why.as_str()),
        (Verdict::Invalid, "a total over 1 s before, over 10 s after")
    );
    assert_eq!(
        flag(&found, FlagKind::OtherSettings),
        ["duration (1 s before, 10 s after)"]
    );
}

#[test]
fn cells_beyond_the_header_are_refused() {
    let told = error("metric,unit,better,arm,value\nx,Mbit/s,higher,before,1,010\n");
    assert!(told.contains("line 2") && told.contains("`010`"), "{told}");
    // Separators at the end of a line hold nothing.
    arms("metric,unit,better,arm,value\nx,Mbit/s,higher,before,1,,\n");
}

#[test]
fn a_line_without_a_value_is_a_failed_run() {
    let text = "metric,unit,better,arm,block,blok,value\n\
        x,ms,lower,before,0,,1\nx,ms,lower,after,0,,2\nx,ms,lower,before,1,,1\nx,ms,lower,after,1\n";
    let found = csv(text);
    assert_eq!(
        flag(&found, FlagKind::FailedRun),
        ["x in after: line 5 has no value"]
    );
    assert_eq!(
        flag(&found, FlagKind::Note),
        ["f: line 1: not used: column `blok`"]
    );
}

#[test]
fn blocks_whose_runs_lie_apart_in_time_are_no_pairs() {
    let line = |arm, block, order, value| format!("x,ms,lower,{arm},{block},{order},{value}\n");
    let text = |order: &dyn Fn(u32, u32) -> u32| {
        let mut text = "metric,unit,better,arm,block,order,value\n".to_owned();
        for block in 0..6 {
            text += &line("before", block, order(0, block), 100 + block);
            text += &line("after", block, order(1, block), 110 + block);
        }
        csv(&text)
    };
    let alternating = text(&|arm, block| 2 * block + arm);
    assert!(alternating.rows[0].paired && flag(&alternating, FlagKind::NotInterleaved).is_empty());
    let apart = text(&|arm, block| 6 * arm + block);
    assert!(!apart.rows[0].paired);
    assert_eq!(flag(&apart, FlagKind::NotInterleaved), ["x"]);
}

#[test]
fn sides_that_disagree_on_better_are_not_judged() {
    let found = csv(
        "metric,unit,better,arm,value\nx,ms,higher,before,1\nx,ms,lower,after,2\n\
        y,ms,lower,before,1\ny,MB,lower,after,1\n",
    );
    assert_eq!(found.rows[0].verdict, Verdict::Invalid);
    assert_eq!(
        flag(&found, FlagKind::NotCompared),
        ["x: the sides say opposite ways of what is better"]
    );
    assert_eq!(
        flag(&found, FlagKind::Units),
        ["y: in ms before, in MB after"]
    );
}

#[test]
fn a_suite_is_compared_though_its_files_have_other_names() {
    let read = |name, text: &str| {
        let input = Input { name, text };
        read(&input, None).unwrap().arms.remove(0)
    };
    let good = read(
        "before.tap",
        "TAP version 13\n1..3\nok 1 a\nok 2 b\nok 3 c\n",
    );
    let bad = read(
        "after.tap",
        "TAP version 13\n1..3\nok 1 a\nnot ok 2 b\nok 3 c\n",
    );
    let found = compare(&good, &bad, &Options::default());
    assert_eq!(found.counts.len(), 1);
    assert_eq!(found.counts[0].verdict, Verdict::Worse);
    assert_eq!(found.counts[0].newly_failed, ["b"]);
    // Planned tests that were never reported failed.
    let cut = read(
        "after.tap",
        "TAP version 13\n1..3\nok 1 a\nBail out! kernel oops\n",
    );
    let found = compare(&good, &cut, &Options::default());
    assert_eq!(found.counts[0].verdict, Verdict::Worse);
    assert_eq!(
        flag(&found, FlagKind::Note),
        [
            "after.tap: Bail out! kernel oops",
            "after.tap: 3 tests were planned, but 1 are reported"
        ]
    );
    let other = read("fs.tap", "TAP version 13\n1..2\nok 1 x\nok 2 y\n");
    let found = compare(&good, &other, &Options::default());
    assert_eq!(found.counts.len(), 2, "another suite");
}

#[test]
fn pairs_rest_on_runs_with_partners_alone() {
    let mut text = "metric,unit,better,arm,block,value,error\n".to_owned();
    for block in 0..10 {
        let disturbed = if block < 6 { 0 } else { 4_000 };
        let value = 1_000 + block;
        text += &format!("rr,1/s,higher,before,{block},{},\n", value + disturbed);
        text += &match disturbed {
            0 => format!("rr,1/s,higher,after,{block},{value},\n"),
            _ => format!("rr,1/s,higher,after,{block},,timeout\n"),
        };
    }
    let found = csv(&text);
    let row = &found.rows[0];
    assert_eq!(
        (row.verdict, row.change_percent),
        (Verdict::Same, Some(0.0))
    );
    assert_eq!((row.before, row.runs_before.len()), (Some(1_002.5), 6));
    assert_eq!(
        flag(&found, FlagKind::WithoutPartner),
        ["rr (10 before, 6 after, 6 pairs)"]
    );
    assert_eq!(flag(&found, FlagKind::FailedRun), ["rr in after: timeout"]);
}

/// Exact values of these repetitions; `None`: the run failed.
fn exact(runs: &[(Option<u32>, Option<f64>)]) -> Arm {
    let run = |(block, value): &(Option<u32>, Option<f64>)| Run {
        value: *value,
        block: *block,
        failed: value.is_none().then(|| "the guest panicked".to_owned()),
        ..Run::default()
    };
    let mut arm = Arm::named("x");
    arm.metrics.push(Metric {
        exact: true,
        runs: runs.iter().map(run).collect(),
        ..Metric::new("rounds", "", Better::Neither)
    });
    arm
}

#[test]
fn exact_repetitions_are_paired_by_their_number() {
    let all = [0, 1, 2, 3].map(|n| (Some(n), Some(f64::from(10 + n))));
    let without = |left_out: u32| -> Vec<_> {
        let kept = all.into_iter().filter(|(n, _)| *n != Some(left_out));
        kept.collect()
    };
    let judged =
        |before: &[_], after: &[_]| compare(&exact(before), &exact(after), &Options::default());
    let found = judged(&all, &without(1));
    let row = &found.rows[0];
    assert_eq!(
        (row.verdict, row.change_percent),
        (Verdict::Equal, Some(0.0))
    );
    assert_eq!(
        (&row.runs_before, row.runs_after.len()),
        (&vec![10.0, 12.0, 13.0], 3)
    );
    assert_eq!(
        flag(&found, FlagKind::WithoutPartner),
        ["rounds (4 before, 3 after, 3 pairs)"]
    );
    let mut other = without(0);
    other[2].1 = Some(7.0);
    let found = judged(&other, &without(1));
    let row = &found.rows[0];
    assert_eq!(
        (row.verdict, row.why.as_str()),
        (Verdict::Differs, "1 of 2 runs")
    );
    let found = judged(&all[..1], &without(0));
    assert_eq!(found.rows[0].verdict, Verdict::Invalid);
    assert_eq!(found.rows[0].why, "no repetition is valid on both sides");
    assert!(flag(&judged(&all, &all), FlagKind::WithoutPartner).is_empty());
}

/// Without numbers the places count, also those of runs that failed.
#[test]
fn exact_runs_without_numbers_keep_their_places() {
    let runs = |values: &[Option<f64>]| -> Vec<_> { values.iter().map(|v| (None, *v)).collect() };
    let judged = |before: &[Option<f64>], after: &[Option<f64>]| {
        let found = compare(
            &exact(&runs(before)),
            &exact(&runs(after)),
            &Options::default(),
        );
        found.rows[0].verdict
    };
    let all = [Some(1.0), Some(2.0), Some(3.0)];
    assert_eq!(judged(&all, &[Some(1.0), None, Some(3.0)]), Verdict::Equal);
    assert_eq!(judged(&all, &all[..2]), Verdict::Differs);
    // Of runs that failed nothing is known.
    assert_eq!(judged(&[None], &[None]), Verdict::Invalid);
}
