//! `tcplab run POPULATION --rows`.

use std::fs;

use super::{folder, tcplab, text};

const POPULATION: &str = "examples/rto-web.toml";

#[test]
fn rows_are_parquet_or_the_error_says_how_to_get_it() {
    let folder = folder();
    let out = folder.path().join("out");
    let few = ["run", POPULATION, "--connections", "3", "--out", text(&out)];
    let run = tcplab(&[&few[..], &["--rows"]].concat());
    if cfg!(feature = "parquet") {
        assert_eq!(run.code, 0, "{}", run.err);
        let bytes = fs::read(out.join("rows.parquet")).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
        let without = tcplab(&few);
        assert_eq!(without.code, 2);
        assert!(
            without.err.contains("started with --rows"),
            "{}",
            without.err
        );
    } else {
        assert_eq!(run.code, 4);
        assert!(run.err.contains("--features parquet"), "{}", run.err);
        assert!(!out.exists());
    }
}

#[test]
fn rows_need_a_place_and_a_population() {
    let nowhere = tcplab(&["run", POPULATION, "--connections", "3", "--rows"]);
    assert_eq!(nowhere.code, 2);
    assert!(nowhere.err.contains("--out FOLDER"), "{}", nowhere.err);
    let points = tcplab(&["run", "examples/delayed-ack.toml", "--rows"]);
    assert_eq!(points.code, 2);
    assert!(points.err.contains("to populations"), "{}", points.err);
}
