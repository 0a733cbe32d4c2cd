//! `tcplab probe` over loopback: both ends are the real binary. Ports are free ones that the
//! servers say; every child is ended by its number of clients, its time or a signal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use super::{command, schema, tcplab};

/// A server in the background; it is killed when a test fails before its end.
struct Server {
    child: Child,
    out: BufReader<ChildStdout>,
    port: String,
}

impl Server {
    /// Starts `tcplab probe WORDS -p 0` and waits until it listens.
    fn start(words: &[&str]) -> Self {
        let args = [&["probe"], words, &["-p", "0", "--bind", "127.0.0.1"]].concat();
        let mut child = command(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        // With --json the probe writes no log: standard error has the listening address.
        let mut line = String::new();
        if words.contains(&"--json") {
            let err = child.stderr.as_mut().unwrap();
            while !line.ends_with('\n') {
                let mut byte = [0];
                err.read_exact(&mut byte).unwrap();
                line.push(char::from(byte[0]));
            }
        } else {
            out.read_line(&mut line).unwrap();
        }
        let (_, rest) = line.split_once("listening on 127.0.0.1:").expect(&line);
        let port = rest.split(',').next().unwrap().to_owned();
        Self { child, out, port }
    }

    /// Runs a client against it.
    fn client(&self, words: &[&str]) -> super::Run {
        tcplab(&[&["probe"], words, &["-p", &self.port, "127.0.0.1"]].concat())
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// What it printed from now on, and its exit code.
    fn end(mut self) -> (String, Option<i32>) {
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        (rest, self.child.wait().unwrap().code())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing is left to kill after `end`.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// The log lines of one kind.
fn lines<'a>(connection: &'a Value, what: &str) -> Vec<&'a Value> {
    let log = connection["log"].as_array().unwrap();
    log.iter().filter(|line| line["what"] == what).collect()
}

#[test]
fn the_echo_pair_delays_acks_with_quickack_0() {
    let server = Server::start(&["echo-server", "--clients", "1", "--json"]);
    let words = ["echo-client", "-q", "0", "-n", "4", "-s", "60000", "--json"];
    let run = server.client(&words);
    assert_eq!(run.code, 0, "{}", run.err);
    let report = run.json();
    schema::holds("probe", &report);
    let client = &report["connections"][0];
    assert_eq!(client["ended"], "finished");
    assert_eq!(client["completed"], 4);
    assert_eq!(
        (&client["read_bytes"], &client["written_bytes"]),
        (&4.into(), &4.into())
    );
    assert_eq!(client["latency_ns"].as_array().unwrap().len(), 4);
    // Once at the beginning, then before each write.
    assert_eq!(lines(client, "set_quickack").len(), 5);
    let reads = [lines(client, "read_start"), lines(client, "read_end")].concat();
    assert_eq!(reads.len(), 8);
    for line in lines(client, "set_quickack") {
        assert_eq!(line["quickack"], 0, "{line}");
        // Other tests share the machine: a line may lack the kernel's state, never lie.
        assert_ne!(line["pingpong"], false, "{line}");
    }
    let delayed = report["counters"]["TcpExtDelayedACKs"].as_i64().unwrap();
    assert!(delayed >= 1, "{report}");
    let samples = client["tcp_info"].as_array().unwrap();
    assert_eq!(samples.len(), 1, "one at the end");
    assert!(
        samples[0]["fields"]["tcpi_bytes_received"]
            .as_i64()
            .is_some_and(|n| n >= 4)
    );

    let (out, code) = server.end();
    assert_eq!(code, Some(0));
    let report = json(&out);
    schema::holds("probe", &report);
    let served = &report["connections"][0];
    assert_eq!(served["ended"], "peer");
    assert_eq!(served["completed"], 4);
    assert_eq!(served["remote"], client["local"]);
}

#[test]
fn the_stream_pair_reads_to_the_end_of_time() {
    let server = Server::start(&["stream-server", "-b", "1k", "-s", "20ms", "-D"]);
    let words = [
        "stream-client",
        "-t",
        "1200ms",
        "-b",
        "1k",
        "-L",
        "1",
        "--trend",
        "--json",
        "--tcp-info-every",
        "100ms",
    ];
    let report = server.client(&words).json();
    schema::holds("probe", &report);
    let client = &report["connections"][0];
    assert_eq!(client["ended"], "time");
    let read = client["read_bytes"].as_u64().unwrap();
    assert!(read >= 1024, "{client}");
    assert!(!client["trend_bytes"].as_array().unwrap().is_empty());
    assert!(client["tcp_info"].as_array().unwrap().len() >= 2);
    // The truth beside what getsockopt says: the credits go down, the option stays 1.
    let states: Vec<_> = lines(client, "read_end");
    assert!(states.iter().all(|l| l["quickack"] == 1), "{states:?}");
    let quick: Vec<u64> = states.iter().filter_map(|l| l["quick"].as_u64()).collect();
    assert!(quick.iter().any(|q| *q > 0), "{quick:?}");

    // Many clients at once, also after one that went away.
    let mut others: Vec<_> = (0..3)
        .map(|_| TcpStream::connect(format!("127.0.0.1:{}", server.port)).unwrap())
        .collect();
    for other in &mut others {
        other.read_exact(&mut [0; 2048]).unwrap();
    }
    server.signal("-INT");
    let (out, code) = server.end();
    assert_eq!(code, Some(0), "{out}");
    assert_eq!(out.matches(" accepted").count(), 4, "{out}");
    // The server learns with its second write that the first client is gone; it may not come to it.
    assert!(out.matches(": interrupted").count() >= 3, "{out}");
    assert!(out.contains("TcpExtDelayedACKs"), "{out}");
}

#[test]
fn sigusr1_pauses_a_stream() {
    let mut server = Server::start(&["stream-server", "-s", "5ms", "-R", "1ms"]);
    server.signal("-USR1");
    let mut client = TcpStream::connect(format!("127.0.0.1:{}", server.port)).unwrap();
    client.read_exact(&mut [0; 1460]).unwrap();
    server.signal("-USR1");
    let mut line = String::new();
    let mut seen = Vec::new();
    while !line.contains("goes on") {
        line.clear();
        assert!(server.out.read_line(&mut line).unwrap() > 0, "{seen:?}");
        seen.push(line.clone());
    }
    assert!(seen.iter().any(|l| l.contains("SIGUSR1")), "{seen:?}");
    client.read_exact(&mut [0; 2920]).unwrap();
}

/// Each application: its options, and what the client completes.
const APPLICATIONS: [(&str, &[&str], u64); 13] = [
    ("bulk", &["--bytes", "300k"], 3),
    ("bulk", &["--bytes", "300k", "--reverse"], 0),
    (
        "request-response",
        &["--count", "7", "--request", "10", "--response", "3k"],
        7,
    ),
    ("connect-request-response", &["--count", "3"], 3),
    ("write-write-read", &["--count", "2", "--pause", "1ms"], 2),
    ("web", &["--sizes", "10k,1,20k", "--think", "1ms"], 3),
    ("sink", &["--hold", "20ms"], 0),
    ("stream", &["--count", "3", "--every", "5ms"], 0),
    (
        "stream",
        &[
            "--count", "4", "--every", "1ms", "--late", "2ms", "--urgent", "2",
        ],
        0,
    ),
    (
        "messages",
        &[
            "--messages",
            "client 20,client 30,server 3k after 1ms,client 1,server 5",
        ],
        2,
    ),
    ("udp-stream", &["--count", "5", "--every", "1ms"], 5),
    ("udp-rr", &["--count", "5", "--response", "100"], 5),
    ("udp-ping", &["--count", "5", "--every", "1ms"], 5),
];

#[test]
fn every_application_runs_live() {
    for (kind, options, completed) in APPLICATIONS {
        let sizes: Vec<&str> = options.to_vec();
        // A server of datagrams sees no end.
        let clients = match kind {
            "connect-request-response" => "3",
            "udp-stream" | "udp-rr" | "udp-ping" => "5",
            _ => "1",
        };
        let server = Server::start(&[&["server", kind, "--clients", clients], &sizes[..]].concat());
        let run = server.client(&[&["client", kind, "--json"], &sizes[..]].concat());
        assert_eq!(run.code, 0, "{kind}: {}", run.err);
        let report = run.json();
        schema::holds("probe", &report);
        let connections = report["connections"].as_array().unwrap();
        let done: u64 = connections
            .iter()
            .map(|c| c["completed"].as_u64().unwrap())
            .sum();
        assert_eq!(done, completed, "{kind}: {report}");
        if options.contains(&"--reverse") {
            assert_eq!(connections[0]["read_bytes"], 300 << 10);
        }
        let (out, code) = server.end();
        assert_eq!(code, Some(0), "{kind}: {out}");
        assert!(out.contains("closed after"), "{kind}: {out}");
    }
}

#[test]
fn a_server_with_other_sizes_is_no_success() {
    // The application, the server's own options, the client's own options, and the expected message.
    type Words = &'static [&'static str];
    let rows: [(Words, Words, Words, &str); 6] = [
        (
            &["bulk", "--reverse"],
            &["--bytes", "64k"],
            &["--bytes", "10k"],
            "read 65536 bytes instead of 10240: the server writes, so give it the same --bytes",
        ),
        (
            &["stream", "--every", "1ms"],
            &["--count", "4"],
            &["--count", "6"],
            "read 4000 bytes instead of 6000",
        ),
        (
            &["request-response", "--count", "5"],
            &["--response", "2000"],
            &["--response", "1000"],
            "the answer is longer than --response 1000 (give both ends the same)",
        ),
        (
            &["request-response", "--for", "200ms"],
            &["--response", "2"],
            &["--response", "1"],
            "the answer is longer than --response 1 (give both ends the same)",
        ),
        (
            &["udp-rr", "--count", "5"],
            &["--response", "2000"],
            &["--response", "1000"],
            "the answer is longer than --response 1000 (give both ends the same)",
        ),
        (&["bulk", "--reverse"], &["--bytes", "64k"], &[], ""),
    ];
    for (app, server_only, client_only, why) in rows {
        let words = [&["server"], app, &["--clients", "1"], server_only].concat();
        let server = Server::start(&words);
        let run = server.client(&[&["client"], app, &["--json"], client_only].concat());
        let code = if why.is_empty() { 0 } else { 3 };
        assert_eq!(run.code, code, "{app:?}: {}", run.err);
        assert!(run.err.contains(why), "{app:?}: {}", run.err);
        schema::holds("probe", &run.json());
        server.end();
    }
}

#[test]
fn congestion_control_the_kernel_lacks_is_exit_code_4() {
    let words = [
        "probe",
        "client",
        "bulk",
        "--congestion",
        "nosuch",
        "127.0.0.1",
    ];
    let run = tcplab(&words);
    assert_eq!(run.code, 4, "{}", run.err);
    assert!(run.err.contains("congestion control nosuch"), "{}", run.err);
    let run = tcplab(&["bench", "TCP_RR", "UDP_RR", "--congestion", "reno"]);
    assert_eq!(run.code, 2, "{}", run.err);
    let why = "--congestion reno: UDP_RR has no congestion control";
    assert!(run.err.contains(why), "{}", run.err);
}

#[test]
fn pings_are_answered_by_a_kernel() {
    let words = ["probe", "client", "ping", "--count", "3", "--every", "1ms"];
    let run = tcplab(&[&words[..], &["--json", "127.0.0.1"]].concat());
    if run.code == 4 && run.err.contains("ping_group_range") {
        eprintln!("skipped: {}", run.err);
        return;
    }
    assert_eq!(run.code, 0, "{}", run.err);
    let client = &run.json()["connections"][0];
    assert_eq!(client["completed"], 3, "{client}");
    assert_eq!(client["read_bytes"], 3 * 56, "{client}");
    let run = tcplab(&["probe", "server", "ping"]);
    assert_eq!(run.code, 2, "{}", run.err);
}

#[test]
fn a_write_is_one_line_however_many_calls_it_takes() {
    let sizes = ["--count", "1", "--size", "4m", "--sndbuf", "16k"];
    let server = Server::start(&[&["server", "echo", "--clients", "1"], &sizes[..]].concat());
    let report = (server.client(&[&["client", "echo", "--json"], &sizes[..]].concat())).json();
    let client = &report["connections"][0];
    let lines = lines(client, "write");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0]["value"], 4 << 20);
    assert!(client["writes"].as_u64().unwrap() > 1, "{client}");
    assert_eq!(client["read_bytes"], 4 << 20);
    assert_eq!(server.end().1, Some(0));
}

