//! How runs and programs end: by their own extent, by patience, by a limit, by Ctrl-C; never silently, never not at all.

use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::{command, folder, point, tcplab, text};

/// The first flow of an application's run on a stack.
fn flow(experiment: &str, stack: &str) -> Value {
    let place = folder();
    let point = point(experiment, stack, place.path());
    point["flows"][0].clone()
}

const ETIME: Option<&str> = Some("ETIME");

fn healthy(app: &str) -> String {
    format!(
        "[run]\ncaptures = false\n[[link]]\nrate = \"10mbit\"\ndelay = \"20ms\"\nlimit = 50\n\
         [[app]]\n{app}\nclient_timeout = \"300ms\"\n"
    )
}

/// The errors of both ends, and when each was closed in milliseconds.
fn ends(flow: &Value) -> [(Option<String>, Option<i64>); 2] {
    ["client", "server"].map(|end| {
        let error = flow[end]["error"].as_str().map(str::to_owned);
        let closed = flow[end]["closed_ns"].as_i64();
        (error, closed.map(|ns| ns / 1_000_000))
    })
}

/// Applications that are answered in time.
const ANSWERED: [&str; 11] = [
    "kind = \"stream\"\nevery = \"50ms\"\ncount = 20",
    "kind = \"echo\"\npause = \"400ms\"\ncount = 3",
    "kind = \"write-write-read\"\npause = \"400ms\"\ncount = 3",
    "kind = \"bulk\"\nbytes = \"1 MB\"",
    "kind = \"request-response\"\npause = \"400ms\"\ncount = 3",
    "kind = \"connect-request-response\"\npause = \"400ms\"\ncount = 3",
    "kind = \"web\"\nsizes = [\"10 kB\", \"10 kB\"]\nthink = \"400ms\"",
    "kind = \"sink\"\nhold = \"1s\"",
    "kind = \"udp-rr\"\npause = \"400ms\"\ncount = 3",
    // Between two pings nobody owes an answer.
    "kind = \"udp-ping\"\nevery = \"500ms\"\ncount = 4",
    "kind = \"ping\"\nevery = \"500ms\"\ncount = 4",
];

fn patient(stack: &str) {
    for app in ANSWERED {
        let flow = flow(&healthy(app), stack);
        let [(client, _), (server, _)] = ends(&flow);
        assert_eq!((client, server), (None, None), "{stack} {app}\n{flow}");
    }
}

