//! `--json`: the document, also when something failed.

use serde_json::Value;

use super::{LOSS, QUICKACK, bytes, folder, tcplab, tcplab_with, text};

#[test]
fn a_shipped_capture_gives_the_known_figures() {
    let run = tcplab(&["analyze", "--json", QUICKACK]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let document = run.json();
    assert_eq!(document["schema"], "tcplab.analyze/1");
    let capture = &document["captures"][0];
    assert_eq!(capture["file"], QUICKACK);
    assert_eq!(capture["packets"], capture["tcp_packets"]);
    let acks = &capture["streams"][0]["client_to_server"]["acks_sent"];
    assert_eq!(acks["first_delayed_segment"], 17);
    let sum: u64 = [
        "immediate",
        "second_segment",
        "delayed",
        "piggybacked",
        "other",
    ]
    .iter()
    .map(|class| acks[class].as_u64().unwrap())
    .sum();
    assert_eq!(acks["total"].as_u64().unwrap(), sum);
    assert_eq!(capture["findings"][0]["id"], "quickack_exhausted");
    assert!(document.get("error").is_none());
}

#[test]
fn files_stand_one_after_another() {
    let document = tcplab(&["analyze", "--json", LOSS[0], QUICKACK, LOSS[1]]).json();
    let files: Vec<&Value> = document["captures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| &c["file"])
        .collect();
    assert_eq!(files, [LOSS[0], QUICKACK, LOSS[1]]);
}

#[test]
fn standard_input_and_packed_files_give_the_same() {
    let direct = tcplab(&["analyze", "--json", QUICKACK]).json();
    let raw = bytes(QUICKACK);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &raw).unwrap();
    for input in [raw, gzip.finish().unwrap()] {
        let piped = tcplab_with(&["analyze", "--json", "-"], &input).json();
        assert_eq!(piped["captures"][0]["file"], "-");
        assert_eq!(
            piped["captures"][0]["streams"],
            direct["captures"][0]["streams"]
        );
    }
}

#[test]
fn the_text_of_tcpdump_is_read() {
    let input = "\
00:00:00.000000 IP 10.0.0.1.40000 > 10.0.0.2.80: Flags [S], seq 100, win 64240, options [mss 1460], length 0
00:00:00.000100 IP 10.0.0.2.80 > 10.0.0.1.40000: Flags [S.], seq 500, ack 101, win 65160, options [mss 1460], length 0
00:00:00.000200 IP 10.0.0.1.40000 > 10.0.0.2.80: Flags [.], ack 1, win 502, length 0
00:00:00.000300 IP 10.0.0.1.40000 > 10.0.0.2.80: Flags [P.], seq 1:101, ack 1, win 502, length 100
00:00:00.040300 IP 10.0.0.2.80 > 10.0.0.1.40000: Flags [.], ack 101, win 502, length 0
";
    let run = tcplab_with(&["analyze", "--json", "-"], input.as_bytes());
    assert_eq!(run.code, 0, "{}", run.err);
    let stream = &run.json()["captures"][0]["streams"][0];
    assert_eq!(stream["client"], "10.0.0.1:40000");
    assert_eq!(stream["client_to_server"]["data_bytes"], 100);
    assert_eq!(stream["server_to_client"]["acks_sent"]["delayed"], 1);
}

#[test]
fn a_damaged_file_keeps_its_entry_and_says_where() {
    let whole = bytes(QUICKACK);
    let cut = whole.len() - 50;
    let run = tcplab_with(&["analyze", "--json", "-"], &whole[..cut]);
    assert_eq!(run.code, 2);
    let document = run.json();
    let capture = &document["captures"][0];
    let offset = capture["error"]["offset"].as_u64().unwrap();
    assert!(offset > 0 && offset <= cut as u64, "{offset}");
    assert_eq!(capture["streams"].as_array().unwrap().len(), 1);
    assert_eq!(document["error"]["kind"], "input");
}

#[test]
fn unreadable_file_has_an_entry_too() {
    let run = tcplab(&["analyze", "--json", "no-such-file", QUICKACK]);
    assert_eq!(run.code, 2);
    let document = run.json();
    assert_eq!(document["captures"][0]["packets"], 0);
    let message = document["captures"][0]["error"]["message"]
        .as_str()
        .unwrap();
    assert!(message.contains("no-such-file"), "{message}");
    assert_eq!(
        document["captures"][1]["streams"].as_array().unwrap().len(),
        1
    );
    assert_eq!(document["error"]["message"], message);
}

#[test]
fn a_wrong_command_line_is_a_document_too() {
    let cases: [&[&str]; 3] = [
        &["analyze", "--json"],
        &["analyze", "--json", "--nonsense", QUICKACK],
        &[
            "analyze",
            "--json",
            "--annotate",
            "x.pcapng",
            QUICKACK,
            QUICKACK,
        ],
    ];
    for args in cases {
        let run = tcplab(args);
        assert_eq!(run.code, 2, "{args:?}");
        assert_eq!(run.json()["error"]["kind"], "usage", "{args:?}");
        assert!(!run.err.is_empty());
    }
}

#[test]
fn unwritable_output_is_in_the_document() {
    let folder = folder();
    let path = folder.path().join("no/such/folder.pcapng");
    let run = tcplab(&["analyze", "--json", "--annotate", text(&path), QUICKACK]);
    assert_eq!(run.code, 2);
    let document = run.json();
    assert_eq!(document["error"]["kind"], "output");
    assert_eq!(
        document["captures"][0]["streams"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn one_stream_can_be_chosen() {
    let all = tcplab(&["analyze", "--json", "--stream", "0", QUICKACK]).json();
    assert_eq!(all["captures"][0]["streams"].as_array().unwrap().len(), 1);
    let none = tcplab(&["analyze", "--json", "--stream", "7", QUICKACK]).json();
    assert_eq!(none["captures"][0]["streams"], Value::Array(Vec::new()));
    assert_eq!(none["captures"][0]["findings"], Value::Array(Vec::new()));
    assert_eq!(none["captures"][0]["tcp_streams"], 1);
}
