//! Points on two stacks. Results of kernels are kept, so work on the model runs the model only.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest, Sha256};
use tcplab_lab::agree::packets::Sent;
use tcplab_lab::check::Kind;
use tcplab_lab::{Lab, LabError, Stack};
use tcplab_os::output::write_own;
use tcplab_os::{Scratch, cpu};
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
    /// The first.
    pub a: Stack,
    /// The second.
    pub b: Stack,
    kept: PathBuf,
    fresh: bool,
}

/// Both runs of a point, each with an error in its place if it failed.
pub struct Pair {
    /// The first stack's.
    pub a: Result<Record, String>,
    /// The second's.
    pub b: Result<Record, String>,
}

impl Runs {
    /// Finds the stacks. Results of kernels are kept in the folder `kept`; `fresh` ignores kept results.
    ///
    /// # Errors
    /// The kernel is not built, the stack is unknown, or its time does not pass by events alone.
    pub fn new(lab: Lab, names: [&str; 2], kept: PathBuf, fresh: bool) -> Result<Self, LabError> {
        let stack = |name: &str| {
            let stack = lab.stack(name)?;
            match stack.is_virtual() {
                true => Ok(stack),
                false => Err(LabError::Wrong(format!(
                    "{name}: its time is the machine's, so no two runs are equal to the last packet; write model:PROFILE \
                     or uml:NAME"
                ))),
            }
        };
        Ok(Self {
            a: stack(names[0])?,
            b: stack(names[1])?,
            lab,
            kept,
            fresh,
        })
    }

    /// The timer frequencies of a point's hosts on both stacks, where they differ.
    ///
    /// # Errors
    /// A profile that is not known.
    pub fn clocks(&self, point: &Point) -> Result<Option<[Vec<u32>; 2]>, LabError> {
        match [self.a.hz(point)?, self.b.hz(point)?] {
            [Some(a), Some(b)] if a != b => Ok(Some([a, b])),
            _ => Ok(None),
        }
    }

    /// Runs a point on both.
    ///
    /// # Errors
    /// The wish to stop. What else goes wrong stands in the pair.
    pub fn pair(&self, point: &Point, cpu: Option<usize>) -> Result<Pair, LabError> {
        self.pair_of([point, point], cpu)
    }

    /// Runs a point on the first stack, and another one on the second.
    ///
    /// # Errors
    /// As [`Runs::pair`].
    pub fn pair_of(&self, points: [&Point; 2], cpu: Option<usize>) -> Result<Pair, LabError> {
        Ok(Pair {
            a: self.on(&self.a, points[0], cpu)?,
            b: self.on(&self.b, points[1], cpu)?,
        })
    }

    fn on(
        &self,
        stack: &Stack,
        point: &Point,
        cpu: Option<usize>,
    ) -> Result<Result<Record, String>, LabError> {
        let record = match stack.honours() {
            Kind::Model => self.on_model(stack, point, cpu),
            _ => self.on_kernel(stack, point, cpu),
        };
        match record {
            Err(LabError::Interrupted) => Err(LabError::Interrupted),
            other => Ok(other.map_err(|e| e.to_string())),
        }
    }

    fn on_kernel(
        &self,
        stack: &Stack,
        point: &Point,
        cpu: Option<usize>,
    ) -> Result<Record, LabError> {
        let text = json(point)?;
        let folder = format!("{}-{:.16}", stack.name, stack.identity());
        let name: String = hex(&Sha256::digest(&text)).chars().take(24).collect();
        let kept = self.kept.join(folder.replace(':', "-")).join(name);
        if !self.fresh
            && let Ok(text) = fs::read_to_string(kept.join("result.json"))
            && let Ok(result) = serde_json::from_str(&text)
            && let Ok(sent) = sent(point, stack, &kept)
        {
            return Ok(Record { result, sent });
        }
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| LabError::Io { path, source }
        };
        let _ = fs::remove_dir_all(&kept);
        fs::create_dir_all(&kept).map_err(at(&kept))?;
        let result = self.lab.run_one(point, stack, &kept, cpu)?;
        // Written last: a folder without it is not whole.
        let file = kept.join("result.json");
        write_own(&file, json(&result)?).map_err(at(&file))?;
        let sent = sent(point, stack, &kept)?;
        Ok(Record { result, sent })
    }

    fn on_model(
        &self,
        stack: &Stack,
        point: &Point,
        cpu: Option<usize>,
    ) -> Result<Record, LabError> {
        let io = |source| LabError::Io {
            path: std::env::temp_dir(),
            source,
        };
        let folder = Scratch::new().map_err(io)?;
        let run = || self.lab.run_one(point, stack, folder.path(), cpu);
        let result = catch_unwind(AssertUnwindSafe(run));
        let result = result.map_err(|_| LabError::Run("it panicked".to_owned()))??;
        let sent = sent(point, stack, folder.path())?;
        Ok(Record { result, sent })
    }
}

fn json(value: &impl serde::Serialize) -> Result<String, LabError> {
    serde_json::to_string(value).map_err(|e| LabError::Run(e.to_string()))
}

fn sent(point: &Point, stack: &Stack, folder: &Path) -> Result<Sent, LabError> {
    let hz = stack.hz(point)?;
    let hz = hz.ok_or_else(|| LabError::Wrong(format!("{}: not in virtual time", stack.name)))?;
    Sent::read(point, folder, &hz)
}

/// Does `work` for each item on `jobs` threads, each with a processor of its own; results in order. `done` is called
/// after each item.
///
/// # Errors
/// The first error of any.
pub fn on_all<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    done: impl Fn() + Sync,
    work: impl Fn(&T, Option<usize>) -> Result<R, LabError> + Sync,
) -> Result<Vec<R>, LabError> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<R, LabError>>>> =
        Mutex::new(items.iter().map(|_| None).collect());
    let allowed = cpu::allowed();
    std::thread::scope(|scope| {
        for job in 0..jobs.max(1) {
            let (next, results, work, done) = (&next, &results, &work, &done);
            let cpu = allowed.get(job % allowed.len().max(1)).copied();
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(number) else {
                        return;
                    };
                    let result = work(item, cpu);
                    done();
                    let broke = result.is_err();
                    if let Ok(mut results) = results.lock()
                        && let Some(place) = results.get_mut(number)
                    {
                        *place = Some(result);
                    }
                    if broke {
                        next.store(items.len(), Ordering::Relaxed);
                        return;
                    }
                }
            });
        }
    });
    let results = results
        .into_inner()
        .map_err(|e| LabError::Run(e.to_string()))?;
    results.into_iter().flatten().collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
