//! Looks into a host's table of connections, for the lines of a log: `/proc/net/tcp` alone has the quick-ACK credits.
//!
//! The kernel walks its hash table for each look: microseconds in a small guest, milliseconds on a machine with much
//! memory. Where time goes on meanwhile, looks change what is measured: dear ones are not made, cheap ones have a small
//! part of the time, and the run says what they took.

use std::io;

use tcplab_base::{Duration, Instant};
use tcplab_os::clock::{Pace, monotonic};
use tcplab_os::proc_tcp::{AckState, ProcTcp};

/// No looks where one takes longer.
const DEAR: Duration = Duration::from_nanos(100_000);

/// Looks may take this part of the time.
const PART: i64 = 50;

/// Looks that say what one takes: the first ones fill caches.
const TRIALS: usize = 3;

/// A socket that is not there.
const NOBODY: u64 = u64::MAX;

/// The table of one host.
#[derive(Debug)]
pub(crate) struct Looks {
    table: ProcTcp,
    pace: Pace,
    begun: Instant,
    /// What one takes.
    one: Duration,
    spent: Spent,
}

/// What looks have taken.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    made: u32,
    left_out: u32,
    time: Duration,
}

impl Looks {
    /// Opens the table of the calling thread's network namespace, and sees what a look takes.
    pub(crate) fn open(pace: Pace) -> io::Result<Self> {
        let mut looks = Self {
            table: ProcTcp::open()?,
            pace,
            begun: Instant::default(),
            one: Duration::default(),
            spent: Spent::default(),
        };
        // A guest's clock steps when it is read.
        if pace == Pace::Real {
            let mut took = [Duration::default(); TRIALS];
            for one in &mut took {
                *one = looks.timed(NOBODY)?.1;
            }
            looks.one = took.into_iter().min().unwrap_or_default();
            looks.begun = monotonic();
        }
        Ok(looks)
    }

    /// What the kernel says of a connection; `None`: nothing, or a look would disturb the run.
    pub(crate) fn look(&mut self, inode: u64) -> Option<AckState> {
        if self.pace == Pace::Virtual {
            return self.table.find_inode(inode).ok().flatten();
        }
        if !self.spent.may(self.one, monotonic().since(self.begun)) {
            self.spent.left_out += 1;
            return None;
        }
        let (found, took) = self.timed(inode).ok()?;
        self.spent.made += 1;
        self.spent.time = self.spent.time + took;
        found
    }

    fn timed(&mut self, inode: u64) -> io::Result<(Option<AckState>, Duration)> {
        let before = monotonic();
        let found = self.table.find_inode(inode)?;
        Ok((found, monotonic().since(before)))
    }

    /// What is worth saying of the looks.
    pub(crate) fn words(&self, host: &str) -> Option<String> {
        self.spent.words(host, self.one)
    }
}

impl Spent {
    /// Whether another look disturbs little.
    fn may(&self, one: Duration, elapsed: Duration) -> bool {
        one <= DEAR && self.time.as_nanos() <= DEAR.as_nanos() + elapsed.as_nanos() / PART
    }

    fn words(&self, host: &str, one: Duration) -> Option<String> {
        let us = |time: Duration| time.as_nanos() as f64 / 1e3;
        let lacks = "lack quick-ACK credits and pingpong mode";
        match (self.made, self.left_out) {
            (0, 0) => None,
            (0, lines) => Some(format!(
                "{host}: a read of /proc/net/tcp takes {:.0} us on this machine, too long for a log: {lines} lines {lacks}",
                us(one)
            )),
            (made, lines) => {
                let mean = us(self.time) / f64::from(made);
                let mut words = format!(
                    "{host}: the log read /proc/net/tcp {made} times, {mean:.0} us each, {:.1} ms in all: so much later did \
                     its applications go on",
                    us(self.time) / 1e3
                );
                if lines > 0 {
                    let share = 100 / PART;
                    words += &format!("; {lines} lines {lacks}: reads get {share} % of the time");
                }
                Some(words)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dear_looks_are_not_made_and_cheap_ones_get_a_part_of_the_time() {
        let us = |n: i64| Duration::from_nanos(n * 1000);
        let fresh = Spent::default();
        assert!(fresh.may(us(20), us(0)) && !fresh.may(us(8_700), us(0)));
        let spent = Spent {
            time: us(1_100),
            ..fresh
        };
        assert!(!spent.may(us(20), us(49_000)) && spent.may(us(20), us(50_000)));
    }

    #[test]
    fn their_cost_is_told() {
        let us = |n: i64| Duration::from_nanos(n * 1000);
        let words = |made, left_out, time, one| {
            let spent = Spent {
                made,
                left_out,
                time,
            };
            spent.words("client", one).unwrap_or_default()
        };
        assert_eq!(words(0, 0, us(0), us(9)), "");
        let dear = words(0, 7, us(0), us(8_700));
        assert!(dear.contains("8700 us on this machine") && dear.contains("7 lines lack"));
        let cheap = words(10, 0, us(200), us(20));
        assert!(
            cheap.contains("10 times, 20 us each, 0.2 ms in all"),
            "{cheap}"
        );
        assert!(!cheap.contains("lack"), "{cheap}");
        assert!(words(10, 5, us(200), us(20)).contains("5 lines lack"));
    }

    #[test]
    fn in_virtual_time_every_look_is_made_and_none_is_told() {
        let mut looks = Looks::open(Pace::Virtual).unwrap();
        looks.one = Duration::from_millis(10);
        assert_eq!(looks.look(NOBODY), None);
        assert_eq!(looks.words("client"), None);
    }
}