#[test]
fn an_application_gives_up_on_a_silent_peer() {
    let patience = ["--idle-timeout", "100ms"];
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let words = ["probe", "client", "echo", "--json", "-p", &port];
    let run = tcplab(&[&words, &patience[..], &["127.0.0.1"]].concat());
    assert_eq!(run.code, 3, "{}", run.err);
    let client = &run.json()["connections"][0];
    assert_eq!(client["ended"], "error", "{client}");
    assert_eq!(lines(client, "error")[0]["value"], 62, "ETIME");

    let server = Server::start(&[&["server", "echo", "--clients", "1"], &patience[..]].concat());
    let silent = TcpStream::connect(format!("127.0.0.1:{}", server.port)).unwrap();
    let (out, code) = server.end();
    drop(silent);
    assert_eq!(code, Some(0), "{out}");
    assert!(
        out.contains("no answer for 100 ms (--idle-timeout)"),
        "{out}"
    );
}

#[test]
fn nobody_takes_datagrams() {
    // A port that was free a moment ago.
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port().to_string();
    drop(socket);
    for kind in ["udp-rr", "udp-stream", "udp-ping"] {
        let words = ["probe", "client", kind, "--json", "-p", &port, "127.0.0.1"];
        let run = tcplab(&words);
        assert_eq!(run.code, 3, "{kind}: {}", run.err);
        assert!(
            run.err.contains("Connection refused"),
            "{kind}: {}",
            run.err
        );
        assert_eq!(run.json()["connections"][0]["ended"], "error", "{kind}");
    }
}

