//! Writes the pages of a made-up population, for work on the pages and for their browser test:
//! `cargo run -p tcplab-report --example sample_population -- RESULT.html DISTRIBUTIONS.html VARIANTS.html`.
//!
//! Arm D is better in every way, arm R worse; each verdict is there, and a row without a value.

use std::fs::File;
use std::process::ExitCode;

use serde_json::json;
use tcplab_plan::population::{
    ArmResult, Distribution, OutlierRecord, PopulationDocument, Row, VariantsDocument, Verdict,
};
use tcplab_report::page::population::{
    Look, Outcome, Points, Side, write_distributions, write_result, write_variants,
};

fn main() -> ExitCode {
    let mut names = std::env::args().skip(1);
    let (Some(result), Some(distributions), Some(variants)) =
        (names.next(), names.next(), names.next())
    else {
        eprintln!("usage: sample_population RESULT.html DISTRIBUTIONS.html VARIANTS.html");
        return ExitCode::from(2);
    };
    match write_pages(&result, &distributions).and_then(|()| write_varied(&variants)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("sample_population: {message}");
            ExitCode::from(2)
        }
    }
}

/// The sample, and a variant in which D has fewer timeouts and nobody an outlier.
fn write_varied(path: &str) -> Result<(), String> {
    let named = |name: &str, document: PopulationDocument| PopulationDocument {
        variant: Some(name.to_owned()),
        ..document
    };
    let mut calm = named("calm", document());
    calm.rows[0] = Row {
        percent: Some(-7.0),
        interval: Some([-9.0, -5.0]),
        verdict: Verdict::Lower,
        ..calm.rows[0].clone()
    };
    calm.outliers.clear();
    let all = VariantsDocument::new(vec![named("as-it-is", document()), calm]);
    let looks = [look(41, "D", -900_000)];
    let outcomes: Vec<Outcome<'_>> = all
        .variants
        .iter()
        .map(|document| Outcome {
            document,
            band_percent: 1.0,
            has_band: |id| id.starts_with("latency"),
            looks: &looks[..document.outliers.len().min(1)],
        })
        .collect();
    let mut file = File::create(path).map_err(|e| format!("{path}: {e}"))?;
    write_variants(&all.effects, &outcomes, &mut file).map_err(|e| format!("{path}: {e}"))
}

fn write_pages(result: &str, distributions: &str) -> Result<(), String> {
    let document = document();
    let looks = [look(41, "D", -900_000), look(7, "R", 4_200_000)];
    let outcome = Outcome {
        document: &document,
        band_percent: 1.0,
        has_band: |id| id.starts_with("latency"),
        looks: &looks,
    };
    let create = |path: &str| File::create(path).map_err(|e| format!("{path}: {e}"));
    let mut file = create(result)?;
    write_result(&outcome, &mut file).map_err(|e| format!("{result}: {e}"))?;
    let mut file = create(distributions)?;
    write_distributions(&shown(), &mut file).map_err(|e| format!("{distributions}: {e}"))
}

fn document() -> PopulationDocument {
    let outlier = |connection, arm: &str, difference_us| OutlierRecord {
        connection,
        arm: arm.to_owned(),
        difference_us,
    };
    PopulationDocument {
        experiment: "sample".to_owned(),
        title: Some("A sample <b>without</b> markup".to_owned()),
        stack: "model:linux-6.1".to_owned(),
        seed: 1,
        connections: 20_000,
        shard: "1/1".to_owned(),
        groups: 2048,
        baseline: "B".to_owned(),
        level: 0.05,
        arms: vec![arm("B", 100_000), arm("D", 80_000), arm("R", 150_000)],
        rows: rows(),
        outliers: vec![
            outlier(41, "D", -900_000),
            outlier(42, "D", -800_000),
            outlier(7, "R", 4_200_000),
        ],
        ..PopulationDocument::default()
    }
}

/// Times around a median, far spread.
fn distribution(count: u64, median_us: u64) -> Distribution {
    let cdf = (1..=200).map(|n| (median_us * n * n / 10_000 + 900, n as f64 / 200.0));
    Distribution {
        count,
        mean_us: Some(median_us as f64 * 1.4),
        trimmed_mean_us: Some(median_us as f64 * 1.2),
        top1_share: Some(0.1),
        p50_us: Some(median_us + 900),
        p95_us: Some(median_us * 361 / 100 + 900),
        p99_us: Some(median_us * 392 / 100 + 900),
        cdf: cdf.collect(),
    }
}

