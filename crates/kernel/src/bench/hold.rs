//! A slowdown that is planted: both ends are stopped for a part of the time, as if there were less of it.

use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tcplab_base::Instant;

use super::clock::now;

/// Shorter stops are saved up: a process wakes some 60 us late.
const LEAST_NS: i64 = 500_000;

/// Keeps the account of stopped time.
#[derive(Debug)]
pub(super) struct Hold {
    percent: i64,
    begun: Instant,
    stopped_ns: i64,
}

impl Hold {
    /// From now on so many per cent of the time; 0: never.
    pub(super) fn of(percent: u32) -> Self {
        Self {
            percent: i64::from(percent.min(99)),
            begun: now(),
            stopped_ns: 0,
        }
    }

    /// Stops the processes for as long as they are due, and lets them go on.
    pub(super) fn turn(&mut self, processes: &[u32]) {
        let from = now();
        let Some(due) = self.due(from) else { return };
        send(processes, Signal::SIGSTOP);
        thread::sleep(due);
        send(processes, Signal::SIGCONT);
        self.stopped_ns += now().since(from).as_nanos();
    }

    fn due(&self, at: Instant) -> Option<Duration> {
        let elapsed = at.since(self.begun).as_nanos();
        // Of the time until the stop ends, `percent` shall have been stopped.
        let owed = (elapsed * self.percent - 100 * self.stopped_ns) / (100 - self.percent);
        (owed >= LEAST_NS).then(|| Duration::from_nanos(owed.unsigned_abs()))
    }
}

/// One that has ended is past being stopped.
fn send(processes: &[u32], signal: Signal) {
    for process in processes {
        if let Ok(process) = i32::try_from(*process) {
            let _ = kill(Pid::from_raw(process), signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcplab_base::Duration as Span;

    #[test]
    fn what_is_owed_makes_the_share_exact() {
        let mut hold = Hold::of(10);
        let at = |hold: &Hold, ms| hold.begun + Span::from_millis(ms);
        // 18 ms have run and 2 of 20 shall be stopped.
        assert_eq!(hold.due(at(&hold, 18)), Some(Duration::from_millis(2)));
        assert_eq!(hold.due(at(&hold, 4)), None);
        // It came back a millisecond late: the next one is shorter.
        hold.stopped_ns = 3_000_000;
        assert_eq!(
            hold.due(at(&hold, 36)),
            Some(Duration::from_micros(666) + Duration::from_nanos(666))
        );
        assert_eq!(Hold::of(0).due(now() + Span::from_secs(9)), None);
    }
}
