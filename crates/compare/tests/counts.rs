//! Counts of tests: each test counts once, in each run of its suite.

use tcplab_compare::import::{Input, read};
use tcplab_compare::{Arm, Count, Options, TestResult, Verdict, compare};

use TestResult::Failed;

fn arm(name: &str, text: &str) -> Arm {
    let read = read(&Input { name, text }, None).unwrap();
    read.arms.into_iter().next().unwrap()
}

fn count(text: &str) -> Count {
    arm("net", text).counts.remove(0)
}

fn figures(count: &Count) -> [Option<u64>; 3] {
    [count.passed, count.failed, count.skipped]
}

/// A kselftest run of one script with these lines; the last one is its own.
fn script(lines: &[&str]) -> String {
    format!("TAP version 13\n1..1\n{}\n", lines.join("\n"))
}

#[test]
fn a_script_that_failed_beside_passed_subtests_failed() {
    let good = script(&["# ok 1 a", "# ok 2 b", "ok 1 net: foo.sh"]);
    let late = script(&["# ok 1 a", "# ok 2 b", "not ok 1 net: foo.sh # TIMEOUT 45"]);
    let counted = count(&late);
    assert_eq!(figures(&counted), [Some(2), Some(1), Some(0)]);
    assert_eq!(counted.tests["net: foo.sh"], Failed);
    let found = compare(&arm("net", &good), &arm("net", &late), &Options::default());
    assert_eq!(found.counts[0].verdict, Verdict::Worse);
    assert_eq!(found.counts[0].newly_failed, ["net: foo.sh"]);
    let back = compare(&arm("net", &late), &arm("net", &good), &Options::default());
    assert_eq!(back.counts[0].newly_passed, ["net: foo.sh"]);
    // Its failed subtest is the failure; it is not counted twice.
    let part = script(&["# ok 1 a", "# not ok 2 b", "not ok 1 net: foo.sh # exit=1"]);
    assert_eq!(figures(&count(&part)), [Some(1), Some(1), Some(0)]);
    let found = compare(&arm("net", &part), &arm("net", &late), &Options::default());
    assert!(found.counts[0].newly_failed.is_empty(), "it had failed");
}
