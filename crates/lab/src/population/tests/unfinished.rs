//! An arm that gives up slow responses is not called faster for that.

use tcplab_os::Stop;
use tcplab_plan::Population;
use tcplab_plan::population::{PopulationDocument, Row, Verdict};

use crate::population::{Request, Shard, run};

const TEXT: &str = r#"
[population]
connections = 1500
loss = [{ share = "100%", rate = "5%" }]

[[arm]]
name = "B"

[[arm]]
name = "gives-up"
socket = { user_timeout = "400ms" }
"#;

pub(super) fn document(text: &str) -> PopulationDocument {
    let request = Request {
        population: &Population::parse("unfinished.toml", text).unwrap(),
        text,
        stack: "model",
        jobs: 2,
        shard: Shard::WHOLE,
        out: None,
        rows: None,
    };
    run(&request, &Stop::never(), &|_| {}).unwrap()
}

pub(super) fn row<'a>(document: &'a PopulationDocument, id: &str) -> &'a Row {
    document.rows.iter().find(|row| row.id == id).unwrap()
}

#[test]
fn giving_up_slow_responses_is_not_faster() {
    let document = document(TEXT);
    let [baseline, arm] = &document.arms[..] else {
        panic!("two arms")
    };
    let unfinished = [baseline, arm].map(|a| a.requests - a.latency.count);
    assert!(unfinished[1] > 50 && unfinished[0] < 10, "{unfinished:?}");
    // The means of what each arm finished differ by 5 % or more: the trap is there.
    let means = [baseline, arm].map(|a| a.latency.mean_us.unwrap());
    assert!(means[1] < 0.95 * means[0], "{means:?}");
    let row = |id| row(&document, id);
    assert_eq!(row("unfinished").verdict, Verdict::Higher);
    let per_1000 = 1_000.0 * unfinished[1] as f64 / arm.requests as f64;
    assert!((row("unfinished").value.unwrap() - per_1000).abs() < 1e-9);
    // What finished in both took the same time; what the arm gave up is missing on both sides.
    assert_eq!(row("latency-mean").baseline, row("latency-mean").value);
    let means = row("latency-mean").missing.as_ref().unwrap();
    assert!(means.contains("responses finished in B alone"), "{means}");
    let late = row("latency-p99");
    assert!(late.baseline.is_some() && late.value.is_none() && late.percent.is_none());
    assert!(late.missing.as_ref().unwrap().contains("unfinished"));
    assert_eq!(arm.latency.p99_us, None);
    assert_eq!(arm.latency.trimmed_mean_us, None);
    for id in ["latency-p50", "latency-p95"] {
        assert_ne!(row(id).verdict, Verdict::Lower, "{id}");
    }
    let recoveries = row("recovlat").missing.as_ref().unwrap();
    assert!(recoveries.contains("in B and"), "{recoveries}");
}

/// An arm whose own rule makes responses slow, and that then gives those up, has no mean that hides them.
#[test]
fn a_slow_arm_that_gives_up_is_neither_fast_nor_the_same() {
    const SLOW: &str = "behaviour = { rto_floor = \"timeout\", rto_floor_ms = 1000 }\n";
    let text = format!(
        "[population]\nconnections = 3000\nloss = [{{ share = \"100%\", rate = \"5%\" }}]\n[compare]\nstop = \"never\"\n\
         [[arm]]\nname = \"B\"\n[[arm]]\nname = \"slow\"\n{SLOW}[[arm]]\nname = \"gives-up\"\n{SLOW}\
         socket = {{ user_timeout = \"400ms\" }}\n"
    );
    let document = document(&text);
    let of = |arm: &str| {
        let mut rows = document.rows.iter();
        rows.find(|row| row.id == "latency-mean" && row.arm == arm)
            .unwrap()
    };
    assert!(of("slow").missing.is_none() && of("slow").percent.unwrap() > 0.0);
    assert!(of("gives-up").missing.is_some(), "{:?}", of("gives-up"));
}

#[test]
fn events_that_the_baseline_has_not_are_decided() {
    let document = document(TEXT);
    let aborts = row(&document, "aborts");
    assert_eq!(aborts.baseline, Some(0.0));
    assert!(aborts.value.unwrap() > 10.0, "{aborts:?}");
    assert_eq!(aborts.verdict, Verdict::Higher);
    assert_eq!(
        (aborts.percent, aborts.interval, &aborts.missing),
        (None, None, &None)
    );
}

#[test]
fn connections_that_the_limit_ends_are_counted() {
    let text = "[population]\nconnections = 20\nrequests = \"2\"\nthink = \"50% 2h | 50% 1s\"\nloss = []\n\
                client_timeout = \"3h\"\nserver_timeout = \"3h\"\n[[arm]]\nname = \"B\"\n";
    let document = document(text);
    let arm = &document.arms[0];
    assert!((5..=15).contains(&arm.cut_short), "{}", arm.cut_short);
    assert!(arm.requests - arm.latency.count >= arm.cut_short);
}