/// A letter, what it takes, its default.
type Letter = (&'static str, &'static str, &'static str);

#[test]
fn options_and_defaults_are_those_of_the_public_programs() {
    let table: [(&str, &[Letter]); 4] = [
        (
            "echo-server",
            &[
                ("-b", "<BYTES>", "1"),
                ("-B", "<BYTES>", "1"),
                ("-p", "<PORT>", "1234"),
                ("-q", "", ""),
                ("-D", "", ""),
                ("-c", "<CPU>", ""),
            ],
        ),
        (
            "echo-client",
            &[
                ("-b", "<BYTES>", "1"),
                ("-B", "<BYTES>", "1"),
                ("-n", "<N>", "2"),
                ("-s", "<TIME>", "1s"),
                ("-q", "<VALUE>", "-1"),
                ("-p", "<PORT>", "1234"),
                ("-c", "<CPU>", ""),
            ],
        ),
        (
            "stream-server",
            &[
                ("-b", "<BYTES>", "1460"),
                ("-s", "<TIME>", "0"),
                ("-r", "<BYTES/S>", ""),
                ("-B", "<BITS/S>", ""),
                ("-S", "<BYTES>", ""),
                ("-R", "<TIME>", "5"),
                ("-q", "", ""),
                ("-D", "", ""),
                ("-c", "<CPU>", ""),
                ("-p", "<PORT>", "1234"),
            ],
        ),
        (
            "stream-client",
            &[
                ("-b", "<BYTES>", "1460"),
                ("-r", "<BYTES>", ""),
                ("-s", "<TIME>", "0"),
                ("-t", "<TIME>", "10"),
                ("-L", "<BYTES>", ""),
                ("-p", "<PORT>", "1234"),
                ("-c", "<CPU>", ""),
            ],
        ),
    ];
    for (name, options) in table {
        let help = tcplab(&["probe", name, "-h"]).out;
        for (letter, value, default) in options {
            let start = format!("  {letter}, --");
            let line = help.lines().find(|l| l.starts_with(&start));
            let line = line.unwrap_or_else(|| panic!("{name} has no {letter}:\n{help}"));
            assert!(line.contains(value), "{name}: {line}");
            // The description may go on in the next line.
            let (_, rest) = help.split_once(line).unwrap();
            let text = format!("{line} {}", rest.lines().nth(1).unwrap_or_default());
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let shown = format!("[default: {default}]");
            assert!(
                default.is_empty() || text.contains(&shown),
                "{name}: {text}"
            );
        }
    }
}

#[test]
fn nobody_listens() {
    // A port that was free a moment ago.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    drop(listener);
    for json in [&[][..], &["--json"]] {
        let args = [&["probe", "echo-client", "127.0.0.1", "-p", &port], json].concat();
        let run = tcplab(&args);
        assert_eq!(run.code, 3, "{}", run.err);
        for part in ["127.0.0.1", &port, "start the server first"] {
            assert!(run.err.contains(part), "{}", run.err);
        }
        if !json.is_empty() {
            let report = run.json();
            schema::holds("probe", &report);
            assert_eq!(report["error"]["kind"], "inconclusive");
        }
    }
}

#[test]
fn a_port_that_is_taken() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let run = tcplab(&["probe", "echo-server", "--bind", "127.0.0.1", "-p", &port]);
    assert_eq!(run.code, 4, "{}", run.err);
    assert!(run.err.contains(&format!("sport = :{port}")), "{}", run.err);
}

