//! `tcplab run --on qemu:IMAGE`: a distribution's kernel in virtual time.
//!
//! Those that need QEMU and an image are ignored unless asked for; `make test` asks where both are
//! on this machine: no test fetches one.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use super::run::{differing, endless, gone, guest_of};
use super::{command, folder, tcplab, text};

const STREAM: &str = "examples/delayed-ack.toml";

/// The stacks in QEMU that this machine lists.
fn listed() -> Vec<Value> {
    let mut all = tcplab(&["stacks", "--json"]).json();
    let all = all["stacks"].as_array_mut().unwrap();
    all.retain(|s| s["stack"].as_str().unwrap().starts_with("qemu:"));
    std::mem::take(all)
}

/// An image that is here.
fn image() -> String {
    let here = listed();
    let mut usable = here.iter().filter(|s| s["lacks"].is_null());
    let found = usable.find(|s| s["stack"] != "qemu:debian");
    let found = found.unwrap_or_else(|| panic!("no QEMU or no image here: {here:?}"));
    found["stack"].as_str().unwrap().to_owned()
}

#[test]
#[ignore = "needs QEMU and an image: a run --on qemu:debian fetches one"]
fn a_stock_kernel_repeats_byte_for_byte_and_does_not_delay() {
    let stack = image();
    let place = folder();
    let start = |out: &Path, seed: &str| {
        command(&["run", STREAM, "--on", &stack, "--json", "--seed", seed])
            .args(["--out", text(out)])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let outs = ["a", "b", "c"].map(|name| place.path().join(name));
    // All at once: the machine's load must not show in the results.
    let runs = [(&outs[0], "1"), (&outs[1], "1"), (&outs[2], "2")];
    let answers = runs
        .map(|(out, seed)| start(out, seed))
        .map(|run| run.wait_with_output().unwrap());
    let [first, _, _] = answers.map(|done| {
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stdout)
        );
        serde_json::from_slice::<Value>(&done.stdout).unwrap()
    });
    assert_eq!(differing(&outs[0], &outs[1]), [""; 0]);
    let capture = |of: &Path| fs::read(of.join("points/0000/client.eth0.pcapng")).unwrap();
    assert_ne!(capture(&outs[0]), capture(&outs[2]));
    let point = &first["points"][0];
    assert_eq!(point["measures"]["client.acks.delayed"], 0.0);
    assert_eq!(point["measures"]["client.acks.total"], 100.0);
    assert!(
        point["cost"]["user_s"].as_f64().unwrap() > 0.1,
        "{}",
        point["cost"]
    );
}

#[test]
#[ignore = "needs QEMU and an image: a run --on qemu:debian fetches one"]
fn kill_9_leaves_no_stock_kernel() {
    let stack = image();
    let place = folder();
    let mut run = endless(place.path(), &stack);
    let processes = guest_of(&run, 2);
    run.kill().unwrap();
    run.wait().unwrap();
    gone(&processes);
}

#[test]
fn without_qemu_the_package_is_named() {
    let here = command(&["stacks", "--json"])
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    let here: Value = serde_json::from_slice(&here.stdout).unwrap();
    let stacks = here["stacks"].as_array().unwrap();
    let debian = stacks.iter().find(|s| s["stack"] == "qemu:debian").unwrap();
    let lacks = debian["lacks"].as_str().unwrap();
    assert!(lacks.contains("apt-get install qemu-system-x86"), "{lacks}");

    let run = command(&["run", STREAM, "--on", "qemu:debian", "--json"])
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(4));
    let answer: Value = serde_json::from_slice(&run.stdout).unwrap();
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("apt-get install qemu-system-x86"),
        "{message}"
    );
}

#[test]
#[ignore = "needs QEMU and an image: a run --on qemu:debian fetches one"]
fn file_that_is_not_a_stock_kernel_is_refused_by_name() {
    let file = tcplab(&["run", STREAM, "--on", "qemu:./README.md", "--json"]);
    assert_eq!(file.code, 4);
    let said = file.json()["error"]["message"].to_string();
    assert!(said.contains("not a Linux kernel"), "{said}");
    let none = tcplab(&["run", STREAM, "--on", "qemu:/nonexistent/vmlinuz", "--json"]);
    assert_eq!(none.code, 4);
    let said = none.json()["error"]["message"].to_string();
    assert!(said.contains("/nonexistent/vmlinuz"), "{said}");
}
