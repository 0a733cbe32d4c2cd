//! `tcplab bench` and `tcplab qa`: measurements are compared, and impossible requests are refused with a reason.

use serde_json::Value;

use super::schema::holds;
use super::{folder, tcplab, text};

/// Whether loopback can be used here, as `host`'s other tests need it, too.
fn short(args: &[&str]) -> Vec<String> {
    let time = ["--time", "40ms", "--warm", "10ms", "--json"];
    let words = ["bench"].iter().chain(args).chain(&time);
    words.map(|word| (*word).to_owned()).collect()
}

fn bench(args: &[&str]) -> super::Run {
    let words = short(args);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    tcplab(&words)
}

#[test]
fn every_workload_of_the_suite_gives_figures_and_keeps_its_runs() {
    let place = folder();
    let out = place.path().join("out");
    let run = bench(&["--repeat", "1", "--out", text(&out)]);
    assert_eq!(run.code, 0, "{}", run.err);
    let document = run.json();
    holds("metrics", &document);
    let metrics = document["arms"][0]["metrics"].as_array().unwrap();
    // Datagram streams have two figures.
    assert_eq!(metrics.len(), 19, "{document}");
    for metric in metrics {
        let value = &metric["runs"][0];
        // A machine that stands still for 50 ms has nothing to tell, and says so.
        let is_told = value["value"].as_f64().is_some_and(|v| v > 0.0);
        assert!(is_told || value["failed"].is_string(), "{metric}");
    }
    let kept = std::fs::read_to_string(out.join("runs.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 15);
    let first: Value = serde_json::from_str(kept.lines().next().unwrap()).unwrap();
    assert_eq!(first["workload"], "TCP_STREAM:1");
    assert!(first["client"]["tcp_info"]["tcpi_bytes_acked"].as_i64() > Some(0));
    assert!(
        first["counters"]["TcpOutSegs"].as_i64() > Some(0),
        "{first}"
    );
    // The folder is an arm for `tcplab compare`.
    let again = tcplab(&["compare", text(&out), text(&out), "--json"]);
    assert_eq!(again.code, 0, "{}", again.err);
    // And no other bench may write over it.
    assert_eq!(bench(&["TCP_RR", "--out", text(&out)]).code, 2);
}

#[test]
fn a_self_test_slows_one_workload_of_each_table() {
    // No more runs than five are asked for: what two workloads reach in 40 ms is nobody's finding.
    let few = ["--repeat", "3", "--most-runs", "5", "--cpus", "pinned"];
    let args = ["--self-test", "2", "PIPE_RR", "AF_UNIX_RR"];
    let run = bench(&[&args[..], &few[..]].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    let document = run.json();
    assert_eq!(document["schema"], "tcplab.bench-self-test/1");
    let tables = document["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 2);
    for (table, slowed) in tables.iter().zip(["PIPE_RR", "AF_UNIX_RR"]) {
        assert!(table["false_rows"].is_array(), "{table}");
        let planted = table["planted"].as_array().unwrap();
        let percents: Vec<_> = planted.iter().map(|p| p["percent"].as_u64()).collect();
        assert_eq!(percents, [Some(10), Some(5)]);
        for planted in planted {
            assert_eq!(planted["workload"], slowed);
            assert_eq!(planted["first"]["runs"], 3);
            assert_ne!(planted["first"]["verdict"], "missing");
            // What asked for more got them, and no other did.
            let asked = planted["first"]["needs"].as_u64().filter(|n| *n <= 5);
            assert_eq!(planted["then"]["runs"].as_u64(), asked, "{planted}");
        }
    }
    // A self-test has arms of its own and keeps nothing.
    for other in [
        &["--before", "true", "--after", "true"][..],
        &["--out", "x"],
        &["--require-verdict"],
    ] {
        assert_eq!(bench(&[&args[..], other].concat()).code, 2);
    }
}

#[test]
fn ends_run_where_they_are_told() {
    let place = folder();
    let words = |asked: &[&str]| -> Vec<String> {
        let out = place.path().join(format!("runs{}", asked.join(" ")));
        let args = [
            "TCP_RR",
            "TCP_STREAM:64",
            "--repeat",
            "1",
            "--out",
            text(&out),
        ];
        let run = bench(&[&args[..], asked].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        let metrics = run.json()["arms"][0]["metrics"].clone();
        let kept = std::fs::read_to_string(out.join("runs.jsonl")).unwrap();
        let cpus = kept.lines().map(|line| {
            let run: Value = serde_json::from_str(line).unwrap();
            run["cpus"].as_str().unwrap().to_owned()
        });
        let names = metrics.as_array().unwrap().iter();
        let names = names.map(|metric| metric["name"].as_str().unwrap().to_owned());
        names.chain(cpus).collect()
    };
    // Nobody asked: where runs differ least.
    assert_eq!(words(&[]), ["TCP_RR", "TCP_STREAM:64", "one", "pinned"]);
    assert_eq!(
        words(&["--cpus", "free,one"]),
        [
            "free TCP_RR",
            "free TCP_STREAM:64",
            "one TCP_RR",
            "one TCP_STREAM:64",
            "free",
            "free",
            "one",
            "one"
        ]
    );
    // Figures of two placements in one table: that is said.
    assert_eq!(words(&["--cpus", "one"])[2..], ["one", "one"]);
    let [steady, one] = ["", "--cpus one"].map(|name| place.path().join(format!("runs{name}")));
    let compared = tcplab(&["compare", text(&steady), text(&one), "--json"]);
    let flags = compared.json()["flags"].clone();
    let mut flags = flags.as_array().unwrap().iter();
    let told = flags.find(|flag| flag["kind"] == "other-settings").unwrap();
    assert_eq!(told["rows"][0], "cpus (steady before, one after)");
    let run = bench(&["TCP_RR", "--cpus", "steady,one"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("name it alone"), "{}", run.err);
}

#[test]
fn two_arms_get_enough_runs_to_find_the_change() {
    let arms = ["PIPE_RR", "--before", "as-it-is", "--after", "as-it-is"];
    let runs = |more: &[&str]| {
        let run = bench(&[&arms[..], more].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        let rows = run.json()["rows"].clone();
        rows[0]["runs_before"].as_array().unwrap().len()
    };
    // A huge `--find` needs fewer runs than `--most-runs`; a tiny one gets the most.
    assert_eq!(runs(&["--find", "900", "--most-runs", "40"]), 30);
    assert_eq!(runs(&["--find", "0.001", "--most-runs", "40"]), 40);
    assert_eq!(runs(&["--find", "0.001", "--most-runs", "4"]), 4);
    assert_eq!(runs(&["--find", "0.001", "--repeat", "3"]), 3);
}

#[test]
fn connections_come_one_after_the_other() {
    let args = [
        "TCP_CRR", "--repeat", "4", "--time", "300ms", "--warm", "1ms",
    ];
    let words: Vec<&str> = ["bench", "--json"].iter().chain(&args).copied().collect();
    let run = tcplab(&words);
    assert_eq!(run.code, 0, "{}", run.err);
    let document = run.json();
    for run in document["arms"][0]["metrics"][0]["runs"]
        .as_array()
        .unwrap()
    {
        // A connection that does not end holds up all that follow.
        assert!(run["value"].as_f64().unwrap() > 20.0, "{run}");
    }
}

#[test]
fn arms_take_turns_in_namespaces_of_their_own() {
    let args = [
        "TCP_RR",
        "--repeat",
        "3",
        "--before",
        "sysctl:net.ipv4.tcp_timestamps=1",
        "--after",
        "sysctl:net.ipv4.tcp_timestamps=0",
    ];
    let run = bench(&args);
    if run.code == 4 {
        eprintln!("skipped: {}", run.err);
        return;
    }
    assert_eq!(run.code, 0, "{}", run.err);
    let document = run.json();
    holds("compare", &document);
    let row = &document["rows"][0];
    assert_eq!(row["metric"], "TCP_RR");
    assert_eq!(row["paired"], true, "{row}");
    assert_eq!(row["runs_before"].as_array().map(Vec::len), Some(3));
}

#[test]
fn arm_setup_runs_before_each_of_its_runs() {
    let place = folder();
    let log = place.path().join("log");
    let command = format!("setup:echo $TCPLAB_ARM $TCPLAB_RUN >> {}", text(&log));
    let run = bench(&[
        "PIPE_RR", "--repeat", "2", "--before", &command, "--after", &command,
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    let log = std::fs::read_to_string(log).unwrap();
    assert_eq!(log, "before 1\nafter 1\nafter 2\nbefore 2\n");
    let run = bench(&[
        "PIPE_RR",
        "--before",
        "setup:true",
        "--after",
        "setup:echo no way >&2; exit 1",
    ]);
    assert_eq!(run.code, 4, "{}", run.err);
    assert!(run.err.contains("no way"), "{}", run.err);
}

/// A command whose output is a document of ours with this rate.
fn says(rate: &str) -> String {
    format!(
        r#"echo '{{"schema":"tcplab.metrics/1","arms":[{{"name":"x","metrics":[{{"name":"rate","unit":"1/s","better":"higher","runs":[{{"value":'{rate}'}}]}}]}}]}}'"#
    )
}

#[test]
fn commands_are_measured_and_what_they_say_is_compared() {
    let place = folder();
    let out = place.path().join("out");
    // 100, 101, 102 ... before, a tenth less after: the same on every machine.
    let (before, after) = (
        says("$((1000 + TCPLAB_RUN))"),
        says("$((900 + TCPLAB_RUN))"),
    );
    let run = tcplab(&[
        "bench",
        "--before",
        &before,
        "--after",
        &after,
        "--repeat",
        "6",
        "--json",
        "--fail-on",
        "worse",
        "--out",
        text(&out),
    ]);
    assert_eq!(run.code, 1, "{}", run.err);
    let document = run.json();
    holds("compare", &document);
    let rows = document["rows"].as_array().unwrap();
    let row = |name: &str| {
        let found = rows.iter().find(|row| row["metric"] == name);
        found.unwrap_or_else(|| panic!("{name}: {document}"))
    };
    let rate = row("rate");
    assert_eq!(rate["verdict"], "worse", "{rate}");
    assert_eq!(rate["paired"], true, "{rate}");
    assert_eq!(rate["runs_before"][0], 1001.0);
    for name in ["elapsed", "user CPU", "system CPU", "peak memory"] {
        assert_eq!(row(name)["runs_after"].as_array().map(Vec::len), Some(6));
    }
    // A warm-up, and the outputs of all.
    let kept = std::fs::read_to_string(out.join("runs.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 14);
    assert_eq!(std::fs::read_dir(out.join("output")).unwrap().count(), 28);
    let again = tcplab(&["compare", text(&out), "--json"]);
    assert_eq!(again.code, 0, "{}", again.err);
}

#[test]
fn test_that_fails_in_one_run_has_failed() {
    let some = "test $TCPLAB_RUN = 2 && not='not '; printf 'TAP version 13\n1..2\nok 1 a\n%sok 2 b\n' \"$not\"";
    let run = tcplab(&["bench", "--command", some, "--repeat", "3", "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let document = run.json();
    let counts = document["arms"][0]["counts"].as_array().unwrap();
    assert_eq!(counts.len(), 1, "{counts:?}");
    assert_eq!(
        (&counts[0]["passed"], &counts[0]["failed"]),
        (&1.into(), &1.into())
    );
}

#[test]
fn failing_command_is_a_failed_run_and_always_failing_an_error() {
    let some = "test $TCPLAB_RUN != 2 || { echo no luck >&2; exit 9; }";
    let run = tcplab(&["bench", "--command", some, "--repeat", "3", "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let document = run.json();
    holds("metrics", &document);
    let runs = &document["arms"][0]["metrics"][0]["runs"];
    assert_eq!(runs[1]["failed"], "exit code 9: no luck");
    assert!(runs[0]["failed"].is_null() && runs[2]["failed"].is_null());
    let never = tcplab(&["bench", "--command", "echo never >&2; exit 5"]);
    assert_eq!(never.code, 4, "{}", never.err);
    for part in ["exit code 5: never", "3 times"] {
        assert!(never.err.contains(part), "{}", never.err);
    }
}

#[test]
fn unknown_workload_or_arm_says_so() {
    for (args, says) in [
        (&["SCTP_RR"][..], "TCP_STREAM:BYTES"),
        (&["TCP_STREAM:0"], "1 to"),
        (&["--before", "model"], "--after"),
        (&["--before", "model", "--after", "true"], "two stacks"),
        (
            &["--before", "true", "--after", "true", "PIPE_RR"],
            "setup:true",
        ),
        (&["--command", "true", "PIPE_RR"], "leave the workloads out"),
        (
            &["--before", "true", "--after", "as-it-is"],
            "beside another",
        ),
        (&["--command", "true"], "--warm-runs"),
        (
            &["--before", "model", "--after", "model", "TCP_RR"],
            "stream-loss",
        ),
        (&["--before", "sysctl:x", "--after", "true"], "NAME=VALUE"),
        (&["TCP_RR", "--html", "x.html"], "comparison"),
        (
            &["TCP_RR", "PIPE_RR", "TCP_RR:1"],
            "the workload TCP_RR is named twice",
        ),
        (
            &["--before", "model", "--after", "model", "rr", "rr"],
            "the experiment rr is named twice",
        ),
        (&["TCP_RR", "--fail-on", "worse"], "needs two arms"),
        (&["TCP_RR", "--require-verdict"], "needs two arms"),
        (&["TCP_RR", "--most-runs", "5"], "needs two arms"),
        (&["TCP_RR", "--band", "2"], "--band judges a comparison"),
        (&["TCP_RR", "--warm-runs", "2"], "--warm-runs applies"),
        (&["TCP_RR", "--ssh-config", "x"], "--on ssh:A,B"),
    ] {
        let words: Vec<&str> = ["bench", "--repeat", "1", "--time", "10ms"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        let run = tcplab(&words);
        assert_eq!(run.code, 2, "{args:?}: {}", run.err);
        assert!(run.err.contains(says), "{args:?}: {}", run.err);
    }
}

/// The verdicts of a comparison's rows.
fn count(document: &Value, word: &str) -> u64 {
    document["summary"][word].as_u64().unwrap_or(0)
}

#[test]
fn a_stack_is_equal_to_itself_and_differs_from_another() {
    let compared = |after: &str| {
        let run = tcplab(&[
            "bench",
            "--before",
            "model:linux-6.1",
            "--after",
            after,
            "--json",
            "ticks",
            "rr",
        ]);
        assert_eq!(run.code, 0, "{}", run.err);
        let document = run.json();
        holds("compare", &document);
        document
    };
    let same = compared("model:linux-6.1");
    assert!(count(&same, "equal") > 50, "{}", same["summary"]);
    assert_eq!(count(&same, "differs"), 0, "{}", same["summary"]);
    let other = compared("model:linux-6.1.56");
    assert!(count(&other, "differs") > 0, "{}", other["summary"]);
    let rows = other["rows"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["metric"] == "ticks: client.TcpExtDelayedACKs");
    assert_eq!(row.unwrap()["after"], 34.0);
}

#[test]
fn a_report_has_a_verdict_for_each_section() {
    let place = folder();
    let [page, written, rows, suites] =
        ["qa.html", "qa.md", "qa.csv", "qa.xml"].map(|name| place.path().join(name));
    let run = tcplab(&[
        "qa",
        "examples/delayed-ack.toml",
        "--before",
        "model:linux-6.1",
        "--after",
        "model:linux-6.1.56",
        "--drill",
        "tests/pkt/delayed-ack",
        "--frames",
        "500",
        "--html",
        text(&page),
        "--markdown",
        text(&written),
        "--csv",
        text(&rows),
        "--junit",
        text(&suites),
        "--json",
    ]);
    let document = run.json();
    holds("qa", &document);
    let section = |kind: &str| {
        let sections = document["sections"].as_array().unwrap();
        let found = sections.iter().find(|section| section["kind"] == kind);
        found.unwrap_or_else(|| panic!("{kind}")).clone()
    };
    for kind in ["experiment", "counters", "bench"] {
        assert_eq!(section(kind)["standing"], "differs", "{kind}");
    }
    assert_eq!(section("malformed")["standing"], "same");
    // Scripts that show what 6.1.57 changed pass on one side only.
    let drill = section("drill");
    assert_eq!(drill["standing"], "worse", "{drill}");
    assert_eq!(
        (run.code, document["standing"].as_str()),
        (1, Some("worse"))
    );
    for file in [&page, &written] {
        let text = std::fs::read_to_string(file).unwrap();
        for part in [
            "model:linux-6.1.56",
            "Malformed frames",
            "packetdrill scripts",
        ] {
            assert!(text.contains(part), "{}: {part}", file.display());
        }
    }
    let read = |file| std::fs::read_to_string(file).unwrap();
    let sections = document["sections"].as_array().unwrap();
    let suites = read(&suites);
    assert_eq!(suites.matches("<testsuite name").count(), sections.len());
    let listed = sections
        .iter()
        .filter_map(|section| section["comparison"]["rows"].as_array());
    let count: usize = listed.map(Vec::len).sum();
    let rows = read(&rows);
    assert!(
        rows.starts_with("section,metric,unit,before,after,"),
        "{rows}"
    );
    assert_eq!(rows.lines().count(), count + 1);
}

#[test]
fn a_report_without_a_run_has_no_verdict() {
    let words = [
        "qa",
        "--before",
        "model",
        "--after",
        "model",
        "--no-suite",
        "--frames",
        "0",
        "--json",
    ];
    let run = tcplab(&words);
    assert_eq!(run.code, 0, "{}", run.err);
    let run = tcplab(&[&words[..], &["--require-verdict"]].concat());
    assert_eq!(run.code, 3, "{}", run.err);
    assert_eq!(run.json()["standing"], "not-run");
}
