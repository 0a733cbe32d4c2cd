//! What a program completed, and how long each transaction took.

use tcplab_base::Duration;

/// Completed work of one program.
#[derive(Clone, Debug, Default)]
pub struct Record {
    completed: u64,
    latencies: Vec<Duration>,
}

impl Record {
    /// More latencies of one connection are not kept, only counted.
    pub const KEPT: usize = 100_000;

    /// Counts one write, datagram or response that has no latency of its own.
    pub(crate) fn count(&mut self) {
        self.completed += 1;
    }

    /// Counts one transaction that took this long.
    pub(crate) fn transaction(&mut self, took: Duration) {
        self.count();
        if self.latencies.len() < Self::KEPT {
            self.latencies.push(took);
        }
    }

    /// Writes, datagrams or transactions that were completed.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// The first [`Record::KEPT`] transactions' times.
    pub fn latencies(&self) -> &[Duration] {
        &self.latencies
    }
}
