//! From results to the lines of the page.

use serde_json::{Value, json};
use tcplab_plan::Experiment;
use tcplab_plan::outcome::{End, Flow, LinkSeries, TCP_INFO_SERIES};

use super::*;

const MS: i64 = 1_000_000;

/// Two variants of two senders at a switch, each run twice; 20 ms with a sample each ms.
fn points(more: &str) -> Vec<Point> {
    let text = format!(
        r#"
run = {{ link_every = "1ms", tcp_info_every = "1ms", captures = false, repeat = 2 }}
host = [{{ name = "sender", count = 2 }}, {{ name = "switch", forward = true }}, {{ name = "sink" }}]
link = [
    {{ between = ["sender", "switch"], rate = "1gbit" }},
    {{ between = ["switch", "sink"], rate = "100mbit", overhead = 24, mtu = 1500 }},
]
app = [{{ kind = "bulk", name = "flow", client = "sender", server = "sink", duration = "20ms" }}{more}]
[[variant]]
name = "one"
[[variant]]
name = "two"
"#
    );
    Experiment::parse("t.toml", &text)
        .unwrap()
        .points()
        .unwrap()
}

/// The queue has a peak of one packet at 7.5 ms; the second flow gets a third of the first.
fn result(point: &Point) -> PointResult {
    let sample = |ms: i64, peak: i64| (ms * MS, vec![1, 1_000, ms * 12_500, 0, peak]);
    let queue = (1..=20).map(|ms| sample(ms, if ms == 8 { 90_000 } else { 1_500 }));
    let quiet = LinkSeries {
        a_to_b: (1..=20).map(|ms| sample(ms, 3_000)).collect(),
        b_to_a: Vec::new(),
    };
    let busy = LinkSeries {
        a_to_b: queue.collect(),
        b_to_a: Vec::new(),
    };
    PointResult {
        axes: point.axes.clone(),
        stack: "model".into(),
        link_series: vec![quiet.clone(), quiet, busy],
        flows: vec![flow("flow-1", 3_000), flow("flow-2", 1_000)],
        ..PointResult::default()
    }
}

fn flow(app: &str, each_ms: i64) -> Flow {
    let at = TCP_INFO_SERIES
        .iter()
        .position(|name| *name == "tcpi_bytes_received");
    let line = |ms: i64| {
        let mut row = vec![0; TCP_INFO_SERIES.len()];
        row[at.unwrap()] = ms * each_ms;
        (ms * MS, row)
    };
    let end = |bytes: i64| End {
        opened_ns: Some(0),
        closed_ns: Some(20 * MS),
        read_bytes: bytes as u64,
        tcp_info_series: (1..=20).map(line).collect(),
        ..End::default()
    };
    Flow {
        app: app.into(),
        client: end(0),
        server: end(20 * each_ms),
        ..Flow::default()
    }
}

fn over_time(points: &[Point]) -> Value {
    let document = RunDocument {
        points: points.iter().map(result).collect(),
        ..RunDocument::default()
    };
    serde_json::to_value(OverTime::of(&document, points)).unwrap()
}

#[test]
fn a_point_has_its_queues_flows_and_shares() {
    let over = over_time(&points(""));
    assert_eq!(
        over["ways"][0], "switch → sink",
        "the slowest to drain is first"
    );
    assert_eq!(over["ways"].as_array().unwrap().len(), 3);
    assert_eq!(over["repeated"], true);
    let points = over["points"].as_array().unwrap();
    let at: Vec<&Value> = points.iter().map(|point| &point["at"]).collect();
    assert_eq!(at, [&json!([0]), &json!([1])], "one of each variant's runs");
    let way = &points[0]["ways"][0];
    let queue = &way["queue"];
    assert_eq!(over["bin_ns"], MS);
    let high = queue["high"].as_array().unwrap();
    let scale = queue["scale"].as_f64().unwrap();
    assert_eq!(high[7].as_f64().unwrap() * scale, 90_000.0);
    assert_eq!(high[6].as_f64().unwrap() * scale, 1_500.0);
    assert_eq!(
        way["rate"]["mid"][3].as_f64().unwrap() * way["rate"]["scale"].as_f64().unwrap(),
        1e8
    );
    // 1,514 of each 1,538 bytes of the wire are a frame's.
    let drain = way["drain_bps"].as_f64().unwrap();
    assert!((drain - 98.4395e6).abs() < 1e3, "{drain}");
    assert_eq!(over["groups"], json!(["flow"]));
    let group = &points[1]["groups"][0];
    assert_eq!(group["flows"][1]["name"], "flow-2");
    assert_eq!(group["flows"][1]["goodput"]["mid"][0], 80_000);
    assert_eq!(group["flows"][1]["goodput"]["scale"], 100.0);
    // (3 + 1)^2 / (2 (9 + 1)).
    assert_eq!(group["jain"]["mid"][0], 80_000);
    assert_eq!(group["pings"], Value::Null);
}

#[test]
fn what_goes_against_each_other_does_not_share() {
    let both = r#", { kind = "bulk", name = "back", client = "sender", server = "sink", reverse = true, duration = "20ms" }"#;
    let mut points = points(both);
    // As in a set, where all have one group.
    for app in points.iter_mut().flat_map(|point| &mut point.apps) {
        app.group = Some("all".into());
    }
    let document = RunDocument {
        points: (points.iter())
            .map(|point| PointResult {
                flows: vec![flow("flow-1", 1), flow("back-1", 1), flow("back-2", 1)],
                ..result(point)
            })
            .collect(),
        ..RunDocument::default()
    };
    let over = OverTime::of(&document, &points).unwrap();
    assert_eq!(over.groups, ["all, sender → sink", "all, sink → sender"]);
}

#[test]
fn the_page_stays_small_and_says_what_is_missing() {
    let axis = r#", { kind = "echo", client = "sender-1", server = "sink", count = { axis = ["COUNTS"] } }"#;
    let counts: Vec<String> = (1..=40).map(|n| n.to_string()).collect();
    let points = points(&axis.replace("\"COUNTS\"", &counts.join(", ")));
    assert_eq!(points.len(), 160);
    let over = over_time(&points);
    assert_eq!(over["points"].as_array().unwrap().len(), MAX_POINTS);
    assert_eq!(over["points_left_out"], 80 - MAX_POINTS);
    // The longer the run, the longer a bin.
    let document = RunDocument {
        points: vec![PointResult {
            link_series: vec![LinkSeries {
                a_to_b: (1..=100_000)
                    .map(|ms| (ms * MS, vec![0, 0, 0, 0, 0]))
                    .collect(),
                b_to_a: Vec::new(),
            }],
            ..result(&points[0])
        }],
        ..RunDocument::default()
    };
    let over = OverTime::of(&document, &points).unwrap();
    assert_eq!(over.bin_ns, 84 * MS);
}

#[test]
fn without_samples_there_is_nothing() {
    let points = points("");
    let document = RunDocument {
        points: vec![PointResult {
            axes: points[0].axes.clone(),
            ..PointResult::default()
        }],
        ..RunDocument::default()
    };
    assert!(OverTime::of(&document, &points).is_none());
    assert!(OverTime::of(&RunDocument::default(), &[]).is_none());
}
