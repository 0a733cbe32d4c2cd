//! The page as text: what is in it, what is left out, and that hostile names stay text.

use tcplab_analyze::budget::{Class, Request, Span};
use tcplab_analyze::compat::Verdicts;
use tcplab_analyze::findings::{Finding, Id, Lacks, Need, NotChecked, Severity};
use tcplab_analyze::report::{Capture, Stream, Vantage};
use tcplab_analyze::trace::{AckClass, AckRow, Row, SegmentKind};
use tcplab_base::Instant;

use super::*;

fn row(number: u64, us: i64, from_client: bool, seq: u64, len: u32) -> Row {
    Row {
        number,
        time: Instant::from_nanos(1_700_000_000_000_000_000 + us * 1_000),
        from_client,
        seq,
        len,
        flags: 0x10,
        ack: Some(1),
        window: 64_128,
        sack: Vec::new(),
        kind: if len > 0 {
            SegmentKind::New
        } else {
            SegmentKind::PureAck
        },
        spurious: false,
        acked: None,
        rtt_us: None,
        in_flight: len,
        caqm: None,
        verdicts: Default::default(),
    }
}

fn trace(stream: u32, rows: u64) -> StreamTrace {
    let rows = (0..rows).map(|i| row(i + 1, i as i64 * 100, true, 1 + i * 1_000, 1_000));
    StreamTrace::of(stream, rows.collect())
}

#[test]
fn the_golden_bytes_that_the_page_decodes_too() {
    // web/test/columns.test.ts holds the same text and the fields it must give.
    let mut ack = row(9, 42_000, false, 1, 0);
    ack.ack = Some(1_001);
    ack.sack = vec![(2_001, 3_001)];
    ack.rtt_us = Some(41_500);
    ack.acked = Some(AckRow {
        class: AckClass::Delayed,
        bytes: 1_000,
        segments: 1,
        newest_segment: 17,
        trigger: 7,
        wait_us: 42_000,
        since_last_us: 41_900,
        path_us: 300,
        credits: Some(0),
    });
    let mut late = row(12, 41_000, true, 5_000_000_001, 1_000);
    late.kind = SegmentKind::Rto;
    late.spurious = true;
    late.verdicts = Verdicts(Verdicts::RETRANSMISSION | Verdicts::OUT_OF_ORDER);
    let text = STANDARD.encode(columns::encode(&[row(7, 0, true, 1, 1_000), ack, late]));
    assert_eq!(text, GOLDEN);
}

const GOLDEN: &str = "BEU8hxIDEBAQAw4EBggAgPqGKP+IegcCArC4r6AlBegHAOgHBALSDwAHgOoHgOoHAATQDwAA\
                      A5zEAgUB0A/oBw8C6AcBIgSQyAKsxwLYBAEBCQ==";

#[test]
fn a_packet_takes_few_bytes() {
    let bytes = columns::encode(&trace(0, 10_000).rows);
    assert!(bytes.len() < 18 * 10_000, "{} bytes", bytes.len());
}

#[test]
fn hostile_times_and_numbers_do_not_panic() {
    let mut rows = trace(0, 4).rows;
    rows[1].time = Instant::from_nanos(i64::MIN);
    rows[2].time = Instant::from_nanos(i64::MAX);
    rows[1].seq = u64::MAX;
    rows[2].ack = Some(u64::MAX);
    rows[2].sack = vec![(u64::MAX, 0), (0, u64::MAX)];
    rows[3].number = u64::MAX;
    assert!(!columns::encode(&rows).is_empty());
}

fn finding(severity: Severity) -> Finding {
    Finding {
        id: Id::of("rto_stall").expect("an id"),
        severity,
        stream: 0,
        packets: vec![],
        title: String::new(),
        cause: String::new(),
        remedy: vec![],
        confidence: Some(1.0),
        proof: None,
    }
}

fn kept(page: &Page) -> Vec<(u32, usize)> {
    page.charts.iter().map(|c| (c.stream, c.rows)).collect()
}

