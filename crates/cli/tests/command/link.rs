//! `tcplab link`: a live link between namespaces of its own, with this machine's TCP at its ends.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::Value;

use super::schema::holds;
use super::{command, folder, tcplab, text};

/// Whether links can be made here: the kernel decides, so it is asked.
fn allowed() -> bool {
    let run = tcplab(&["link", "new:a", "new:b", "--for", "10ms", "--json"]);
    match run.code {
        0 => true,
        code => {
            assert_eq!(code, 4, "{}", run.err);
            eprintln!("skipped: {}", run.err);
            false
        }
    }
}

/// A command of `tcplab probe` for `--run-a` and `--run-b`.
fn probe(words: &str) -> String {
    format!("{} probe {words} > /dev/null", env!("CARGO_BIN_EXE_tcplab"))
}

fn lines(out: &str) -> Vec<Value> {
    out.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_transfer_passes_a_queue_as_frames_of_the_wire() {
    if !allowed() {
        return;
    }
    transfer(["new:a", "new:b"], ["10.77.0.1/24", "10.77.0.2"]);
    let ends = ["new:a=fd00::1/64", "new:b=fd00::2/64"];
    transfer(ends, ["fd00::1/64", "fd00::2"]);
}

fn transfer([a, b]: [&str; 2], [own, peer]: [&str; 2]) {
    let server = probe("server bulk --clients 1 --no-looks --log-lines 0");
    let client = probe(&format!(
        "client bulk --bytes 2m --no-looks --log-lines 0 {peer}"
    ));
    let args = [
        "link",
        a,
        b,
        "--json",
        "--interval",
        "100ms",
        "--run-a",
        &client,
        "--run-b",
        &server,
        "--a-to-b",
        "cake bandwidth 50mbit",
        "--b-to-a",
        "{ qdisc = \"cake unlimited ack-filter-aggressive\", delay = \"5ms\" }",
    ];
    let run = tcplab(&args);
    assert_eq!(run.code, 0, "{}", run.err);
    let lines = lines(&run.out);
    for line in &lines {
        holds("link", line);
    }
    assert_eq!(lines[0]["event"], "start");
    assert_eq!(lines[0]["a"]["address"], own);
    assert!(lines.iter().any(|line| line["event"] == "look"));
    let end = lines.last().unwrap();
    assert_eq!(end["event"], "end");
    let (down, up) = (&end["a_to_b"], &end["b_to_a"]);
    // Every segment of the 2 MB by itself, with its headers.
    assert!(
        down["frames_out"].as_u64().unwrap() > 2 << 20 >> 11,
        "{down}"
    );
    assert!(down["bytes_out"].as_u64().unwrap() > 2 << 20, "{down}");
    assert_eq!(down["qdisc"]["kind"], "cake");
    assert_eq!(down["invalid"], 0);
    // The other way takes 5 ms at least.
    let frames = up["frames_out"].as_u64().unwrap();
    assert!(
        up["delay_sum_ns"].as_u64().unwrap() >= 5_000_000 * frames,
        "{up}"
    );
}

/// A link that runs, with orders on its standard input.
struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Running {
    fn start(args: &[&str]) -> Self {
        let mut child = command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    fn order(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
    }

    /// The next line of this kind.
    fn next(&mut self, event: &str) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.out.read_line(&mut line).unwrap() > 0, "it has ended");
            let line: Value = serde_json::from_str(&line).unwrap();
            if line["event"] == event {
                return line;
            }
        }
    }
}

#[test]
fn a_way_changes_while_it_runs_and_an_order_ends_it() {
    if !allowed() {
        return;
    }
    let place = folder();
    let socket = place.path().join("control");
    let socket = text(&socket);
    let args = ["link", "new:a", "new:b", "--json", "--control", socket];
    let mut link = Running::start(&[&args[..], &["--a-to-b", "fq_codel"]].concat());
    link.next("start");
    link.order("b-to-a netem delay 20ms");
    let changed = link.next("changed");
    assert_eq!(changed["way"], "b-to-a");
    assert_eq!(changed["words"], "netem delay 20ms");
    // What is wrong changes nothing, and is said.
    link.order("b-to-a netem dealy 20ms");
    // Linux does not change the number of flows of a qdisc in use.
    link.order("a-to-b fq_codel flows 7");
    let refused = link.next("refused");
    assert!(refused["why"].as_str().unwrap().contains("in use"));
    // From another shell.
    let change = tcplab(&[
        "link",
        "--change",
        socket,
        "--a-to-b",
        "cake bandwidth 1mbit",
    ]);
    assert_eq!(change.code, 0, "{}", change.err);
    let changed = link.next("changed");
    assert_eq!(changed["words"], "cake bandwidth 1mbit");
    let wrong = tcplab(&[
        "link",
        "--change",
        socket,
        "--a-to-b",
        "cake bandwith 1mbit",
    ]);
    assert_eq!(wrong.code, 2);
    assert!(
        wrong.err.contains("did you mean `bandwidth`"),
        "{}",
        wrong.err
    );
    // A socket in use is not taken.
    let second = tcplab(&args);
    assert_eq!(second.code, 2);
    assert!(
        second.err.contains("another link listens"),
        "{}",
        second.err
    );
    link.order("end");
    let end = link.next("end");
    assert_eq!(end["a_to_b"]["qdisc"]["kind"], "cake");
    let output = link.child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(
        err.contains("dealy") && err.contains("did you mean `delay`"),
        "{err}"
    );
    assert!(
        !std::path::Path::new(socket).exists(),
        "it goes with the link"
    );
}

