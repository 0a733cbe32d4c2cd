//! Many scripts at once: several guests or processes, each with a part of them.
//!
//! A script that kills its kernel, or never ends, fails; those behind it go on in another one.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use tcplab_drill::run::Report;
use tcplab_guest::boot::{Cost, GuestError, Initramfs, Place, Talk, run_job};
use tcplab_os::{Stop, cpu};

use super::case::Case;
use super::job::{Job, Reports, failed};

/// How long one script may take, in seconds of its kernel's time: virtual time costs little, and an expected packet may be
/// waited for 180 s (`*`) anywhere in a script.
const LIMIT_VIRTUAL_S: i64 = 3_600;
const LIMIT_REAL_S: i64 = 200;
/// A kernel in which no script has ended for so long is ended.
const PATIENCE: Duration = Duration::from_secs(220);
/// A start costs as much as some scripts do.
const LEAST_CHUNK: usize = 8;

/// What scripts run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// This machine's own, in namespaces that vanish.
    Host,
    /// A build with time travel, by its executable.
    Uml(PathBuf),
}

/// What a run of scripts gave.
#[derive(Debug)]
pub struct Done {
    /// One for each case, in their order.
    pub reports: Vec<Report>,
    /// CPU seconds of all processes; the wall time is the sum over guests.
    pub cost: Cost,
}

/// Runs scripts, `jobs` at a time; `progress` hears of each one that is over, by its number.
///
/// # Errors
/// When no kernel can be started, or the wish to stop comes.
pub fn run_cases(
    cases: &[Case],
    kernel: &Kernel,
    jobs: NonZeroUsize,
    stop: &Stop,
    progress: &mut dyn FnMut(usize, &Report),
) -> Result<Done, GuestError> {
    let initramfs = match kernel {
        Kernel::Host => None,
        Kernel::Uml(_) => Some(Initramfs::of_this_program()?),
    };
    let place = match (kernel, &initramfs) {
        (Kernel::Uml(path), Some(initramfs)) => Place::Uml(path, initramfs),
        _ => Place::Host,
    };
    let shared = Shared {
        cases,
        place,
        jobs: jobs.get().min(cases.len().max(1)),
        stop,
        left: Mutex::new((0..cases.len()).collect()),
    };
    let mut reports: Vec<Option<Report>> = vec![None; cases.len()];
    let mut cost = Cost::default();
    let mut error = None;
    thread::scope(|scope| {
        let (to, from) = mpsc::channel();
        for worker in 0..shared.jobs {
            let (to, shared) = (to.clone(), &shared);
            scope.spawn(move || work(shared, worker, &to));
        }
        drop(to);
        for news in from {
            match news {
                News::Over(number, report) => {
                    progress(number, &report);
                    if let Some(place) = reports.get_mut(number) {
                        *place = Some(report);
                    }
                }
                News::Spent(spent) => add(&mut cost, &spent),
                News::Failed(e) => error = error.take().or(Some(e)),
            }
        }
    });
    if let Some(error) = error {
        return Err(error);
    }
    let missing = || failed(0, 0, "the guest returned no report for this script".into());
    let reports = reports.into_iter().map(|r| r.unwrap_or_else(missing));
    Ok(Done {
        reports: reports.collect(),
        cost,
    })
}

fn add(cost: &mut Cost, spent: &Cost) {
    cost.user_s += spent.user_s;
    cost.system_s += spent.system_s;
    cost.wall_s += spent.wall_s;
    cost.max_rss_bytes = cost.max_rss_bytes.max(spent.max_rss_bytes);
}

/// What the workers have in common.
struct Shared<'a> {
    cases: &'a [Case],
    place: Place<'a>,
    jobs: usize,
    stop: &'a Stop,
    /// Numbers of the cases that nobody has begun.
    left: Mutex<VecDeque<usize>>,
}

/// What a worker says.
enum News {
    Over(usize, Report),
    Spent(Cost),
    Failed(GuestError),
}

