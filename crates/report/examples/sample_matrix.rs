//! Writes the page of a made-up result of points, for the browser test:
//! `cargo run -p tcplab-report --example sample_matrix -- RESULT.html`.
//!
//! Two rates by three, with and without a filter, at two losses, three runs each; the filter helps more the less there is
//! upstream, and one point has no value.

use std::fs::File;
use std::process::ExitCode;

use serde_json::json;
use tcplab_plan::measure::Described;
use tcplab_plan::result::{PointResult, RunDocument};
use tcplab_plan::view::View;
use tcplab_report::matrix::Matrix;
use tcplab_report::page::matrix::write_matrix;

const GOODPUT: &str = "down.goodput_bps";
const LATENCY: &str = "ping.latency_us.p50";

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: sample_matrix RESULT.html");
        return ExitCode::from(2);
    };
    let view = View {
        title: Some("Does the <b>filter</b> help?".into()),
        x: Some("up rate".into()),
        y: Some("down rate".into()),
        variant: Some("filter".into()),
        base: Some("none".into()),
        ..View::default()
    };
    let matrix = Matrix::of(&document(), &[GOODPUT, LATENCY].map(Described::of), &view);
    let written = File::create(&path)
        .map_err(|e| e.to_string())
        .and_then(|mut file| {
            let notes = ["latency_us: <b>no</b> ping came back".to_owned()];
            write_matrix("sample", &view, (&matrix, None), &notes, &mut file)
                .map_err(|e| e.to_string())
        });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("sample_matrix: {path}: {message}");
            ExitCode::from(2)
        }
    }
}

fn document() -> RunDocument {
    let mut points = Vec::new();
    for (variant, words) in [("none", ""), ("filter", " ack-filter")] {
        for down in [10.0, 30.0] {
            for (up, gain) in [("500kbit", 2.5), ("1mbit", 1.2), ("30mbit", 1.01)] {
                for loss in ["0%", "1%"] {
                    for repeat in 1..=3 {
                        points.push(point(variant, words, (down, up, gain), (loss, repeat)));
                    }
                }
            }
        }
    }
    RunDocument {
        points,
        ..RunDocument::default()
    }
}

fn point(
    variant: &str,
    words: &str,
    (down, up, gain): (f64, &str, f64),
    (loss, repeat): (&str, i32),
) -> PointResult {
    let gain = if words.is_empty() { 1.0 } else { gain };
    // With loss the filter does harm.
    let gain = if loss == "1%" { 1.0 / gain } else { gain };
    let goodput = down * 0.9e6 * gain * (1.0 + 0.01 * f64::from(repeat - 2));
    let nothing = down > 20.0 && up == "30mbit" && loss == "0%";
    let axes = json!({
        "variant": variant,
        "down rate": format!("cake bandwidth {down}mbit besteffort"),
        "up rate": format!("cake bandwidth {up} besteffort{words}"),
        "loss": loss,
        "repeat": repeat,
    });
    PointResult {
        axes: serde_json::from_value(axes).unwrap_or_default(),
        stack: "model:linux-6.1".into(),
        measures: [
            (GOODPUT.to_owned(), (!nothing).then_some(goodput)),
            (LATENCY.to_owned(), Some(52_400.0)),
        ]
        .into(),
        missing: match nothing {
            true => [(GOODPUT.to_owned(), "nothing came".to_owned())].into(),
            false => Default::default(),
        },
        ..PointResult::default()
    }
}
