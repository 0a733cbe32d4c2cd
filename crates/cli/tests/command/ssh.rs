//! Sessions to other machines, over a real sshd in namespaces.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::sshd::Machines;
use super::{tcplab, text};

/// Three applications; the way has a delay that no real network takes on.
const PAIR: &str = r#"
schema = "tcplab.experiment/1"
name = "pair"
measures = ["rr.completed", "bulk.goodput_bps", "client.data_segments", "server.acks.total", "server.TcpInSegs", "link.client-server.a_to_b.lost"]
[run]
log = true
[[link]]
between = ["client", "server"]
delay = "5ms"
[[app]]
name = "rr"
kind = "request-response"
count = 50
[[app]]
name = "bulk"
kind = "bulk"
bytes = "1MB"
connections = 3
port = 6001
[[app]]
name = "ping"
kind = "udp-rr"
count = 20
port = 6002
"#;

#[test]
fn two_machines_are_looked_at() {
    let Some(machines) = Machines::start() else {
        return;
    };
    let look = || machines.tcplab(&["doctor", "--on", "ssh:a,b", "--json"], "config");
    let first = look();
    assert_eq!(first.code, 0, "{}", first.err);
    for host in ["a", "b"] {
        assert!(
            first.err.contains(&format!("{host}: copying tcplab")),
            "{}",
            first.err
        );
    }
    let found = first.json();
    for (n, host) in found["hosts"].as_array().unwrap().iter().enumerate() {
        assert_eq!(host["host"], ["a", "b"][n]);
        assert_eq!(host["reached_at"], format!("10.99.{}.2", n + 1));
        assert_eq!(host["no_capture"], Value::Null);
        // Both hosts share one clock, so the measured offset lies within its stated error.
        let offset = host["clock"]["offset_ns"].as_i64().unwrap();
        assert!(
            offset.abs() <= host["clock"]["error_ns"].as_i64().unwrap(),
            "{host}"
        );
    }
    let ways = found["ways"].as_array().unwrap();
    assert_eq!(ways.len(), 2);
    assert!(
        ways.iter()
            .all(|way| way["handshake_ns"].as_i64().unwrap() > 0)
    );
    // The copy stays, each machine has its own, and nothing else lies beside it.
    let again = look();
    assert_eq!((again.code, again.err.as_str()), (0, ""));
    for n in [1, 2] {
        let cache = machines.path(&format!("home-{n}/cache/tcplab/bin"));
        let copies: Vec<_> = std::fs::read_dir(cache)
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        assert_eq!(copies.len(), 1, "{copies:?}");
        assert_eq!(std::fs::read_dir(&copies[0]).unwrap().count(), 1);
    }
    // A copy that was cut short is made anew.
    let text = found["hosts"][0]["path"].as_str().unwrap();
    std::fs::OpenOptions::new()
        .write(true)
        .open(text)
        .unwrap()
        .set_len(1000)
        .unwrap();
    let healed = look();
    assert_eq!(healed.code, 0, "{}", healed.err);
    assert!(healed.err.contains("a: copying tcplab"), "{}", healed.err);
    failures(&machines);
}