#[test]
fn the_program_at_an_end_decides_the_exit_code() {
    if !allowed() {
        return;
    }
    let run = tcplab(&["link", "new:a", "new:b", "--run-a", "exit 3"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.contains("exit status: 3"), "{}", run.err);
    let run = tcplab(&[
        "link",
        "new:a",
        "new:b=fd00::2/64",
        "--run-b",
        "ip address show",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("fd00::2/64"), "{}", run.err);
    assert!(run.out.contains("a -> b  plain"), "{}", run.out);
}

#[test]
fn either_program_that_fails_by_itself_is_named() {
    if !allowed() {
        return;
    }
    let link = |a: &str, b: &str| {
        let words = ["link", "new:a", "new:b", "--run-a", a, "--run-b", b];
        tcplab(&words)
    };
    let run = link("sleep 0.2", "exit 3");
    assert_eq!(run.code, 1, "{}", run.err);
    let says = "the command of --run-b ended with exit status: 3";
    assert!(run.err.contains(says), "{}", run.err);
    assert!(!run.err.contains("of --run-a"), "{}", run.err);
    // The link ends this one, which is no failure of its own.
    let run = link("true", "sleep 1000");
    assert_eq!(run.code, 0, "{}", run.err);
    let run = link("exit 4", "sleep 1000");
    assert_eq!(run.code, 1, "{}", run.err);
    let says = "the command of --run-a ended with exit status: 4";
    assert!(run.err.contains(says), "{}", run.err);
}

#[test]
fn impossible_request_is_refused_at_once() {
    for (args, code, says) in [
        (&["new:a"][..], 2, "required"),
        (&["new:a", "vlan:3"], 2, "is not a kind of end"),
        (&["new:a", "new:a"], 2, "both ends are new:a"),
        (&["no-such-end-1", "new:b"], 2, "ip netns add no-such-end-1"),
        (
            &["new:a", "new:b", "--a-to-b", "cake bandwith 1mbit"],
            2,
            "did you mean `bandwidth`",
        ),
        (&["new:a", "new:b", "--mtu", "10"], 2, "68..=65521"),
        (&["new:a", "new:b", "--a-to-b", ""], 2, "needs words"),
        (
            &[
                "new:a",
                "new:b",
                "--a-to-b",
                "{ change = ['1s rate 5mbit'] }",
            ],
            2,
            "`change` works in experiment files only; `tcplab link --change`",
        ),
        (
            &["--change", "/nowhere/at/all", "--a-to-b", "none"],
            2,
            "no link listens",
        ),
        (&["--change", "/nowhere/at/all"], 2, "what shall it be"),
        (
            &["--change", "/nowhere", "--mtu", "1000", "--a-to-b", "none"],
            2,
            "cannot be used with '--mtu",
        ),
        (
            &["--change", "/nowhere", "--seed", "7", "--a-to-b", "none"],
            2,
            "cannot be used with '--seed",
        ),
        (
            &["--change", "/nowhere", "--json", "--a-to-b", "none"],
            2,
            "cannot be used",
        ),
    ] {
        let run = tcplab(&[&["link"][..], args].concat());
        assert_eq!(run.code, code, "{args:?}: {}", run.err);
        assert!(run.err.contains(says), "{args:?}: {}", run.err);
    }
}

/// Sends frames from one end or takes them at the other; `tcplab inject` cannot say which came through.
const FRAMES: &str = r#"
import socket, sys
role, file = sys.argv[1:]
at = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
at.bind(("tcplab0", 0))
me = {"a": "02ca00000001", "b": "02ca00000002"}
macs = bytes.fromhex("ffffffffffff" + me[role])
def take(n):
    other, out = bytes.fromhex(me["ba"["ab".index(role)]]), []
    at.settimeout(20)
    while len(out) < n:
        frame, (_, _, way, *_) = at.recvfrom(2000)
        if frame[6:12] == other and way != socket.PACKET_OUTGOING:
            out.append(frame[12:].hex())
    return out
sent = open(file).read().split()
if role == "a":
    for frame in sent:
        at.send(macs + bytes.fromhex(frame))
    take(1)
else:
    came = take(len(sent))
    open(file + ".came", "w").write("\n".join(came))
    at.send(macs + bytes.fromhex("88b5") + bytes(46))
"#;

/// Frames behind their addresses: 80 bytes asked for are there, 1,024 are not, whenever the period begins.
#[test]
fn a_switch_with_caqm_judges_tagged_frames_and_leaves_others_alone() {
    if !allowed() {
        return;
    }
    let python = std::process::Command::new("python3")
        .arg("--version")
        .output();
    if python.is_err() {
        eprintln!("skipped: there is no python3 to send frames");
        return;
    }
    let pad = "5a".repeat(46);
    let cases = [
        (format!("8200050a0800{pad}"), format!("8200050a0800{pad}")),
        (format!("820005800800{pad}"), format!("820004800800{pad}")),
        // A packet socket shows what stands behind a VLAN's tag.
        (
            format!("8100000582000580{pad}0800"),
            format!("82000480{pad}0800"),
        ),
        (format!("820001070800{pad}"), format!("820001070800{pad}")),
        (format!("820045800800{pad}"), format!("820045800800{pad}")),
        (format!("0800{pad}"), format!("0800{pad}")),
        (format!("88b505800800{pad}"), format!("88b505800800{pad}")),
    ];
    let place = folder();
    let script = place.path().join("frames.py");
    std::fs::write(&script, FRAMES).unwrap();
    let frames = place.path().join("frames");
    let all = |side: fn(&(String, String)) -> &String| -> String {
        cases
            .iter()
            .map(side)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n")
    };
    std::fs::write(&frames, all(|case| &case.0)).unwrap();
    let run = |role: &str| format!("python3 {} {role} {}", text(&script), text(&frames));
    let run = tcplab(&[
        "link",
        "new:a",
        "new:b",
        "--json",
        "--run-a",
        &run("a"),
        "--run-b",
        &run("b"),
        "--a-to-b",
        // 1,000 bytes a period; (1,000 - a frame) / 2 of credit.
        "caqm rate 8kbit t 1s qt 0 p 0",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    let came = std::fs::read_to_string(place.path().join("frames.came")).unwrap();
    assert_eq!(came, all(|case| &case.1));
    let lines = lines(&run.out);
    let qdisc = &lines.last().unwrap()["a_to_b"]["qdisc"];
    for (name, count) in [
        ("granted", 1),
        ("granted_bytes", 80),
        ("refused", 2),
        ("marked", 0),
        ("feedback", 1),
        ("other_type", 1),
    ] {
        assert_eq!(qdisc[name], count, "{name}: {qdisc}");
    }
}

/// Whether a process runs that has this word in its command line.
fn runs(word: &str) -> bool {
    let mut all = std::fs::read_dir("/proc").unwrap().flatten();
    all.any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0);
        words.any(|found| found == word.as_bytes())
    })
}

/// Waits for something that comes at once, or fails after 20 s.
fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..2_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("not so: {what}");
}