#[test]
fn a_server_that_goes_away_is_no_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let rude = std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        peer.read_exact(&mut [0]).unwrap();
        peer.write_all(b"x").unwrap();
        peer.read_exact(&mut [0]).unwrap();
    });
    let run = tcplab(&[
        "probe",
        "echo-client",
        "-s",
        "0",
        "--json",
        "-p",
        &port,
        "127.0.0.1",
    ]);
    rude.join().unwrap();
    assert_eq!(run.code, 3, "{}", run.err);
    let report = run.json();
    schema::holds("probe", &report);
    assert_eq!(report["error"]["kind"], "inconclusive");
    assert_eq!(report["connections"][0]["completed"], 1);
}

#[test]
fn hostile_words_are_refused() {
    let too_long = "9".repeat(400);
    for words in [
        &["echo-client", "-n", "-1", "localhost"][..],
        &["echo-client", "-s", &too_long, "localhost"],
        &["echo-client", "-q", "x", "localhost"],
        &["stream-server", "-b", "0"],
        &["stream-server", "-b", "9999999999g"],
        &["stream-server", "-r", "1.5x"],
        &["stream-server", "-p", "65536"],
        &["stream-client", "-t", "0", "localhost"],
        &["stream-client", "-4", "-6", "localhost"],
        &["stream-client", "-c", "4294967295", "localhost"],
        &["stream-client", "no such host \u{7}"],
        &["client", "bulk", "--head", "3", "localhost"],
        &["client", "udp-rr", "--request", "64k", "localhost"],
        &["client", "nothing", "localhost"],
        &["client", "messages", "localhost"],
        &["client", "messages", "--messages", "client 0", "localhost"],
        &["client", "echo", "--messages", "client 1", "localhost"],
        &["client", "bulk", "--quickack", "often=1", "localhost"],
    ] {
        let run = tcplab(&[&["probe"], words, &["--json"]].concat());
        assert_eq!(run.code, 2, "{words:?}: {}", run.err);
        assert!(run.out.contains("\"error\""), "{words:?}: {}", run.out);
        schema::holds("probe", &run.json());
    }
}

