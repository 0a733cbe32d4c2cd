//! The fuzz targets on stable Rust: each seed, each input that once failed, and mutants of both.
//!
//! The mutants come from a fixed seed and a fixed number of rounds, so a run can be repeated. For more,
//! `FUZZ_SECONDS=60 cargo test -p tcplab-fuzz-targets --release` runs each target for so long, from a seed
//! that `FUZZ_SEED` may set. A failing input is written to `target/fuzz-failures`; when the defect is mended,
//! move it to `fuzz/regress/TARGET/`.

#![allow(clippy::disallowed_methods, reason = "FUZZ_SECONDS is wall time")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tcplab_fuzz_targets::mutate::{Random, mutate};
use tcplab_fuzz_targets::{TARGETS, Target};

/// Mutants of each target in a plain `cargo test`.
const ROUNDS: u64 = 10_000;
/// Longest mutant in bytes.
const LIMIT: usize = 8_192;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The inputs that once failed.
fn regressions(target: &Target) -> Vec<Vec<u8>> {
    let Ok(folder) = std::fs::read_dir(root().join("fuzz/regress").join(target.name)) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = folder.flatten().map(|e| e.path()).collect();
    paths.sort();
    paths.iter().filter_map(|p| std::fs::read(p).ok()).collect()
}

/// Runs one input; a panic becomes a failure of the test that names a file with the input.
fn run(target: &Target, input: &[u8], what: &str) {
    if catch_unwind(AssertUnwindSafe(|| (target.run)(input))).is_ok() {
        return;
    }
    let folder = root().join("target/fuzz-failures").join(target.name);
    let path = folder.join(format!("{}-bytes", input.len()));
    let kept = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, input));
    panic!(
        "target {} failed on {what}; the input is in {} ({kept:?})",
        target.name,
        path.display()
    );
}

fn fuzz(name: &str) {
    let target = TARGETS
        .iter()
        .find(|t| t.name == name)
        .expect("a target of that name");
    let mut inputs = (target.seeds)();
    assert!(!inputs.is_empty(), "{name} has no seeds");
    inputs.extend(regressions(target));
    for (i, input) in inputs.iter().enumerate() {
        run(target, input, &format!("input {i}"));
    }
    let seed = number("FUZZ_SEED").unwrap_or(1);
    let end = number("FUZZ_SECONDS").map(|s| Instant::now() + Duration::from_secs(s));
    let mut round = 0;
    while match end {
        Some(end) => Instant::now() < end,
        None => round < ROUNDS,
    } {
        let mut random = Random::new(seed.wrapping_add(round.wrapping_mul(0x1234_5678_9abc_def1)));
        let one = random.below(inputs.len());
        let other = random.below(inputs.len());
        let input = mutate(&inputs[one], &inputs[other], LIMIT, &mut random);
        run(
            target,
            &input,
            &format!("round {round} of FUZZ_SEED={seed}"),
        );
        round += 1;
    }
    println!("{name}: {} inputs, {round} mutants", inputs.len());
}

macro_rules! targets {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            fuzz(stringify!($name));
        }
    )* };
}

targets!(pcap pcapng text packed frame analyser whole experiment expression distribution endpoint drill_parser qdisc manifest metrics);

#[test]
fn every_target_is_tested() {
    let tested = [
        "pcap",
        "pcapng",
        "text",
        "packed",
        "frame",
        "analyser",
        "whole",
        "experiment",
        "expression",
        "distribution",
        "endpoint",
        "drill_parser",
        "qdisc",
        "manifest",
        "metrics",
    ];
    assert!(TARGETS.iter().all(|t| tested.contains(&t.name)));
}
