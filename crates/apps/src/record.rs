//! What a program completed, and how long each transaction took.

use tcplab_base::Duration;

/// Completed work of one program. The first latency is kept in place: most of a million connections have no other.
#[derive(Clone, Debug)]
pub struct Record {
    completed: u64,
    /// [`NONE`] before the first one.
    first: Duration,
    /// All of them, when there are two.
    #[allow(clippy::box_collection, reason = "most have none")]
    all: Option<Box<Vec<Duration>>>,
}

const NONE: Duration = Duration::from_nanos(i64::MIN);

impl Default for Record {
    fn default() -> Self {
        Self {
            completed: 0,
            first: NONE,
            all: None,
        }
    }
}

impl Record {
    /// More latencies of one connection are not kept, only counted.
    pub const KEPT: usize = tcplab_plan::outcome::KEPT_LATENCIES;

    /// Counts one write, datagram or response that has no latency of its own.
    pub(crate) fn count(&mut self) {
        self.completed += 1;
    }

    /// Counts so many at once.
    pub(crate) fn count_all(&mut self, n: u64) {
        self.completed += n;
    }

    /// Counts one transaction that took this long.
    pub(crate) fn transaction(&mut self, took: Duration) {
        self.count();
        self.took(took);
    }

    /// Keeps a time of something that is counted otherwise.
    pub(crate) fn took(&mut self, took: Duration) {
        match &mut self.all {
            Some(all) if all.len() < Self::KEPT => all.push(took),
            Some(_) => {}
            None if self.first == NONE => self.first = took,
            None => self.all = Some(Box::new(vec![self.first, took])),
        }
    }

    /// Bytes that it has allocated.
    pub(crate) fn memory(&self) -> usize {
        let of = |all: &Vec<Duration>| size_of_val(all) + all.capacity() * size_of::<Duration>();
        self.all.as_deref().map_or(0, of)
    }

    /// Writes, datagrams or transactions that were completed.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// The first [`Record::KEPT`] transactions' times.
    pub fn latencies(&self) -> &[Duration] {
        match &self.all {
            Some(all) => all,
            None if self.first == NONE => &[],
            None => std::slice::from_ref(&self.first),
        }
    }
}