/// What a new user meets.
fn failures(machines: &Machines) {
    let fails = |on: &str, config: &str, more: &[&str], what: &[&str]| {
        let args = [&["doctor", "--on", on][..], more].concat();
        let run = machines.tcplab(&args, config);
        assert!([2, 4].contains(&run.code), "{on}: {}\n{}", run.out, run.err);
        for what in what {
            assert!(run.err.contains(what), "{on}: {what}: {}", run.err);
        }
    };
    let by_hand = format!("ssh -F {}", machines.path("no_key").display());
    fails(
        "ssh:a",
        "no_key",
        &[],
        &["a: ", "Permission denied", "ssh-copy-id", &by_hand],
    );
    fails(
        "ssh:a",
        "not_known",
        &[],
        &[
            "a: ",
            "Host key verification failed",
            "connect once by hand",
        ],
    );
    fails(
        "ssh:nobody.invalid,a",
        "config",
        &[],
        &["nobody.invalid: ", "knows this name"],
    );
    fails(
        "ssh:-oProxyCommand=x",
        "config",
        &[],
        &["begins with a dash"],
    );
    fails("ssh:a,", "config", &[], &["empty host"]);
    fails("host", "config", &[], &["ssh:A,B"]);
    // The other machine's address is wrong.
    fails("ssh:a,b=10.99.1.77", "config", &[], &[]);
    // No program of ours, another machine's program, no program at all.
    let other = machines.path("other");
    let mut elf = std::fs::read("/bin/true").unwrap();
    let program = |file: &std::path::Path| ["--ssh-program".to_owned(), file.display().to_string()];
    let words = program("/bin/true".as_ref());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    fails(
        "ssh:a",
        "config",
        &words,
        &["a: tcplab does not start there", "make static"],
    );
    elf[18..20].copy_from_slice(&183_u16.to_le_bytes());
    std::fs::write(&other, elf).unwrap();
    let words = program(&other);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    fails(
        "ssh:a",
        "config",
        &words,
        &["a: Linux on ", "is for Linux on aarch64", "--ssh-program"],
    );
    std::fs::write(&other, "#!/bin/sh\n").unwrap();
    fails("ssh:a", "config", &words, &["no program for 64-bit Linux"]);
}

#[test]
fn a_far_side_ends_with_its_input_and_its_work_with_it() {
    let mut far = Command::new(env!("CARGO_BIN_EXE_tcplab"))
        .arg("__remote")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = far.stdout.take().unwrap();
    let mut input = far.stdin.take().unwrap();
    let hello = frame(&mut out);
    assert!(
        hello["what"]["Done"]["Hello"]["version"].is_string(),
        "{hello}"
    );
    let request = br#"{"Call":[1,{"Listen":{"address":"127.0.0.1"}}]}"#;
    let mut order = (request.len() as u32).to_be_bytes().to_vec();
    order.extend_from_slice(&[0; 4]);
    order.extend_from_slice(request);
    input.write_all(&order).unwrap();
    let note = frame(&mut out);
    let port = note["what"]["Note"]["Listening"].as_u64().unwrap() as u16;
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    drop(input);
    for _ in 0..3_000 {
        if let Some(status) = far.try_wait().unwrap() {
            assert!(status.success());
            assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
            return;
        }
        sleep(Duration::from_millis(10));
    }
    let _ = far.kill();
    let _ = far.wait();
    panic!("the far side is still there");
}

/// The head of the next frame.
fn frame(from: &mut impl Read) -> Value {
    let mut lengths = [0; 8];
    from.read_exact(&mut lengths).unwrap();
    let [a, b, c, d, rest @ ..] = lengths;
    assert_eq!(rest, [0; 4], "no bytes");
    let mut head = vec![0; u32::from_be_bytes([a, b, c, d]) as usize];
    from.read_exact(&mut head).unwrap();
    serde_json::from_slice(&head).unwrap()
}

