//! `tcplab bench --on ssh:A,B`, over a real sshd in namespaces.

use serde_json::Value;

use super::sshd::Machines;
use super::{Run, text};

const SHORT: [&str; 5] = ["--warm", "50ms", "--time", "100ms", "--json"];

fn bench(machines: &Machines, args: &[&str]) -> Run {
    machines.tcplab(&[&["bench"][..], &SHORT, args].concat(), "config")
}

#[test]
fn client_and_server_are_on_two_hosts() {
    let Some(machines) = Machines::start() else {
        return;
    };
    every_workload_goes_between(&machines);
    two_servers_are_two_arms(&machines);
    what_cannot_be_is_said(&machines);
}

fn every_workload_goes_between(machines: &Machines) {
    let out = machines.path("out");
    let run = bench(
        machines,
        &["--on", "ssh:a,b", "--runs", "1", "--out", text(&out)],
    );
    assert_eq!(run.code, 0, "{}", run.err);
    let document = run.json();
    super::schema::holds("metrics", &document);
    let arm = &document["arms"][0];
    let system = arm["sources"][0]["system"].as_str().unwrap();
    assert!(
        system.contains("a: Linux") && system.contains("b: Linux"),
        "{system}"
    );
    let names: Vec<&str> = arm["metrics"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|metric| metric["name"].as_str())
        .collect();
    for name in [
        "TCP_STREAM:65536",
        "TCP_RR",
        "TCP_CRR",
        "UDP_RR",
        "UDP_STREAM:512",
    ] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(
        !names.iter().any(|name| name.starts_with("PIPE")),
        "{names:?}"
    );
    let kept = std::fs::read_to_string(out.join("runs.jsonl")).unwrap();
    for line in kept.lines() {
        let run: Value = serde_json::from_str(line).unwrap();
        let name = run["workload"].as_str().unwrap();
        // Each machine is a network namespace with counters of its own, and both saw the run.
        let counter = match name.starts_with("TCP") {
            true => "TcpInSegs",
            false => "UdpInDatagrams",
        };
        assert!(
            run["server_machine"]["counters"][counter].as_i64() > Some(0),
            "{run}"
        );
        if name.starts_with("TCP_STREAM") {
            // They came over the network between the hosts, whose MTU is not loopback's.
            let mss = run["client"]["tcp_info"]["tcpi_snd_mss"].as_i64().unwrap();
            assert!((500..=1460).contains(&mss), "{run}");
        }
    }
}

fn two_servers_are_two_arms(machines: &Machines) {
    let arms = ["--before", "ssh:a,b", "--after", "ssh:b,a"];
    let run = bench(machines, &[&["TCP_RR", "--runs", "3"][..], &arms].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    let document = run.json();
    super::schema::holds("compare", &document);
    let row = &document["rows"][0];
    assert_eq!(row["paired"], true, "{row}");
    assert_eq!(row["runs_after"].as_array().map(Vec::len), Some(3), "{row}");
}

fn what_cannot_be_is_said(machines: &Machines) {
    for (args, says) in [
        (&["PIPE_RR", "--on", "ssh:a,b"][..], "one machine"),
        (&["TCP_RR", "--on", "ssh:a"], "ssh:CLIENT,SERVER"),
        (&["TCP_RR", "--on", "ssh:a,b=10.99.7.7"], "b"),
        (
            &[
                "TCP_RR",
                "--on",
                "ssh:a,b",
                "--before",
                "sysctl:net.ipv4.tcp_sack=0",
                "--after",
                "as-it-is",
            ],
            "sysctl -w",
        ),
        (
            &["TCP_RR", "--on", "ssh:a,b", "--congestion", "no_such"],
            "no_such",
        ),
    ] {
        let run = bench(machines, args);
        assert!([2, 4].contains(&run.code), "{args:?}: {}", run.code);
        assert!(
            run.err.contains(says) || run.out.contains(says),
            "{args:?}: {} {}",
            run.err,
            run.out
        );
    }
}