fn arm(name: &str, median_us: u64) -> ArmResult {
    ArmResult {
        name: name.to_owned(),
        connections: 20_000,
        lossy_connections: 1_500,
        requests: 60_010,
        latency: distribution(60_000, median_us),
        latency_lt4k: distribution(30_000, median_us / 2),
        // As when every loss is repaired by timeouts.
        recovery: match name {
            "R" => Distribution::default(),
            _ => distribution(900, median_us * 8),
        },
        ..ArmResult::default()
    }
}

fn rows() -> Vec<Row> {
    let row = |id: &str, arm: &str, percent: f64, half: f64, verdict| Row {
        id: id.to_owned(),
        title: format!("quantity {id}"),
        arm: arm.to_owned(),
        baseline: Some(120.0),
        value: Some(120.0 + 1.2 * percent),
        unit: "per 1000 connections".to_owned(),
        percent: Some(percent),
        interval: Some([percent - half, percent + half]),
        p: Some(0.01),
        verdict,
        more_connections: (verdict == Verdict::Undecided).then_some(250_000),
        missing: None,
    };
    let none = |arm: &str| Row {
        id: "aborts".to_owned(),
        title: "TCPAbortOnTimeout".to_owned(),
        arm: arm.to_owned(),
        missing: Some("the baseline has none of it".to_owned()),
        ..Row::default()
    };
    vec![
        row("timeouts", "D", 43.0, 5.0, Verdict::Higher),
        row("timeouts", "R", -61.0, 4.0, Verdict::Lower),
        row("latency-mean", "D", 0.2, 0.3, Verdict::Same),
        row("latency-mean", "R", 1.4, 1.6, Verdict::Undecided),
        none("D"),
        none("R"),
    ]
}

fn look(connection: u64, arm: &str, difference_us: i64) -> Look {
    let facts = [
        ("path", "80.0 ms, 2.00 Mbit/s"),
        ("responses", "14480 bytes"),
    ];
    Look {
        connection,
        arm: arm.to_owned(),
        difference_us,
        drawn: facts.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec(),
        command: format!("tcplab population connection sample.toml {connection} --out look"),
        sides: [
            side("B", 1_500_000, 'r'),
            side(arm, 1_500_000 + difference_us, 't'),
        ],
    }
}

/// Ten segments, one sent again after `wait_us` and ACKed.
fn side(arm: &str, wait_us: i64, letter: char) -> Side {
    let mut points = Points::default();
    let mut put = |after_us, step, len, kind| {
        points.all += 1;
        points.after_us.push(after_us);
        points.step.push(step);
        points.len.push(len);
        points.kind.push(kind);
    };
    put(0, 1, 0, 'a');
    for n in 0..10 {
        put(2_000, if n == 0 { 0 } else { 1_448 }, 1_448, 'd');
    }
    put(80_000, -7 * 1_448, 0, 'a');
    put(wait_us, 0, 1_448, letter);
    put(80_000, 8 * 1_448, 0, 'a');
    Side {
        arm: arm.to_owned(),
        responses_us: vec![200_000 + wait_us],
        counters: vec![
            ("TcpRetransSegs".to_owned(), 1),
            ("TcpExtTCPTimeouts".to_owned(), i64::from(letter == 'r')),
        ],
        points,
    }
}

/// As `tcplab population show --json` prints it.
fn shown() -> serde_json::Value {
    let histogram: Vec<(i64, u64)> = (0..32)
        .map(|n| (5_000_000 * (1 << (n / 4)), 40 * n * (32 - n)))
        .collect();
    let histogram: Vec<_> = histogram.into_iter().step_by(4).collect();
    json!({
        "schema": "tcplab.population-show/1",
        "experiment": "sample",
        "seed": 1,
        "draws": 1000,
        "quantities": [{
            "what": "round-trip time",
            "unit": "ns",
            "count": histogram.iter().map(|(_, n)| n).sum::<u64>(),
            "mean": 99_800_000.0,
            "percentiles": [[5, 20_000_000], [25, 50_000_000], [50, 80_000_000], [75, 130_000_000], [95, 240_000_000], [99, 380_000_000]],
            "histogram": histogram,
        }],
        "kinds": [{ "what": "clients", "parts": [["the stack as it is", 0.75], ["delack_ms = 200", 0.25]] }],
        "texts": [["rtt", "lognormal(median 80ms, sigma 0.668) clip 5ms..1500ms"]],
    })
}