#[test]
fn answered_end_does_not_give_up_on_the_model() {
    patient("model");
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn answered_end_does_not_give_up_on_a_kernel() {
    patient("uml:6.1");
}

fn late_datagrams(stack: &str) {
    for kind in ["udp-ping", "udp-rr", "ping"] {
        let flow = flow(
            &format!(
                "[run]\ncaptures = false\n[[link]]\ndelay = \"200ms\"\n[[app]]\nkind = \"{kind}\"\ncount = 50\n\
                 client_timeout = \"100ms\"\n"
            ),
            stack,
        );
        let [client, _] = ends(&flow);
        assert_eq!(client.0.as_deref(), ETIME, "{stack} {kind} {flow}");
        assert!(
            client.1.is_some_and(|at| (100..=105).contains(&at)),
            "{stack} {kind} {flow}"
        );
        assert_eq!(flow["client"]["completed"], 0);
    }
}

#[test]
fn late_datagrams_end_a_client_on_the_model() {
    late_datagrams("model");
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn late_datagrams_end_a_client_on_a_kernel() {
    late_datagrams("uml:6.1");
}

/// A server of datagrams waits from the run's start on, not from before.
#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn a_server_of_datagrams_has_its_whole_patience_on_a_kernel() {
    let text = "[run]\ncaptures = false\n[[link]]\ndelay = \"1ms\"\n[[app]]\nkind = \"udp-rr\"\nstart = \"200ms\"\ncount = 5\n\
                server_timeout = \"300ms\"\n";
    let [model, kernel] = ["model", "uml:6.1"].map(|stack| flow(text, stack));
    assert_eq!(kernel["client"]["completed"], 5, "{kernel}");
    assert_eq!(ends(&model), ends(&kernel));
}

fn write(place: &Path, name: &str, experiment: &str) -> String {
    let file = place.join(name);
    std::fs::write(&file, experiment).unwrap();
    text(&file).to_owned()
}

#[test]
fn endless_run_is_refused_with_a_remedy() {
    let place = folder();
    let rows = [
        (
            "[[app]]\nkind = \"stream\"\n",
            "give a link a `rate` or a `delay`",
        ),
        (
            "[run]\nmax = \"5s\"\n[[app]]\nkind = \"stream\"\n",
            "give the application an `every`",
        ),
        (
            "[[app]]\nkind = \"bulk\"\n",
            "or give the application `bytes`",
        ),
        (
            "[[link]]\nrate = \"1mbit\"\n[[app]]\nkind = \"bulk\"\nclient = \"server\"\n",
            "are both host `server`",
        ),
    ];
    for (experiment, words) in rows {
        let file = write(place.path(), "t.toml", experiment);
        for more in [&["--dry-run"][..], &[], &["--on", "uml:6.1"]] {
            let run = tcplab(&[&["run", &file], more].concat());
            assert_eq!(run.code, 2, "{experiment} {more:?} {}{}", run.out, run.err);
            assert!(run.err.contains(words), "{experiment}: {}", run.err);
        }
        // In real time it ends.
        let run = tcplab(&["run", &file, "--on", "host", "--dry-run"]);
        assert_eq!(run.code, 0, "{}", run.err);
    }
}

#[test]
fn ends_on_one_host_are_told() {
    let place = folder();
    let text = "[[app]]\nkind = \"echo\"\ncount = 2\nclient = \"server\"\n";
    let run = tcplab(&["run", &write(place.path(), "t.toml", text)]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.err.contains("so it runs over lo, not over a link"),
        "{}",
        run.err
    );
}

/// When the server's or client's application was done, in milliseconds.
fn closed(app: &str, end: &str) -> i64 {
    let text = format!(
        "[run]\ncaptures = false\n[[link]]\nrate = \"10mbit\"\ndelay = \"5ms\"\nlimit = 50\n[[app]]\n{app}\nduration = \"1s\"\n"
    );
    let place = folder();
    let point = point(&text, "model", place.path());
    assert_eq!(point["cut_short"], Value::Null, "{app}");
    point["flows"][0][end]["closed_ns"].as_i64().unwrap() / 1_000_000
}

#[test]
fn a_duration_holds_for_every_application() {
    let rows = [
        ("kind = \"stream\"", "server"),
        // Eight times what the link takes.
        (
            "kind = \"stream\"\nchunk = \"10 kB\"\nevery = \"1ms\"",
            "server",
        ),
        ("kind = \"bulk\"", "client"),
        ("kind = \"bulk\"\nreverse = true", "client"),
        ("kind = \"echo\"", "client"),
        ("kind = \"write-write-read\"", "client"),
        ("kind = \"request-response\"", "client"),
        ("kind = \"connect-request-response\"", "client"),
        ("kind = \"udp-stream\"", "client"),
        ("kind = \"udp-rr\"", "client"),
        ("kind = \"udp-ping\"", "client"),
        ("kind = \"ping\"", "client"),
    ];
    for (app, end) in rows {
        // What is in a socket's buffer is still sent.
        let at = closed(app, end);
        assert!((800..=1_500).contains(&at), "{app}: {at} ms");
    }
}

#[test]
fn connections_that_failed_and_those_cut_short_are_told() {
    let place = folder();
    let text = "[run]\nmax = \"2s\"\n[[link]]\ndelay = \"5ms\"\noutage = [\"0s..100ms\"]\n\
                [[app]]\nkind = \"echo\"\npause = \"10ms\"\nduration = \"1s\"\nconnections = 2\nstagger = \"200ms\"\n\
                client_timeout = \"50ms\"\n[[app]]\nkind = \"sink\"\nhold = \"10s\"\n";
    let run = tcplab(&["run", &write(place.path(), "t.toml", text)]);
    assert_eq!(run.code, 0, "{}", run.err);
    let words = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("echo: 1 of 2 connections ended with ETIME at the client"),
        "{}",
        run.out
    );
    assert!(
        words.contains(
            "the run reached `max` before the applications ended: 1 of 3 connections were still open"
        ),
        "{}",
        run.out
    );
}

