//! A wire that may send at given times only (Mahimahi's `mm-link`): each time lets some bytes through, and unused
//! times are lost.

use std::sync::Arc;

use tcplab_base::{Duration, Instant};
use tcplab_plan::point::RateTrace;

const MS: i64 = 1_000_000;

/// The times, and how far they are used.
#[derive(Clone, Debug)]
pub(crate) struct Opportunities {
    at_ms: Arc<[u32]>,
    start: Instant,
    /// The time that is used now: the round through the times, and which of them.
    round: i64,
    place: usize,
    /// Bytes that it still lets through.
    left: usize,
}

impl Opportunities {
    pub(crate) fn new(trace: &RateTrace) -> Self {
        // A trace that nobody has read never sends.
        let at_ms = match trace.at_ms.as_slice() {
            [] => Arc::from([u32::MAX]),
            times => Arc::from(times),
        };
        Self {
            at_ms,
            start: Instant::default(),
            round: 0,
            place: 0,
            left: RateTrace::BYTES,
        }
    }

    /// The run starts at this time.
    pub(crate) fn starts(&mut self, start: Instant) {
        self.start = start;
    }

    /// When the last of these bytes leaves, the first not before `from`.
    pub(crate) fn leaves(&mut self, from: Instant, bytes: usize) -> Instant {
        if self.time() < from {
            self.advance(from);
        }
        let mut bytes = bytes;
        while bytes > self.left {
            bytes -= self.left;
            self.next();
        }
        self.left -= bytes;
        self.time()
    }

    /// Length of a round.
    fn period_ms(&self) -> i64 {
        self.at_ms.last().map_or(1, |last| i64::from(*last).max(1))
    }

    fn time(&self) -> Instant {
        let ms = self.round * self.period_ms() + i64::from(self.at_ms[self.place]);
        self.start + Duration::from_nanos(ms.saturating_mul(MS))
    }

    fn next(&mut self) {
        self.left = RateTrace::BYTES;
        self.place += 1;
        if self.place == self.at_ms.len() {
            self.place = 0;
            self.round += 1;
        }
    }

    /// Goes to the first time that is not before `from`.
    fn advance(&mut self, from: Instant) {
        let since = from.since(self.start).as_nanos();
        let ms = (since + MS - 1).div_euclid(MS);
        self.left = RateTrace::BYTES;
        // The end of a round and the begin of the next one are the same time.
        self.round = ((ms - 1) / self.period_ms()).max(0);
        let within = ms - self.round * self.period_ms();
        self.place = (self.at_ms).partition_point(|at| i64::from(*at) < within);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(at_ms: &[u32]) -> Opportunities {
        let mut link = Opportunities::new(&RateTrace {
            file: String::new(),
            at_ms: at_ms.to_vec(),
        });
        link.starts(at(1_000));
        link
    }

    fn at(ms: i64) -> Instant {
        Instant::from_nanos(ms * MS)
    }

    #[test]
    fn each_time_sends_a_full_frame_and_the_trace_begins_anew() {
        let mut link = link(&[2, 5, 5, 9]);
        let times: Vec<Instant> = (0..9).map(|_| link.leaves(at(1_000), 1_514)).collect();
        let expected = [2, 5, 5, 9, 11, 14, 14, 18, 20].map(|ms| at(1_000 + ms));
        assert_eq!(times, expected);
    }

    #[test]
    fn small_frames_share_a_time_and_large_ones_take_several() {
        let mut link = link(&[2, 5, 9]);
        assert_eq!(link.leaves(at(1_000), 700), at(1_002));
        assert_eq!(link.leaves(at(1_000), 700), at(1_002));
        // 114 bytes now, the rest at the next one.
        assert_eq!(link.leaves(at(1_000), 700), at(1_005));
        assert_eq!(link.leaves(at(1_000), 4_000), at(1_014));
    }

    #[test]
    fn unused_slots_expire() {
        let mut link = link(&[0, 3, 10]);
        assert_eq!(link.leaves(at(1_001), 100), at(1_003));
        // Nothing is saved up: one full frame at 10, though 0 and 3 of the next rounds were free.
        assert_eq!(
            link.leaves(Instant::from_nanos(1_023 * MS + 1), 1_514),
            at(1_030)
        );
        assert_eq!(link.leaves(at(1_024), 1_514), at(1_030));
        assert_eq!(link.leaves(at(1_024), 1_514), at(1_033));
    }

    /// Against the plainest rule, over many arrivals.
    #[test]
    fn advancing_finds_the_first_time_that_is_not_before() {
        let times = [0, 0, 1, 4, 4, 7];
        let mut all = Vec::new();
        for round in 0..200_i64 {
            all.extend(times.map(|ms| at(1_000 + round * 7 + i64::from(ms))));
        }
        for step in 1..40_i64 {
            let mut link = link(&times.map(|ms| ms as u32));
            let mut now = at(1_000);
            let mut used = 0;
            for _ in 0..60 {
                while all[used] < now {
                    used += 1;
                }
                assert_eq!(link.leaves(now, 1_514), all[used], "{step}");
                used += 1;
                now = now + Duration::from_nanos(step * MS / 3);
            }
        }
    }
}
