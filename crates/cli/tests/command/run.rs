//! `tcplab run` on a real kernel in virtual time: repeats, interrupts, folders, errors.
//!
//! Those that need a kernel are ignored unless asked for; `make test` asks where kernels are built.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::{command, folder, tcplab, text};

const STREAM: &str = "examples/delayed-ack.toml";

/// All files of a result but the costs, by their path in the folder.
fn files(of: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![of.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().unwrap() != "cost.json" {
                let name = path.strip_prefix(of).unwrap().display().to_string();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Names of the files that are not the same in both results.
pub fn differing(a: &Path, b: &Path) -> Vec<String> {
    let (a, b) = (files(a), files(b));
    let names = a.keys().chain(b.keys());
    names
        .filter(|name| a.get(*name) != b.get(*name))
        .cloned()
        .collect()
}

#[test]
#[ignore = "needs kernels: tcplab kernel build 6.1, and --edit mss-boundary"]
fn a_run_repeats_byte_for_byte_anywhere_and_another_seed_differs() {
    let place = folder();
    let outs: Vec<_> = (0..4)
        .map(|n| place.path().join(format!("out{n}")))
        .collect();
    let run = |out: &Path, more: &[&str], jobs: &str| {
        let mut words = vec![
            "run",
            STREAM,
            "--on",
            "uml:6.1",
            "--jobs",
            jobs,
            "--out",
            text(out),
        ];
        words.extend(more);
        let done = tcplab(&words);
        assert_eq!(done.code, 0, "{}", done.err);
    };
    run(&outs[0], &[], "1");
    let elsewhere = command(&["run", text(&super::root().join(STREAM))])
        .args(["--on", "uml:6.1", "--jobs", "3", "--out", text(&outs[1])])
        .current_dir(place.path())
        .env("TZ", "Asia/Tokyo")
        .env("A_LONG_VARIABLE", "x".repeat(10_000))
        .output()
        .unwrap();
    assert!(elsewhere.status.success());
    assert_eq!(differing(&outs[0], &outs[1]), [""; 0]);
    run(&outs[2], &["--seed", "2"], "1");
    let name = "points/0000/client.eth0.pcapng";
    assert_ne!(files(&outs[0])[name], files(&outs[2])[name]);
    // The manifest repeats the run.
    let manifest = outs[0].join("manifest.json");
    let again = tcplab(&["run", text(&manifest), "--out", text(&outs[3])]);
    assert_eq!(again.code, 0, "{}", again.err);
    assert_eq!(differing(&outs[0], &outs[3]), [""; 0]);
}

#[test]
#[ignore = "needs kernels: tcplab kernel build 6.1, and --edit mss-boundary"]
fn a_folder_with_a_part_of_the_result_is_completed() {
    let place = folder();
    let out = place.path().join("out");
    let words = [
        "run",
        "examples/write-write-read.toml",
        "--on",
        "uml:6.1",
        "--json",
        "--out",
        text(&out),
    ];
    let whole = tcplab(&words).json();
    let copy = place.path().join("copy");
    let copied = std::process::Command::new("cp")
        .args(["-r", text(&out), text(&copy)])
        .status();
    assert!(copied.unwrap().success());
    fs::remove_dir_all(out.join("points/0003")).unwrap();
    fs::create_dir(out.join("points/.0003.part")).unwrap();
    fs::remove_file(out.join("summary.json")).unwrap();
    let again = tcplab(&words).json();
    assert_eq!(differing(&out, &copy), [""; 0]);
    let digest =
        |d: &serde_json::Value, n: usize| d["points"][n]["digest"].as_str().unwrap().to_owned();
    assert_eq!(digest(&whole, 3), digest(&again, 3));
    // What was there was not run again: its cost is the old one.
    assert_eq!(whole["points"][0]["cost"], again["points"][0]["cost"]);
    let other = tcplab(&["run", STREAM, "--on", "uml:6.1", "--out", text(&out)]);
    assert_eq!(other.code, 2);
    assert!(other.err.contains("another experiment"), "{}", other.err);
}

/// A run that would take hours.
pub fn endless(place: &Path, stack: &str) -> Child {
    let file = place.join("endless.toml");
    let text = "[run]\nmax = \"100000s\"\n[[app]]\nkind = \"stream\"\nchunk = 1000\nevery = \"1ms\"\ncount = 10000000\n";
    fs::write(&file, text).unwrap();
    let child = command(&["run", file.to_str().unwrap(), "--on", stack])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    child.unwrap()
}

/// Processes that descend from this one, by number.
fn children_of(parent: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|n| n.parse::<u32>().ok())
        else {
            continue;
        };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // After the name in brackets: state, then the parent.
        let above = stat
            .rsplit(')')
            .next()
            .and_then(|rest| rest.split_whitespace().nth(1));
        if above == Some(&parent.to_string()) {
            found.push(pid);
            found.extend(children_of(pid));
        }
    }
    found
}

/// Waits for the guest's stage, kernel and processes: at least `least` children.
pub fn guest_of(run: &Child, least: usize) -> Vec<u32> {
    for _ in 0..600 {
        let there = children_of(run.id());
        if there.len() >= least {
            return there;
        }
        sleep(Duration::from_millis(50));
    }
    panic!("the guest did not start");
}

/// Waits until all of these have gone.
pub fn gone(pids: &[u32]) {
    let alive = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    for _ in 0..600 {
        if !pids.iter().any(alive) {
            return;
        }
        sleep(Duration::from_millis(50));
    }
    panic!(
        "left over: {:?}",
        pids.iter().filter(|pid| alive(pid)).collect::<Vec<_>>()
    );
}

#[test]
#[ignore = "needs kernels: tcplab kernel build 6.1, and --edit mss-boundary"]
fn kill_9_and_ctrl_c_leave_no_process() {
    let place = folder();
    let mut killed = endless(place.path(), "uml:6.1");
    let processes = guest_of(&killed, 3);
    killed.kill().unwrap();
    killed.wait().unwrap();
    gone(&processes);

    let interrupted = endless(place.path(), "uml:6.1");
    let processes = guest_of(&interrupted, 3);
    let id = interrupted.id().to_string();
    let sent = std::process::Command::new("kill")
        .args(["-INT", &id])
        .status()
        .unwrap();
    assert!(sent.success());
    let output = interrupted.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    gone(&processes);
    let left = fs::read_dir("/dev/shm").unwrap().flatten();
    let ours = format!("tcplab-run-{id}-");
    assert!(
        !left
            .into_iter()
            .any(|e| e.file_name().to_string_lossy().starts_with(&ours))
    );
}

/// Puts a shell script into a folder of kernels, as `uml:NAME` under `XDG_CACHE_HOME=PLACE`.
pub fn script_as_kernel(place: &Path, name: &str, script: &str) {
    let kernels = place.join("tcplab/kernels/bin/0123");
    fs::create_dir_all(&kernels).unwrap();
    let kernel = kernels.join("linux");
    fs::write(&kernel, format!("#!/bin/sh\n{script}")).unwrap();
    let manifest = serde_json::json!({
        "schema": "tcplab.kernel/1", "key": "0123", "names": [name], "version": "6.1.0", "hz": 250,
        "edits": [], "every_build": ["hz-choice", "large-xstate", "seeded-random", "still-clock"], "source": {"kind": "package", "name": "linux-source-6.1", "sha256": ""},
        "config_sha256": "", "binary_sha256": "", "binary_bytes": 1, "compiler": "", "tcplab": "0",
        "build_cpu_s": 0.0
    });
    fs::write(kernels.join("manifest.json"), manifest.to_string()).unwrap();
    let mut mode = fs::metadata(&kernel).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    fs::set_permissions(&kernel, mode).unwrap();
}

#[test]
fn kernel_that_fails_to_boot_shows_its_console() {
    let place = folder();
    script_as_kernel(
        place.path(),
        "broken",
        "echo Kernel panic - not syncing\nexit 9\n",
    );
    let output = command(&["run", STREAM, "--on", "uml:broken", "--json"])
        .env("XDG_CACHE_HOME", place.path())
        .output()
        .unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(4), "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("without a result") && message.contains("Kernel panic"),
        "{message}"
    );
    let error = answer["points"][0]["error"].as_str().unwrap();
    assert!(error.contains("Kernel panic"));
}

