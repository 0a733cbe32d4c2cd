//! Writes the page of a made-up report of two sections, for the browser test:
//! `cargo run -p tcplab-report --example sample_compare -- RESULT.html`.

use std::process::ExitCode;

use tcplab_compare::{Arm, Better, Metric, Noise, Options, QaDocument, Run, Section, compare};
use tcplab_report::compare::FORMS;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: sample_compare RESULT.html");
        return ExitCode::from(2);
    };
    let form = FORMS.iter().find(|form| form.option == "--html");
    let page = form.map(|form| (form.qa)(&document())).unwrap_or_default();
    match std::fs::write(&path, page) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("sample_compare: {path}: {e}");
            ExitCode::from(2)
        }
    }
}

fn document() -> QaDocument {
    let mut document = QaDocument::new(&["uml:6.1".into(), "uml:6.1+x".into()]);
    let rates = [0.90e9, 0.91e9, 0.89e9, 0.9e9, 0.905e9];
    let before = arm(&rates.map(|rate| rate + 0.1e9), None);
    let compared = compare(&before, &arm(&rates, Some(7.0)), &Options::default());
    document.add(Section::of("bench", "Benchmarks".into(), compared));
    document.add(Section::not_run("drill", "Scripts", "none were named"));
    document
}

/// One that is worse, one that is undecided, one that has a name with markup.
fn arm(rates: &[f64], steal_percent: Option<f64>) -> Arm {
    let mut arm = Arm::named("x");
    let noise = steal_percent.map(|steal| Noise {
        steal_percent: Some(steal),
        ..Noise::default()
    });
    let run = |value: f64| Run {
        noise: noise.clone(),
        ..Run::of(value)
    };
    arm.metrics.push(Metric {
        runs: rates.iter().map(|rate| run(*rate)).collect(),
        ..Metric::new("TCP_STREAM <b>rate</b>", "bit/s", Better::Higher)
    });
    arm.metrics.push(Metric {
        runs: vec![run(rates[0] / 1e7), run(rates[1] / 1.2e7)],
        ..Metric::new("latency", "us", Better::Lower)
    });
    arm
}
