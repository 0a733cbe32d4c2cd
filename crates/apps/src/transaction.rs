//! Transactions: `echo`, `write-write-read`, `request-response`, `connect-request-response`.
//!
//! They differ in the writes of a request, the size of the response and whether each has a
//! connection of its own. The seeds' echo programs and netperf's TCP_RR and TCP_CRR are these.

use std::collections::VecDeque;
use std::sync::Arc;

use tcplab_base::{Duration, Instant};
use tcplab_plan::app::{AppKind, Extent};

use crate::extent::Limit;
use crate::program::{Result, Step};
use crate::record::Record;

/// What a transaction is made of: one for all connections of an application.
#[derive(Debug)]
struct Shape {
    /// The request's writes; the second one may be absent (0).
    writes: [u64; 2],
    response: u64,
    pause: Duration,
    until: Extent,
    each_connects: bool,
    /// Requests outstanding beyond the first.
    burst: usize,
}

/// When requests were begun that wait behind the oldest one. Few connections have any.
#[derive(Clone, Debug, Default)]
struct Outstanding(VecDeque<Instant>);

impl Shape {
    fn of(app: &AppKind) -> Self {
        let (writes, response) = match *app {
            AppKind::Echo { size, .. } => ([size, 0], size),
            AppKind::WriteWriteRead {
                head, body, reply, ..
            } => ([head, body], reply),
            AppKind::RequestResponse {
                request, response, ..
            }
            | AppKind::ConnectRequestResponse {
                request, response, ..
            } => ([request, 0], response),
            _ => unreachable!("transactions are made from applications that have them"),
        };
        Self {
            writes,
            response,
            pause: Duration::from_nanos(app.pause_ns().unwrap_or(0)),
            until: app.until().copied().unwrap_or_default(),
            each_connects: matches!(app, AppKind::ConnectRequestResponse { .. }),
            burst: match *app {
                AppKind::RequestResponse { burst, .. } => burst as usize,
                _ => 0,
            },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Begin,
    Second,
    Read,
    Answered,
    Paused,
}

/// The client: writes a request, reads the response, pauses.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    shape: Arc<Shape>,
    limit: Limit,
    phase: Phase,
    /// When the oldest request that is outstanding was begun.
    asked: Instant,
    /// The same of those after it.
    others: Option<Box<Outstanding>>,
}

impl Ask {
    pub(crate) fn new(app: &AppKind) -> Self {
        Self::of(Arc::new(Shape::of(app)))
    }

    fn of(shape: Arc<Shape>) -> Self {
        Self {
            shape,
            limit: Limit::default(),
            phase: Phase::Begin,
            asked: Instant::default(),
            others: None,
        }
    }

    /// Bytes that it has allocated beside its own size.
    pub(crate) fn memory(&self) -> usize {
        let of = |all: &Outstanding| size_of_val(all) + all.0.capacity() * size_of::<Instant>();
        self.others.as_deref().map_or(0, of)
    }

    /// As new.
    pub(crate) fn restart(&mut self) {
        *self = Self::of(self.shape.clone());
    }

    /// A connection is begun: netperf's TCP_CRR counts the handshake as part of the transaction.
    pub(crate) fn connects(&mut self, now: Instant) {
        self.asked = now;
    }

    pub(crate) fn next(&mut self, now: Instant, last: Result, record: &mut Record) -> Step {
        if last == Result::End {
            return Step::Close;
        }
        match self.phase {
            Phase::Begin => self.begin(now),
            Phase::Second => {
                self.phase = Phase::Read;
                Step::Write(self.shape.writes[1])
            }
            Phase::Read => self.next_read(now),
            Phase::Answered => {
                record.transaction(now.since(self.asked));
                self.phase = Phase::Paused;
                match self.shape.pause {
                    Duration::ZERO => self.paused(now),
                    pause => Step::Until(now + pause),
                }
            }
            Phase::Paused => self.paused(now),
        }
    }

    fn paused(&mut self, now: Instant) -> Step {
        if let Some(next) = self.others.as_mut().and_then(|all| all.0.pop_front()) {
            // One more request for the one that was answered, as long as there is one.
            self.asked = next;
            self.phase = Phase::Read;
            return self.next_read(now);
        }
        if !self.shape.each_connects {
            return self.begin(now);
        }
        // A connection of its own: the next request is counted now, written when it stands.
        if !self.limit.again(&self.shape.until, now) {
            return Step::Close;
        }
        self.phase = Phase::Begin;
        Step::Reconnect
    }

    /// Whether one more request goes out while others are outstanding; notes it.
    fn asks_more(&mut self, now: Instant) -> bool {
        let again = self.limit.again(&self.shape.until, now);
        if again {
            self.others.get_or_insert_default().0.push_back(now);
        }
        again
    }

    /// The oldest request that is outstanding is read for, after the burst is full again.
    fn next_read(&mut self, now: Instant) -> Step {
        let others = self.others.as_ref().map_or(0, |all| all.0.len());
        if others < self.shape.burst && self.asks_more(now) {
            return Step::Write(self.shape.writes[0]);
        }
        self.phase = Phase::Answered;
        Step::Read(self.shape.response)
    }

    fn begin(&mut self, now: Instant) -> Step {
        // The first connection of a connect-request-response is counted here.
        let counted = self.shape.each_connects && self.limit.done() > 0;
        if !counted && !self.limit.again(&self.shape.until, now) {
            return Step::Close;
        }
        if !self.shape.each_connects {
            self.asked = now;
        }
        self.phase = match self.shape.writes[1] {
            0 => Phase::Read,
            _ => Phase::Second,
        };
        Step::Write(self.shape.writes[0])
    }
}

/// The server: reads a request, writes the response, until the client has ended.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    shape: Arc<Shape>,
    reads: bool,
}

impl Answer {
    pub(crate) fn new(app: &AppKind) -> Self {
        Self {
            shape: Arc::new(Shape::of(app)),
            reads: false,
        }
    }

    /// As new.
    pub(crate) fn restart(&mut self) {
        self.reads = false;
    }

    pub(crate) fn next(&mut self, last: Result, record: &mut Record) -> Step {
        if last == Result::End {
            return Step::Close;
        }
        self.reads = !self.reads;
        if !self.reads {
            record.count();
            return Step::Write(self.shape.response);
        }
        Step::Read(self.shape.writes[0] + self.shape.writes[1])
    }
}