#[test]
fn the_default_of_quickack() {
    let run = tcplab(&["probe", "quickack-default"]);
    assert_eq!(run.out, "TCP_QUICKACK of a new socket: 1\n");
    let report = tcplab(&["probe", "quickack-default", "--json"]).json();
    schema::holds("probe", &report);
    assert_eq!(report["quickack_default"], 1);
}

#[test]
fn the_log_has_a_limit_and_the_time_of_day() {
    let server = Server::start(&["echo-server", "--clients", "1", "--log-lines", "0"]);
    let words = [
        "echo-client",
        "-s",
        "0",
        "-n",
        "3",
        "--log-lines",
        "3",
        "--absolute",
    ];
    let run = server.client(&words);
    assert_eq!(run.code, 0, "{}", run.err);
    let first = run.out.lines().next().unwrap();
    let stamp = first.split_whitespace().next().unwrap();
    assert_eq!(stamp.len(), "00:38:20.000000".len(), "{first}");
    assert!(
        run.out.contains("the log ends here after 3 lines"),
        "{}",
        run.out
    );
    assert!(run.out.contains("log lines were omitted"), "{}", run.out);
    let (out, _) = server.end();
    assert!(!out.contains("read start"), "{out}");
    assert!(out.contains("read 3 bytes in 3 reads"), "{out}");
}
