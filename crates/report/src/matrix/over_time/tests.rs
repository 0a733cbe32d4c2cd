//! From results to the lines of the page.

use serde_json::{Value, json};
use tcplab_plan::Experiment;
use tcplab_plan::outcome::{End, Flow, LinkSeries, TCP_INFO_SERIES};
use tcplab_plan::point::Change;

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
        // 0 before the first measurement.
        row[0] = if ms > 2 { 10 * each_ms } else { 0 };
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

/// The numbers of a band.
fn values(band: &Value, of: &str) -> Vec<Option<f64>> {
    let scale = band["scale"].as_f64().unwrap();
    let values = band[of].as_array().unwrap().iter();
    values.map(|v| v.as_f64().map(|v| v * scale)).collect()
}

#[test]
fn a_point_has_its_queues_flows_and_shares() {
    let once: Vec<Point> = points("").into_iter().step_by(2).collect();
    let over = over_time(&once);
    assert_eq!(
        over["ways"][0], "switch → sink",
        "the slowest to drain is first"
    );
    assert_eq!(over["ways"].as_array().unwrap().len(), 3);
    assert_eq!(over["runs_drawn"], 0);
    let points = over["points"].as_array().unwrap();
    let at: Vec<&Value> = points.iter().map(|point| &point["at"]).collect();
    assert_eq!(at, [&json!([0]), &json!([1])], "one of each variant");
    let way = &points[0]["ways"][0];
    let queue = &way["queue"];
    assert_eq!(over["bin_ns"], MS);
    let high = values(queue, "high");
    assert_eq!(high[6..8], [Some(1_500.0), Some(90_000.0)]);
    assert_eq!(values(&way["rate"], "mid")[3], Some(1e8));
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
    // From 3 ms on: 30 ms and 10 ms.
    let rtt = &group["rtt"];
    assert_eq!(rtt["first"], 2);
    let all = ["low", "mid", "high"].map(|of| values(rtt, of)[0].unwrap());
    assert_eq!(
        all.map(|v| (v * 1e6).round()),
        [10_000.0, 20_000.0, 30_000.0]
    );
}

#[test]
fn a_queue_without_one_rate_has_no_time_to_drain() {
    let mut once: Vec<Point> = points("").into_iter().step_by(2).collect();
    let change = Change {
        at_ns: 5 * MS,
        rate_bps: Some(1_000_000),
        ..Change::default()
    };
    once[0].links[2].a_to_b.changes = vec![change];
    // The frames that are queued have 1,000 bytes, not 1,514.
    once[1].links[2].a_to_b.overhead = 400;
    let over = over_time(&once);
    let way = |n: usize| &over["points"][n]["ways"][0];
    for (n, why) in [(0, "changes during the run"), (1, "have 1000 bytes")] {
        assert_eq!(way(n)["drain_bps"], Value::Null);
        let told = way(n)["no_drain"].as_str().unwrap();
        assert!(told.contains(why), "{told}");
    }
    assert_eq!(over["points"][0]["ways"][1]["no_drain"], Value::Null);
}

#[test]
fn a_short_flow_has_no_curve_but_its_goodput() {
    let once: Vec<Point> = points("").into_iter().step_by(2).collect();
    let mut document = RunDocument {
        points: once.iter().map(result).collect(),
        ..RunDocument::default()
    };
    for result in &mut document.points {
        let short = &mut result.flows[1];
        for end in [&mut short.client, &mut short.server] {
            end.closed_ns = Some(MS / 2);
            end.tcp_info_series.clear();
        }
        short.server.read_bytes = 500;
    }
    let over = serde_json::to_value(OverTime::of(&document, &once)).unwrap();
    let flows = &over["points"][0]["groups"][0]["flows"];
    assert_eq!(flows[1]["goodput"], Value::Null);
    assert_eq!(flows[1]["mean_bps"], 8e6);
    // As the table has it: 60,000 bytes in 20 ms.
    assert_eq!(flows[0]["mean_bps"], 24e6);
    // Pings over datagrams have no samples, however long they last: no line, and no reason that is false.
    for result in &mut document.points {
        let pings = &mut result.flows[1].client;
        (pings.pings, pings.closed_ns) = (vec![(MS, Some(MS))], Some(20 * MS));
    }
    let over = serde_json::to_value(OverTime::of(&document, &once)).unwrap();
    let flows = &over["points"][0]["groups"][0]["flows"];
    assert_eq!(flows.as_array().unwrap().len(), 1);
}

#[test]
fn repetitions_give_a_median_and_the_first_have_lines() {
    let twice = points("");
    let runs = |n: usize| -> Vec<Point> {
        let all = twice.iter().flat_map(|point| vec![point.clone(); n / 2]);
        all.collect()
    };
    let points = runs(100);
    // The first run of all gets three times as much.
    let mut document = RunDocument {
        points: points.iter().map(result).collect(),
        ..RunDocument::default()
    };
    document.points[0].flows = vec![flow("flow-1", 9_000), flow("flow-2", 3_000)];
    let over = serde_json::to_value(OverTime::of(&document, &points)).unwrap();
    assert_eq!(over["runs_drawn"], MAX_RUNS);
    let point = &over["points"][0];
    assert_eq!(point["runs"], 100);
    let goodput = &point["groups"][0]["flows"][0]["goodput"];
    let drawn = goodput["runs"].as_array().unwrap();
    assert_eq!(drawn.len(), MAX_RUNS);
    let first = [goodput, &drawn[0], &drawn[1]].map(|line| values(line, "mid")[0]);
    assert_eq!(first, [24e6, 72e6, 24e6].map(Some));
    let queue = &point["ways"][0]["queue"];
    assert_eq!(queue["high"], Value::Null);
    assert_eq!(
        values(&queue["peak"], "mid")
            .into_iter()
            .flatten()
            .reduce(f64::max),
        Some(90_000.0),
        "a peak between samples stays"
    );
    assert_eq!(point["ways"][0]["every_packet"], true);
    assert_eq!(
        (&over["link_every_ns"], &over["bin_ns"]),
        (&json!(MS), &json!(MS))
    );
    // The more flows, the less is said of each.
    for result in &mut document.points {
        result.flows = (0..6).map(|_| flow("flow-1", 1_000)).collect();
    }
    let over = serde_json::to_value(OverTime::of(&document, &points)).unwrap();
    let group = &over["points"][0]["groups"][0];
    assert_eq!(group["flows"].as_array().unwrap().len(), 6);
    assert_eq!(group["flows"][0]["goodput"]["runs"], Value::Null);
    assert_eq!(group["rtt"]["runs"].as_array().unwrap().len(), MAX_RUNS);
}

#[test]
fn many_repetitions_of_many_points_stay_within_the_bounds() {
    let axis = r#", { kind = "echo", client = "sender-1", server = "sink", count = { axis = ["COUNTS"] } }"#;
    let counts: Vec<String> = (1..=30).map(|n| n.to_string()).collect();
    let few = points(&axis.replace("\"COUNTS\"", &counts.join(", ")));
    let points: Vec<Point> = few
        .iter()
        .flat_map(|point| vec![point.clone(); 10])
        .collect();
    let over = over_time(&points);
    assert_eq!(over["points"].as_array().unwrap().len(), 60);
    assert_eq!(over["points"][0]["runs"], 20);
    // 11 bands of each.
    assert_eq!(over["runs_drawn"], MAX_BANDS / (60 * 11) - 1);
}

#[test]
fn opposite_flows_do_not_share() {
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
