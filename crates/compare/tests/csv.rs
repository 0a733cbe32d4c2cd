//! CSV: every cell is used, named as unused, or refused with its line.

use tcplab_compare::import::{Input, read};
use tcplab_compare::{Arm, Metrics, Run};

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
