//! `stream`: a server that writes on a schedule, a client that only reads. The experiment of the
//! two notes on Linux's delayed ACKs.

use tcplab_base::{Duration, Instant};
use tcplab_plan::app::AppKind;

use crate::extent::Limit;
use crate::program::{Result, Step};
use crate::record::Record;

/// Writes `chunk` bytes at begin, begin + every, begin + 2 every ...: a late write does not move
/// the ones after it.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    chunk: u64,
    every: Duration,
    limit: Limit,
    wrote: bool,
}

impl Stream {
    pub(crate) fn new(app: &AppKind) -> Self {
        let AppKind::Stream {
            chunk,
            every_ns,
            until,
            ..
        } = app
        else {
            unreachable!("a stream's program is made from a stream")
        };
        Self {
            chunk: *chunk,
            every: Duration::from_nanos(*every_ns),
            limit: Limit::new(*until),
            wrote: false,
        }
    }

    pub(crate) fn next(&mut self, now: Instant, last: Result, record: &mut Record) -> Step {
        if last == Result::End {
            return Step::Close;
        }
        if std::mem::take(&mut self.wrote) {
            record.count();
        }
        let begun = self.limit.begun(now);
        let due = begun + Duration::from_nanos(self.every.as_nanos().saturating_mul(self.done()));
        if due > now {
            return Step::Until(due);
        }
        if !self.limit.again(due) {
            return Step::Close;
        }
        self.wrote = true;
        Step::Write(self.chunk)
    }

    fn done(&self) -> i64 {
        i64::try_from(self.limit.done()).unwrap_or(i64::MAX)
    }
}

/// Reads until the peer has ended, then closes.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    read: u64,
}

impl Watch {
    /// Bytes of a read where an application only throws away.
    pub(crate) const BULK_READ: u64 = 128 << 10;

    pub(crate) fn new(read: u64) -> Self {
        Self { read }
    }

    pub(crate) fn next(&mut self, last: Result) -> Step {
        match last {
            Result::End => Step::Close,
            _ => Step::ReadSome(self.read),
        }
    }
}
