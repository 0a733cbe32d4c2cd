//! `cargo xtask tshark`: our verdicts against those of the installed tshark, frame by frame.
//!
//! Without arguments it takes the captures that ship, the shared ones when they are there, and
//! hostile conversations made from seeds. Which frames are TCP, their streams and every
//! `tcp.analysis` flag must agree; what differs is printed, and the exit code is 1 unless
//! `docs/fidelity.md` knows the reason.

mod compare;
mod hostile;
mod ours;
mod table;
mod theirs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;

use compare::Comparison;
use table::Table;
use theirs::Places;

/// What one side says about a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// It counts as TCP (display filter `tcp`).
    is_tcp: bool,
    /// `tcp.stream`.
    stream: Option<u32>,
    /// The bits of [`tcplab_analyze::compat::Verdicts`].
    verdicts: u32,
}

#[derive(clap::Args)]
pub struct Args {
    /// Captures, and folders that are searched for captures
    paths: Vec<PathBuf>,
    /// Hostile captures to make, when no paths are given
    #[arg(long, default_value_t = 16)]
    seeds: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    first_seed: u64,
    /// Packets in each of them
    #[arg(long, default_value_t = 4_000)]
    packets: usize,
    /// Differing frames to print for each capture
    #[arg(long, default_value_t = 5)]
    show: usize,
    /// Captures compared at the same time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Keep tshark's answers in this folder, and use those that are there
    #[arg(long, requires = "paths")]
    keep: Option<PathBuf>,
    /// Print one line for each capture that agrees, too
    #[arg(long)]
    verbose: bool,
}

/// Removes its folder in the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing to do about a folder that cannot be removed.
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn run(root: &Path, args: &Args) -> anyhow::Result<ExitCode> {
    let version = theirs::version()?;
    let scratch = Scratch(root.join(format!("target/tshark-{}", std::process::id())));
    let empty = scratch.0.join("preferences");
    fs::create_dir_all(&empty)?;
    let mut files = Vec::new();
    if args.paths.is_empty() {
        let shared = std::env::var_os("TCPLAB_SHARED_CAPTURES")
            .map_or_else(|| root.join("../shared/captures"), PathBuf::from);
        for folder in [root.join("tests/captures"), shared] {
            search(&folder, &mut files);
        }
        for seed in args.first_seed..args.first_seed + args.seeds {
            let path = scratch.0.join(format!("hostile-{seed}.pcap"));
            fs::write(&path, hostile::capture(seed, args.packets)?)?;
            files.push(path);
        }
    } else {
        for path in &args.paths {
            search(path, &mut files);
        }
    }
    if let Some(folder) = &args.keep {
        fs::create_dir_all(folder)?;
    }
    let places = Places {
        preferences: &empty,
        answers: args.keep.as_deref(),
    };
    let table = compare_all(args, &files, &places)?;
    println!("{version}\n{table}");
    Ok(if table.is_clean() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// Compares every file, `jobs` at a time; prints what differs in the order of the files.
fn compare_all(args: &Args, files: &[PathBuf], places: &Places<'_>) -> anyhow::Result<Table> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new((0, Table::default(), Vec::new()));
    let worker = || -> anyhow::Result<()> {
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let comparison = compare_file(path, places)
                .with_context(|| format!("comparing {}", path.display()))?;
            let mut done = done.lock().unwrap_or_else(|e| e.into_inner());
            done.0 += 1;
            done.1.add(&comparison);
            if comparison.differs() || args.verbose {
                done.2.push((path, comparison.describe(args.show)));
            }
            if done.0 % 100 == 0 {
                eprintln!("{} of {} captures", done.0, files.len());
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..args.jobs.max(1)).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .try_for_each(|w| w.join().unwrap_or_else(|e| std::panic::resume_unwind(e)))
    })?;
    let (_, table, mut lines) = done.into_inner().unwrap_or_else(|e| e.into_inner());
    lines.sort();
    for (path, text) in lines {
        println!("{}: {text}", path.display());
    }
    Ok(table)
}

fn compare_file(path: &Path, places: &Places<'_>) -> anyhow::Result<Comparison> {
    Ok(Comparison::new(
        &ours::read(path)?,
        &theirs::read(path, places)?,
    ))
}

/// Adds `path`, or every capture below it, in the order of their names. A missing folder adds no files.
fn search(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        files.push(path.to_path_buf());
        return;
    }
    let Ok(entries) = fs::read_dir(path) else {
        return;
    };
    let mut below: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    below.sort();
    for path in below {
        if path.is_dir() || is_capture(&path) {
            search(&path, files);
        }
    }
}

fn is_capture(path: &Path) -> bool {
    const ENDS: [&str; 8] = [
        ".pcap", ".pcapng", ".cap", ".dmp", ".trace", ".ntar", ".gz", ".zst",
    ];
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_conversations_get_tsharks_verdicts() {
        if theirs::version().is_err() {
            eprintln!("skipped: tshark is not installed (Debian's package `tshark`)");
            return;
        }
        let name = format!("tcplab-tshark-test-{}", std::process::id());
        let scratch = Scratch(std::env::temp_dir().join(name));
        fs::create_dir_all(&scratch.0).unwrap();
        let places = Places {
            preferences: &scratch.0,
            answers: None,
        };
        for seed in [1, 2, 3] {
            let path = scratch.0.join(format!("{seed}.pcap"));
            fs::write(&path, hostile::capture(seed, 3_000).unwrap()).unwrap();
            let comparison = compare_file(&path, &places).unwrap();
            let flags: usize = comparison.flags.iter().map(|n| n.0).sum();
            assert!(flags > 1_000, "seed {seed} reaches {flags} verdicts only");
            assert!(
                comparison.differences.is_empty(),
                "seed {seed}: {}",
                comparison.describe(10)
            );
        }
    }
}
