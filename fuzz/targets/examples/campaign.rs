//! The long proof that a manifest is an experiment: `campaign SEED DECODE RUNS FOLDERS` (`make campaign-fuzz`).
//!
//! DECODE mutated manifests go through decoder and check in one process after another, RUNS through the model, FOLDERS
//! mutated results through a campaign that goes on. Each process has a bound on memory; a run has a budget of time, and
//! one that does not end when it is told to is a hang. A process that dies is counted, and the next one goes on behind
//! the mutant that ended it. Prints one row of a table; exit code 1: something was found.

#![allow(clippy::disallowed_methods, reason = "budgets are wall time")]

use std::io::{BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tcplab_fuzz_targets::manifest::{Fate, Finished, mutant, read, run, trees};
use tcplab_os::{Scratch, Stop};

/// Kilobytes of address space of a process.
const MEMORY_KB: u64 = 3_000_000;
/// A run is told to end after this.
const BUDGET: Duration = Duration::from_millis(300);
/// A run that has not ended by then hangs.
const HANG: Duration = Duration::from_secs(40);
/// Exit code of a process that hangs.
const HUNG: i32 = 86;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |n: usize| words.get(n).and_then(|word| word.parse::<u64>().ok());
    match words.first().map(String::as_str) {
        Some(kind @ ("decode" | "run" | "folder")) => {
            let (Some(seed), Some(from), Some(to)) = (number(1), number(2), number(3)) else {
                return ExitCode::from(2);
            };
            work(kind, seed, from..to);
            ExitCode::SUCCESS
        }
        _ => match (number(0), number(1), number(2), number(3)) {
            (Some(seed), Some(decode), Some(runs), Some(folders)) => lead(
                seed,
                [("decode", decode), ("run", runs), ("folder", folders)],
            ),
            _ => {
                eprintln!("usage: campaign SEED DECODE RUNS FOLDERS");
                ExitCode::from(2)
            }
        },
    }
}

/// What a process did so far, in its last line: taken, refused, stopped, panics, and the next mutant.
type Tally = [u64; 5];

/// A process of its own: mutants of this range, a line for each step.
fn work(kind: &str, seed: u64, range: std::ops::Range<u64>) {
    let trees = trees();
    let root = Scratch::new().expect("a folder");
    let finished = (kind == "folder").then(|| Finished::new(&root.path().join("out")));
    let clock: Arc<Mutex<Option<(Instant, Stop)>>> = Arc::default();
    watch(Arc::clone(&clock));
    let mut tally: Tally = [0, 0, 0, 0, range.start];
    let mut out = std::io::stdout().lock();
    for n in range {
        tally[4] = n + 1;
        let stop = Stop::never();
        if let Ok(mut clock) = clock.lock() {
            *clock = Some((Instant::now(), stop.clone()));
        }
        let done = catch_unwind(AssertUnwindSafe(|| match &finished {
            Some(finished) => finished.changed(seed, n),
            None if kind == "run" => run(&trees, seed, n, root.path(), &stop),
            None => match read(&mutant(&trees, seed, n)) {
                Some(_) => Fate::Taken,
                None => Fate::Refused,
            },
        }));
        match done {
            Ok(fate) => tally[fate as usize] += 1,
            Err(_) => {
                eprintln!("{kind} {seed} {n} {}: it panicked", n + 1);
                tally[3] += 1;
                let _ = std::fs::remove_dir_all(root.path().join("deep"));
            }
        }
        say(&mut out, &tally);
    }
}

fn say(out: &mut impl Write, tally: &Tally) {
    let [taken, refused, stopped, panics, next] = tally;
    let _ = writeln!(out, "{taken} {refused} {stopped} {panics} {next}");
    let _ = out.flush();
}

/// Stops the run that takes too long, and ends a process that hangs.
fn watch(clock: Arc<Mutex<Option<(Instant, Stop)>>>) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(20));
            let Ok(clock) = clock.lock() else { return };
            let Some((began, stop)) = clock.as_ref() else {
                continue;
            };
            if began.elapsed() > BUDGET {
                stop.request();
            }
            if began.elapsed() > HANG {
                Scratch::exit(HUNG);
            }
        }
    });
}

/// Prints what the processes of all kinds found.
fn lead(seed: u64, kinds: [(&str, u64); 3]) -> ExitCode {
    let parts = std::thread::scope(|scope| {
        let threads = kinds.map(|(kind, all)| scope.spawn(move || all_of(kind, seed, all)));
        threads.map(|thread| thread.join().expect("a thread that only waits"))
    });
    let mut found = [0_u64; 3];
    let mut cells = Vec::new();
    for ((_, all), ([taken, refused, stopped, panics, _], [hangs, died])) in kinds.iter().zip(parts)
    {
        for (sum, n) in found.iter_mut().zip([panics, hangs, died]) {
            *sum += n;
        }
        cells.push(format!(
            "{all}: {taken} taken, {refused} refused, {stopped} ended by the budget"
        ));
    }
    let [panics, hangs, died] = found;
    println!("{} | {panics} | {hangs} | {died}", cells.join(" | "));
    match found {
        [0, 0, 0] => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Starts processes until all mutants of a kind are done: what they did, and how many hung or died.
fn all_of(kind: &str, seed: u64, all: u64) -> (Tally, [u64; 2]) {
    let mut sum: Tally = [0; 5];
    let mut ended = [0; 2];
    while sum[4] < all {
        let (tally, code) = one(kind, seed, sum[4], all);
        for place in 0..4 {
            sum[place] += tally[place];
        }
        // A process that died did so at the mutant after the last that it told of.
        let has_died = code != Some(0);
        sum[4] = tally[4].max(sum[4]) + u64::from(has_died);
        if has_died {
            let at = sum[4] - 1;
            eprintln!(
                "campaign {kind} {seed} {at} {}: ended with {code:?}",
                at + 1
            );
            ended[usize::from(code != Some(HUNG))] += 1;
        }
    }
    (sum, ended)
}

/// One process; its last line and how it ended.
fn one(kind: &str, seed: u64, from: u64, to: u64) -> (Tally, Option<i32>) {
    let mut child = start(kind, seed, from, to);
    let mut last: Tally = [0, 0, 0, 0, from];
    let lines = child.stdout.take().map(BufReader::new);
    for line in lines
        .into_iter()
        .flat_map(BufRead::lines)
        .map_while(Result::ok)
    {
        let numbers: Vec<u64> = line.split(' ').filter_map(|n| n.parse().ok()).collect();
        if let Ok(tally) = Tally::try_from(numbers) {
            last = tally;
        }
    }
    (last, child.wait().ok().and_then(|status| status.code()))
}

fn start(kind: &str, seed: u64, from: u64, to: u64) -> Child {
    let own = std::env::current_exe().expect("this program has a path");
    Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -v {MEMORY_KB}; exec \"$0\" \"$@\""))
        .arg(own)
        .args([kind, &seed.to_string(), &from.to_string(), &to.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts")
}
