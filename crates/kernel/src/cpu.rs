//! Processors: which there are, staying on one (sched_setaffinity(2)), what a thread spends on them.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;

/// The processors that this process may run on.
pub fn allowed() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else {
        return Vec::new();
    };
    (0..CpuSet::count())
        .filter(|cpu| set.is_set(*cpu).unwrap_or(false))
        .collect()
}

/// Keeps this thread on one processor; gives whether there is one of this number.
pub fn pin(cpu: usize) -> bool {
    let mut set = CpuSet::new();
    let pinned = set
        .set(cpu)
        .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set));
    pinned.is_ok()
}

/// Measures what a thread spends.
#[derive(Debug)]
pub struct Meter {
    cpu: Option<TimeSpec>,
    wall: Option<TimeSpec>,
}

/// What a thread spent, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// On a processor.
    pub cpu_s: f64,
    /// On the clock.
    pub wall_s: f64,
}

impl Meter {
    /// From now on.
    pub fn start() -> Self {
        Self {
            cpu: clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok(),
            wall: clock_gettime(ClockId::CLOCK_MONOTONIC).ok(),
        }
    }

    /// Until now; must be asked by the thread that started it.
    pub fn stop(&self) -> Spent {
        let now = Self::start();
        let seconds = |from: Option<TimeSpec>, to: Option<TimeSpec>| match (from, to) {
            (Some(from), Some(to)) => std::time::Duration::from(to - from).as_secs_f64(),
            _ => 0.0,
        };
        Spent {
            cpu_s: seconds(self.cpu, now.cpu),
            wall_s: seconds(self.wall, now.wall),
        }
    }
}