impl Shared<'_> {
    /// The next cases for one kernel: fewer as it comes to the end, so that all end together.
    fn take(&self) -> Vec<usize> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let share = match self.jobs {
            1 => left.len(),
            jobs => left.len().div_ceil(2 * jobs).max(LEAST_CHUNK),
        };
        let n = share.min(left.len());
        left.drain(..n).collect()
    }

    fn give_back(&self, numbers: &[usize]) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        for number in numbers.iter().rev() {
            left.push_front(*number);
        }
    }

    fn give_up(&self) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.clear();
    }
}

fn work(shared: &Shared<'_>, worker: usize, to: &mpsc::Sender<News>) {
    let cpus = cpu::allowed();
    let cpu = match shared.place {
        Place::Host => None,
        Place::Uml(..) => cpus.get(worker % cpus.len().max(1)).copied(),
    };
    loop {
        let mut numbers = shared.take();
        if numbers.is_empty() {
            return;
        }
        let (done, was_begun) = one_kernel(shared, cpu, &mut numbers, to);
        let Err(error) = done else {
            continue;
        };
        // Nothing can be started here, or nobody wants it any more.
        if !was_begun || matches!(error, GuestError::Interrupted) {
            shared.give_up();
            // The receiver outlives the workers.
            let _ = to.send(News::Failed(error));
            return;
        }
        if let Some((first, rest)) = numbers.split_first() {
            let why = format!("this script crashed the kernel: {error}");
            let _ = to.send(News::Over(*first, failed(0, 0, why)));
            shared.give_back(rest);
        }
    }
}

/// Runs cases in one kernel; `numbers` keeps those without a report.
fn one_kernel(
    shared: &Shared<'_>,
    cpu: Option<usize>,
    numbers: &mut Vec<usize>,
    to: &mpsc::Sender<News>,
) -> (Result<(), GuestError>, bool) {
    let cases = numbers
        .iter()
        .filter_map(|n| Some((*n, shared.cases.get(*n)?.clone())));
    let job = Job {
        cases: cases.collect(),
        limit_s: match shared.place {
            Place::Uml(..) => LIMIT_VIRTUAL_S,
            Place::Host => LIMIT_REAL_S,
        },
    };
    let mut reports: Option<Reports> = None;
    let mut look = |folder: &Path| {
        let reports = reports.get_or_insert_with(|| Reports::of(folder));
        let new = reports.new_ones();
        let is_new = !new.is_empty();
        for (number, report) in new {
            numbers.retain(|n| *n != number);
            let _ = to.send(News::Over(number, report));
        }
        is_new
    };
    let talk = Talk {
        ask: &|folder| job.write(folder),
        look: &mut look,
    };
    let done = run_job(shared.place, cpu, (PATIENCE, shared.stop), talk);
    let was_begun = reports.is_some_and(|r| r.begun);
    let done = done.map(|cost| {
        let _ = to.send(News::Spent(cost));
    });
    // One that ended well has left nothing out.
    let done = match (done, numbers.is_empty()) {
        (Ok(()), false) => Err(GuestError::Run("it ended without a report".into())),
        (done, _) => done,
    };
    (done, was_begun)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(jobs: usize, stop: &Stop) -> Shared<'_> {
        Shared {
            cases: &[],
            place: Place::Host,
            jobs,
            stop,
            left: Mutex::new((0..100).collect()),
        }
    }

    #[test]
    fn shares_shrink_and_nothing_is_lost() {
        let stop = Stop::never();
        let many = shared(2, &stop);
        let mut seen = Vec::new();
        let mut sizes = Vec::new();
        loop {
            let share = many.take();
            if share.is_empty() {
                break;
            }
            sizes.push(share.len());
            seen.extend(share);
        }
        assert_eq!(seen, (0..100).collect::<Vec<_>>());
        assert!(
            sizes.is_sorted_by(|a, b| a >= b) && sizes[0] == 25,
            "{sizes:?}"
        );
        assert_eq!(shared(1, &stop).take().len(), 100, "one guest takes all");
    }

    #[test]
    fn what_is_given_back_comes_first() {
        let stop = Stop::never();
        let one = shared(2, &stop);
        let share = one.take();
        one.give_back(&share[3..]);
        assert_eq!(one.take()[0], 3);
        one.give_up();
        assert!(one.take().is_empty());
    }
}
