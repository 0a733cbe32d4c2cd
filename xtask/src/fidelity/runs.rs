//! Points on stacks: the kernel's results are kept below `target/`, so that work on the model pays
//! for the model only.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, anyhow};
use sha2::{Digest, Sha256};
use tcplab_lab::agree::packets::Sent;
use tcplab_lab::{Lab, Stack};
use tcplab_os::{Scratch, Stop, cpu};
use tcplab_plan::Point;
use tcplab_plan::result::PointResult;

/// What a run left.
#[derive(Clone, Debug)]
pub struct Record {
    /// Counters, tcp_info and the like.
    pub result: PointResult,
    /// What the hosts sent.
    pub sent: Sent,
}

/// The two stacks of a comparison.
pub struct Runs {
    lab: Lab,
    /// The kernel.
    pub oracle: Stack,
    /// What is compared with it.
    pub model: Stack,
    cache: PathBuf,
    fresh: bool,
}

/// Both runs of a point.
pub struct Pair {
    /// The kernel's.
    pub a: Record,
    /// The other's, or why there is none.
    pub b: Result<Record, String>,
}

impl Runs {
    /// Finds the stacks. `fresh` runs the kernel also where a result is kept.
    ///
    /// # Errors
    /// A kernel that is not built, or no such stack.
    pub fn new(root: &Path, oracle: &str, model: &str, fresh: bool) -> Result<Self> {
        let lab = Lab::new(Stop::never());
        Ok(Self {
            oracle: lab.stack(oracle)?,
            model: lab.stack(model)?,
            lab,
            cache: root.join("target/fidelity"),
            fresh,
        })
    }

    /// Runs a point on both.
    ///
    /// # Errors
    /// When the kernel could not run it, or left what cannot be read.
    pub fn pair(&self, point: &Point, cpu: Option<usize>) -> Result<Pair> {
        let a = self.on_oracle(point, cpu)?;
        Ok(Pair {
            b: self.on_model(point, cpu),
            a,
        })
    }

    fn on_oracle(&self, point: &Point, cpu: Option<usize>) -> Result<Record> {
        let text = serde_json::to_string(point)?;
        let stack = format!("{}-{:.16}", self.oracle.name, self.oracle.identity());
        let name: String = hex(&Sha256::digest(&text)).chars().take(24).collect();
        let kept = self.cache.join(stack.replace(':', "-")).join(name);
        if !self.fresh
            && let Ok(text) = fs::read_to_string(kept.join("result.json"))
        {
            let result = serde_json::from_str(&text)?;
            let sent = sent(point, &self.oracle, &kept)?;
            return Ok(Record { result, sent });
        }
        let part = kept.with_extension(format!("part{:?}", std::thread::current().id()));
        let _ = fs::remove_dir_all(&part);
        fs::create_dir_all(&part).with_context(|| part.display().to_string())?;
        let result = self.lab.run_one(point, &self.oracle, &part, cpu)?;
        fs::write(part.join("result.json"), serde_json::to_string(&result)?)?;
        let _ = fs::remove_dir_all(&kept);
        fs::rename(&part, &kept).with_context(|| kept.display().to_string())?;
        let sent = sent(point, &self.oracle, &kept)?;
        Ok(Record { result, sent })
    }

    fn on_model(&self, point: &Point, cpu: Option<usize>) -> Result<Record, String> {
        let folder = Scratch::new().map_err(|e| e.to_string())?;
        let run = || self.lab.run_one(point, &self.model, folder.path(), cpu);
        let result = catch_unwind(AssertUnwindSafe(run));
        let result = result.map_err(|_| "it panicked".to_owned())?;
        let result = result.map_err(|e| e.to_string())?;
        let sent = sent(point, &self.model, folder.path()).map_err(|e| format!("{e:#}"))?;
        Ok(Record { result, sent })
    }
}

fn sent(point: &Point, stack: &Stack, folder: &Path) -> Result<Sent> {
    let hz = stack.hz(point)?;
    let hz = hz.with_context(|| format!("{}: not in virtual time", stack.name))?;
    Ok(Sent::read(point, folder, &hz)?)
}

/// Does `work` for each item on `jobs` threads, each with a processor of its own; results in order.
///
/// # Errors
/// The first error of any.
pub fn on_all<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    work: impl Fn(&T, Option<usize>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<R>>>> = Mutex::new(items.iter().map(|_| None).collect());
    let allowed = cpu::allowed();
    std::thread::scope(|scope| {
        for job in 0..jobs.max(1) {
            let (next, results, work) = (&next, &results, &work);
            let cpu = allowed.get(job % allowed.len().max(1)).copied();
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(number) else {
                        return;
                    };
                    let result = work(item, cpu);
                    if let Ok(mut results) = results.lock() {
                        results[number] = Some(result);
                    }
                }
            });
        }
    });
    let results = results.into_inner().map_err(|e| anyhow!("{e}"))?;
    results.into_iter().flatten().collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