#[test]
fn an_experiment_runs_between_two_machines() {
    let Some(machines) = Machines::start() else {
        return;
    };
    let file = machines.path("pair.toml");
    std::fs::write(&file, PAIR).unwrap();
    let out = machines.path("out");
    let args = [
        "run",
        text(&file),
        "--on",
        "ssh:a,b",
        "--json",
        "--out",
        text(&out),
    ];
    let run = machines.tcplab(&args, "config");
    assert_eq!(run.code, 0, "{}\n{}", run.err, run.out);
    let document = run.json();
    let point = &document["points"][0];
    assert_eq!(point["measures"]["rr.completed"], 50.0);
    assert!(point["measures"]["bulk.goodput_bps"].as_f64().unwrap() > 0.0);
    // Measures from both ends, and from both captures.
    assert!(
        point["measures"]["client.data_segments"].as_f64().unwrap() >= 50.0,
        "{point}"
    );
    assert!(point["measures"]["server.acks.total"].as_f64().unwrap() > 0.0);
    assert!(point["counters"]["server"]["TcpInSegs"].as_i64().unwrap() > 50);
    assert!(
        point["counters"]["client"]["TcpActiveOpens"]
            .as_i64()
            .unwrap()
            >= 4
    );
    assert!(point["measures"]["link.client-server.a_to_b.lost"].is_null());
    let flows = point["flows"].as_array().unwrap();
    assert_eq!(flows.len(), 5);
    for flow in flows {
        let (client, server) = (&flow["client"], &flow["server"]);
        assert_eq!(client["written_bytes"], server["read_bytes"], "{flow}");
        if flow["app"] == "bulk" {
            assert_eq!(server["read_bytes"], 1_000_000);
            assert!(server["tcp_info"]["tcpi_bytes_received"].as_i64().unwrap() >= 1_000_000);
            // Both clocks are one here: the server accepts when the client has connected, but for the error of it.
            let [c, s] = [client, server].map(|end| end["opened_ns"].as_i64().unwrap());
            assert!((s - c).abs() < 100_000_000, "{c} {s}");
        }
    }
    let warnings = point["warnings"].to_string();
    for what in [
        "ignored because the network is real",
        "delay 5 ms",
        "client is a at 10.99.1.2, server is b at 10.99.2.2",
        "onto the clock of client",
    ] {
        assert!(warnings.contains(what), "{what}: {warnings}");
    }
    captures(&out);
    over_ipv6(&machines, &file);
    sysctls(&machines);
    uncommon(&machines);
    refusals(&machines);
    no_process_stays(&machines, &file);
}

/// The same over IPv6, with addresses that the user names.
fn over_ipv6(machines: &Machines, file: &std::path::Path) {
    let out = machines.path("out6");
    let on = "ssh:a=fd99:1::2,b=fd99:2::2";
    let args = ["run", text(file), "--on", on, "--set", "run.ip=ipv6"];
    let more = ["--json", "--out", text(&out)];
    let run = machines.tcplab(&[&args[..], &more].concat(), "config");
    assert_eq!(run.code, 0, "{}\n{}", run.err, run.out);
    let point = &run.json()["points"][0];
    assert_eq!(point["measures"]["rr.completed"], 50.0);
    let segments = point["measures"]["client.data_segments"].as_f64();
    assert!(segments.unwrap() >= 50.0, "{point}");
    for flow in point["flows"].as_array().unwrap() {
        assert_eq!(
            flow["client"]["written_bytes"],
            flow["server"]["read_bytes"]
        );
    }
    let run = machines.tcplab(&["run", text(file), "--on", on], "config");
    assert_eq!(run.code, 4, "{}{}", run.out, run.err);
    // A table breaks lines.
    let all = format!("{} {}", run.out, run.err);
    let all = all.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(all.contains("set run.ip = \"ipv6\""), "{all}");
}

/// The folder is one like others: captures that are read, alone and beside each other, and compared.
fn captures(out: &std::path::Path) {
    let files: Vec<String> = ["client", "server"]
        .map(|host| text(&out.join(format!("points/0000/{host}.eth0.pcapng"))).to_owned())
        .to_vec();
    for file in &files {
        let found = tcplab(&["analyze", file, "--json"]);
        assert_eq!(found.code, 0, "{}", found.err);
        // Nothing of ssh's own connections.
        assert_eq!(
            found.json()["captures"][0]["streams"]
                .as_array()
                .unwrap()
                .len(),
            4
        );
    }
    let pair = tcplab(&["analyze", "--pair", &files[0], &files[1], "--json"]);
    assert_eq!(pair.code, 0, "{}", pair.err);
    let compared = tcplab(&["compare", text(out), text(out)]);
    assert_eq!(compared.code, 0, "{}\n{}", compared.err, compared.out);
}

