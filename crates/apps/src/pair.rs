//! The two published pairs of programs on delayed ACKs: the same calls in the same order. A read is one call, however
//! few bytes it gives.

use tcplab_base::{Duration, Instant};
use tcplab_plan::pair::{EchoClient, EchoServer, Pair, StreamClient, StreamServer};

use crate::program::{Result, Step};
use crate::record::Record;

/// One end of a pair.
#[derive(Clone, Debug)]
pub(crate) struct Half {
    does: Pair,
    phase: Phase,
    /// Round trips that were begun.
    turns: u64,
    /// When the round trip or the stream began.
    begun: Instant,
    /// Bytes that the stream has written, or asked its last read for.
    bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Begin,
    Again,
    Write,
    Wrote,
    Got,
    Paused,
}

/// The next phase, and the step before it; without a step, go on at once.
type Move = (Phase, Option<Step>);

impl Half {
    pub(crate) fn new(does: Pair) -> Self {
        Self {
            does,
            phase: Phase::Begin,
            turns: 0,
            begun: Instant::default(),
            bytes: 0,
        }
    }

    pub(crate) fn next(&mut self, now: Instant, last: Result, record: &mut Record) -> Step {
        if last == Result::End {
            return Step::Close;
        }
        loop {
            let (phase, step) = match self.does {
                Pair::EchoServer(does) => self.answer(does, record),
                Pair::EchoClient(does) => self.ask(does, now, record),
                Pair::StreamServer(does) => self.write_on(does, now, record),
                Pair::StreamClient(does) => self.read_on(does, now, last, record),
            };
            self.phase = phase;
            if let Some(step) = step {
                return step;
            }
        }
    }

    fn answer(&self, does: EchoServer, record: &mut Record) -> Move {
        match self.phase {
            Phase::Got => (Phase::Wrote, Some(Step::Write(does.write))),
            phase => {
                record.count_all((phase == Phase::Wrote).into());
                (Phase::Got, Some(Step::ReadSome(does.read)))
            }
        }
    }

    fn ask(&mut self, does: EchoClient, now: Instant, record: &mut Record) -> Move {
        match self.phase {
            Phase::Begin => (Phase::Again, does.quickack.map(Step::QuickAck)),
            Phase::Again if self.turns == does.count => (Phase::Again, Some(Step::Close)),
            Phase::Again => {
                self.turns += 1;
                (Phase::Write, does.quickack.map(Step::QuickAck))
            }
            Phase::Write => {
                self.begun = now;
                (Phase::Wrote, Some(Step::Write(does.write)))
            }
            Phase::Wrote => (Phase::Got, Some(Step::ReadSome(does.read))),
            Phase::Got | Phase::Paused => {
                record.transaction(now.since(self.begun));
                (Phase::Again, after(does.pause, now))
            }
        }
    }

    fn write_on(&mut self, does: StreamServer, now: Instant, record: &mut Record) -> Move {
        match self.phase {
            Phase::Begin => {
                self.begun = now;
                (Phase::Again, None)
            }
            Phase::Again => (Phase::Write, does.quickack.map(Step::QuickAck)),
            Phase::Write => (Phase::Wrote, Some(Step::Write(does.write))),
            Phase::Wrote => {
                record.count();
                self.bytes = self.bytes.saturating_add(does.write);
                (Phase::Paused, after(does.pause, now))
            }
            Phase::Got | Phase::Paused => (Phase::Again, does.rate.map(|rate| self.due(rate))),
        }
    }

    /// Waits until so many bytes a second on average have the stream where it is.
    fn due(&self, rate: u64) -> Step {
        let ns = u128::from(self.bytes) * 1_000_000_000 / u128::from(rate.max(1));
        let since = Duration::from_nanos(i64::try_from(ns).unwrap_or(i64::MAX));
        Step::Until(self.begun + since)
    }

    fn read_on(
        &mut self,
        does: StreamClient,
        now: Instant,
        last: Result,
        record: &mut Record,
    ) -> Move {
        self.bytes = match (self.phase, last) {
            (Phase::Got, Result::Got(n)) if !does.is_one_read && n < self.bytes => self.bytes - n,
            (Phase::Got, _) => {
                record.count();
                return (Phase::Again, after(does.pause, now));
            }
            _ => does.read,
        };
        (Phase::Got, Some(Step::ReadSome(self.bytes)))
    }
}

