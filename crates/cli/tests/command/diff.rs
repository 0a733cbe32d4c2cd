//! `tcplab diff` on profiles of the model, which need no kernel.

use super::{folder, tcplab, text};

const OLD: &str = "model:linux-6.1@1000";
const NEW: &str = "model:linux-6.12@1000";

#[test]
fn a_stack_sends_what_it_sends_and_releases_differ() {
    let same = tcplab(&[
        "diff",
        OLD,
        OLD,
        "--only",
        "urgent/*",
        "--fail-on-difference",
    ]);
    assert_eq!(same.code, 0, "{}{}", same.out, same.err);
    assert!(
        same.out
            .contains("10 of 10 scenarios equal to the last packet (100.0 %)"),
        "{}",
        same.out
    );

    let other = tcplab(&["diff", OLD, NEW, "--only", "urgent/*", "--each"]);
    assert_eq!(other.code, 0, "{}{}", other.out, other.err);
    assert!(other.out.contains("urgent/small "), "{}", other.out);
    assert!(other.out.contains("window of ack"), "{}", other.out);
    let fails = tcplab(&[
        "diff",
        OLD,
        NEW,
        "--only",
        "urgent/*",
        "--fail-on-difference",
    ]);
    assert_eq!(fails.code, 1, "{}", fails.err);
    assert!(fails.err.contains("--show urgent/"), "{}", fails.err);

    let shown = tcplab(&["diff", OLD, NEW, "--show", "urgent/small"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert!(
        shown
            .out
            .starts_with("== urgent/small: window of ack\nfirst difference:"),
        "{}",
        shown.out
    );
}

#[test]
fn small_scenarios_are_manifests_that_run() {
    let place = folder();
    let small = place.path().join("small");
    let words = [
        "diff",
        OLD,
        NEW,
        "--random",
        "12",
        "--seed",
        "4",
        "--json",
        "--shrink",
        text(&small),
    ];
    let found = tcplab(&words);
    assert_eq!(found.code, 0, "{}", found.err);
    let document: serde_json::Value = serde_json::from_str(&found.out).unwrap();
    assert_eq!(document["schema"], "tcplab.diff/1");
    assert_eq!(document["scenarios"].as_array().unwrap().len(), 12);
    let smallest = document["smallest"].as_array().unwrap();
    assert!(!smallest.is_empty(), "{}", found.out);
    let files: Vec<_> = std::fs::read_dir(&small).unwrap().collect();
    assert_eq!(files.len(), smallest.len());
    let file = files[0].as_ref().unwrap().path();
    let run = tcplab(&[
        "run",
        text(&file),
        "--on",
        "model:linux-6.1@1000,model:linux-6.12@1000",
    ]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(
        run.out.contains("first difference") || run.out.contains("differ"),
        "{}",
        run.out
    );
}

#[test]
fn experiments_are_compared_point_by_point() {
    let found = tcplab(&["diff", OLD, NEW, "examples/delayed-ack.toml"]);
    assert_eq!(found.code, 0, "{}", found.err);
    assert!(
        found.out.contains(" scenarios equal to the last packet"),
        "{}",
        found.out
    );
    assert!(!found.err.contains("--show"), "{}", found.err);
}

#[test]
fn without_a_tcp_packet_nothing_is_equal() {
    let place = folder();
    let file = place.path().join("udp.toml");
    let both = "[[app]]\nname = \"mine\"\nkind = \"udp-rr\"\ncount = 3\n";
    let tcp = "[[app]]\nkind = \"echo\"\ncount = 1\n";
    let diff = |experiment: &str, more: &[&str]| {
        std::fs::write(&file, format!("[[link]]\ndelay = \"5ms\"\n{experiment}")).unwrap();
        let words = ["diff", OLD, OLD, text(&file), "--fail-on-difference"];
        tcplab(&[&words[..], more].concat())
    };
    let none = diff(both, &[]);
    assert_eq!(none.code, 3, "{}", none.out);
    assert!(none.out.contains("no TCP packet"), "{}", none.out);
    assert!(none.out.contains("0 of 1 scenarios equal"), "{}", none.out);
    let row = diff(both, &["--json"]).json()["scenarios"][0].clone();
    assert_eq!(row["equal"], false, "{row}");
    assert_eq!(row["not_compared"][0], "mine", "{row}");

    let mixed = diff(&format!("{both}{tcp}"), &[]);
    assert_eq!(mixed.code, 0, "{}{}", mixed.out, mixed.err);
    let told = "only TCP is compared: 1 of the scenarios also sent datagrams or pings";
    assert!(mixed.out.contains(told), "{}", mixed.out);
    let plain = diff(tcp, &[]);
    assert!(!plain.out.contains("only TCP"), "{}", plain.out);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    for (words, code, why) in [
        (
            &["diff", "host", OLD][..],
            2,
            "write model:PROFILE or uml:NAME",
        ),
        (
            &["diff", OLD, NEW, "--only", "nothing/*"],
            2,
            "no scenario is named nothing/*",
        ),
        (
            &["diff", OLD, NEW, "--show", "loss"],
            2,
            "no scenario is named loss",
        ),
        (&["diff", OLD, NEW, "--whole"], 2, "--show"),
        (
            &["diff", OLD, NEW, "--only", "urgent/*", "--whole"],
            2,
            "name it with --show NAME",
        ),
        (&["diff", OLD, "uml:1.0"], 4, "uml:1.0"),
        (&["diff", OLD, NEW, "/dev/null"], 2, "/dev/null"),
    ] {
        let refused = tcplab(words);
        assert_eq!(
            refused.code, code,
            "{words:?}: {}{}",
            refused.out, refused.err
        );
        assert!(refused.err.contains(why), "{words:?}: {}", refused.err);
    }
}

#[test]
fn unverified_profile_says_so() {
    let found = tcplab(&[
        "diff",
        OLD,
        "model:linux-5.14@1000",
        "--only",
        "urgent/small",
    ]);
    assert!(
        found
            .out
            .contains("linux-5.14: unverified: no kernel of this release"),
        "{}",
        found.out
    );
    let run = tcplab(&[
        "run",
        "examples/delayed-ack.toml",
        "--on",
        "model:linux-5.14",
    ]);
    assert!(run.out.contains("linux-5.14: unverified"), "{}", run.out);
    let plain = tcplab(&[
        "run",
        "examples/delayed-ack.toml",
        "--on",
        "model:linux-6.1",
    ]);
    assert!(!plain.out.contains("unverified"), "{}", plain.out);
}