/// A sysctl that differs is an error, and is set and put back where the user says so.
fn sysctls(machines: &Machines) {
    let file = machines.path("sysctl.toml");
    let experiment = PAIR.replace("[run]", "[[host]]\nname = \"client\"\n[[host]]\nname = \"server\"\nsysctl = { \"net.ipv4.tcp_sack\" = 0 }\n[run]");
    std::fs::write(&file, experiment).unwrap();
    let args = ["run", text(&file), "--on", "ssh:a,b", "--json"];
    let run = machines.tcplab(&args, "config");
    assert_eq!(run.code, 4, "{}", run.out);
    let error = run.json()["error"]["message"].to_string();
    for what in [
        "b: ",
        "net.ipv4.tcp_sack is 1 there",
        "--ssh-sysctl",
        "host.server.sysctl",
    ] {
        assert!(error.contains(what), "{what}: {error}");
    }
    let run = machines.tcplab(&[&args[..], &["--ssh-sysctl"]].concat(), "config");
    assert_eq!(run.code, 0, "{}", run.out);
    assert!(
        run.out
            .contains("net.ipv4.tcp_sack was 1; it was set to 0 for the run")
    );
    assert_eq!(
        machines
            .inside(2, &["cat", "/proc/sys/net/ipv4/tcp_sack"])
            .trim(),
        "1"
    );
}

/// Connections that are opened, changed and ended in uncommon ways.
const UNCOMMON: &str = r#"
schema = "tcplab.experiment/1"
name = "uncommon"
[run]
linger = "300ms"
log = true
[[host]]
name = "client"
[[host]]
name = "server"
sysctl = { "net.ipv4.tcp_fastopen" = 3 }
[[link]]
[[app]]
name = "fast"
kind = "connect-request-response"
fastopen = true
count = 3
[[app]]
name = "half"
kind = "messages"
messages = ["client 20k more", "server 30k at once", "client shutdown", "server 500", "server close"]
[[app]]
name = "unread"
kind = "messages"
messages = ["client 300", "server 40k", "client close after 50ms at once"]
[[app]]
name = "steps"
kind = "stream"
every = "5ms"
more = 3
chunk = 500
count = 40
server_change = [{ at = "50ms", nodelay = true }]
client_change = [{ at = "60ms", rcvbuf = 9000 }]
[[app]]
name = "crossed"
kind = "request-response"
open = "simultaneous"
port = 6005
start = "1s"
count = 3
"#;

/// Keys of the newer kinds: what is honoured does what it says, what is not is refused before the run.
fn uncommon(machines: &Machines) {
    let file = machines.path("uncommon.toml");
    std::fs::write(&file, UNCOMMON).unwrap();
    // Here no SYN is on its way for long enough to meet another. Those that are lost at first are sent again to an end that
    // has connected.
    let rule = "ipproto tcp dport 6005 blackhole";
    machines.inside(0, &["sh", "-c", &format!("ip rule add {rule}")]);
    let args = [
        "run",
        text(&file),
        "--on",
        "ssh:a,b",
        "--json",
        "--ssh-sysctl",
    ];
    let run = std::thread::scope(|scope| {
        let opens = format!("sleep 6; ip rule del {rule}");
        scope.spawn(move || machines.inside(0, &["sh", "-c", &opens]));
        machines.tcplab(&args, "config")
    });
    assert_eq!(run.code, 0, "{}\n{}", run.err, run.out);
    let point = &run.json()["points"][0];
    let flows = point["flows"].as_array().unwrap();
    let flow = |app: &str| flows.iter().find(|flow| flow["app"] == app).unwrap();
    let bytes = |app: &str, end: &str, what: &str| flow(app)[end][what].as_i64().unwrap();
    let count = |host: &str, name: &str| point["counters"][host][name].as_i64().unwrap_or(0);
    assert!(
        count("server", "TcpExtTCPFastOpenPassive") >= 2,
        "{}",
        point["counters"]
    );
    assert_eq!(bytes("half", "client", "read_bytes"), 31_220);
    assert_eq!(bytes("half", "server", "read_bytes"), 20_480);
    assert_eq!(bytes("unread", "client", "read_bytes"), 0);
    assert!(
        count("client", "TcpExtTCPAbortOnClose") >= 1,
        "{}",
        point["counters"]
    );
    assert_eq!(bytes("steps", "client", "read_bytes"), 20_000);
    let crossed = flow("crossed");
    assert_eq!(bytes("crossed", "server", "completed"), 3, "{crossed}");
    let opened = ["client", "server"].map(|end| crossed[end]["opened_ns"].as_i64());
    assert!(opened.iter().all(Option::is_some), "{crossed}");
    for (key, text) in [
        ("middlebox", "middlebox = [\"set-mss 900\"]"),
        ("inject", "inject = [\"1s rst\"]"),
        ("change", "change = [\"1s qdisc fq_codel\"]"),
        ("host.server.change", ""),
    ] {
        let text = match text {
            "" => UNCOMMON.replace(
                "sysctl = {",
                "change = [\"1s net.ipv4.tcp_sack=0\"]\nsysctl = {",
            ),
            text => UNCOMMON.replace("[[link]]", &format!("[[link]]\n{text}")),
        };
        std::fs::write(&file, text).unwrap();
        let run = machines.tcplab(&args, "config");
        assert_eq!(run.code, 4, "{key}: {}{}", run.out, run.err);
        let error = run.json()["error"]["message"].to_string();
        assert!(error.contains(key), "{key}: {error}");
    }
}

