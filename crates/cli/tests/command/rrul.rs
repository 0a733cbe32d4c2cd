//! `kind = "rrul"`: what a run measures, and its file for flent, which flent itself reads where it can be installed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::{folder, tcplab, text};

const EXPERIMENT: &str = r#"
measures = [
  "rrul.TCP download sum.mean", "rrul.TCP download avg.mean", "rrul.TCP upload sum.mean", "rrul.TCP totals.mean",
  "rrul.Ping (ms) UDP EF.median", "rrul.Ping (ms) avg.p99", "rrul.Ping (ms) ICMP.points",
]
[run]
captures = false
[[link]]
a_to_b = { rate = "2mbit", delay = "10ms", limit = 40 }
b_to_a = { rate = "10mbit", delay = "10ms", limit = 100 }
[[app]]
kind = "rrul"
duration = "8s"
delay = "1s"
"#;

fn run(stack: &str, place: &Path, name: &str) -> Option<(Value, PathBuf)> {
    let file = place.join("rrul.toml");
    std::fs::write(&file, EXPERIMENT).unwrap();
    let out = place.join(name);
    let args = [
        "run",
        text(&file),
        "--on",
        stack,
        "--json",
        "--out",
        text(&out),
    ];
    let run = tcplab(&args);
    if run.code == 4 {
        eprintln!("skipped: {}", run.err);
        return None;
    }
    assert_eq!(run.code, 0, "{}\n{}", run.err, run.out);
    let point = run.json()["points"][0].clone();
    Some((point, out.join("points/0000/rrul.flent.gz")))
}

fn unpacked(path: &Path) -> Value {
    serde_json::from_reader(GzDecoder::new(File::open(path).unwrap())).unwrap()
}

/// The values of a series in steps of the file.
fn series(document: &Value, name: &str) -> Vec<Option<f64>> {
    let values = document["results"][name].as_array();
    let values = values.unwrap_or_else(|| panic!("no series {name}"));
    values.iter().map(Value::as_f64).collect()
}

/// The line is full, the file's series are those that the measures are made of, and samples make the series.
fn loaded(point: &Value, file: &Path) {
    let measure = |name: &str| {
        let value = point["measures"][format!("rrul.{name}")].as_f64();
        value.unwrap_or_else(|| panic!("{name}: {}", point["missing"]))
    };
    let document = unpacked(file);
    assert_eq!(document["version"], 4);
    assert_eq!(document["metadata"]["NAME"], "rrul");
    let x = document["x_values"].as_array().unwrap();
    assert_eq!(x.len(), 51);
    assert_eq!(x[50].as_f64(), Some(10.0));
    let (down, up) = (
        measure("TCP download sum.mean"),
        measure("TCP upload sum.mean"),
    );
    assert!(down > 2.0 && down < 9.7, "{down}");
    assert!(up > 1.0 && up < 1.95, "{up}");
    assert!((measure("TCP totals.mean") - down - up).abs() < 1e-9);
    assert!((measure("TCP download avg.mean") * 4.0 - down).abs() < 1e-9);
    assert!(measure("Ping (ms) UDP EF.median") >= 20.0);
    assert!(measure("Ping (ms) avg.p99") >= measure("Ping (ms) UDP EF.median"));
    assert!(measure("Ping (ms) ICMP.points") > 0.0);
    // From 1 s + a quarter of 8 s to 9 s: the steps that end at 3.2 s to 9.0 s.
    let sum = series(&document, "TCP download sum");
    let mean = sum[16..=45].iter().flatten().sum::<f64>() / 30.0;
    assert!((mean - down).abs() < 1e-9, "{mean} {down}");
    assert!(sum[..=5].iter().all(Option::is_none) && sum[46..].iter().all(Option::is_none));
    // The steps of the load sum up to what was received by its end.
    let all: f64 = sum.iter().flatten().sum::<f64>() * 0.2e6 / 8.0;
    let flows = point["flows"].as_array().unwrap();
    let is_download = |flow: &&Value| flow["app"].as_str().unwrap().contains("-down-");
    let received = flows.iter().filter(is_download).map(|flow| {
        let samples = flow["client"]["tcp_info_series"].as_array().unwrap();
        let end = samples
            .iter()
            .find(|s| s[0].as_i64() == Some(9_000_000_000));
        end.map_or(0, |s| s[1][10].as_u64().unwrap())
    });
    let received = received.sum::<u64>() as f64;
    assert!((all - received).abs() < 1.0, "{all} {received}");
    assert!(all > 2e6 && all < 10e6, "10 Mbit/s for 8 s: {all}");
    // The line is idle before the load, and each ping has its answer then.
    let idle = series(&document, "Ping (ms) avg");
    assert!(
        idle[..5].iter().all(|v| v.is_some_and(|ms| ms >= 20.0)),
        "{idle:?}"
    );
}

