//! `tcplab probe --via`: tcplab's own TCP on a device, against itself and against this machine's, through a switch with
//! CAQM.

use serde_json::Value;
use tempfile::TempDir;

use super::schema::holds;
use super::{folder, tcplab, text};

/// An endpoint that speaks CAQM, in the words of `tcplab probe`.
const CAQM: &str = "--congestion caqm --sysctl net.core.sysctl_caqm_enable=1 \
                    --sysctl net.core.sysctl_caqm_filter_nics=255";

/// The bytes that a client sends.
const BYTES: u64 = 4 << 20;

/// The result of a link between two namespaces, and the reports of the probes at its ends. None: links cannot be
/// made here.
fn link(ends: [&str; 2], programs: [&str; 2]) -> Option<(Value, [Value; 2], TempDir)> {
    let folder = folder();
    let program = |n: usize| {
        let file = folder.path().join(format!("{n}.json"));
        format!(
            "{} probe {} --json > {}",
            env!("CARGO_BIN_EXE_tcplab"),
            programs[n].replace("FOLDER", text(folder.path())),
            file.display()
        )
    };
    let (a, b) = (program(0), program(1));
    let args = [
        "link",
        ends[0],
        ends[1],
        "--json",
        "--run-a",
        &a,
        "--run-b",
        &b,
        "--a-to-b",
        "{ qdisc = \"caqm qt 0x8f last_hop\", rate = \"200mbit\", delay = \"1ms\" }",
        "--b-to-a",
        "{ delay = \"1ms\" }",
    ];
    let run = tcplab(&args);
    if run.code == 4 {
        eprintln!("skipped: {}", run.err);
        return None;
    }
    assert_eq!(run.code, 0, "{}", run.err);
    let end: Value = serde_json::from_str(run.out.lines().last().unwrap()).unwrap();
    assert_eq!(end["event"], "end");
    let probes = [0, 1].map(|n| {
        let text = std::fs::read_to_string(folder.path().join(format!("{n}.json"))).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        holds("probe", &document);
        document
    });
    Some((end, probes, folder))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value}"))
}

/// What the switch did with frames, by the names of its statistics.
fn judged(end: &Value, name: &str) -> u64 {
    number(&end["a_to_b"]["qdisc"][name])
}

/// How CAQM was negotiated, by the capture of the endpoint.
fn negotiation(folder: &TempDir) -> Value {
    let capture = folder.path().join("a.pcapng");
    let run = tcplab(&["analyze", "--json", text(&capture)]);
    assert_eq!(run.code, 0, "{}", run.err);
    run.json()["captures"][0]["streams"][0]["handshake"]["caqm"].clone()
}

#[test]
fn both_hosts_speak_caqm_through_a_switch() {
    let server = format!(
        "server bulk --clients 1 --via if:tcplab0 --address 10.77.0.2/24 {CAQM} --log-lines 0"
    );
    let client = format!(
        "client bulk --bytes {BYTES} --via if:tcplab0 --address 10.77.0.1/24 {CAQM} --log-lines 0 -w FOLDER/a.pcapng \
         10.77.0.2"
    );
    let Some((end, [a, b], folder)) = link(["new:a=none", "new:b=none"], [&client, &server]) else {
        return;
    };
    assert_eq!(number(&b["connections"][0]["read_bytes"]), BYTES);
    assert_eq!(number(&a["connections"][0]["written_bytes"]), BYTES);
    assert_eq!(a["kernel"], "tcplab's own TCP, profile linux-6.1");
    // Every data segment asks; MSS is 4 bytes less (1444 with time stamps).
    let data = BYTES.div_ceil(1_444);
    let (asked, came) = (
        number(&a["via"]["tagged_out"]),
        number(&b["via"]["tagged_in"]),
    );
    assert!(asked >= data && came <= asked, "{asked} {came} {data}");
    assert!(number(&a["via"]["tagged_in"]) > 0, "feedback");
    // The switch judges what is tagged, and grants some of it.
    let granted = judged(&end, "granted") + judged(&end, "refused") + judged(&end, "marked");
    assert!(granted >= data, "{}", end["a_to_b"]["qdisc"]);
    let info = &a["connections"][0]["tcp_info"][0]["fields"];
    assert!(number(&info["tcpi_snd_mss"]) == 1_444, "{info}");
    // The capture says the same of itself.
    assert_eq!(negotiation(&folder), "negotiated");
}