#[test]
fn the_streams_that_matter_keep_their_charts() {
    let mut page = Page::new(Options {
        charts: 5,
        ..Options::default()
    });
    let (high, info) = (finding(Severity::High), finding(Severity::Info));
    page.add_trace(0, &trace(0, 500), []);
    page.add_trace(0, &trace(1, 4), [&high]);
    for stream in 2..7 {
        page.add_trace(0, &trace(stream, 20), [&info, &info]);
    }
    page.add_trace(0, &trace(7, 5), [&info, &info]);
    page.add_trace(0, &trace(8, 400), []);
    // The largest, the severe one, and of the others those with most packets.
    assert_eq!(kept(&page), [(0, 500), (1, 4), (4, 20), (5, 20), (6, 20)]);
    assert_eq!(page.left_out, 4);
    assert!(page.charts.iter().all(|c| !c.bytes.is_empty()));
}

#[test]
fn a_severe_finding_wins_over_streams_of_the_same_size() {
    let mut page = Page::new(Options {
        charts: 5,
        ..Options::default()
    });
    for stream in 0..20 {
        page.add_trace(0, &trace(stream, 22), []);
    }
    page.add_trace(0, &trace(20, 22), [&finding(Severity::High)]);
    assert!(kept(&page).contains(&(20, 22)));
    assert_eq!(kept(&page).len(), 5);
}

#[test]
fn too_many_packets_cost_a_large_stream_and_not_many_small_ones() {
    let mut page = Page::new(Options {
        packets: 250,
        packets_per_stream: 100,
        ..Options::default()
    });
    for (stream, rows) in [(0, 9), (1, 300), (2, 90), (3, 9), (4, 120)] {
        page.add_trace(0, &trace(stream, rows), []);
    }
    assert_eq!(kept(&page), [(0, 9), (1, 100), (3, 9), (4, 100)]);
}

#[test]
fn names_from_outside_cannot_end_the_script_element() {
    let mut text = Vec::new();
    let evil = "</script><script>alert(1)</script><!--";
    serde_json::to_writer(NoMarkup(&mut text), evil).expect("write to memory");
    let text = String::from_utf8(text).expect("UTF-8");
    assert!(!text.contains('<'), "{text}");
    let back: String = serde_json::from_str(&text).expect("still JSON");
    assert_eq!(back, evil);
}

