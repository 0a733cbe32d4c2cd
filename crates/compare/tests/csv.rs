//! CSV: every cell is used, named as unused, or refused with its line.

use tcplab_compare::import::{Format, Input, read};
use tcplab_compare::{Arm, Count, Metrics, Run};

fn document(text: &str) -> Metrics {
    read(&Input { name: "f", text }, None).unwrap()
}

fn arms(text: &str) -> Vec<Arm> {
    document(text).arms
}

fn error(text: &str) -> String {
    let read = read(&Input { name: "f", text }, None);
    read.map(|read| format!("no error: {:?}", read.arms))
        .unwrap_or_else(|e| e.to_string())
}

/// All runs of an arm's metrics, by their names.
fn runs(arm: &Arm) -> Vec<(&str, Vec<Option<f64>>)> {
    let values = |runs: &[Run]| runs.iter().map(|run| run.value).collect();
    let metrics = arm.metrics.iter();
    metrics
        .map(|m| (m.name.as_str(), values(&m.runs)))
        .collect()
}

#[test]
fn counts_are_whole() {
    for (cell, column) in [
        ("-5", "passed"),
        ("1.7", "passed"),
        ("1e30", "passed"),
        ("x", "passed"),
    ] {
        let told = error(&format!("suite,passed,arm\nltp,3,a\nltp,{cell},b\n"));
        let wanted = format!("f: line 3: `{cell}` in column `{column}` is not a whole number");
        assert!(told.starts_with(&wanted), "{told}");
    }
    let arms = arms("suite,passed,failed,arm\nltp,3.0,0,a\nltp,4,,b\n");
    assert_eq!(arms[0].counts[0].passed, Some(3));
}

#[test]
fn blocks_and_orders_are_whole() {
    for (block, order) in [
        ("0.5", "1"),
        ("-1", "1"),
        ("1700000000001", "1"),
        ("0", "1.5"),
        ("0", "-2"),
    ] {
        let told = error(&format!(
            "metric,better,value,block,order\nrr,higher,1,0,0\nrr,higher,1,{block},{order}\n"
        ));
        assert!(
            told.starts_with("f: line 3: ") && told.contains("whole number"),
            "{told}"
        );
    }
    let text = "metric,better,value,block,order\nrr,higher,1,4294967295,18446744073709551615\n\
        rr,higher,,1,2\n";
    let arm = arms(text).remove(0);
    let of = |run: &Run| (run.block, run.order);
    let all: Vec<_> = arm.metrics[0].runs.iter().map(of).collect();
    assert_eq!(all, [(Some(u32::MAX), Some(u64::MAX)), (Some(1), Some(2))]);
    assert_eq!(runs(&arm), [("rr", vec![Some(1.0), None])]);
}

/// The remarks on a file.
fn remarks(arm: &Arm) -> Vec<&str> {
    arm.remarks
        .iter()
        .map(|remark| remark.text.as_str())
        .collect()
}

#[test]
fn counts_beside_a_value_are_named_as_unused() {
    for column in ["passed", "pass", "failed", "skipped", "total", "place"] {
        let arms = arms(&format!(
            "metric,better,arm,value,{column}\nrr,higher,a,100,1\nrr,higher,b,110,\n"
        ));
        assert_eq!(runs(&arms[0]), [("rr", vec![Some(100.0)])]);
        assert_eq!(runs(&arms[1]), [("rr", vec![Some(110.0)])]);
        assert!(arms[0].counts.is_empty());
        let told = format!("not used on lines with a value: column `{column}`");
        assert_eq!(remarks(&arms[0]), [told]);
    }
    // A file may have lines of both kinds.
    let arm = arms("name,better,value,passed\nrr,higher,100,\nltp,,,7\n").remove(0);
    assert_eq!((runs(&arm).len(), arm.counts[0].passed), (1, Some(7)));
    assert!(arm.remarks.is_empty());
}

#[test]
fn a_run_that_failed_is_no_count() {
    let text = "metric,better,arm,value,error,passed\nrr,higher,a,100,,\nrr,higher,b,,timeout,0\n";
    let found = arms(text);
    assert!(found[1].counts.is_empty());
    let run = &found[1].metrics[0].runs[0];
    assert_eq!((run.value, run.failed.as_deref()), (None, Some("timeout")));
    // The side without a value is the one that failed.
    let found = arms("metric,better,before,after,error\nlat,lower,10,,timeout\nx,lower,,,oops\n");
    let failed = |arm: &Arm, at: usize| arm.metrics[at].runs[0].failed.clone();
    assert_eq!(failed(&found[0], 0), None);
    assert_eq!(failed(&found[1], 0).as_deref(), Some("timeout"));
    assert_eq!(failed(&found[0], 1).as_deref(), Some("oops"));
}

#[test]
fn counts_without_passes_are_counts() {
    let read = |text: &str| read(&Input { name: "f", text }, Some(Format::Csv)).unwrap();
    let of = |count: &Count| [count.passed, count.failed, count.skipped, count.total];
    for (at, column) in ["passed", "failed", "skipped", "total"]
        .into_iter()
        .enumerate()
    {
        let arm = read(&format!("suite,unit,{column}\nltp,,3\n"))
            .arms
            .remove(0);
        let mut wanted = [None; 4];
        wanted[at] = Some(3);
        assert_eq!(of(&arm.counts[0]), wanted);
        assert_eq!(remarks(&arm), ["not used: column `unit`"]);
    }
    assert_eq!(arms("suite,failed\nltp,3\n")[0].counts[0].failed, Some(3));
}

#[test]
fn columns_of_values_are_one_kind() {
    let arms = arms("metric,better,value,before,after\nrr,higher,1,2,3\n");
    assert_eq!(runs(&arms[1]), [("rr", vec![Some(3.0)])]);
    assert_eq!(remarks(&arms[0]), ["not used: column `value`"]);
    let text = "# a table\nmetric,better,before\nrr,higher,1\n";
    let told = read(&Input { name: "f", text }, Some(Format::Csv))
        .unwrap_err()
        .to_string();
    assert!(
        told.starts_with("f: line 2: the header names no column of values"),
        "{told}"
    );
}

#[test]
fn a_line_without_its_arm_is_refused() {
    for line in ["rr,higher,500,", "rr,higher,500", "rr,higher,,"] {
        let told = error(&format!(
            "metric,better,value,arm\nrr,higher,100,a\nrr,higher,110,b\n{line}\n"
        ));
        assert!(
            told.starts_with("f: line 4: the arm is missing; "),
            "{told}"
        );
    }
    let told = error("suite,passed,arm\nltp,3,a\nltp,4,\n");
    assert!(
        told.starts_with("f: line 3: the arm is missing; "),
        "{told}"
    );
}

#[test]
fn variants_with_both_arms_in_a_line_are_rows() {
    for column in ["arm", "variant", "side"] {
        let arms = arms(&format!(
            "metric,unit,better,{column},before,after\nrr,1/s,higher,cubic,100,200\n\
             rr,1/s,higher,bbr,1000,900\n,1/s,higher,,1,2\n"
        ));
        let rows = |values: [f64; 3]| {
            let [cubic, bbr, bare] = values.map(|value| vec![Some(value)]);
            [("rr [cubic]", cubic), ("rr [bbr]", bbr), ("rr", bare)]
        };
        assert_eq!(runs(&arms[0]), rows([100.0, 1000.0, 1.0]));
        assert_eq!(runs(&arms[1]), rows([200.0, 900.0, 2.0]));
    }
}
