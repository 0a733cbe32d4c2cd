//! Processors: which there are, staying on one (sched_setaffinity(2)), what a thread spends on them.

use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
pub use affinity::{allowed, pin};

/// The processors that this process may run on; empty: not known here.
#[cfg(not(target_os = "linux"))]
pub fn allowed() -> Vec<usize> {
    Vec::new()
}

#[cfg(target_os = "linux")]
mod affinity {
    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
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
}

/// Processor time of this thread so far; `None` if it is unknown here.
#[cfg(unix)]
fn thread_time() -> Option<Duration> {
    use nix::time::{ClockId, clock_gettime};
    let spent = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok()?;
    Some(Duration::from(spent))
}

#[cfg(not(unix))]
fn thread_time() -> Option<Duration> {
    None
}

/// Measures what a thread spends.
#[derive(Debug)]
pub struct Meter {
    cpu: Option<Duration>,
    wall: Instant,
}

/// What a thread spent, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// On a processor.
    pub cpu_s: f64,
    /// On the clock.
    pub wall_s: f64,
}

#[expect(clippy::disallowed_methods, reason = "what a run costs is real time")]
impl Meter {
    /// From now on.
    pub fn start() -> Self {
        Self {
            cpu: thread_time(),
            wall: Instant::now(),
        }
    }

    /// Until now; must be asked by the thread that started it.
    pub fn stop(&self) -> Spent {
        let cpu = match (self.cpu, thread_time()) {
            (Some(from), Some(to)) => to.saturating_sub(from).as_secs_f64(),
            _ => 0.0,
        };
        Spent {
            cpu_s: cpu,
            wall_s: self.wall.elapsed().as_secs_f64(),
        }
    }
}
