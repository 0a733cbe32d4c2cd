//! A finished group as bytes: what a result folder keeps. Whole numbers in LEB128; times are sorted, and each is its
//! difference from the one before.

use super::sums::{COUNTERS, Sums};

/// A number of a group at most: the sum of all groups' fits into 64 bits.
const MOST: u64 = 1 << 52;

/// A connection whose responses took much longer, or much shorter, in an arm than in the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outlier {
    pub(crate) arm: u32,
    pub(crate) connection: u64,
    /// Time of its responses that finished in both, in the arm less that in the baseline, in microseconds.
    pub(crate) difference_us: i64,
}

/// What one group did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) number: u32,
    /// One for each arm.
    pub(crate) arms: Vec<Sums>,
    /// The largest few of each arm.
    pub(crate) outliers: Vec<Outlier>,
}

impl Group {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, u64::from(self.number));
        put(&mut out, self.arms.len() as u64);
        for arm in &self.arms {
            for n in [arm.connections, arm.lossy, arm.lossy_us] {
                put(&mut out, n);
            }
            put(&mut out, arm.cut_short);
            put(&mut out, arm.requests);
            put(&mut out, arm.small_requests);
            for both in &arm.both {
                for n in [both.count, both.us, both.baseline_us] {
                    put(&mut out, n);
                }
            }
            for n in arm.counters {
                put(&mut out, n);
            }
            for times in [&arm.small_us, &arm.large_us, &arm.recovery_us] {
                put_times(&mut out, times);
            }
        }
        put(&mut out, self.outliers.len() as u64);
        for outlier in &self.outliers {
            put(&mut out, u64::from(outlier.arm));
            put(&mut out, outlier.connection);
            let difference = outlier.difference_us;
            put(
                &mut out,
                difference.unsigned_abs() << 1 | u64::from(difference < 0),
            );
        }
        out
    }

    /// None: these are not the bytes of a group of so many arms.
    pub(crate) fn of_bytes(bytes: &[u8], arms: usize) -> Option<Self> {
        let mut input = bytes;
        let mut group = Self {
            number: u32::try_from(take(&mut input)?).ok()?,
            ..Self::default()
        };
        if take(&mut input)? != arms as u64 {
            return None;
        }
        for _ in 0..arms {
            let mut number = || take(&mut input).filter(|n| *n <= MOST);
            let mut sums = Sums {
                connections: number()?,
                lossy: number()?,
                lossy_us: number()?,
                cut_short: number()?,
                requests: number()?,
                small_requests: number()?,
                ..Sums::default()
            };
            for both in &mut sums.both {
                both.count = number()?;
                both.us = number()?;
                both.baseline_us = number()?;
            }
            for place in 0..COUNTERS.len() {
                sums.counters[place] = number()?;
            }
            sums.small_us = take_times(&mut input)?;
            sums.large_us = take_times(&mut input)?;
            sums.recovery_us = take_times(&mut input)?;
            group.arms.push(sums);
        }
        for _ in 0..take(&mut input)? {
            let arm = u32::try_from(take(&mut input)?).ok()?;
            if arm as usize >= arms {
                return None;
            }
            let connection = take(&mut input)?;
            let folded = take(&mut input)?;
            let size = (folded >> 1) as i64;
            group.outliers.push(Outlier {
                arm,
                connection,
                difference_us: if folded & 1 == 1 { -size } else { size },
            });
        }
        input.is_empty().then_some(group)
    }

    /// Sorts the times, so that the bytes do not depend on the order of connections.
    pub(crate) fn sort(&mut self) {
        for arm in &mut self.arms {
            arm.small_us.sort_unstable();
            arm.large_us.sort_unstable();
            arm.recovery_us.sort_unstable();
        }
    }
}

pub(super) fn put(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn put_times(out: &mut Vec<u8>, sorted: &[u32]) {
    put(out, sorted.len() as u64);
    let mut last = 0;
    for &us in sorted {
        put(out, u64::from(us.wrapping_sub(last)));
        last = us;
    }
}

pub(super) fn take(input: &mut &[u8]) -> Option<u64> {
    let mut n = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = input.split_first()?;
        *input = rest;
        n |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(n);
        }
    }
    None
}

fn take_times(input: &mut &[u8]) -> Option<Vec<u32>> {
    let n = usize::try_from(take(input)?).ok()?;
    // Each takes a byte at least: a damaged number asks for no memory.
    if n > input.len() {
        return None;
    }
    let mut last = 0_u32;
    let mut times = Vec::with_capacity(n);
    for _ in 0..n {
        last = last.wrapping_add(u32::try_from(take(input)?).ok()?);
        times.push(last);
    }
    Some(times)
}

#[cfg(test)]
mod tests {
    use super::super::sums::Both;
    use super::*;

    fn group() -> Group {
        let mut sums = Sums {
            connections: 3,
            lossy: 1,
            lossy_us: 1_234_567,
            cut_short: 2,
            requests: 7,
            small_requests: 4,
            small_us: vec![5, 1, 300_000],
            large_us: vec![u32::MAX, 9],
            recovery_us: vec![77],
            ..Sums::default()
        };
        sums.counters[2] = MOST;
        sums.both[1] = Both {
            count: 2,
            us: 9_000,
            baseline_us: 8_000,
        };
        let mut group = Group {
            number: 2_047,
            arms: vec![sums, Sums::default()],
            outliers: vec![Outlier {
                arm: 1,
                connection: 1 << 40,
                difference_us: -3,
            }],
        };
        group.sort();
        group
    }

    #[test]
    fn a_group_comes_back() {
        let bytes = group().to_bytes();
        assert_eq!(Group::of_bytes(&bytes, 2), Some(group()));
        assert_eq!(Group::of_bytes(&bytes, 3), None);
    }

    #[test]
    fn unknown_arms_and_numbers_are_no_group() {
        let mut other = group();
        other.outliers[0].arm = 2;
        assert_eq!(Group::of_bytes(&other.to_bytes(), 2), None);
        let mut other = group();
        other.arms[0].requests = u64::MAX;
        assert_eq!(Group::of_bytes(&other.to_bytes(), 2), None);
    }

    #[test]
    fn cut_or_long_record_is_no_group() {
        let bytes = group().to_bytes();
        for n in 0..bytes.len() {
            assert_eq!(Group::of_bytes(&bytes[..n], 2), None, "{n}");
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert_eq!(Group::of_bytes(&longer, 2), None);
    }
}
