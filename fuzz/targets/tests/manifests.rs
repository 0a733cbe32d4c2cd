//! Manifests and result folders, each field at its boundaries: a small number of what `make campaign-fuzz` does.

#![allow(clippy::disallowed_methods, reason = "a run has a budget of wall time")]

use std::sync::mpsc;
use std::time::Duration;

use tcplab_fuzz_targets::manifest::{Fate, Finished, mutant, read, run, trees};
use tcplab_os::Stop;

const SEED: u64 = 1;

#[test]
fn mutated_manifests_are_refused_or_keep_the_contract() {
    let trees = trees();
    let taken = (0..4_000)
        .filter(|n| read(&mutant(&trees, SEED, *n)).is_some())
        .count();
    // Mutants that are all refused, or all taken, would show nothing.
    assert!((200..3_800).contains(&taken), "{taken}");
}

#[test]
fn what_is_taken_runs_on_the_model_without_harm() {
    let (trees, root) = (trees(), tempfile::tempdir().unwrap());
    let mut fates = [0; 3];
    for n in 0..150 {
        let stop = Stop::never();
        let (done, is_done) = mpsc::channel::<()>();
        let watch = stop.clone();
        let budget = std::thread::spawn(move || {
            let _ = is_done.recv_timeout(Duration::from_millis(200));
            watch.request();
        });
        let fate = run(&trees, SEED, n, root.path(), &stop);
        drop(done);
        budget.join().unwrap();
        fates[fate as usize] += 1;
    }
    assert!(
        fates[Fate::Taken as usize] > 0 && fates[Fate::Refused as usize] > 0,
        "{fates:?}"
    );
}

#[test]
fn a_mutated_result_is_of_its_point_or_refused() {
    let place = tempfile::tempdir().unwrap();
    let finished = Finished::new(&place.path().join("out"));
    let taken = (0..200)
        .filter(|n| finished.changed(SEED, *n) == Fate::Taken)
        .count();
    assert!((5..195).contains(&taken), "{taken}");
}
