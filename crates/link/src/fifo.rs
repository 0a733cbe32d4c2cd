//! The rate of a link and the FIFO before it.

use std::collections::VecDeque;

use tcplab_base::{Duration, Instant};

/// Bits of a byte, times nanoseconds of a second.
const SCALE: u64 = 8 * 1_000_000_000;

/// Sends frames one after another at a rate; holds at most `limit` of them.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    rate_bps: u64,
    /// Nanoseconds of a byte, at rates where that is a whole number: no division for each frame.
    byte_ns: Option<u32>,
    limit: usize,
    /// When the frames that wait or are on their way out will be out.
    out: VecDeque<Instant>,
    /// Bits x 10^9 that the last frame's time did not hold: no drift from rounding.
    carry: u64,
}

impl Fifo {
    pub(crate) fn new(rate_bps: u64, limit_pkts: u32) -> Self {
        let rate_bps = rate_bps.max(1);
        let whole = SCALE.is_multiple_of(rate_bps);
        Self {
            rate_bps,
            byte_ns: u32::try_from(SCALE / rate_bps).ok().filter(|_| whole),
            limit: limit_pkts.max(1) as usize,
            out: VecDeque::new(),
            carry: 0,
        }
    }

    /// When the last bit of this frame will have left; none: there is no room.
    #[inline(always)]
    pub(crate) fn enter(&mut self, now: Instant, bytes: usize) -> Option<Instant> {
        while self.out.front().is_some_and(|at| *at <= now) {
            self.out.pop_front();
        }
        if self.out.len() >= self.limit {
            return None;
        }
        let begins = match self.out.back() {
            Some(last) => *last,
            None => {
                self.carry = 0;
                now
            }
        };
        let takes = self.takes(bytes);
        let leaves = begins + Duration::from_nanos(takes);
        self.out.push_back(leaves);
        Some(leaves)
    }

    /// Nanoseconds of a frame at the rate.
    #[inline]
    fn takes(&mut self, bytes: usize) -> i64 {
        match self.byte_ns {
            Some(ns) => (bytes as i64).saturating_mul(i64::from(ns)),
            None => self.takes_a_part(bytes),
        }
    }

    #[inline(never)]
    fn takes_a_part(&mut self, bytes: usize) -> i64 {
        let bits = (bytes as u64)
            .checked_mul(SCALE)
            .and_then(|bits| bits.checked_add(self.carry));
        // A word is enough for all frames that there are; a division of two words is slow.
        if let Some(bits) = bits {
            self.carry = bits % self.rate_bps;
            return i64::try_from(bits / self.rate_bps).unwrap_or(i64::MAX);
        }
        let bits = bytes as u128 * u128::from(SCALE) + u128::from(self.carry);
        let rate = u128::from(self.rate_bps);
        self.carry = (bits % rate) as u64;
        i64::try_from(bits / rate).unwrap_or(i64::MAX)
    }

    /// Frames in it after the last [`Fifo::enter`], the one on its way out included.
    pub(crate) fn frames(&self) -> usize {
        self.out.len()
    }

    /// Frames that wait or are on their way out at `now`, and the bytes of them that are not out yet.
    pub(crate) fn holds(&self, now: Instant) -> (i64, i64) {
        let gone = self.out.partition_point(|at| *at <= now);
        let Some(last) = self.out.back().filter(|at| **at > now) else {
            return (0, 0);
        };
        let bits = i128::from(last.since(now).as_nanos()) * i128::from(self.rate_bps);
        let bytes = (bits + 8_000_000_000 - 1) / 8_000_000_000;
        ((self.out.len() - gone) as i64, bytes as i64)
    }
}
