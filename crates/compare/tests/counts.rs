//! Counts of tests: each test counts once, in each run of its suite.

use tcplab_compare::import::{Input, read};
use tcplab_compare::{Arm, Comparison, Count, FlagKind, Options, TestResult, Verdict, compare};

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

fn flag(found: &Comparison, kind: FlagKind) -> &[String] {
    let flag = found.flags.iter().find(|flag| flag.kind == kind);
    flag.map_or(&[], |flag| flag.rows.as_slice())
}

/// Several files a side.
fn compared(before: &[&str], after: &[&str]) -> Comparison {
    let side = |name, files: &[&str]| {
        let mut all = Arm::named(name);
        files.iter().for_each(|text| all.absorb(arm("net", text)));
        all
    };
    compare(&side("a", before), &side("b", after), &Options::default())
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

#[test]
fn files_of_one_side_are_runs_of_the_suite() {
    let good = "TAP version 13\n1..2\nok 1 foo\nok 2 bar\n";
    let bad = "TAP version 13\n1..2\nok 1 foo\nnot ok 2 bar\n";
    for after in [[good, good, bad], [bad, good, good], [good, bad, bad]] {
        let found = compared(&[good], &after);
        let row = &found.counts[0];
        assert_eq!((found.counts.len(), row.verdict), (1, Verdict::Worse));
        assert_eq!(row.newly_failed, ["bar"]);
        let figures = row.after.as_ref().map(figures);
        assert_eq!(figures, Some([Some(1), Some(1), Some(0)]));
        assert_eq!(
            flag(&found, FlagKind::Note),
            ["net: `bar` failed in some runs only, and counts as failed"]
        );
        assert!(flag(&found, FlagKind::CountToldTwice).is_empty());
    }
    // A script is counted by its subtests in the run in which it passed.
    let script = |own| script(&["# ok 1 a", own]);
    let (done, late) = (script("ok 1 foo.sh"), script("not ok 1 foo.sh # TIMEOUT"));
    let found = compared(&[&done], &[&done, &late]);
    assert_eq!(found.counts[0].newly_failed, ["foo.sh"]);
    assert_eq!(
        flag(&found, FlagKind::Note),
        ["net: `foo.sh` failed in some runs only, and counts as failed"]
    );
    // One run was cut: its other tests are known from the other.
    let cut = "TAP version 13\nok 1 foo\n";
    let found = compared(&[good], &[cut, good]);
    assert_eq!(found.counts[0].verdict, Verdict::Equal);
}

#[test]
fn runs_without_names_count_by_the_worst() {
    let run =
        |passed: u32, failed: u32| format!("suite,passed,failed,total\nltp,{passed},{failed},10\n");
    let found = compared(&[&run(10, 0)], &[&run(10, 0), &run(7, 3), &run(8, 2)]);
    let row = &found.counts[0];
    assert_eq!(row.verdict, Verdict::Worse);
    assert_eq!(
        row.after.as_ref().map(|c| (c.passed, c.failed)),
        Some((Some(7), Some(3)))
    );
    assert_eq!(
        flag(&found, FlagKind::Note),
        ["ltp: the figures of its runs differ; the run with the most failures counts"]
    );
}

#[test]
fn a_count_that_one_file_tells_twice_is_objected_to_in_each_figure() {
    let twice = "suite,passed,failed\nltp,10,0\nltp,10,2\n";
    let found = compared(&[twice], &[twice, twice]);
    assert_eq!(
        flag(&found, FlagKind::CountToldTwice),
        [
            "ltp in a (0 failed; another place says 2)",
            "ltp in b (0 failed; another place says 2)"
        ]
    );
}
