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

#[test]
fn tests_of_one_name_count_each() {
    let tap = count("TAP version 13\n1..3\nok 1 foo\nnot ok 2 foo\nok 3 foo\n");
    assert_eq!(figures(&tap), [Some(2), Some(1), Some(0)]);
    assert_eq!(tap.tests["foo (2)"], Failed);
    let ltp = count("accept01 FAIL 1\naccept01 PASS 0\nTotal Tests: 2\nTotal Failures: 1\n");
    assert_eq!(figures(&ltp), [Some(1), Some(1), Some(0)]);
    assert_eq!(ltp.tests["accept01"], Failed);
    // run_all.py prints scripts as they end.
    let drill = |lines: [&str; 2]| {
        let ran = "Ran 2 tests: 1 passing, 1 failing, 0 timed out (1.0 sec): net/";
        count(&format!("{}\n{}\n{ran}\n", lines[0], lines[1]))
    };
    let (bad, good) = (
        "FAIL [/net/tcp/ack/a.pkt (ipv4)]",
        "OK [/net/mptcp/ack/a.pkt (ipv4)]",
    );
    assert_eq!(drill([bad, good]).tests.len(), 2);
    assert_eq!(drill([bad, good]).tests["ack/a.pkt (ipv4) (2)"], Failed);
    assert_eq!(drill([bad, good]).tests, drill([good, bad]).tests);
    let kirk = count(
        r#"{"results":[{"test_fqn":"a","test":{"failed":1}},{"test_fqn":"a","test":{"passed":1}}],
        "stats":{"passed":1,"failed":1,"broken":0,"skipped":0}}"#,
    );
    assert_eq!((kirk.tests.len(), kirk.tests["a"]), (2, Failed));
}
