//! The captures that ship, made by real kernels with known causes: each cause is found, nothing
//! else is, and the counts are those of the kernels that sent the packets.

mod common;

use common::{analyze, root, section};
use serde_json::Value;
use tcplab_analyze::Options;
use tcplab_analyze::report::Direction;
use tcplab_analyze::trace::{Row, Rows, SegmentKind};

fn labels() -> serde_json::Map<String, Value> {
    let path = root().join("tests/captures/labels.json");
    let text = std::fs::read_to_string(&path).expect("labels.json");
    serde_json::from_str(&text).expect("labels are JSON")
}

fn names(label: &Value, key: &str) -> Vec<String> {
    let list = label[key].as_array().cloned().unwrap_or_default();
    list.iter()
        .filter_map(|v| v.as_str().map(str::to_owned))
        .collect()
}

#[test]
fn every_cause_is_found_and_nothing_else() {
    let mut wrong = Vec::new();
    let labels = labels();
    for (file, label) in &labels {
        let answer = analyze(
            &root().join("tests/captures").join(file),
            Options::default(),
        );
        let found = answer.ids();
        let (causes, allowed) = (names(label, "causes"), names(label, "allowed"));
        for cause in &causes {
            if !found.contains(&cause.as_str()) {
                wrong.push(format!("{file}: {cause} was not found (found {found:?})"));
            }
        }
        for id in found {
            if !causes.iter().chain(&allowed).any(|c| c == id) {
                wrong.push(format!("{file}: {id} has no cause"));
            }
        }
    }
    assert!(labels.len() > 20, "the labels are not complete");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn counts_are_those_of_the_sending_kernel() {
    let mut compared = 0;
    for (file, label) in &labels() {
        let point = label["captured_at"].as_str().unwrap_or_default();
        let counters = &label["counters"][point];
        let counter = |name: &str| counters[name].as_u64().unwrap_or(0);
        let answer = analyze(
            &root().join("tests/captures").join(file),
            Options::default(),
        );
        let [stream] = answer.streams.as_slice() else {
            continue;
        };
        // Host `a` is the client. Super-segments hide how often a segment was sent.
        let own: &Direction = if point == "a" {
            &stream.client_to_server
        } else {
            &stream.server_to_client
        };
        if !stream.artefacts.is_empty() {
            continue;
        }
        compared += 1;
        let r = &own.retransmissions;
        assert_eq!(
            r.total,
            counter("TcpRetransSegs"),
            "{file}: retransmissions"
        );
        assert_eq!(r.rto > 0, counter("TcpExtTCPTimeouts") > 0, "{file}: {r:?}");
        assert_eq!(
            own.acks_sent.delayed,
            counter("TcpExtDelayedACKs"),
            "{file}: delayed ACKs"
        );
    }
    assert!(compared >= 20, "only {compared} captures compared");
}

#[test]
fn late_segments_are_those_that_the_rows_call_out_of_order() {
    let all = Options {
        rows: Rows::ALL,
        ..Options::default()
    };
    let mut late = Vec::new();
    for file in labels().keys() {
        let answer = analyze(&root().join("tests/captures").join(file), all);
        for (stream, trace) in answer.streams.iter().zip(&answer.traces) {
            assert_eq!(stream.stream, trace.stream, "{file}");
            let sides = [&stream.client_to_server, &stream.server_to_client];
            for (from_client, d) in [true, false].into_iter().zip(sides) {
                let is_late =
                    |r: &&Row| r.from_client == from_client && r.kind == SegmentKind::OutOfOrder;
                let rows = trace.rows.iter().filter(is_late).count() as u64;
                assert_eq!(d.out_of_order, rows, "{file} stream {}", stream.stream);
                late.push((file.clone(), rows));
            }
        }
    }
    // Wireshark has 0, 20 and 1 here: the last one is the fast retransmission.
    let of = |name: &str| -> u64 {
        let rows = late.iter().filter(|(file, _)| file == name);
        rows.map(|(_, rows)| rows).sum()
    };
    assert_eq!(of("reordering.a.pcap"), 2);
    assert_eq!(of("reset-ignored-far.a.pcap"), 0);
    assert_eq!(of("bulk-loss.b.pcap"), 0);
}

#[test]
fn handshake_alone_has_no_byte_in_flight() {
    let file = root().join("tests/captures/syn-no-answer.a.pcap");
    let answer = analyze(&file, Options::default());
    for stream in &answer.streams {
        let client = &stream.client_to_server;
        assert_eq!(client.data_segments, 0);
        assert_eq!(client.max_in_flight_bytes, Some(0));
    }
    assert!(!answer.streams.is_empty());
}

#[test]
fn quick_acks_end_after_sixteen_segments() {
    for file in ["quickack-5.10.46.a.pcap", "quickack-5.10.46.b.pcap"] {
        let answer = analyze(
            &root().join("tests/captures").join(file),
            Options::default(),
        );
        let acks = &answer.streams[0].client_to_server.acks_sent;
        assert_eq!(acks.first_delayed_segment, Some(17), "{file}");
        assert_eq!(acks.modes[0].acks, 16, "{file}: {:?}", acks.modes);
        assert!(
            acks.delayed_us.min >= 40_000 && acks.immediate_us.max < 20_000,
            "{file}: {acks:?}"
        );
        let f = &answer.findings[0];
        assert!(
            f.remedy.iter().any(|r| r.contains("quickack 1")),
            "{:?}",
            f.remedy
        );
        assert!(
            f.remedy
                .iter()
                .any(|r| r.contains("nmcli connection modify")),
            "{:?}",
            f.remedy
        );
    }
}

#[test]
fn a_trace_has_a_row_for_each_packet_and_knows_the_credits() {
    let path = root().join("tests/captures/quickack-5.10.46.a.pcap");
    let answer = analyze(
        &path,
        Options {
            rows: Rows::ALL,
            ..Options::default()
        },
    );
    let rows = &answer.traces[0].rows;
    assert_eq!(rows.len() as u64, answer.totals.tcp_packets);
    let credits: Vec<_> = rows
        .iter()
        .filter_map(|r| r.acked)
        .map(|a| a.credits)
        .take(17)
        .collect();
    let mut want: Vec<_> = (0..16_u8).rev().map(Some).collect();
    want.push(Some(0));
    assert_eq!(credits, want);
    let by_server = rows
        .iter()
        .filter(|r| r.len == 1024 && !r.from_client)
        .count();
    assert_eq!(by_server, 60);
}

/// `TCPLAB_WRITE_DOCS=1 cargo test -p tcplab-analyze --test shipped` writes the table.
#[test]
fn the_document_lists_every_finding() {
    let table = tcplab_analyze::findings::table();
    section(
        "findings",
        &format!("| id | severity | said when |\n|---|---|---|\n{table}"),
    );
}

#[test]
fn timeout_repairs_are_one_episode() {
    // The capture at the client shows the timeout's first retransmission as new data, and the hole a round trip later.
    let path = root().join("tests/captures/bulk-rto.a.pcap");
    let answer = analyze(&path, Options::default());
    let sender = &answer.streams[0].server_to_client;
    let episodes: Vec<_> = sender.episodes.iter().collect();
    assert_eq!(episodes.len(), 1, "{episodes:?}");
    assert_eq!((episodes[0].packet, episodes[0].retransmissions), (166, 96));
}
