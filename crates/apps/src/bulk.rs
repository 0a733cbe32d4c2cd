//! `bulk`: one end sends as much as the connection takes; `sink`: one end only holds it.

use tcplab_base::{Duration, Instant};
use tcplab_plan::app::AppKind;

use crate::program::{Result, Step};
use crate::record::Record;

/// Writes until its bytes or its time are used up, closes its direction and waits for the peer to
/// close: the last byte is ACKed when the program ends.
#[derive(Clone, Debug)]
pub(crate) struct Bulk {
    left: Option<u64>,
    duration: Option<Duration>,
    chunk: u64,
    begun: Option<Instant>,
    wrote: u64,
    shut: bool,
}

impl Bulk {
    pub(crate) fn new(app: &AppKind) -> Self {
        let AppKind::Bulk {
            bytes,
            duration_ns,
            chunk,
            ..
        } = app
        else {
            unreachable!("a bulk program is made from bulk")
        };
        Self {
            left: *bytes,
            duration: duration_ns.map(Duration::from_nanos),
            chunk: (*chunk).max(1),
            begun: None,
            wrote: 0,
            shut: false,
        }
    }

    pub(crate) fn next(&mut self, now: Instant, last: Result, record: &mut Record) -> Step {
        let begun = *self.begun.get_or_insert(now);
        if std::mem::take(&mut self.wrote) > 0 {
            record.count();
        }
        if self.shut {
            return match last {
                Result::End => {
                    record.took(now.since(begun));
                    Step::Close
                }
                _ => Step::ReadSome(4096),
            };
        }
        let over = self.duration.is_some_and(|d| now.since(begun) >= d);
        let size = self.left.unwrap_or(u64::MAX).min(self.chunk);
        if over || size == 0 || last == Result::End {
            self.shut = true;
            return Step::Shutdown;
        }
        self.left = self.left.map(|n| n - size);
        self.wrote = size;
        Step::Write(size)
    }
}

/// Holds a connection for a time.
#[derive(Clone, Debug)]
pub(crate) struct Sink {
    /// [`Sink::HELD`]: it is over.
    hold: Duration,
}

impl Sink {
    const HELD: Duration = Duration::from_nanos(i64::MIN);

    pub(crate) fn new(hold_ns: i64) -> Self {
        Self {
            hold: Duration::from_nanos(hold_ns.max(0)),
        }
    }

    pub(crate) fn next(&mut self, now: Instant) -> Step {
        match std::mem::replace(&mut self.hold, Self::HELD) {
            Self::HELD => Step::Close,
            hold => Step::Until(now + hold),
        }
    }
}
