//! Which frames are made when not all are wanted.

use super::Group;

/// Numbers of a group: all of them in their order, or some spread over all of its digits.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    of: u64,
    len: u64,
    step: u64,
    start: u64,
}

impl Sample {
    /// `len` numbers of `group`, each at most once; which ones the seed decides.
    pub fn new(group: &Group, len: u64, seed: u64) -> Self {
        let of = group.count;
        let len = len.min(of);
        if len == of {
            return Self {
                of,
                len,
                step: 1,
                start: 0,
            };
        }
        // A step near the golden section is far from every radix; prime to `of`, it meets each number once.
        let mut step = (of as f64 * 0.618_033_988_75) as u64 | 1;
        while gcd(step, of) != 1 {
            step += 2;
        }
        Self {
            of,
            len,
            step,
            start: seed % of.max(1),
        }
    }

    /// How many numbers `want` frames in all give each of these groups: small groups are whole, the others have alike many.
    pub fn shares(groups: &[&Group], want: u64) -> Vec<u64> {
        let mut shares = vec![0; groups.len()];
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by_key(|&at| groups[at].count);
        let (mut left, mut open) = (want, groups.len() as u64);
        for at in order {
            shares[at] = (left / open).min(groups[at].count);
            left -= shares[at];
            open -= 1;
        }
        shares
    }

    /// The numbers.
    pub fn numbers(self) -> impl Iterator<Item = u64> {
        (0..self.len).map(move |i| {
            let far = u128::from(i) * u128::from(self.step) + u128::from(self.start);
            (far % u128::from(self.of.max(1))) as u64
        })
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        _ => gcd(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::malformed::groups;

    #[test]
    fn a_sample_has_each_number_once() {
        for group in groups() {
            for len in [0, 1, 7, 1000, group.count] {
                let numbers: Vec<u64> = Sample::new(group, len, 5).numbers().take(20_000).collect();
                let different: BTreeSet<u64> = numbers.iter().copied().collect();
                assert_eq!(different.len(), numbers.len(), "{}", group.name);
                assert!(numbers.iter().all(|&n| n < group.count), "{}", group.name);
            }
        }
    }

    #[test]
    fn shares_fill_small_groups_first() {
        let all: Vec<&Group> = groups().collect();
        let sum: u64 = all.iter().map(|group| group.count).sum();
        assert_eq!(
            Sample::shares(&all, u64::MAX).iter().sum::<u64>(),
            sum,
            "all of them"
        );
        for want in [0, 1, 20_000, 500_000] {
            let shares = Sample::shares(&all, want);
            assert_eq!(shares.iter().sum::<u64>(), want);
        }
    }
}