#[test]
fn both_hosts_speak_ipv6_with_each_other_and_with_a_kernel() {
    let server = "server bulk --clients 1 --via if:tcplab0 --address fd77::2/64 --log-lines 0";
    let kernels = "server bulk --clients 1 --no-looks --log-lines 0";
    let client = format!(
        "client bulk --bytes {BYTES} --via if:tcplab0 --address fd77::1/64 --log-lines 0 fd77::2"
    );
    for (end, server) in [("new:b=none", server), ("new:b=fd77::2/64", kernels)] {
        let Some((_, [a, b], _)) = link(["new:a=none", end], [&client, server]) else {
            return;
        };
        assert_eq!(number(&b["connections"][0]["read_bytes"]), BYTES, "{end}");
        let connection = &a["connections"][0];
        assert_eq!(number(&connection["written_bytes"]), BYTES, "{end}");
        assert_eq!(connection["remote"], "[fd77::2]:1234");
        // 1,500 bytes less the headers of IPv6 and TCP and its time stamps.
        let info = &connection["tcp_info"][0]["fields"];
        assert_eq!(number(&info["tcpi_snd_mss"]), 1_428, "{info}");
    }
}

#[test]
fn unsupported_ipv6_endpoint_is_an_error() {
    let refused = |more: &[&str], what: &str| {
        let args = [
            "probe",
            "client",
            "bulk",
            "--via",
            "tap:tcplabx",
            "--address",
        ];
        let run = tcplab(&[&args[..], more, &["fd77::2"]].concat());
        assert_eq!(run.code, 2, "{}{}", run.out, run.err);
        assert!(run.err.contains(what), "{what}: {}", run.err);
    };
    refused(&["fd77::1/129"], "10.77.0.1/24, fd77::1/64");
    refused(
        &["fd77::1/64", "--gateway", "10.77.0.9"],
        "write both as IPv4 or both as IPv6",
    );
    refused(
        &["fd77::1/64", "--mtu", "1000"],
        "IPv6 needs at least 1280 bytes",
    );
    refused(&["10.77.0.1/24"], "IPv4");
}

#[test]
fn a_kernel_without_caqm_refuses_it_and_gets_plain_frames() {
    let server = "server bulk --clients 1 --no-looks --log-lines 0";
    let client = format!(
        "client bulk --bytes {BYTES} --via if:tcplab0 --address 10.77.0.1/24 {CAQM} --log-lines 0 -w FOLDER/a.pcapng \
         10.77.0.2"
    );
    let Some((end, [a, b], folder)) = link(["new:a=none", "new:b"], [&client, server]) else {
        return;
    };
    assert_eq!(number(&b["connections"][0]["read_bytes"]), BYTES);
    for tagged in ["tagged_in", "tagged_out"] {
        assert_eq!(a["via"][tagged], 0, "{}", a["via"]);
    }
    for words in ["granted", "refused", "marked"] {
        assert_eq!(judged(&end, words), 0, "{words}");
    }
    assert!(b["via"].is_null(), "the other end is this machine's");
    assert_eq!(negotiation(&folder), "not_answered");
}

#[test]
fn this_machines_client_talks_to_a_server_of_ours() {
    let server = "server request-response --clients 2 --via if:tcplab0 --address 10.77.0.1/24";
    let client = "client request-response --count 200 --no-looks --log-lines 0 10.77.0.1";
    // The client ends with its namespace's program, the server after two clients.
    let both = format!(
        "{client} > /dev/null && {} probe {client}",
        env!("CARGO_BIN_EXE_tcplab")
    );
    let Some((_, [a, b], _)) = link(["new:a=none", "new:b"], [server, &both]) else {
        return;
    };
    assert_eq!(number(&b["completed"]), 200);
    assert_eq!(a["connections"].as_array().map(Vec::len), Some(2));
    for connection in a["connections"].as_array().unwrap() {
        assert_eq!(number(&connection["read_bytes"]), 200, "{connection}");
        assert_eq!(connection["ended"], "peer");
        let remote = connection["remote"].as_str().unwrap();
        assert!(remote.starts_with("10.77.0.2:"), "{remote}");
        let log = connection["log"].as_array().unwrap();
        assert_eq!(log[0]["what"], "accept");
    }
    assert_eq!(number(&a["counters"]["TcpPassiveOpens"]), 2);
}

#[test]
fn impossible_request_is_refused_at_once() {
    let via = |words: &str| {
        let mut args = vec![
            "probe",
            "client",
            "bulk",
            "--address",
            "10.77.0.1/24",
            "10.77.0.2",
        ];
        args.extend(words.split(' '));
        tcplab(&args)
    };
    for (words, says) in [
        ("--via new:a", "tcplab link"),
        ("--via if:tcplab-none", "tcplab-none"),
        ("--via if:lo", "no Ethernet frames"),
        ("--via if:lo --profile linux-1.0", "tcplab stacks"),
        ("--via tap:x=10.77.0.1/24", "the kernel's address"),
        ("--via if:lo --mtu 20", "68 to 65521"),
    ] {
        let run = via(words);
        assert!(matches!(run.code, 2 | 4), "{words}: {}", run.err);
        assert!(run.err.contains(says), "{words}: {}", run.err);
    }
    let run = tcplab(&["probe", "client", "bulk", "--via", "if:lo", "127.0.0.1"]);
    assert_eq!(run.code, 2, "--via needs --address: {}", run.err);
}