#[test]
fn wrong_names_are_answered_with_the_nearest() {
    let missing = tcplab(&["run", STREAM, "--on", "uml:6.1+mss-bundary", "--json"]);
    assert!([2, 4].contains(&missing.code));
    assert!(
        missing.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("mss-b")
    );
    let expression = tcplab(&[
        "run",
        STREAM,
        "--on",
        "host",
        "--bad",
        "client.TcpExtDelayedACKs >",
    ]);
    assert_eq!(expression.code, 2);
    let measure = tcplab(&[
        "run",
        STREAM,
        "--on",
        "host",
        "--bad",
        "client.acks.delaid > 0",
    ]);
    assert_eq!(measure.code, 2);
    assert!(
        measure.err.contains("client.acks.delayed"),
        "{}",
        measure.err
    );
    let skip = tcplab(&[
        "run",
        "nothing.toml",
        "--bad",
        "client.acks.delayed > 0",
        "--bisect-exit",
    ]);
    assert_eq!(skip.code, 125);
}

#[test]
fn a_dry_run_prints_every_default() {
    let plan = tcplab(&["run", STREAM, "--dry-run", "--json"]).json();
    assert_eq!(plan["stacks"].as_array().unwrap().len(), 4);
    let app = &plan["points"][0]["apps"][0];
    assert_eq!(app["does"]["stream"]["every_ns"], 100_000_000);
    assert_eq!(app["server_socket"]["nodelay"], true);
}