/// A failure may be what an experiment is about: it is told, and no error of the command.
#[test]
fn a_run_whose_every_connection_failed_says_so() {
    let place = folder();
    let text = "[[link]]\noutage = [\"0s..\"]\n[[app]]\nkind = \"echo\"\ncount = 1\nclient_timeout = \"50ms\"\n\
                [[variant]]\nname = \"one\"\n[[variant]]\nname = \"two\"\nset = { \"app.echo.connections\" = 2 }\n";
    let file = write(place.path(), "t.toml", text);
    for json in [&[][..], &["--json"]] {
        let run = tcplab(&[&["run", &file], json].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        let words = "warning: all 3 connections ended with ETIME";
        assert!(run.err.contains(words), "{}", run.err);
        assert!(
            !json.is_empty()
                || run
                    .out
                    .contains("two: echo: all 2 connections ended with ETIME"),
            "{}",
            run.out
        );
    }
}

#[test]
fn the_reason_of_the_missing_measure_is_told() {
    let place = folder();
    let text = "measures = [\"client.acks.delayed_us.max\"]\n[[link]]\ndelay = \"5ms\"\n[[app]]\nkind = \"stream\"\n\
                every = \"1ms\"\ncount = 5\n";
    let file = write(place.path(), "t.toml", text);
    let run = tcplab(&["run", &file, "--bad", "stream.latency_us.p50 > 1"]);
    assert_eq!(run.code, 3, "{}{}", run.out, run.err);
    assert!(run.err.contains("no timed transaction"), "{}", run.err);
}

#[test]
fn a_budget_of_events_ends_a_run_without_an_answer() {
    let place = folder();
    let base = "[[link]]\nrate = \"10mbit\"\ndelay = \"5ms\"\n[[app]]\nkind = \"bulk\"\nbytes = { axis = [1000, \"1 MB\"] }\n";
    let file = write(
        place.path(),
        "t.toml",
        &format!("[run]\nmax_events = 500\n{base}"),
    );
    let run = tcplab(&["run", &file]);
    assert_eq!(run.code, 3, "{}{}", run.out, run.err);
    assert!(
        run.out.contains("after 500 events (`run.max_events`)"),
        "{}",
        run.out
    );
    assert!(run.out.contains("failed"), "{}", run.out);
    let run = tcplab(&["run", &file, "--json"]);
    assert_eq!(run.code, 3);
    let document = run.json();
    super::schema::holds("run", &document);
    assert_eq!(document["error"]["kind"], "inconclusive");
    let [small, large] = [&document["points"][0], &document["points"][1]];
    assert_eq!(
        (&small["error"], &small["inconclusive"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(large["inconclusive"], true);
    // A search for the first bad one has no answer either.
    let words = [
        "bisect",
        &file,
        "--over",
        "model,model",
        "--bad",
        "bulk.completed < 1",
    ];
    assert_eq!(tcplab(&words).code, 3);
    // A larger budget changes nothing else.
    let digests = |text: &str| {
        let run = tcplab(&["run", &write(place.path(), "t.toml", text), "--json"]);
        assert_eq!(run.code, 0, "{}", run.err);
        run.json()["points"][1]["digest"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        digests(base),
        digests(&format!("[run]\nmax_events = 100000\n{base}"))
    );
}

/// Both sides of a comparison that were ended by a limit have said nothing.
#[test]
fn a_comparison_without_an_answer_is_inconclusive() {
    let place = folder();
    let text = "[run]\nmax_events = 500\n[[link]]\nrate = \"10mbit\"\n[[app]]\nkind = \"bulk\"\nbytes = \"1 MB\"\n";
    let file = write(place.path(), "t.toml", text);
    let stacks = ["--before", "model", "--after", "model"];
    let words = ["qa", &file, "--no-suite", "--frames", "0"];
    let run = tcplab(&[&words[..], &stacks].concat());
    assert_eq!(run.code, 3, "{}{}", run.out, run.err);
    let saved = |name: &str| {
        let run = tcplab(&["run", &file, "--json"]);
        write(place.path(), name, &run.out)
    };
    let run = tcplab(&["compare", &saved("a.json"), &saved("b.json")]);
    assert_eq!(run.code, 3, "{}{}", run.out, run.err);
}

/// Datagrams without a pause are sent in pieces, which the budget counts.
#[test]
fn a_loop_within_one_application_is_counted() {
    let place = folder();
    let text = "[run]\nmax_events = 1000\ncaptures = false\n[[link]]\nrate = \"10mbit\"\n[[app]]\nkind = \"udp-stream\"\nevery = 0\n\
                count = 1000000000\n";
    let run = tcplab(&["run", &write(place.path(), "t.toml", text)]);
    assert_eq!(run.code, 3, "{}{}", run.out, run.err);
}

/// Starts a command, lets it begin, and ends it.
fn ended(args: &[&str], signal: &str) -> (Option<i32>, String) {
    let child = command(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    sleep(Duration::from_millis(1_500));
    let sent = std::process::Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success(), "{args:?} had ended");
    let output = Child::wait_with_output(child).unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), err)
}

#[test]
fn interrupted_result_is_not_whole() {
    let place = folder();
    let long = "[[link]]\nrate = \"1gbit\"\ndelay = \"1ms\"\n[run]\ncaptures = false\n[[app]]\nkind = \"bulk\"\n\
                duration = \"100000s\"\n";
    let file = write(place.path(), "long.toml", long);
    let rows: [&[&str]; 7] = [
        &["run", &file],
        &[
            "bisect",
            &file,
            "--over",
            "model,model",
            "--bad",
            "run.cut_short > 0",
        ],
        &["bench", "--command", "sleep 0.1", "--repeat", "10000"],
        &[
            "bench",
            "--before",
            "sleep 0.1",
            "--after",
            "sleep 0.2",
            "--repeat",
            "10000",
        ],
        &["inject", "--count", "1000000000"],
        &["qa", &file, "--before", "model", "--after", "model"],
        &["run", "examples/rto-p4.toml"],
    ];
    for args in rows {
        for signal in ["-INT", "-TERM"] {
            let (code, err) = ended(args, signal);
            assert_eq!(code, Some(130), "{args:?} {signal}: {err}");
            assert!(err.contains("interrupted"), "{args:?} {signal}: {err}");
            // Only `run` keeps points that the same command takes up.
            let resumes = err.contains("resumes the run");
            assert_eq!(resumes, args[0] == "run", "{args:?} {signal}: {err}");
        }
    }
}

#[test]
fn an_interrupted_bench_keeps_and_tells_what_was_done() {
    let place = folder();
    let out = place.path().join("out");
    let args = [
        "bench",
        "--command",
        "sleep 0.1",
        "--repeat",
        "10000",
        "--out",
        text(&out),
    ];
    let (code, err) = ended(&args, "-INT");
    assert_eq!(code, Some(130), "{err}");
    assert!(err.contains("interrupted after"), "{err}");
    let kept = std::fs::read_to_string(out.join("metrics.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let remarks = kept["arms"][0]["remarks"].to_string();
    assert!(remarks.contains("interrupted after"), "{remarks}");
}

/// A stack on which no ACK is delayed any more: its measure has no value, and that is the answer.
#[test]
fn a_cure_with_nothing_left_to_measure_is_a_result() {
    let place = folder();
    let text = "measures = [\"client.acks.delayed\", \"client.acks.delayed_us.max\"]\n[[link]]\ndelay = \"5ms\"\n\
                [[host]]\nname = \"client\"\n[[host]]\nname = \"server\"\n\
                [[app]]\nkind = \"stream\"\nchunk = \"1 kB\"\nevery = \"60ms\"\ncount = 40\n";
    let file = write(place.path(), "cure.toml", text);
    let words = ["qa", &file, "--no-suite", "--frames", "0", "--json"];
    let stacks = [
        "--before",
        "model:linux-6.1.56",
        "--after",
        "model:linux-6.1",
    ];
    let run = tcplab(&[&words[..], &stacks].concat());
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let document = run.json();
    let sections = document["sections"].as_array().unwrap();
    let section = sections.iter().find(|s| s["kind"] == "experiment").unwrap();
    let table = &section["comparison"];
    let rows = table["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| {
        let name = row["metric"].as_str().unwrap();
        name.ends_with("delayed_us.max")
    });
    let row = row.unwrap_or_else(|| panic!("{section}"));
    assert_eq!(row["verdict"], "differs", "{row}");
    let why = row["why"].as_str().unwrap();
    assert!(why.starts_with("nothing "), "{row}");
    let flags = table["flags"].to_string();
    assert!(!flags.contains("failed-run"), "{flags}");
}
