//! CAQM from a run to the analyser: the analyser and an independent script read from the captures what hosts and switch
//! did.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{folder, root, tcplab};

/// Two senders with 25 Gbit/s each, a port with 10; each variant has one cause.
const EXPERIMENT: &str = r#"
schema = "tcplab.experiment/1"
title = "captures of CAQM"
measures = ["flow.goodput_bps"]

[run]
stacks = ["model"]
linger = "1ms"
tcp_info_every = "100us"

[[host]]
name = "sender"
count = 2
sysctl = { "net.core.sysctl_caqm_enable" = 1, "net.core.sysctl_caqm_filter_nics" = "0xff" }
socket = { congestion = "caqm" }

[[host]]
name = "switch"
forward = true

[[host]]
name = "sink"
sysctl = { "net.core.sysctl_caqm_enable" = 1, "net.core.sysctl_caqm_filter_nics" = "0xff" }
socket = { congestion = "caqm" }

[[link]]
between = ["sender", "switch"]
rate = "25gbit"
delay = "10us"
jitter = "2us"

[[link]]
between = ["switch", "sink"]
rate = "10gbit"
delay = "15us"

[[app]]
kind = "bulk"
name = "flow"
client = "sender"
server = "sink"
duration = "5ms"

[[variant]]
name = "caqm"
set = { "link.switch-sink.a_to_b.qdisc" = "caqm qt 0x8f" }

[[variant]]
name = "no-switch"
set = { "link.switch-sink.a_to_b.limit" = 60 }

[[variant]]
name = "sink-silent"
set = { "host.sink.sysctl" = { "net.core.sysctl_caqm_enable" = 1 }, "link.switch-sink.a_to_b.qdisc" = "caqm qt 0x8f" }

[[variant]]
name = "long-frames"
set = { "link.switch-sink.a_to_b.qdisc" = "caqm qt 0x8f", "host.sender.behaviour" = { caqm_long_frames = "on" }, "host.sink.behaviour" = { caqm_long_frames = "on" } }

[[variant]]
name = "client-only"
set = { "host.sink.socket.congestion" = "reno", "link.switch-sink.a_to_b.qdisc" = "caqm qt 0x8f" }

[[variant]]
name = "tso"
set = { "host.sender.offload" = "tso", "host.sink.offload" = "tso", "link.switch-sink.a_to_b.qdisc" = "caqm qt 0x8f" }
"#;

/// Runs it in a folder: the points' folders, in the order of the variants.
fn run(folder: &Path) -> Vec<PathBuf> {
    let file = folder.join("caqm.toml");
    std::fs::write(&file, EXPERIMENT).unwrap();
    let out = folder.join("out");
    let run = tcplab(&["run", text(&file), "--out", text(&out)]);
    assert_eq!(run.code, 0, "{}", run.err);
    (0..6).map(|n| out.join(format!("points/{n:04}"))).collect()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn capture(point: &Path, interface: &str) -> String {
    text(&point.join(format!("{interface}.pcapng"))).to_owned()
}

/// CAQM's findings of a capture, sorted, each once.
fn found(point: &Path, interface: &str) -> Vec<String> {
    let analysis = tcplab(&["analyze", "--json", &capture(point, interface)]).json();
    let all = analysis["captures"][0]["findings"]
        .as_array()
        .unwrap()
        .clone();
    let mut ids: Vec<String> = all
        .iter()
        .map(|f| f["id"].as_str().unwrap().to_owned())
        .filter(|id| id.starts_with("caqm_"))
        .collect();
    ids.sort();
    ids.dedup();
    ids
}

/// The window script, with what else it is told; its exit code and output.
fn window(point: &Path, more: &[&str]) -> Option<(Option<i32>, String)> {
    let script = root().join("scripts/caqm_window.py");
    let sink = capture(point, "sink.eth0");
    let result = point.join("result.json");
    let run = Command::new("python3")
        .arg(script)
        .arg(capture(point, "sender-1.eth0"))
        .args(["--receiver", &sink, "--tcp-info", text(&result)])
        .args(more)
        .output();
    let Ok(run) = run else {
        eprintln!("skipped: python3 is not installed");
        return None;
    };
    let said = [run.stdout, run.stderr].concat();
    Some((
        run.status.code(),
        String::from_utf8_lossy(&said).into_owned(),
    ))
}

fn sum(streams: &Value, direction: &str, field: &str) -> i64 {
    let streams = streams.as_array().unwrap().iter();
    let of = |s: &Value| s[direction]["caqm_tags"][field].as_i64().unwrap_or(0);
    streams.map(of).sum()
}

#[test]
fn captures_say_what_hosts_and_switch_did() {
    let folder = folder();
    let points = run(folder.path());
    let analysis = tcplab(&["analyze", "--json", &capture(&points[0], "sink.eth0")]).json();
    let streams = &analysis["captures"][0]["streams"];
    let result = std::fs::read_to_string(points[0].join("result.json")).unwrap();
    let result: Value = serde_json::from_str(&result).unwrap();
    // Behind the switch each verdict is its own.
    let links = result["links"].as_array().unwrap();
    let qdisc = &links.last().unwrap()["a_to_b_qdisc"];
    for field in ["granted", "refused", "marked"] {
        let counted = sum(streams, "client_to_server", field);
        assert!(counted > 0, "{field}");
        assert_eq!(Some(counted), qdisc[field].as_i64(), "{field}: {qdisc}");
    }
    // What came was told, but for less than a unit each.
    let data = |field| sum(streams, "client_to_server", field);
    let told = |field| sum(streams, "server_to_client", field);
    let came = data("granted_bytes") - data("taken_bytes");
    let waits = came - told("feedback_plus_bytes") + told("feedback_minus_bytes");
    assert!(waits.abs() < 2 * 64, "{waits}");
    // The window, from the capture alone.
    for (point, more) in [(0, &[][..]), (5, &["--tso"])] {
        let Some((code, said)) = window(&points[point], more) else {
            return;
        };
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(said.matches(": fits").count(), 3, "{said}");
    }
    // It can find what is not so.
    for wrong in [["--packet", "1448"], ["--ack", "32"], ["--beta", "256"]] {
        let (code, said) = window(&points[0], &wrong).unwrap();
        assert_eq!(code, Some(1), "{wrong:?}: {said}");
    }
    let (code, said) = window(&points[4], &[]).unwrap();
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("not negotiated"), "{said}");
}

