//! The contents of the pages, and their limits.

use tcplab_analyze::trace::{Row, SegmentKind, StreamTrace};
use tcplab_base::Instant;
use tcplab_plan::population::{OutlierRecord, Row as TableRow};

use super::*;

fn row(us: i64, from_client: bool, seq: u64, len: u32, kind: SegmentKind) -> Row {
    Row {
        number: 1,
        time: Instant::from_nanos(us * 1_000),
        from_client,
        seq,
        len,
        flags: 0x10,
        ack: Some(1),
        window: 64_128,
        sack: Vec::new(),
        kind,
        spurious: false,
        acked: None,
        rtt_us: None,
        in_flight: len,
        caqm: None,
        verdicts: Default::default(),
    }
}

#[test]
fn points_are_what_the_server_sent_and_the_acks_for_it() {
    let mut ack = row(90, true, 401, 0, SegmentKind::PureAck);
    ack.ack = Some(1_001);
    let rows = vec![
        row(10, true, 1, 400, SegmentKind::New),
        row(20, false, 1, 0, SegmentKind::PureAck),
        row(30, false, 1, 1_000, SegmentKind::New),
        row(80, false, 1, 1_000, SegmentKind::Rto),
        ack,
    ];
    let points = Points::of(&StreamTrace::of(0, rows));
    assert_eq!(points.all, 4);
    assert_eq!(points.kind, "adra");
    assert_eq!(points.after_us, [0, 20, 50, 10]);
    assert_eq!(points.step, [1, 0, 0, 1_000]);
    assert_eq!(points.len, [0, 1_000, 1_000, 0]);
}

#[test]
fn a_long_connection_is_cut_and_says_so() {
    let rows = (0..9_000).map(|n| row(n, false, n as u64, 1, SegmentKind::New));
    let points = Points::of(&StreamTrace::of(0, rows.collect()));
    assert_eq!((points.all, points.kind.len()), (9_000, 5_000));
}

/// The page of twelve outliers as long as they may be, and of five arms, stays below 3 MB with the built page.
#[test]
fn the_data_of_a_page_is_bounded() {
    let rows =
        (0..9_000).map(|n| row(n * 99_000, false, n as u64 * 1_448, 1_448, SegmentKind::New));
    let points = Points::of(&StreamTrace::of(0, rows.collect()));
    let side = Side {
        arm: "B".to_owned(),
        responses_us: vec![1_000_000; 100],
        counters: Vec::new(),
        points,
    };
    let look = Look {
        connection: 1,
        arm: "D".to_owned(),
        difference_us: 1,
        drawn: Vec::new(),
        command: String::new(),
        sides: [side.clone(), side],
    };
    let text = serde_json::to_string(&vec![look; MAX_LOOKS]).unwrap();
    assert!(text.len() < 2_600_000, "{} bytes", text.len());
}

#[test]
fn names_from_outside_end_no_element() {
    let document = PopulationDocument {
        title: Some("</script><b>x".to_owned()),
        rows: vec![TableRow {
            id: "latency-p50".to_owned(),
            ..TableRow::default()
        }],
        outliers: vec![OutlierRecord::default()],
        ..PopulationDocument::default()
    };
    let mut page = Vec::new();
    let outcome = Outcome {
        document: &document,
        band_percent: 1.0,
        has_band: |id| id.starts_with("latency"),
        looks: &[],
    };
    write_result(&outcome, &mut page).unwrap();
    let text = String::from_utf8(page).unwrap();
    assert!(!text.contains("<b>x") && text.contains("\\u003cb>x"));
    assert!(text.contains("\"banded\":[\"latency-p50\"]"));
}
