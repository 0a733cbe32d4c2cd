//! `tcplab new` and `tcplab examples`, and the answer that a starter gives.

use tcplab_examples::STARTERS;

use super::{command, folder, tcplab, text};

#[test]
fn every_starter_runs_as_it_is() {
    let place = folder();
    for kind in STARTERS.iter().map(|file| file.name) {
        let file = place.path().join(format!("{kind}.toml"));
        let new = tcplab(&["new", kind, text(&file)]);
        assert_eq!(new.code, 0, "{}", new.err);
        assert!(new.err.contains(&format!("tcplab run {}", text(&file))));
        let few = match kind {
            "population" => ["--connections", "300"],
            _ => ["--repeat", "2"],
        };
        let run = tcplab(&[&["run", text(&file)], &few[..]].concat());
        assert_eq!(run.code, 0, "{kind}: {}{}", run.out, run.err);
        assert!(!run.err.contains("warning"), "{kind}: {}", run.err);
        // No measure is asked for that the run cannot have.
        assert!(!run.out.contains("\n-: "), "{kind}: {}", run.out);
        let again = tcplab(&["new", kind, text(&file)]);
        assert_eq!(again.code, 2);
        assert!(again.err.contains("already exists"), "{}", again.err);
        let printed = tcplab(&["new", kind, "-"]);
        assert_eq!(printed.out, std::fs::read_to_string(&file).unwrap());
    }
    for option in [&["--csv", "x.csv"][..], &["--all"]] {
        let refused = tcplab(&[&["run", "examples/new/population.toml"], option].concat());
        assert_eq!(refused.code, 2, "{}", refused.out);
        assert!(
            refused.err.contains("not apply to populations"),
            "{}",
            refused.err
        );
    }
    let unknown = tcplab(&["new", "to-hosts"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("two-hosts"), "{}", unknown.err);
}

#[test]
fn two_variants_of_twenty_runs_are_answered_on_one_screen() {
    let file = "examples/new/two-hosts.toml";
    let words = ["run", file, "--repeat", "20", "--on", "model"];
    let run = command(&words).env("COLUMNS", "80").output().unwrap();
    let out = String::from_utf8(run.stdout).unwrap();
    assert!(out.lines().count() <= 24, "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    assert!(
        out.contains("20 runs of each, each with its own seed"),
        "{out}"
    );
    assert!(out.contains("`cubic`"), "{out}");
    let rows = out.lines().filter(|line| line.starts_with("  "));
    let better = rows.into_iter().find(|line| line.ends_with("better"));
    let better = better.unwrap_or_else(|| panic!("{out}"));
    assert!(
        better.contains(" % ") && better.contains(" to +"),
        "{better}"
    );
    let all = tcplab(&[&words[..], &["--all"]].concat());
    assert!(all.out.lines().count() > 40 + 20, "{}", all.out);
}

#[test]
fn rate_change_without_cake_bandwidth_is_told() {
    let set = ["--set", "link.isp-home.a_to_b.rate=50mbit"];
    let words = [
        &["run", "examples/new/home-line.toml", "--dry-run"],
        &set[..],
    ]
    .concat();
    let run = tcplab(&words);
    let says =
        "note: link isp-home a_to_b: CAKE shapes to 28.5 Mbit/s, 57 % of the link's 50 Mbit/s";
    assert!(run.err.contains(says), "{}", run.err);
    assert_eq!(tcplab(&words[..3]).err, "");
}

#[test]
fn examples_are_listed_and_written() {
    let list = tcplab(&["examples"]);
    assert_eq!(list.code, 0);
    assert!(list.out.contains("delayed-ack"), "{}", list.out);
    let place = folder();
    let words = [
        "examples",
        "delayed-ack",
        "dumbbell",
        "--out",
        text(place.path()),
    ];
    assert_eq!(tcplab(&words).code, 0);
    for name in ["delayed-ack.toml", "dumbbell.toml"] {
        let written = std::fs::read_to_string(place.path().join(name)).unwrap();
        let there = std::fs::read_to_string(super::root().join("examples").join(name)).unwrap();
        assert_eq!(written, there);
    }
    assert_eq!(tcplab(&words).code, 2);
}

#[test]
fn a_dry_run_is_for_people_and_with_json_for_programs() {
    let file = "examples/new/home-line.toml";
    let run = tcplab(&["run", file, "--dry-run"]);
    assert_eq!(run.code, 0, "{}", run.err);
    for part in [
        "15 points on model:linux-6.1",
        "ack-filter: link.isp-home.a_to_b.qdisc = \"cake",
        "5 of each",
        "isp-home",
        "rate 30 Mbit/s",
        "client home, server server",
        "nothing was run",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    let population = tcplab(&["run", "examples/new/population.toml", "--dry-run"]);
    assert!(
        population
            .out
            .contains("20,000 connections in each of 3 arms"),
        "{}",
        population.out
    );
    let plan = tcplab(&["run", file, "--dry-run", "--json"]).json();
    assert_eq!(plan["points"].as_array().unwrap().len(), 15);
}

#[test]
fn a_set_that_overrides_a_variant_is_told_once() {
    let run = tcplab(&[
        "run",
        "examples/new/two-hosts.toml",
        "--repeat",
        "1",
        "--set",
        "host.client.socket.congestion=reno",
        "--set",
        "run.max=\"2s\"",
    ]);
    let all = format!("{}{}", run.out, run.err);
    let told = "overrides the value that variant `cubic` sets";
    assert_eq!(all.matches(told).count(), 1, "{all}");
}
