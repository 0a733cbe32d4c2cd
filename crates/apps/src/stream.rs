//! `stream`: a server that writes on a schedule, a client that only reads. The experiment of the
//! two notes on Linux's delayed ACKs.

use tcplab_base::{Duration, Instant, Random};
use tcplab_plan::app::{AppKind, Extent};

use crate::extent::Limit;
use crate::program::{Flag, Result, Step};
use crate::record::Record;

/// Name of the stream of draws.
const DRAWS: &str = "app/stream/late";

/// Writes `chunk` bytes at begin, begin + every, begin + 2 every ...: a late write does not delay later ones, except
/// by the configured time of the loop.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    chunk: u64,
    every: Duration,
    /// Each Nth write is urgent; 0: none.
    urgent: u64,
    /// Every so many writes, only the last goes without MSG_MORE; 0: MSG_MORE is not used.
    more: u64,
    until: Extent,
    limit: Limit,
    wrote: bool,
    loop_time: Option<Box<LoopTime>>,
}

/// What a writer's loop takes itself.
#[derive(Clone, Debug)]
struct LoopTime {
    most_ns: u64,
    draws: Random,
    /// So far.
    sum: Duration,
}

impl Stream {
    pub(crate) fn new(app: &AppKind) -> Self {
        let AppKind::Stream {
            chunk,
            every_ns,
            late_ns,
            urgent,
            more,
            until,
            ..
        } = app
        else {
            unreachable!("a stream's program is made from a stream")
        };
        Self {
            chunk: *chunk,
            every: Duration::from_nanos(*every_ns),
            urgent: *urgent,
            more: *more,
            until: *until,
            limit: Limit::default(),
            wrote: false,
            loop_time: u64::try_from(*late_ns)
                .ok()
                .filter(|n| *n > 0)
                .map(|most_ns| {
                    Box::new(LoopTime {
                        most_ns,
                        draws: Random::stream(0, DRAWS),
                        sum: Duration::from_nanos(0),
                    })
                }),
        }
    }

    /// Draws as the run's seed says, for each connection others.
    pub(crate) fn seed(&mut self, seed: u64, connection: u32) {
        if let Some(time) = &mut self.loop_time {
            time.draws = match connection {
                0 => Random::stream(seed, DRAWS),
                n => Random::stream(seed, &format!("{DRAWS}/{n}")),
            };
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
        let planned = self.every.as_nanos().saturating_mul(self.done());
        let slipped = self.loop_time.as_ref().map_or(0, |t| t.sum.as_nanos());
        let due = begun + Duration::from_nanos(planned.saturating_add(slipped));
        if due > now {
            return Step::Until(due);
        }
        if !self
            .limit
            .again_on_schedule(&self.until, (due, now), self.every)
        {
            return Step::Close;
        }
        if let Some(time) = &mut self.loop_time {
            let took = time.draws.below(time.most_ns.saturating_add(1));
            time.sum = time.sum + Duration::from_nanos(took as i64);
        }
        self.wrote = true;
        // The limit has counted this write already.
        let done = self.limit.done();
        match (self.urgent, self.more) {
            (urgent @ 1.., _) if done.is_multiple_of(urgent) => {
                Step::WriteWith(Flag::Urgent, self.chunk)
            }
            (_, more @ 1..) if !done.is_multiple_of(more) => {
                Step::WriteWith(Flag::More, self.chunk)
            }
            _ => Step::Write(self.chunk),
        }
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
    pub(crate) fn new(read: u64) -> Self {
        Self { read }
    }

    #[inline]
    pub(crate) fn next(&mut self, last: Result) -> Step {
        match last {
            Result::End => Step::Close,
            _ => Step::ReadSome(self.read),
        }
    }
}