/// Seconds to sleep that no other process of this machine has in its command line.
fn odd_sleep(number: u32) -> String {
    format!("9{number}.{}", std::process::id())
}

#[test]
fn background_processes_end_with_the_link() {
    if !allowed() {
        return;
    }
    let (left, daemon) = (odd_sleep(1), odd_sleep(2));
    // In the group of the shell, and in a session of its own that the shell does not wait for.
    let command = format!("sleep {left} & (setsid sleep {daemon} &) ; sleep 0.1; exit 3");
    let run = tcplab(&["link", "new:a", "new:b", "--run-a", &command]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.err.contains("exit status: 3"), "{}", run.err);
    assert!(!runs(&left) && !runs(&daemon));
}

#[test]
fn daemon_server_serves_until_the_link_ends() {
    if !allowed() {
        return;
    }
    let daemon = odd_sleep(3);
    let server = format!("setsid sleep {daemon} & exit 0");
    let place = folder();
    let go = place.path().join("go");
    let client = format!("until [ -e {} ]; do sleep 0.01; done", text(&go));
    let args = ["link", "new:a", "new:b", "--json", "--run-b", &server];
    let link = Running::start(&[&args[..], &["--run-a", &client]].concat());
    until("the server has started", || runs(&daemon));
    // The server's shell ended long ago; the daemon still runs.
    std::fs::write(&go, "").unwrap();
    let output = link.child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(!runs(&daemon));
}

#[test]
fn a_link_that_is_killed_leaves_no_process() {
    if !allowed() {
        return;
    }
    let (front, daemon) = (odd_sleep(4), odd_sleep(5));
    let command = format!("(setsid sleep {daemon} &) ; sleep {front}");
    let mut link = Running::start(&["link", "new:a", "new:b", "--json", "--run-a", &command]);
    let both = |there: bool| [&front, &daemon].iter().all(|word| runs(word) == there);
    until("both have started", || both(true));
    link.child.kill().unwrap();
    link.child.wait().unwrap();
    until("both are gone", || both(false));
}
