//! `--on host`: this machine's kernel in real time. What is said of times, settings and kernels.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{Run, tcplab, text};

/// Both applications over the kernel's own link, where a round trip takes some microseconds.
const TIMES: &str = r#"
measures = ["ping.latency_us.min", "rr.latency_us.min", "bulk.duration_us"]
[run]
log = true
[[link]]
by = "kernel"
[[app]]
kind = "ping"
count = 20
every = "5ms"
[[app]]
kind = "request-response"
name = "rr"
count = 50
[[app]]
kind = "bulk"
bytes = "20 MB"
server_socket = { rcvbuf = "1g" }
"#;

/// Runs an experiment; none: this machine cannot.
fn run(place: &Path, experiment: &str, more: &[&str]) -> Option<Run> {
    let file = place.join("x.toml");
    std::fs::write(&file, experiment).unwrap();
    let run = tcplab(&[&["run", text(&file), "--on", "host", "--json"], more].concat());
    if run.code == 4 {
        eprintln!("skipped: {}", run.err);
        return None;
    }
    assert_eq!(run.code, 0, "{}{}", run.err, run.out);
    Some(run)
}

/// The end of the application of this name.
fn end<'a>(point: &'a Value, app: &str, side: &str) -> &'a Value {
    let mut flows = point["flows"].as_array().unwrap().iter();
    &flows.find(|flow| flow["app"] == app).unwrap()[side]
}

#[test]
fn events_have_their_own_times() {
    let place = tempfile::tempdir().unwrap();
    let Some(run) = run(place.path(), TIMES, &[]) else {
        return;
    };
    let point = &run.json()["points"][0];
    for app in ["ping", "rr"] {
        let least = &point["measures"][format!("{app}.latency_us.min")];
        assert!(least.as_f64().unwrap() >= 1.0, "{app}: {least}");
    }
    let server = end(point, "bulk", "server");
    let lines = server["log"].as_array().unwrap().iter();
    let times: Vec<i64> = lines
        .map(|line| line["time_ns"].as_i64().unwrap())
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    let all: BTreeSet<&i64> = times.iter().collect();
    assert!(
        all.len() > times.len() / 2,
        "{} of {}",
        all.len(),
        times.len()
    );
    // It has closed when the last byte had come, which is not before the client wrote it.
    let last = end(point, "bulk", "client")["log"].as_array().unwrap();
    let wrote = last.iter().rfind(|line| line["what"] == "write").unwrap();
    assert!(server["closed_ns"].as_i64() >= wrote["time_ns"].as_i64());
    let notes = point["warnings"].to_string();
    for what in ["/proc/net/tcp", "server of bulk: rcvbuf is"] {
        assert!(notes.contains(what), "{what}: {notes}");
    }
}

/// The command under the name of another kernel.
fn under_another_name(arguments: &[&str]) -> Option<Run> {
    let machine = Command::new("uname").arg("-m").output().ok()?;
    let machine = String::from_utf8(machine.stdout).ok()?;
    let mut command = Command::new("setarch");
    command.args([machine.trim(), "--uname-2.6", env!("CARGO_BIN_EXE_tcplab")]);
    match command.args(arguments).output() {
        Ok(output) => Some(Run::new(output)),
        Err(e) => {
            eprintln!("skipped: setarch: {e}");
            None
        }
    }
}

#[test]
fn points_of_two_kernels_are_not_one_result() {
    const TWO: &str = "[run]\nrepeat = 2\n[[link]]\n[[app]]\nkind = \"echo\"\ncount = 2\n";
    let place = tempfile::tempdir().unwrap();
    let folders = ["a", "b", "ab"].map(|name| place.path().join(name));
    let [a, b, ab] = folders.each_ref().map(|folder| text(folder));
    if run(place.path(), TWO, &["--shard", "1/2", "--out", a]).is_none() {
        return;
    }
    let file = place.path().join("x.toml");
    let start = ["run", text(&file), "--on", "host", "--json"];
    let other = [&start[..], &["--shard", "2/2", "--out", b]].concat();
    let Some(other) = under_another_name(&other) else {
        return;
    };
    assert_eq!(other.code, 0, "{}{}", other.err, other.out);
    let refused = |run: Run, what: &str| {
        assert_eq!(run.code, 2, "{}{}", run.err, run.out);
        for what in ["Linux 2.6.", what] {
            assert!(run.err.contains(what), "{what}: {}", run.err);
        }
    };
    refused(
        tcplab(&["merge", a, b, "--out", ab]),
        "folders of one kernel",
    );
    refused(
        tcplab(&["run", text(&file), "--on", "host", "--out", b]),
        "choose another folder",
    );
    // What is there can still be shown, and a folder of this kernel goes on.
    let shown = [&start[..4], &["--shard", "2/2", "--out", b]].concat();
    assert_eq!(tcplab(&shown).code, 0);
    assert!(run(place.path(), TWO, &["--out", a]).is_some());
}
