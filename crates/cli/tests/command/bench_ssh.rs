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
    both_ends_are_captured(&machines);
    refuses_bad_plans(&machines);
}

fn every_workload_goes_between(machines: &Machines) {
    let out = machines.path("out");
    let run = bench(
        machines,
        &["--on", "ssh:a,b", "--repeat", "1", "--out", text(&out)],
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
        let counter = match name.starts_with("UDP") {
            true => "UdpInDatagrams",
            false => "TcpInSegs",
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
    let out = machines.path("pairs");
    let three = ["TCP_RR", "--repeat", "3", "--out", text(&out)];
    let run = bench(machines, &[&three[..], &arms].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    super::schema::holds("compare", &run.json());
    let kept = std::fs::read_to_string(out.join("runs.jsonl")).unwrap();
    let arms = kept.lines().map(|line| {
        let run: Value = serde_json::from_str(line).unwrap();
        run["arm"].as_str().unwrap().to_owned()
    });
    // A B B A A B.
    let order: Vec<String> = arms.collect();
    let want = ["before", "after", "after", "before", "before", "after"];
    assert_eq!(order, want);
}

fn both_ends_are_captured(machines: &Machines) {
    let out = machines.path("captured");
    let args = [
        "TCP_RR",
        "TCP_STREAM:512",
        "--repeat",
        "1",
        "--captures",
        "--out",
        text(&out),
    ];
    let run = bench(machines, &[&args[..], &["--on", "ssh:a,b"]].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    for run in ["0000-TCP_RR", "0001-TCP_STREAM-512"] {
        let file = |side| {
            let name = format!("captures/{run}-ssh-a-b-{side}.pcapng");
            text(&out.join(name)).to_owned()
        };
        // The same connection from both ends: no ssh, no other.
        let pair = super::tcplab(&[
            "analyze",
            "--json",
            "--pair",
            &file("client"),
            &file("server"),
        ]);
        assert_eq!(pair.code, 0, "{}", pair.err);
        for side in ["client", "server"] {
            let found = super::tcplab(&["analyze", "--json", &file(side)]).json();
            let streams = found["captures"][0]["streams"].as_array().unwrap();
            assert_eq!(streams.len(), 1, "{run} {side}");
            let sent = streams[0]["client_to_server"]["packets"].as_u64();
            assert!(sent > Some(5), "{}", streams[0]);
        }
    }
    let near = super::tcplab(&[
        "bench",
        "TCP_RR",
        "--captures",
        "--out",
        text(&machines.path("near")),
    ]);
    assert_eq!(near.code, 2);
    assert!(near.err.contains("--on ssh:A,B"), "{}", near.err);
}

fn refuses_bad_plans(machines: &Machines) {
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