/// A pause that begins now.
fn after(pause: Duration, now: Instant) -> Option<Step> {
    (pause > Duration::ZERO).then(|| Step::Until(now + pause))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps of one end: for each the time, and how the one before it went.
    fn steps(does: Pair, calls: &[(i64, Result)]) -> (Vec<Step>, Record) {
        let mut record = Record::default();
        let mut half = Half::new(does);
        let next = |(ms, last): &(i64, Result)| {
            half.next(Instant::from_nanos(ms * 1_000_000), *last, &mut record)
        };
        let steps = calls.iter().map(next).collect();
        (steps, record)
    }

    fn until(ms: i64) -> Step {
        Step::Until(Instant::from_nanos(ms * 1_000_000))
    }

    #[test]
    fn the_echo_client_sets_quickack_at_the_beginning_and_before_each_write() {
        let does = Pair::EchoClient(EchoClient {
            write: 3,
            read: 9,
            count: 2,
            pause: Duration::from_millis(10),
            quickack: Some(0),
        });
        let (quick, turn) = (Step::QuickAck(0), [Step::Write(3), Step::ReadSome(9)]);
        let done = |ms| (ms, Result::Done);
        let (found, record) = steps(
            does,
            &[
                done(0),
                done(0),
                done(1),
                done(2),
                (41, Result::Got(2)),
                done(51),
                done(52),
                done(52),
                (53, Result::Got(9)),
                done(63),
            ],
        );
        let wanted = [
            &[quick, quick][..],
            &turn,
            &[until(51), quick],
            &turn,
            &[until(63), Step::Close],
        ];
        assert_eq!(found, wanted.concat());
        assert_eq!(record.latencies(), [40, 1].map(Duration::from_millis));
    }

    #[test]
    fn the_echo_server_reads_once_and_counts_what_it_wrote() {
        let does = Pair::EchoServer(EchoServer { read: 5, write: 7 });
        let calls = [
            Result::Done,
            Result::Got(1),
            Result::Done,
            Result::Got(5),
            Result::Done,
            Result::End,
        ];
        let (found, record) = steps(does, &calls.map(|last| (0, last)));
        let turn = [Step::ReadSome(5), Step::Write(7)];
        let wanted = [&turn[..], &turn, &[Step::ReadSome(5), Step::Close]];
        assert_eq!(found, wanted.concat());
        assert_eq!(record.completed(), 2);
    }

    #[test]
    fn the_stream_server_pauses_and_keeps_its_rate_on_average() {
        let mut server = StreamServer {
            write: 500,
            pause: Duration::from_millis(100),
            rate: Some(1_000),
            quickack: Some(1),
        };
        let calls = [7, 7, 7, 107, 507, 507, 1_700, 1_800].map(|ms| (ms, Result::Done));
        let (found, record) = steps(Pair::StreamServer(server), &calls);
        let turn = [Step::QuickAck(1), Step::Write(500)];
        let late = [until(1_800), until(1_007)];
        let wanted = [&turn[..], &[until(107), until(507)], &turn, &late];
        assert_eq!(found, wanted.concat());
        assert_eq!(record.completed(), 2);

        server.write = u64::MAX;
        let (found, _) = steps(Pair::StreamServer(server), &calls[..4]);
        let most = Step::Until(Instant::from_nanos(i64::MAX));
        assert_eq!(found[3], most, "no overflow");
    }

    #[test]
    fn the_stream_client_pauses_after_its_bytes_or_after_one_read() {
        let mut client = StreamClient {
            read: 100,
            is_one_read: false,
            pause: Duration::from_millis(5),
        };
        let calls = [
            (0, Result::Done),
            (1, Result::Got(60)),
            (2, Result::Got(40)),
            (7, Result::Done),
            (8, Result::Got(1)),
            (9, Result::End),
        ];
        let [all, rest, last] = [100, 40, 99].map(Step::ReadSome);
        let (found, record) = steps(Pair::StreamClient(client), &calls);
        assert_eq!(found, [all, rest, until(7), all, last, Step::Close]);
        assert_eq!(record.completed(), 1);

        client.is_one_read = true;
        let (found, _) = steps(Pair::StreamClient(client), &calls[..2]);
        assert_eq!(found, [all, until(6)]);
    }
}