#[test]
fn the_page_holds_the_report_and_the_packets() {
    let mut page = Page::new(Options::default());
    page.add_stream(0, line(3, 5));
    page.add_trace(0, &trace(3, 5), []);
    let report = Report {
        schema: "tcplab.analyze/1".into(),
        captures: vec![Capture {
            file: "a<b.pcap".into(),
            ..Capture::default()
        }],
    };
    let mut out = Vec::new();
    assert_eq!(TEMPLATE.matches(PLACE).count(), 1);
    page.write(&report, &mut out).expect("write to memory");
    let html = String::from_utf8(out).expect("UTF-8");
    assert!(!html.contains(PLACE));
    assert!(html.contains(r#"{"schema":"tcplab.page/1""#));
    assert!(html.contains(r#""file":"a\u003cb.pcap""#));
    assert!(html.contains(r#"<script id="tcplab-chart-0" type="text/plain">"#));
}

/// A stream with so many packets.
fn line(stream: u32, packets: u64) -> Stream {
    let mut stream = Stream {
        stream,
        client: "192.0.2.1:5".into(),
        ..Stream::default()
    };
    stream.client_to_server.packets = packets;
    stream
}

#[test]
fn the_streams_of_the_page_are_chosen_while_they_come() {
    let options = Options {
        charts: 1,
        details: 2,
        streams: 10,
        ..Options::default()
    };
    let mut page = Page::new(options);
    let n = 5_000;
    for number in 0..n {
        // The size of each is drawn: the largest come anywhere.
        let size = 1 + u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15) % 100_000;
        page.add_stream(0, line(number, size));
        if number == 77 {
            page.add_finding(
                0,
                &Finding {
                    stream: 77,
                    ..finding(Severity::Info)
                },
            );
        }
        if number % 1_000 == 5 {
            page.add_trace(0, &trace(number, 2), []);
        }
        let held = page.gathered[0].streams().count();
        assert!(held <= 2 * options.streams + options.charts, "{held}");
    }
    let report = Report {
        captures: vec![Capture::default()],
        ..Report::default()
    };
    let charts: Vec<&Chart> = page.charts.iter().collect();
    let document = document::Document::new(&report, &charts, &page);
    let document = serde_json::to_value(&document).expect("JSON");
    let capture = &document["captures"][0];
    let lines = capture["lines"].as_array().expect("lines");
    assert_eq!(lines.len(), options.streams);
    assert_eq!(capture["lines_left_out"], n as usize - options.streams);
    let mut all: Vec<(u64, u64)> = (0..u64::from(n))
        .map(|i| (1 + i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 100_000, i))
        .filter(|(_, i)| *i != 77 && *i != u64::from(charts[0].stream))
        .collect();
    all.sort_by_key(|(size, i)| (std::cmp::Reverse(*size), *i));
    let mut want: Vec<u64> = all
        .iter()
        .take(options.streams - 2)
        .map(|(_, i)| *i)
        .collect();
    want.extend([77, u64::from(charts[0].stream)]);
    want.sort_unstable();
    let got: Vec<u64> = lines.iter().filter_map(|l| l["stream"].as_u64()).collect();
    assert_eq!(got, want);
}

#[test]
fn a_chart_ends_where_packets_are_missing() {
    let mut whole = trace(1, 100);
    (whole.whole, whole.packets) = (40, 1_000);
    let mut page = Page::new(Options::default());
    page.add_trace(0, &whole, []);
    assert_eq!((page.charts[0].rows, page.charts[0].packets), (40, 1_000));
}

/// The JSON document of a page with one capture.
fn document_of(page: &Page, capture: Capture) -> serde_json::Value {
    let report = Report {
        captures: vec![capture],
        ..Report::default()
    };
    let charts: Vec<&Chart> = page.charts.iter().collect();
    serde_json::to_value(document::Document::new(&report, &charts, page)).expect("JSON")
}

#[test]
fn the_golden_spans_that_the_page_decodes_too() {
    // web/test/unit/time.test.ts holds the same text. The last span begins before the one before it ends.
    let span = |from_us, to_us, class| Span {
        from_us,
        to_us,
        class,
    };
    let spans = [
        span(0, 300, Class::Handshake),
        span(200, 50_000, Class::ClientThinks),
        span(60_000, 60_010, Class::Rto),
    ];
    assert_eq!(
        STANDARD.encode(spans::encode(&spans)),
        "AACsAgEApIQDDJBOCg=="
    );
}

#[test]
fn a_chart_keeps_two_spans_for_each_packet() {
    let mut long = trace(1, 10);
    long.spans = (0..1_000)
        .map(|i| Span {
            from_us: i,
            to_us: i + 1,
            class: Class::Path,
        })
        .collect();
    let mut page = Page::new(Options::default());
    page.add_trace(0, &long, []);
    assert_eq!(page.charts[0].spans.len(), 2 * 10 * 3);
}

/// A stream with these requests, by their duration.
fn asks(stream: u32, durations_us: impl IntoIterator<Item = u64>) -> Stream {
    let mut s = line(stream, 2);
    s.requests = durations_us
        .into_iter()
        .map(|duration_us| Request {
            duration_us,
            ..Request::default()
        })
        .collect();
    s
}

#[test]
fn the_first_requests_and_the_slowest_stay_in_their_order() {
    let mut s = asks(0, [5, 6, 70, 7, 90, 8, 80]);
    s.requests_not_listed = 10;
    requests::choose(&mut s, 2);
    let left: Vec<u64> = s.requests.iter().map(|r| r.duration_us).collect();
    assert_eq!((left, s.requests_not_listed), (vec![5, 6, 90, 80], 13));
    let mut few = asks(0, [5, 6]);
    requests::choose(&mut few, 2);
    assert_eq!((few.requests.len(), few.requests_not_listed), (2, 0));
}

#[test]
fn requests_are_held_for_few_streams() {
    let mut page = Page::new(Options {
        charts: 3,
        details: 5,
        requests: 4,
        ..Options::default()
    });
    for number in 0..2_000 {
        page.add_stream(0, asks(number, 0..20));
        if number == 7 {
            page.add_trace(0, &trace(number, 2), []);
        }
        let held = page.gathered[0].streams();
        let held: Vec<usize> = held
            .map(|(s, _)| s.requests.len())
            .filter(|n| *n > 0)
            .collect();
        assert!(
            held.len() <= 2 * (3 + 5) + 1 && held.iter().all(|n| *n <= 8),
            "{held:?}"
        );
    }
    let document = document_of(&page, Capture::default());
    let details = document["captures"][0]["details"]
        .as_array()
        .expect("details");
    // The one with a chart, and those that matter most: of equal ones the first.
    let asked = |d: &&serde_json::Value| d["requests"].is_array();
    let streams: Vec<u64> = details
        .iter()
        .filter(asked)
        .filter_map(|d| d["stream"].as_u64())
        .collect();
    assert!(
        [0, 1, 2, 3, 4, 7].iter().all(|n| streams.contains(n)),
        "{streams:?}"
    );
}

#[test]
fn equal_findings_form_a_group_and_unchecked_ones_are_named() {
    let (rto, syn) = (
        finding(Severity::Medium),
        Finding {
            id: Id::of("syn_retries").expect("an id"),
            ..finding(Severity::High)
        },
    );
    let rto_of = |stream| Finding {
        stream,
        ..rto.clone()
    };
    let unseen = |name: &str, lacks, streams| NotChecked {
        finding: Id::of(name).expect("an id"),
        lacks,
        streams,
        stream: 3,
    };
    let mut capture = Capture {
        findings: vec![rto_of(1), syn, rto_of(2), rto_of(3)],
        ..Capture::default()
    };
    capture.totals.not_checked = vec![
        unseen("rto_stall", Need::BothDirections, 1),
        unseen("rto_stall", Need::Handshake, 9),
        unseen("syn_retries", Need::Handshake, 2),
    ];
    let mut page = Page::new(Options::default());
    let mut stream = line(3, 5);
    stream.budget_us.add(Class::ServerThinks, 41_000);
    stream.not_checked = vec![Lacks {
        lacks: Need::Data,
        findings: vec![rto.id],
    }];
    page.add_stream(0, stream);
    let document = document_of(&page, capture);
    let part = &document["captures"][0];
    assert_eq!(part["groups"], serde_json::json!([[1], [0, 2, 3]]));
    let missing = &part["not_checked"][0];
    assert_eq!(missing["missing"], "the handshake");
    assert_eq!(missing["findings"][0]["streams"], 9);
    assert_eq!(missing["findings"].as_array().map(Vec::len), Some(2));
    assert!(
        missing["findings"][0]["said_when"]
            .as_str()
            .is_some_and(|s| !s.is_empty())
    );
    assert_eq!(part["missing"], serde_json::json!({ "data": "the data" }));
    assert_eq!(part["lines"][0]["budget"], serde_json::json!([[2, 41_000]]));
    assert_eq!(document["classes"][2][0], "server_thinks");
}

#[test]
fn silence_is_an_all_clear_only_where_all_was_seen_and_explained() {
    let mut page = Page::new(Options::default());
    let mut lossy = line(1, 9);
    lossy.client_to_server.retransmissions.total = 95;
    page.add_stream(0, lossy);
    let page_part = |capture: Capture| document_of(&page, capture)["captures"][0].clone();
    let part = page_part(Capture::default());
    let verdict = part["verdict"].as_str().expect("a verdict");
    assert!(verdict.contains("this is not an all-clear"), "{verdict}");
    let unexplained = part["unexplained"][0].as_str().expect("a sentence");
    assert!(
        unexplained.starts_with("95 ") && unexplained.ends_with("(stream 1)"),
        "{unexplained}"
    );
    let mut cut = Capture::default();
    cut.totals.dropped = 7;
    assert_eq!(page_part(cut)["not_read"].as_array().map(Vec::len), Some(1));
    // A finding speaks for itself, and explains what its stream shows.
    let found = Finding {
        stream: 1,
        ..finding(Severity::High)
    };
    page.add_finding(0, &found);
    let mut capture = Capture::default();
    capture.findings.push(found);
    let part = document_of(&page, capture)["captures"][0].clone();
    assert_eq!(
        (&part["verdict"], &part["unexplained"]),
        (&serde_json::Value::Null, &serde_json::json!([]))
    );
}

#[test]
fn page_says_what_the_terminal_says_about_the_capture() {
    let mut page = Page::new(Options::default());
    let mut stream = line(0, 9);
    stream.vantage = Vantage::Between;
    stream.budget_us.add(Class::Sender, 8_000_000);
    stream.client_to_server.data_bytes = 1_400;
    stream.client_to_server.unique_bytes = Some(200);
    stream.server_to_client.data_bytes = 10;
    page.add_stream(0, stream);
    let mut capture = Capture::default();
    capture.totals.rows_left_out = 3;
    let part = document_of(&page, capture)["captures"][0].clone();
    let first = |member: &str| part[member][0].as_str().unwrap_or_default().to_owned();
    assert!(first("about").contains("lacks the client's part"), "{part}");
    let left_out = part["about"][1].as_str().unwrap_or_default();
    assert!(left_out.starts_with("3 packets omitted"), "{left_out}");
    assert!(first("two_ends").starts_with("8 s in which"), "{part}");
    // Repeated bytes count once where that is known.
    assert_eq!(part["lines"][0]["bytes"], 210);
}

#[test]
fn page_of_some_streams_speaks_of_these_only() {
    let asked = |page: &Page| {
        let mut capture = Capture::default();
        (capture.totals.tcp_streams, capture.totals.only_streams) = (7, vec![5]);
        capture.totals.budget_us.add(Class::Tlp, 338_000);
        document_of(page, capture)["captures"][0].clone()
    };
    let mut page = Page::new(Options::default());
    page.add_stream(0, line(5, 9));
    let part = asked(&page);
    let says = |member: &str, text: &str| {
        let said = part[member].as_str().unwrap_or_default();
        assert!(said.contains(text), "{member}: {said}");
    };
    says("extent", "only stream 5 of 7");
    says("verdict", "1 stream checked");
    says("waited", "1 stream took");
    assert_eq!(part["checked"], 1);
    // Nothing came: no all-clear.
    let mut capture = Capture::default();
    (capture.totals.tcp_streams, capture.totals.only_streams) = (1, vec![5]);
    let part = document_of(&Page::new(Options::default()), capture)["captures"][0].clone();
    assert_eq!(part["verdict"], serde_json::Value::Null);
    let said = part["absent"].as_str().unwrap_or_default();
    assert!(said.contains("Stream 5 is not in this capture"), "{said}");
}

#[test]
fn capture_bar_shows_the_time_in_its_sentence() {
    let mut page = Page::new(Options::default());
    page.add_stream(0, line(1, 9));
    let part = |waited: Class| {
        let mut capture = Capture::default();
        capture.totals.tcp_streams = 1;
        capture.totals.waited_us.add(waited, 30_000);
        capture.totals.budget_us.add(Class::Tlp, 338_000);
        document_of(&page, capture)["captures"][0].clone()
    };
    let nobody_asked = part(Class::Handshake);
    assert_eq!(
        nobody_asked["waited_us"],
        serde_json::json!({ "tlp": 338_000 })
    );
    assert!(
        nobody_asked["waited"]
            .as_str()
            .is_some_and(|s| s.contains("338 ms"))
    );
    let asked = part(Class::ServerThinks);
    assert_eq!(
        asked["waited_us"],
        serde_json::json!({ "server_thinks": 30_000 })
    );
    assert!(
        asked["waited"]
            .as_str()
            .is_some_and(|s| s.contains("30.0 ms"))
    );
}
