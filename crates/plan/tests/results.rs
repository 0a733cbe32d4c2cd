//! The published form of results, and the rules of claims.

use serde_json::{Value, json};
use tcplab_plan::result::{Claim, Cost, PointResult, REPRODUCE_SCHEMA, RUN_SCHEMA, Rule};
use tcplab_plan::result::{ReproduceDocument, RunDocument, Verdict};

#[test]
fn a_run_has_the_published_members() {
    let document = RunDocument {
        schema: RUN_SCHEMA.to_owned(),
        points: vec![PointResult {
            measures: [("a.b".to_owned(), None)].into(),
            ..PointResult::default()
        }],
        ..RunDocument::default()
    };
    let value = serde_json::to_value(&document).unwrap();
    assert_eq!(
        value,
        json!({
            "schema": "tcplab.run/1",
            "experiment": "",
            "points": [{
                "axes": {}, "stack": "", "measures": {"a.b": null}, "counters": {}, "flows": [],
                "cost": {"user_s": 0.0, "wall_s": 0.0, "virtual_s": 0.0}, "digest": "", "seed": 0,
            }],
            "peak_rss_bytes": 0,
        })
    );
    assert_eq!(
        serde_json::from_value::<RunDocument>(value).unwrap(),
        document
    );
    let nan = Cost {
        user_s: f64::NAN,
        ..Cost::default()
    };
    assert_eq!(serde_json::to_value(nan).unwrap()["user_s"], Value::Null);
}

fn claim(rule: Rule, expected: f64, tolerance: f64, measured: Option<f64>) -> Claim {
    let mut claim = Claim {
        id: "quickack.default".to_owned(),
        source: String::new(),
        expected,
        rule,
        tolerance,
        measured,
        interval: None,
        unit: String::new(),
        verdict: Verdict::NotRun,
        stack: String::new(),
        why: String::new(),
    };
    claim.verdict = claim.judge();
    claim
}

#[test]
fn a_claim_has_the_published_members() {
    let mut claim = claim(Rule::SignAndFactor, -16.0, 2.0, Some(-9.0));
    claim.interval = Some((-10.0, -8.0));
    let document = ReproduceDocument {
        schema: REPRODUCE_SCHEMA.to_owned(),
        claims: vec![claim],
        error: None,
    };
    assert_eq!(
        serde_json::to_value(&document).unwrap(),
        json!({
            "schema": "tcplab.reproduce/1",
            "claims": [{
                "id": "quickack.default", "source": "", "expected": -16.0, "rule": "sign-and-factor",
                "tolerance": 2.0, "measured": -9.0, "interval": [-10.0, -8.0], "unit": "",
                "verdict": "pass", "stack": "", "why": "",
            }],
        })
    );
}

#[test]
fn rules() {
    use Verdict::{Fail, NotRun, Pass};
    for (rule, expected, tolerance, measured, verdict) in [
        (Rule::Within, 17.0, 0.0, Some(17.0), Pass),
        (Rule::Within, 17.0, 0.0, Some(18.0), Fail),
        (Rule::Within, 17.0, 1.0, Some(16.0), Pass),
        (Rule::Within, 17.0, 1.0, None, NotRun),
        (Rule::Within, 17.0, 1.0, Some(f64::NAN), Fail),
        (Rule::Sign, -16.0, 0.0, Some(-0.5), Pass),
        (Rule::Sign, -16.0, 0.0, Some(0.5), Fail),
        (Rule::Sign, -16.0, 0.0, Some(0.0), Fail),
        (Rule::Sign, 0.0, 1.0, Some(0.5), Pass),
        (Rule::SignAndFactor, 12.0, 2.0, Some(24.0), Pass),
        (Rule::SignAndFactor, 12.0, 2.0, Some(6.0), Pass),
        (Rule::SignAndFactor, 12.0, 2.0, Some(5.0), Fail),
        (Rule::SignAndFactor, 12.0, 2.0, Some(25.0), Fail),
        (Rule::SignAndFactor, 12.0, 2.0, Some(-12.0), Fail),
        (Rule::Order, 0.0, 0.0, Some(1.0), Fail),
        (Rule::Band, 1.0, 0.1, Some(1.05), Pass),
        (Rule::Band, 1.0, 0.1, Some(1.2), Fail),
    ] {
        assert_eq!(
            claim(rule, expected, tolerance, measured).verdict,
            verdict,
            "{rule:?} {expected} {measured:?}"
        );
    }
    let mut wide = claim(Rule::Band, 1.0, 0.1, Some(1.0));
    wide.interval = Some((0.95, 1.2));
    assert_eq!(wide.judge(), Fail);
}
