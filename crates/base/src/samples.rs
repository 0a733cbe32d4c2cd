//! Sample statistics with bounded memory: nearest-rank percentiles, exact up to
//! [`Samples::EXACT`] samples, then with values kept to three digits.

/// Samples of a non-negative integer quantity (microseconds, mostly).
#[derive(Clone, Debug, Default)]
pub struct Samples {
    store: Store,
    min: u32,
    max: u32,
}

#[derive(Clone, Debug)]
enum Store {
    Exact(Vec<u32>),
    /// Behind a box: most sets stay small.
    Counted(Box<Counted>),
}

#[derive(Clone, Debug)]
struct Counted {
    /// Sorted (value, count) pairs; values are rounded to 11 significant bits.
    counts: Vec<(u32, u64)>,
    /// Samples that are not merged yet.
    fresh: Vec<u32>,
}

impl Default for Store {
    fn default() -> Self {
        Self::Exact(Vec::new())
    }
}

/// Minimum, median, 95th percentile and maximum of some samples, all 0 when there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// Smallest sample.
    pub min: u32,
    /// Median (nearest rank).
    pub p50: u32,
    /// 95th percentile (nearest rank).
    pub p95: u32,
    /// Largest sample.
    pub max: u32,
    /// How many samples.
    pub samples: u64,
}

impl Samples {
    /// Up to this many samples percentiles are exact.
    pub const EXACT: usize = 4096;

    /// Adds one sample.
    pub fn push(&mut self, value: u32) {
        if self.is_empty() {
            (self.min, self.max) = (value, value);
        } else {
            self.min = self.min.min(value);
            self.max = self.max.max(value);
        }
        match &mut self.store {
            Store::Exact(v) => {
                v.push(value);
                if v.len() > Self::EXACT {
                    let fresh = std::mem::take(v);
                    let mut counts = Vec::new();
                    merge(&mut counts, fresh);
                    self.store = Store::Counted(Box::new(Counted {
                        counts,
                        fresh: Vec::new(),
                    }));
                }
            }
            Store::Counted(c) => {
                c.fresh.push(value);
                if c.fresh.len() >= Self::EXACT {
                    merge(&mut c.counts, std::mem::take(&mut c.fresh));
                }
            }
        }
    }

    /// Whether no sample was added.
    pub fn is_empty(&self) -> bool {
        match &self.store {
            Store::Exact(v) => v.is_empty(),
            Store::Counted(..) => false,
        }
    }

    /// How many samples were added.
    pub fn len(&self) -> u64 {
        match &self.store {
            Store::Exact(v) => v.len() as u64,
            Store::Counted(c) => c.counts.iter().map(|c| c.1).sum::<u64>() + c.fresh.len() as u64,
        }
    }

    /// Smallest sample, 0 when there is none.
    pub fn min(&self) -> u32 {
        self.min
    }

    /// Largest sample, 0 when there is none.
    pub fn max(&self) -> u32 {
        self.max
    }

    /// Minimum, median, p95 and maximum. Sorts what it holds.
    pub fn quantiles(&mut self) -> Quantiles {
        let n = self.len();
        if n == 0 {
            return Quantiles::default();
        }
        let (p50, p95) = match &mut self.store {
            Store::Exact(v) => {
                v.sort_unstable();
                let at = |p| v[rank(p, n) as usize - 1];
                (at(50), at(95))
            }
            Store::Counted(c) => {
                merge(&mut c.counts, std::mem::take(&mut c.fresh));
                (
                    counted(&c.counts, rank(50, n)),
                    counted(&c.counts, rank(95, n)),
                )
            }
        };
        let clamp = |v: u32| v.clamp(self.min, self.max);
        Quantiles {
            min: self.min,
            p50: clamp(p50),
            p95: clamp(p95),
            max: self.max,
            samples: n,
        }
    }
}

/// Nearest rank: the smallest k with k/n >= p/100, from 1.
fn rank(percent: u64, n: u64) -> u64 {
    (percent * n).div_ceil(100).max(1)
}

fn counted(counts: &[(u32, u64)], rank: u64) -> u32 {
    let mut seen = 0;
    for &(value, count) in counts {
        seen += count;
        if seen >= rank {
            return value;
        }
    }
    counts.last().map_or(0, |c| c.0)
}

/// Rounds to 11 significant bits (three decimal digits, relative error below 1/2048).
fn coarse(value: u32) -> u32 {
    let shift = (32 - value.leading_zeros()).saturating_sub(11);
    if shift == 0 {
        return value;
    }
    let half = 1_u32 << (shift - 1);
    (value.saturating_add(half) >> shift) << shift
}

fn merge(counts: &mut Vec<(u32, u64)>, mut fresh: Vec<u32>) {
    for v in &mut fresh {
        *v = coarse(*v);
    }
    fresh.sort_unstable();
    let mut merged = Vec::with_capacity(counts.len() + 64);
    let mut old = counts.iter().copied().peekable();
    let mut i = 0;
    while i < fresh.len() {
        let value = fresh[i];
        let run = fresh[i..].iter().take_while(|v| **v == value).count();
        i += run;
        while let Some(o) = old.next_if(|o| o.0 < value) {
            merged.push(o);
        }
        let mut count = run as u64;
        if let Some(o) = old.next_if(|o| o.0 == value) {
            count += o.1;
        }
        merged.push((value, count));
    }
    merged.extend(old);
    *counts = merged;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_rank_on_small_sets() {
        let mut s = Samples::default();
        assert_eq!(s.quantiles(), Quantiles::default());
        for v in [5, 1, 3, 2, 4] {
            s.push(v);
        }
        let q = s.quantiles();
        assert_eq!((q.min, q.p50, q.p95, q.max, q.samples), (1, 3, 5, 5, 5));
        s.push(6);
        assert_eq!(s.quantiles().p50, 3);
    }

    #[test]
    fn large_sets_keep_three_digits_and_the_extremes() {
        let mut s = Samples::default();
        let n = 100_000_u32;
        for i in 0..n {
            s.push((i.wrapping_mul(7919) % n) * 10 + 1);
        }
        let q = s.quantiles();
        assert_eq!(
            (q.min, q.max, q.samples),
            (1, (n - 1) * 10 + 1, u64::from(n))
        );
        for (got, want) in [(q.p50, 500_000.0), (q.p95, 950_000.0)] {
            assert!(
                (f64::from(got) / want - 1.0).abs() < 0.001,
                "{got} against {want}"
            );
        }
    }

    #[test]
    fn largest_value_does_not_overflow() {
        let mut s = Samples::default();
        for _ in 0..=Samples::EXACT {
            s.push(u32::MAX);
        }
        assert_eq!(s.quantiles().p50, u32::MAX);
    }
}