#[test]
fn each_cause_is_found_at_both_ends() {
    let folder = folder();
    let points = run(folder.path());
    for (point, sender, sink) in [
        (0, "caqm_congestion", "caqm_congestion"),
        (1, "caqm_no_switch", "caqm_no_switch"),
        (2, "caqm_one_sided", "caqm_congestion caqm_one_sided"),
        (
            3,
            "caqm_congestion caqm_oversize",
            "caqm_congestion caqm_oversize",
        ),
        (4, "", ""),
        (5, "caqm_congestion", "caqm_congestion"),
    ] {
        assert_eq!(
            found(&points[point], "sender-1.eth0").join(" "),
            sender,
            "{point}"
        );
        assert_eq!(
            found(&points[point], "sink.eth0").join(" "),
            sink,
            "{point}"
        );
    }
    // For a person, and as a page.
    let sink = capture(&points[0], "sink.eth0");
    let report = tcplab(&["analyze", &sink]);
    assert!(report.out.contains("\nCAQM\n"), "{}", report.out);
    let lines = || report.out.lines();
    assert!(lines().all(|l| l.chars().count() <= 80), "{}", report.out);
    let page = points[0].join("page.html");
    let report = tcplab(&["analyze", "--html", text(&page), &sink]);
    if report.code == 4 {
        eprintln!("skipped: {}", report.err);
        return;
    }
    assert_eq!(report.code, 0, "{}", report.err);
    assert!(std::fs::metadata(&page).unwrap().len() > 10_000);
}

/// Another EtherType (`sysctl_caqm_tpid`) at all hosts, at the sender only, at the hosts but not at the switch.
#[test]
fn hosts_and_switches_understand_their_own_ethertype_only() {
    const OWN: &str = r#"{ "net.core.sysctl_caqm_enable" = 1, "net.core.sysctl_caqm_filter_nics" = "0xff", "net.core.sysctl_caqm_tpid" = "0x88b5" }"#;
    let head = EXPERIMENT.split("[[variant]]").next().unwrap();
    let variants = [
        ("usual", String::new(), "caqm qt 0x8f"),
        (
            "own",
            format!("\"host.sender.sysctl\" = {OWN}, \"host.sink.sysctl\" = {OWN}, "),
            "caqm qt 0x8f ethertype 0x88b5",
        ),
        (
            "sender-only",
            format!("\"host.sender.sysctl\" = {OWN}, "),
            "caqm qt 0x8f ethertype 0x88b5",
        ),
        (
            "not-switch",
            format!("\"host.sender.sysctl\" = {OWN}, \"host.sink.sysctl\" = {OWN}, "),
            "caqm qt 0x8f",
        ),
    ];
    let variants = variants.map(|(name, sysctl, queue)| {
        format!("[[variant]]\nname = \"{name}\"\nset = {{ {sysctl}\"link.switch-sink.a_to_b.qdisc\" = \"{queue}\" }}\n")
    });
    let measures =
        r#"["flow.goodput_bps", "sender.caqm.requests", "link.switch-sink.a_to_b.granted_bytes"]"#;
    let text_of =
        format!("{head}{}", variants.concat()).replace(r#"["flow.goodput_bps"]"#, measures);
    let folder = folder();
    let file = folder.path().join("t.toml");
    std::fs::write(&file, text_of).unwrap();
    let out = folder.path().join("out");
    let run = tcplab(&["run", text(&file), "--out", text(&out), "--json"]);
    assert_eq!(run.code, 0, "{} {}", run.err, run.out);
    let document = run.json();
    let measures = |n: usize| document["points"][n]["measures"].clone();
    // Another number at all three changes nothing but the number; the analyser's figures are of that number.
    assert_eq!(measures(1), measures(0));
    assert!(measures(0)["sender.caqm.requests"].as_f64() > Some(1_000.0));
    let analyzed = |n: usize, ethertype: &str| {
        let file = capture(&out.join(format!("points/{n:04}")), "sink.eth0");
        let run = tcplab(&["analyze", "--json", "--caqm-ethertype", ethertype, &file]);
        sum(
            &run.json()["captures"][0]["streams"],
            "client_to_server",
            "requests",
        )
    };
    assert!(analyzed(1, "0x88b5") > 1_000);
    assert_eq!((analyzed(1, "0x8200"), analyzed(0, "0x88b5")), (0, 0));
    // The handshake carries no tag, so it succeeds. The sink then drops data frames of the unknown
    // EtherType, and the connection cannot fall back.
    assert_eq!(measures(2)["flow.goodput_bps"].as_f64(), Some(0.0));
    assert!(measures(2)["sender.caqm.requests"].as_f64() > Some(0.0));
    // A switch of another EtherType forwards what it does not know.
    assert_eq!(
        measures(3)["link.switch-sink.a_to_b.granted_bytes"].as_f64(),
        Some(0.0)
    );
    assert!(measures(3)["flow.goodput_bps"].as_f64() > Some(1e9));
}