#[test]
fn a_run_is_changed_without_an_editor() {
    let run = |words: &[&str]| tcplab(&[&["run", STREAM, "--on", "model"], words].concat());
    let set = ["--set", "app.stream.count=2,3", "--set", "run.seed=9"];
    let result = run(&[&set[..], &["--repeat", "2", "--json"]].concat());
    let document = result.json();
    let points = document["points"].as_array().unwrap();
    assert_eq!(points.len(), 4, "{}", result.err);
    let axes = &points[3]["axes"];
    assert_eq!(axes["app.stream.count"], 3);
    assert_eq!(axes["repeat"], 2);
    assert_eq!(points[0]["seed"], 9);
    let wrong = run(&["--set", "app.stream.cuont=2"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("--set:1:1: "), "{}", wrong.err);
    assert!(wrong.err.contains("did you mean `count`?"), "{}", wrong.err);
    for (file, words, why) in [
        (
            "examples/rto-p0.toml",
            ["--set", "app.web.count=2"],
            "--set: ",
        ),
        ("examples/rto-p0.toml", ["--repeat", "2"], "--repeat: "),
    ] {
        let refused = tcplab(&[&["run", file], &words[..]].concat());
        assert_eq!(refused.code, 2, "{}", refused.out);
        assert!(refused.err.contains(why), "{}", refused.err);
        assert!(refused.err.contains("[[variant]]"), "{}", refused.err);
    }
}

#[test]
fn points_and_series_are_tables_for_other_programs() {
    let place = folder();
    let file = place.path().join("t.toml");
    let experiment = "measures = [\"bulk.goodput_bps\", \"client.TcpRetransSegs\"]\n[run]\nrepeat = 2\ntcp_info_every = \"10ms\"\n\
                      link_every = \"10ms\"\n[[link]]\nrate = \"10mbit\"\n[[app]]\nkind = \"bulk\"\nbytes = 100000\n\
                      [[app]]\nkind = \"udp-ping\"\ncount = 3\n[[variant]]\nname = \"a-or-b\"\n";
    std::fs::write(&file, experiment).unwrap();
    let out = place.path().join("out");
    let run = tcplab(&["run", text(&file), "--csv", text(&out), "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let table = |name: &str| {
        let text = std::fs::read_to_string(out.join(name)).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<String>>()
    };
    let points = table("points.csv");
    assert_eq!(
        points[0],
        "point,stack,repeat,variant,seed,cut_short,error,bulk.goodput_bps [bit/s],client.TcpRetransSegs [segments]"
    );
    let document = run.json();
    let start = format!(
        "1,model:linux-6.1,2,a-or-b,{},false,,",
        document["points"][1]["seed"]
    );
    assert!(points[2].starts_with(&start), "{}", points[2]);
    let value = points[2][start.len()..].split(',').next().unwrap();
    // Digit by digit: reading it as a number could round.
    assert!(!value.is_empty() && run.out.contains(value), "{value}");
    assert_eq!(table("connections.csv").len(), 1 + 2 * 2 * 2);
    assert_eq!(table("pings.csv").len(), 1 + 2 * 3);
    // The columns are those that the result names.
    let columns = &document["points"][0]["columns"];
    for (name, file) in [
        ("tcp_info_series", "tcp_info.csv"),
        ("link_series", "links.csv"),
    ] {
        let named: Vec<&str> = columns[name]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|c| c.as_str())
            .collect();
        let rows = table(file);
        assert!(rows[0].ends_with(&named.join(",")), "{name}: {}", rows[0]);
        assert!(rows.len() > 10, "{name}");
        let width = rows[0].split(',').count();
        assert!(
            rows.iter().all(|row| row.split(',').count() == width),
            "{name}"
        );
    }
    let one = place.path().join("points.csv");
    assert_eq!(tcplab(&["run", text(&file), "--csv", text(&one)]).code, 0);
    assert_eq!(
        std::fs::read_to_string(&one).unwrap(),
        points.join("\n") + "\n"
    );
    // A part of the run keeps the numbers of the result folder; no table of an earlier run stays.
    let pings = "[[app]]\nkind = \"udp-ping\"\ncount = 3\n";
    let other = place.path().join("other.toml");
    std::fs::write(&other, experiment.replace(pings, "")).unwrap();
    let words = ["--csv", text(&out), "--json", "--points", "1"];
    let part = tcplab(&[&["run", text(&other)][..], &words].concat());
    assert_eq!(part.json()["numbers"][0], 1, "{}", part.err);
    assert!(table("points.csv")[1].starts_with("1,"));
    assert_eq!(table("pings.csv").len(), 1);
    // An output that cannot be written is refused before the run.
    let blocked = tcplab(&["run", text(&file), "--csv", text(&file.join("x"))]);
    assert_eq!(blocked.code, 2, "{}", blocked.err);
}

#[test]
fn a_result_that_was_changed_is_neither_continued_nor_merged() {
    let place = folder();
    let file = place.path().join("t.toml");
    let experiment = "[run]\nrepeat = 2\n[[app]]\nkind = \"bulk\"\nbytes = 10000\n";
    std::fs::write(&file, experiment).unwrap();
    let [a, b, out] = ["a", "b", "out"].map(|name| place.path().join(name));
    let part = |out: &Path, points: &str| {
        tcplab(&["run", text(&file), "--out", text(out), "--points", points])
    };
    for (out, points) in [(&a, "0,1"), (&b, "1")] {
        assert_eq!(part(out, points).code, 0);
    }
    // The same point twice, and equal: nothing is wrong.
    let merge = || tcplab(&["merge", text(&a), text(&b), "--out", text(&out)]);
    assert_eq!(merge().code, 0);
    std::fs::remove_dir_all(&out).unwrap();
    let result = b.join("points/0001/result.json");
    let written = std::fs::read_to_string(&result).unwrap();
    let other = written.replacen("\"frames\": ", "\"frames\": 1", 1);
    assert_ne!(other, written);
    std::fs::write(&result, other).unwrap();
    let continued = part(&b, "1");
    assert_eq!(continued.code, 2, "{}", continued.err);
    assert!(
        continued.err.contains("was changed after the run"),
        "{}",
        continued.err
    );
    let merged = tcplab(&["merge", text(&b), text(&a), "--out", text(&out)]);
    assert!(
        merged.err.contains("was changed after the run"),
        "{}",
        merged.err
    );
}

#[test]
fn frames_that_never_left_the_queue_are_told() {
    let place = folder();
    let file = place.path().join("u.toml");
    let experiment = |linger: &str| {
        format!(
            "[run]\nlinger = \"{linger}\"\n[[link]]\nrate = \"1mbit\"\n[[app]]\nkind = \"udp-stream\"\nsize = 1208\n\
             every = \"1ms\"\nduration = \"200ms\"\n"
        )
    };
    for (linger, is_told) in [("100ms", true), ("10s", false)] {
        std::fs::write(&file, experiment(linger)).unwrap();
        let run = tcplab(&["run", text(&file)]);
        let note = "link.client-server.a_to_b: frames were still under way when the run ended";
        assert_eq!(run.out.contains(note), is_told, "{}", run.out);
    }
}

#[test]
#[ignore = "needs kernels: tcplab kernel build 6.1, and --edit mss-boundary"]
fn bisect_exit_says_good_bad_or_skip() {
    let judge = |stack: &str, bad: &str| {
        tcplab(&["run", STREAM, "--on", stack, "--bad", bad, "--bisect-exit"]).code
    };
    assert_eq!(judge("uml:6.1", "client.TcpExtDelayedACKs > 0"), 0);
    assert_eq!(judge("uml:mss-boundary", "client.TcpExtDelayedACKs > 0"), 1);
    assert_eq!(judge("uml:6.1", "client.TcpExtNoSuchCounter > 0"), 125);
    assert_eq!(
        judge("uml:no-such-kernel", "client.TcpExtDelayedACKs > 0"),
        125
    );
}

#[test]
fn bisect_runs_both_ends_before_what_is_between() {
    let bisect = |over: &str| {
        let bad = "client.TcpExtDelayedACKs > 50";
        let words = ["bisect", STREAM, "--bad", bad, "--over", over];
        (tcplab(&words), tcplab(&[&words[..], &["--json"]].concat()))
    };
    let (good, bad) = ("model:linux-5.10", "model:linux-6.1.56");
    let (run, json) = bisect(&format!("{bad},{good}"));
    assert_eq!((run.code, json.code), (3, 3), "{}", run.err);
    let reversed = format!("{bad} is bad and {good} is good; --over wants them in order");
    assert!(run.out.contains(&reversed), "{}", run.out);
    assert!(json.json()["cannot_say"].is_string());
    // What is between good ends was not run, and the answer says so.
    let (run, json) = bisect(&format!("{good},{bad},{bad},{good}"));
    assert_eq!((run.code, json.code), (1, 1), "{}", run.err);
    let ends = "no stack is bad at the ends (2 runs); 2 between were not run\n";
    assert_eq!(run.out, ends);
    assert_eq!(json.json()["not_run"], 2);
    let (run, json) = bisect(&format!("{good},{good},{bad}"));
    assert_eq!((run.code, json.code), (0, 0), "{}", run.err);
    let first = format!("first bad stack: {bad} ({good} is good; 3 runs)\n");
    assert_eq!(run.out, first);
    let steps = json.json()["steps"].as_array().map(Vec::len);
    assert_eq!(steps, Some(3));
}
