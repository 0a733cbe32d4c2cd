//! Sample statistics with bounded memory: nearest-rank percentiles, exact up to
//! [`Samples::EXACT`] samples, then with values kept to three digits.

/// Samples of a non-negative integer quantity (microseconds, mostly). Takes 32 bytes while there
/// are at most five.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    store: Store,
}

/// How many samples are kept without an allocation.
const FEW: usize = 5;

/// Small sets grow by so many samples: doubling would leave half of many connections' memory unused.
const STEP: usize = 5;

#[derive(Clone, Debug)]
enum Store {
    /// The first so many of these.
    Few(u8, [u32; FEW]),
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
    min: u32,
    max: u32,
}

impl Default for Store {
    fn default() -> Self {
        Self::Few(0, [0; FEW])
    }
}

/// Minimum, median, 95th percentile and maximum of some samples; all 0 without samples.
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
        match &mut self.store {
            Store::Few(n, few) => {
                if let Some(slot) = few.get_mut(usize::from(*n)) {
                    *slot = value;
                    *n += 1;
                } else {
                    let mut all = Vec::with_capacity(FEW + STEP);
                    all.extend_from_slice(few);
                    all.push(value);
                    self.store = Store::Exact(all);
                }
            }
            Store::Exact(v) => {
                if v.len() == v.capacity() && v.len() < 8 * STEP {
                    v.reserve_exact(STEP);
                }
                v.push(value);
                if v.len() > Self::EXACT {
                    let fresh = std::mem::take(v);
                    self.store = Store::Counted(Box::new(Counted::of(fresh)));
                }
            }
            Store::Counted(c) => c.push(value),
        }
    }

    /// Adds all samples of another set.
    pub fn absorb(&mut self, other: &Self) {
        match &other.store {
            Store::Few(n, few) => few.iter().take(usize::from(*n)).for_each(|v| self.push(*v)),
            Store::Exact(v) => v.iter().for_each(|v| self.push(*v)),
            Store::Counted(c) => {
                c.fresh.iter().for_each(|v| self.push(*v));
                for &(value, count) in &c.counts {
                    (0..count).for_each(|_| self.push(value));
                }
            }
        }
    }

    /// Memory beside its own size, bytes, about.
    pub fn heap_bytes(&self) -> usize {
        match &self.store {
            Store::Few(..) => 0,
            Store::Exact(v) => v.capacity() * size_of::<u32>(),
            Store::Counted(c) => {
                c.counts.capacity() * size_of::<(u32, u64)>()
                    + c.fresh.capacity() * size_of::<u32>()
            }
        }
    }

    /// Whether no sample was added.
    pub fn is_empty(&self) -> bool {
        matches!(self.store, Store::Few(0, _))
    }

    /// How many samples were added.
    pub fn len(&self) -> u64 {
        match &self.store {
            Store::Few(n, _) => u64::from(*n),
            Store::Exact(v) => v.len() as u64,
            Store::Counted(c) => c.counts.iter().map(|c| c.1).sum::<u64>() + c.fresh.len() as u64,
        }
    }

    /// Minimum, median, p95 and maximum. Sorts what it holds.
    pub fn quantiles(&mut self) -> Quantiles {
        let n = self.len();
        match &mut self.store {
            Store::Few(0, _) => Quantiles::default(),
            Store::Few(n, few) => of_all(few.get_mut(..usize::from(*n)).unwrap_or_default()),
            Store::Exact(v) => of_all(v),
            Store::Counted(c) => c.quantiles(n),
        }
    }
}

impl Counted {
    fn of(fresh: Vec<u32>) -> Self {
        let min = fresh.iter().copied().min().unwrap_or_default();
        let max = fresh.iter().copied().max().unwrap_or_default();
        let mut counts = Vec::new();
        merge(&mut counts, fresh);
        Self {
            counts,
            fresh: Vec::new(),
            min,
            max,
        }
    }

    fn push(&mut self, value: u32) {
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.fresh.push(value);
        if self.fresh.len() >= Samples::EXACT {
            merge(&mut self.counts, std::mem::take(&mut self.fresh));
        }
    }

    fn quantiles(&mut self, n: u64) -> Quantiles {
        merge(&mut self.counts, std::mem::take(&mut self.fresh));
        let at = |percent| counted(&self.counts, rank(percent, n)).clamp(self.min, self.max);
        Quantiles {
            min: self.min,
            p50: at(50),
            p95: at(95),
            max: self.max,
            samples: n,
        }
    }
}

/// Quantiles of samples that are all there.
fn of_all(samples: &mut [u32]) -> Quantiles {
    samples.sort_unstable();
    let n = samples.len() as u64;
    let at = |percent| {
        samples
            .get(rank(percent, n) as usize - 1)
            .copied()
            .unwrap_or_default()
    };
    Quantiles {
        min: samples.first().copied().unwrap_or_default(),
        p50: at(50),
        p95: at(95),
        max: samples.last().copied().unwrap_or_default(),
        samples: n,
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
    fn few_samples_take_no_allocation_and_more_are_kept_in_full() {
        assert!(std::mem::size_of::<Samples>() <= 32);
        let mut s = Samples::default();
        for v in (1..=9).rev() {
            s.push(v);
        }
        let q = s.quantiles();
        assert_eq!((q.min, q.p50, q.p95, q.max, q.samples), (1, 5, 9, 9, 9));
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
    fn sets_join() {
        for n in [3_u32, 100, 10_000] {
            let (mut low, mut high) = (Samples::default(), Samples::default());
            for i in 0..n {
                low.push(i);
                high.push(n + i);
            }
            low.absorb(&high);
            let q = low.quantiles();
            assert_eq!((q.min, q.samples), (0, u64::from(2 * n)));
            assert!(q.p50.abs_diff(n) <= 1 + n / 1000, "{n}: {}", q.p50);
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
