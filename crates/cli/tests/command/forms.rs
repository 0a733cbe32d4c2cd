//! The other forms of the result: report, `--acks`, `--tshark-compat`, `--pair`, `--flows`, `--html`.

use serde_json::Value;

use super::{LOSS, QUICKACK, command, folder, tcplab, text};

#[test]
fn the_report_fits_80_columns_and_tells_findings_first() {
    let run = tcplab(&[
        "analyze",
        QUICKACK,
        LOSS[0],
        "tests/captures/request-response-clean.a.pcap",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    for line in run.out.lines() {
        // A command between backticks stays whole: it must survive a copy and paste.
        let whole = line.contains('`');
        assert!(line.chars().count() <= 80 || whole, "{line}");
        assert_eq!(line, line.trim_end(), "blanks at the end: `{line}`");
    }
    let at = |part: &str| {
        run.out
            .find(part)
            .unwrap_or_else(|| panic!("{part}: {}", run.out))
    };
    assert!(at("Findings") < at("Streams"));
    assert!(at("INFO") < at("Do  ") && at("Do  ") < at("quickack 1"));
    assert!(at("quickack 1") < at("Why  ") && at("Why  ") < at("Seen  "));
    assert!(run.out.contains("No findings"), "{}", run.out);
}

#[test]
fn the_report_uses_a_wide_terminal() {
    let mut wide = command(&["analyze", QUICKACK]);
    let output = wide.env("COLUMNS", "160").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let row = text.lines().find(|l| l.contains("10.77.0.1:40000"));
    assert!(
        row.is_some_and(|l| l.contains("left quick-ACK mode") && l.contains("10.77.0.2:5001")),
        "{text}"
    );
}

#[test]
fn acks_are_one_line_each() {
    let json = tcplab(&["analyze", "--acks", "--json", QUICKACK]);
    assert_eq!(json.code, 0, "{}", json.err);
    let lines: Vec<Value> = json
        .out
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let whole = tcplab(&["analyze", "--json", QUICKACK]).json();
    let stream = &whole["captures"][0]["streams"][0];
    let (total, late) =
        ["client_to_server", "server_to_client"]
            .iter()
            .fold((0, 0), |(n, d), side| {
                let acks = &stream[side]["acks_sent"];
                (
                    n + acks["total"].as_u64().unwrap(),
                    d + acks["delayed"].as_u64().unwrap(),
                )
            });
    assert_eq!(lines.len() as u64, total);
    let delayed: Vec<&Value> = lines.iter().filter(|l| l["class"] == "delayed").collect();
    assert_eq!(delayed.len() as u64, late);
    assert_eq!(delayed[0]["newest_segment"], 17);
    assert!(delayed[0]["wait_us"].as_u64().unwrap() >= 40_000);
    let table = tcplab(&["analyze", "--acks", QUICKACK]);
    assert!(table.out.contains("ACKs of the client"), "{}", table.out);
    assert_eq!(
        table.out.matches(" late ").count() as u64,
        late,
        "{}",
        table.out
    );
}

#[test]
fn tshark_compat_names_wiresharks_fields() {
    let capture = "tests/captures/bulk-loss.b.pcap";
    let run = tcplab(&["analyze", "--tshark-compat", capture]);
    assert_eq!(run.code, 0);
    let mut last = 0;
    for line in run.out.lines() {
        let parts: Vec<&str> = line.split(' ').collect();
        let [frame, stream, fields] = parts[..] else {
            panic!("{line}");
        };
        let frame: u64 = frame.parse().unwrap();
        assert!(frame > last, "in the order of the file");
        last = frame;
        assert_eq!(stream, "0");
        assert!(
            fields.split(',').all(|f| f.starts_with("tcp.analysis.")),
            "{line}"
        );
    }
    assert!(
        run.out.contains("tcp.analysis.retransmission"),
        "{}",
        run.out
    );
    let document = tcplab(&["analyze", "--tshark-compat", "--json", capture]).json();
    assert_eq!(document["schema"], "tcplab.tshark/1");
    let frames = document["captures"][0]["frames"].as_array().unwrap();
    assert_eq!(frames.len(), run.out.lines().count());
}

#[test]
fn a_capture_is_no_pair_with_itself() {
    let run = tcplab(&["analyze", "--pair", QUICKACK, QUICKACK]);
    assert_eq!(run.code, 2, "{}", run.out);
    assert!(run.err.contains("are the same capture"), "{}", run.err);
}

#[test]
fn a_pair_shows_the_same_ack_from_both_ends() {
    let [a, b] = [
        "tests/captures/quickack-rtt50-hz1000.a.pcap",
        "tests/captures/quickack-rtt50-hz1000.b.pcap",
    ];
    let pair = tcplab(&["analyze", "--json", "--pair", a, b]).json();
    assert_eq!(pair["schema"], "tcplab.pair/1");
    assert_eq!(pair["packets"]["only_a"], 0);
    // The path has 50 ms there and back, and one clock.
    let near = |value: &Value, want: i64, by: i64| {
        let got = value.as_i64().unwrap();
        assert!((got - want).abs() <= by, "{got} is not {want}");
    };
    near(&pair["clock"]["path_ns"], 50_000_000, 100_000);
    near(&pair["clock"]["offset_ns"], 0, 50_000);
    let stream = &pair["streams"][0];
    assert_eq!(stream["client_side"], "a");
    let delayed: Vec<&Value> = stream["acks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|a| a["class"] == "delayed")
        .collect();
    assert!(delayed.len() > 20);
    for ack in delayed {
        near(&ack["wait_at_receiver_us"], 45_000, 10_000);
        let more = ack["wait_at_sender_us"].as_i64().unwrap()
            - ack["wait_at_receiver_us"].as_i64().unwrap();
        assert!((49_900..60_000).contains(&more), "{ack}");
    }
    // The other way round the same is told of the other end.
    let turned = tcplab(&["analyze", "--json", "--pair", b, a]).json();
    assert_eq!(turned["streams"][0]["client_side"], "b");
    let text = tcplab(&["analyze", "--pair", a, b]);
    assert_eq!(text.code, 0);
    assert!(
        text.out.lines().all(|l| l.chars().count() <= 80),
        "{}",
        text.out
    );
}

#[test]
fn losses_between_two_captures_are_counted() {
    let pair = tcplab(&["analyze", "--json", "--pair", LOSS[0], LOSS[1]]).json();
    // Two segments were dropped between the server (B) and the client (A).
    assert_eq!(pair["streams"][0]["server_to_client"]["only_at_sender"], 2);
    assert_eq!(pair["streams"][0]["client_to_server"]["only_at_sender"], 0);
}

#[test]
fn flows_are_written_or_the_error_says_how() {
    let folder = folder();
    let path = folder.path().join("flows.parquet");
    let run = tcplab(&["analyze", "--flows", text(&path), QUICKACK]);
    if cfg!(feature = "parquet") {
        assert_eq!(run.code, 0, "{}", run.err);
        let bytes = std::fs::read(&path).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
        assert!(run.out.contains("flows.parquet"));
    } else {
        assert_eq!(run.code, 4);
        assert!(run.err.contains("--features parquet"), "{}", run.err);
        assert!(!path.exists());
    }
}

#[test]
fn page_is_written_or_the_error_says_how_to_get_it() {
    let folder = folder();
    let path = folder.path().join("report.html");
    let run = tcplab(&["analyze", "--html", text(&path), QUICKACK]);
    match run.code {
        0 => {
            assert!(run.out.ends_with("report.html\n"), "{}", run.out);
            assert!(
                std::fs::read_to_string(&path)
                    .unwrap()
                    .contains("tcplab-page")
            );
        }
        code => {
            assert_eq!(code, 4, "{}", run.err);
            assert!(run.err.contains("make build"), "{}", run.err);
        }
    }
}
