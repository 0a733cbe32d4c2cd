//! The memory that a host's connections take.

use super::Stack;
use super::heap::Deadlines;
use super::request::Request;
use super::table::{Conn, Record, Table};
use super::timewait::TimeWait;

impl Stack {
    /// Bytes that it has allocated for its connections, requests and TIME-WAIT records, for what finds them and for
    /// their timers. What an allocator needs beside is not in it.
    pub fn memory(&self) -> usize {
        self.table.memory() + self.deadlines.memory()
    }
}

impl Table {
    fn memory(&self) -> usize {
        let of = |record: &Record| match record {
            Record::Free(_) => 0,
            Record::Conn(conn) => conn.memory(),
            Record::Packed(packed) => packed.len(),
            Record::Request(_) => size_of::<Request>(),
            Record::TimeWait(_) => size_of::<TimeWait>(),
        };
        let records: usize = self.records.iter().map(of).sum();
        let table = self.records.capacity() * size_of::<Record>();
        records + table + self.finding() + self.working.memory()
    }
}

impl Conn {
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>() + self.ep.queued_memory()
    }
}

impl Deadlines {
    fn memory(&self) -> usize {
        let (heap, place) = self.capacity();
        heap * size_of::<(u64, u64, u32)>() + place * size_of::<u32>()
    }
}
