//! `tcplab run` on several stacks in virtual time: did they send the same packets?

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::run::differing;
use super::{folder, schema, tcplab, text};

const STREAM: &str = "examples/delayed-ack.toml";

/// An experiment with these lines in `[run]` and this application.
fn experiment(place: &Path, run: &str, app: &str) -> String {
    let file = place.join("short.toml");
    fs::write(&file, format!("[run]\n{run}\n[[app]]\n{app}\n")).unwrap();
    text(&file).to_owned()
}

const BULK: &str = "kind = \"bulk\"\nbytes = \"100 kB\"";

/// The only agreement of a run.
fn agreement(words: &[&str]) -> Value {
    let run = tcplab(&[words, &["--json"]].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    schema::holds("run", &run.json());
    let all = run.json()["agreement"].clone();
    assert_eq!(all.as_array().map(Vec::len), Some(1), "{all}");
    all[0].clone()
}

#[test]
fn differing_stacks_are_told_with_the_first_packet() {
    let place = folder();
    let out = place.path().join("out");
    let words = [
        "run",
        STREAM,
        "--on",
        "model:linux-6.1,model:linux-6.1.56",
        "--out",
        text(&out),
    ];
    let run = tcplab(&words);
    assert_eq!(run.code, 0, "{}", run.err);
    let last = run.out.lines().last().unwrap();
    let begin = "model:linux-6.1 and model:linux-6.1.56 differ: packet ";
    assert!(
        last.starts_with(begin) && last.contains(" of client (ack) at "),
        "{last}"
    );
    let found = agreement(&words);
    let first = &found["first"];
    assert_eq!(first["host"], "client");
    assert_eq!([&found["points"], &found["equal_points"]], [1, 0]);
    let capture = out.join(first["capture"].as_str().unwrap());
    assert!(last.ends_with(&format!(
        "It is frame {} of {}.",
        first["frame"],
        capture.display()
    )));
    assert!(capture.is_file());
}

#[test]
fn agreement_is_told_but_not_kept_in_the_folder() {
    let place = folder();
    let outs = ["a", "b"].map(|name| place.path().join(name));
    let file = experiment(place.path(), "repeat = 3", BULK);
    let words = [
        "run",
        &file,
        "--on",
        "model:linux-6.1,model:linux-6.1.56",
        "--out",
        text(&outs[0]),
    ];
    let run = tcplab(&words);
    let last = run.out.lines().last().unwrap();
    assert!(
        last.starts_with("model:linux-6.1 and model:linux-6.1.56 agree: all "),
        "{last}"
    );
    assert!(
        last.ends_with(" TCP packets at 3 points are the same."),
        "{last}"
    );
    // Again, from the finished folder.
    let found = agreement(&words);
    assert_eq!([&found["points"], &found["equal_points"]], [3, 3]);
    assert!(found["packets"].as_u64() > Some(200));
    assert_eq!(found["first"], Value::Null);
    let summary = fs::read_to_string(outs[0].join("summary.json")).unwrap();
    assert!(!summary.contains("agreement"));
    let again = tcplab(&[
        "run",
        &file,
        "--on",
        words[3],
        "--jobs",
        "1",
        "--out",
        text(&outs[1]),
    ]);
    assert_eq!((again.code, differing(&outs[0], &outs[1])), (0, vec![]));
}

#[test]
fn what_was_not_compared_is_told() {
    let place = folder();
    let why = |run: &str, app: &str, more: &[&str]| {
        let file = experiment(place.path(), run, app);
        let words = ["run", &file, "--on", "model,model:linux-6.1.56"];
        let found = agreement(&[&words[..], more].concat());
        assert_eq!([&found["points"], &found["packets"]], [0, 0], "{found}");
        found["not_compared"]
            .as_object()
            .unwrap()
            .keys()
            .next()
            .unwrap()
            .clone()
    };
    assert_eq!(why("captures = false", BULK, &[]), "run.captures = false");
    let udp = "kind = \"udp-rr\"\ncount = 3";
    assert_eq!(why("", udp, &[]), "no TCP packets to compare");
    let part = why("", BULK, &["--points", "0"]);
    assert_eq!(part, "only a part of the points was run");
    let cut = why("snap = 40", BULK, &[]);
    assert!(cut.contains("run.snap = 40 cuts off TCP headers"), "{cut}");
}

#[test]
fn one_stack_is_compared_with_nothing() {
    let place = folder();
    let file = experiment(place.path(), "", BULK);
    let run = tcplab(&["run", &file, "--on", "model"]);
    assert!(
        !run.out.contains("agree") && !run.out.contains("compared"),
        "{}",
        run.out
    );
    let run = tcplab(&["run", &file, "--on", "model", "--json"]);
    assert_eq!(run.json()["agreement"], Value::Null);
}

#[test]
#[ignore = "needs kernels: tcplab kernel build 6.1 --hz 1000"]
fn model_agrees_with_a_kernel_at_1000_hz() {
    let found = agreement(&["run", STREAM, "--on", "model:linux-6.1@1000,uml:6.1@1000"]);
    assert_eq!(
        [&found["points"], &found["equal_points"]],
        [1, 1],
        "{found}"
    );
}