#[test]
fn the_model_s_rrul_has_the_series_of_its_file_and_repeats() {
    let place = folder();
    let (point, file) = run("model", place.path(), "one").unwrap();
    loaded(&point, &file);
    let (_, again) = run("model", place.path(), "two").unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), std::fs::read(again).unwrap());
}

/// Real time: only what no delay of the machine can change.
#[test]
fn this_machine_s_kernel_has_rrul_as_well() {
    let place = folder();
    if let Some((point, file)) = run("host", place.path(), "host") {
        assert!(point["measures"]["rrul.TCP totals.mean"].as_f64().unwrap() > 0.0);
        assert_eq!(series(&unpacked(&file), "TCP download EF").len(), 51);
    }
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn a_kernel_s_rrul_has_the_series_of_its_file() {
    let place = folder();
    let (point, file) = run("uml:6.1", place.path(), "uml").expect("the kernel is there");
    loaded(&point, &file);
}

const FLENT: &str = "flent==2.3.0";

/// A Python with flent, outside the repository; the error says why it is missing.
fn flent() -> Result<PathBuf, String> {
    let home = std::env::temp_dir().join("tcplab-flent-2.3.0");
    let python = home.join("bin/python3");
    let has = |python: &Path| {
        let check = Command::new(python)
            .args(["-c", "import flent.resultset"])
            .output();
        check.is_ok_and(|done| done.status.success())
    };
    if has(&python) {
        return Ok(python);
    }
    let run = |command: &mut Command| match command.output() {
        Ok(done) if done.status.success() => Ok(()),
        Ok(done) => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
        Err(e) => Err(e.to_string()),
    };
    run(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", FLENT]))?;
    Ok(python)
}

const LOAD: &str = r#"
import json, sys
from flent.resultset import ResultSet
s = ResultSet.load_file(sys.argv[1])
raw = {n: [v for _, v in s.raw_series(n)] for n in s.raw_values}
print(json.dumps({"x": s.x_values, "series": {n: s.series(n) for n in s.series_names}, "raw": raw,
                  "t0": s.t0, "name": s.meta("NAME"), "title": s.title, "label": s.label(),
                  "length": s.meta("TOTAL_LENGTH"), "units": s.series_meta("TCP totals", "UNITS")}))
"#;

#[test]
fn flent_reads_the_same_names_and_values() {
    let python = match flent() {
        Ok(python) => python,
        Err(why) => {
            eprintln!("skipped, {FLENT} cannot be installed here: {why}");
            return;
        }
    };
    let place = folder();
    let (_, file) = run("model", place.path(), "one").unwrap();
    let ours = unpacked(&file);
    let done = Command::new(python)
        .args(["-c", LOAD, text(&file)])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
    let theirs: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(theirs["x"], ours["x_values"]);
    assert_eq!(theirs["series"], ours["results"]);
    let raw = |name: &str| ours["raw_values"][name].as_array().unwrap().len();
    for name in ["TCP download BE", "Ping (ms) ICMP"] {
        assert_eq!(theirs["raw"][name].as_array().unwrap().len(), raw(name));
        assert!(raw(name) > 10, "{name}");
    }
    assert_eq!(theirs["name"], "rrul");
    assert_eq!(theirs["length"], 10.0);
    assert_eq!(theirs["units"], "Mbits/s");
    // The clock of raw values begins with the run.
    let first = ours["raw_values"]["Ping (ms) ICMP"][0]["t"]
        .as_f64()
        .unwrap();
    let t0 = theirs["t0"].as_f64().unwrap();
    assert!((0.0..1.0).contains(&(first - t0)), "{first} {t0}");
}