/// What cannot be run says why, with the key or the host.
fn refusals(machines: &Machines) {
    let file = machines.path("refused.toml");
    let refused = |experiment: &str, on: &str, what: &[&str]| {
        std::fs::write(&file, experiment).unwrap();
        let run = machines.tcplab(&["run", text(&file), "--on", on], "config");
        assert!(
            run.code == 4 || run.code == 2,
            "{}: {}{}",
            run.code,
            run.out,
            run.err
        );
        // A table breaks lines.
        let all = format!("{} {}", run.out, run.err);
        let all = all.split_whitespace().collect::<Vec<_>>().join(" ");
        for what in what {
            assert!(all.contains(what), "{what}: {all}");
        }
    };
    let three = PAIR.replace(
        "[run]",
        "[[host]]\nname = \"client\"\n[[host]]\nname = \"server\"\n[[host]]\nname = \"x\"\n[run]",
    );
    refused(&three, "ssh:a,b", &["two hosts, this one has 3"]);
    let route = PAIR.replace(
        "[run]",
        "[[host]]\nname = \"client\"\nroute = \"quickack 1\"\n[[host]]\nname = \"server\"\n[run]",
    );
    refused(&route, "ssh:a,b", &["host.client.route"]);
    refused(
        PAIR,
        "ssh:a,b=10.99.1.77",
        &["a: ", "no connection to b at 10.99.1.77:", "b=ADDRESS"],
    );
    refused(
        PAIR,
        "ssh:a,a",
        &["both hosts have the address 10.99.1.2", "--on host"],
    );
    refused(PAIR, "ssh:a", &["write ssh:A,B"]);
    let congestion = PAIR.replace(
        "kind = \"bulk\"",
        "kind = \"bulk\"\nserver_socket = { congestion = \"nothing\" }",
    );
    refused(
        &congestion,
        "ssh:a,b",
        &["b: ", "the congestion control nothing"],
    );
}

/// kill -9 of the local process ends what it has started on both machines.
fn no_process_stays(machines: &Machines, file: &std::path::Path) {
    let long = std::fs::read_to_string(file)
        .unwrap()
        .replace("count = 50", "duration = \"60s\"");
    let file = machines.path("long.toml");
    std::fs::write(&file, long).unwrap();
    let config = machines.path("config");
    let args = [
        "run",
        text(&file),
        "--on",
        "ssh:a,b",
        "--ssh-config",
        text(&config),
    ];
    let mut run = machines
        .command(&args)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let waits_for = |count: usize| {
        for _ in 0..3_000 {
            if machines.far_sides() == count {
                return;
            }
            sleep(Duration::from_millis(10));
        }
        panic!("{} far sides, not {count}", machines.far_sides());
    };
    waits_for(2);
    run.kill().unwrap();
    run.wait().unwrap();
    waits_for(0);
}
