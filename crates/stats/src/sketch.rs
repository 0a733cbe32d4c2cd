//! A histogram of latencies with three digits.
//!
//! Microseconds from 1 to 10,000 s. Up to 2,047 us each has its own bucket; above, each doubling has
//! 1,024, so a bucket is at most 1/1,024 of its value wide. Two sketches merge without loss, in any
//! order. Memory: 512 bytes for each 128 neighbouring buckets that are in use, 100 kB at most (twice
//! that when a bucket has more than 2^32).

/// A histogram of latencies in microseconds. See the file's head for its buckets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    pages: Vec<Page>,
    count: u64,
    sum: u128,
}

/// A pair that no sketch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "bucket {bucket}: buckets are below {}, and each comes once, with a count that is not 0",
    Sketch::BUCKETS
)]
pub struct BadBucket {
    /// Its number.
    pub bucket: u32,
}

const PAGE: usize = 128;

/// Counts of neighbouring buckets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Page {
    #[default]
    Empty,
    Narrow(Box<[u32; PAGE]>),
    /// Once a bucket has more than 2^32.
    Wide(Box<[u64; PAGE]>),
}

impl Page {
    fn get(&self, at: usize) -> u64 {
        match self {
            Page::Empty => 0,
            Page::Narrow(counts) => u64::from(counts[at]),
            Page::Wide(counts) => counts[at],
        }
    }

    fn add(&mut self, at: usize, n: u64) {
        let sum = self.get(at).saturating_add(n);
        if let Page::Empty = self {
            *self = Page::Narrow(Box::new([0; PAGE]));
        }
        match (&mut *self, u32::try_from(sum)) {
            (Page::Narrow(counts), Ok(sum)) => counts[at] = sum,
            (Page::Wide(counts), _) => counts[at] = sum,
            (page, Err(_)) => {
                let mut counts = Box::new(std::array::from_fn(|i| page.get(i)));
                counts[at] = sum;
                *page = Page::Wide(counts);
            }
            (Page::Empty, Ok(_)) => unreachable!("it was made narrow above"),
        }
    }
}

impl Sketch {
    /// The longest time, in microseconds: 10,000 s. Longer ones count as this.
    pub const MAX_US: u64 = 10_000_000_000;
    /// Buckets: their numbers are below this.
    pub const BUCKETS: u32 = bucket_of(Self::MAX_US) + 1;

    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts `n` samples of this many microseconds; 0 counts as 1.
    pub fn add(&mut self, us: u64, n: u64) {
        if n == 0 {
            return;
        }
        let us = us.clamp(1, Self::MAX_US);
        self.put(bucket_of(us), n);
        self.sum = self.sum.saturating_add(u128::from(us) * u128::from(n));
    }

    fn put(&mut self, bucket: u32, n: u64) {
        let at = bucket as usize;
        if self.pages.len() <= at / PAGE {
            self.pages.resize(at / PAGE + 1, Page::Empty);
        }
        self.pages[at / PAGE].add(at % PAGE, n);
        self.count = self.count.saturating_add(n);
    }

    /// Counts another sketch's samples too.
    pub fn merge(&mut self, other: &Sketch) {
        for (bucket, n) in other.pairs() {
            self.put(bucket, n);
        }
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// Samples.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum in microseconds, exact (of samples within the range).
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Their mean in microseconds.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The sample at this share of all, by nearest rank (0.5: the median), as the middle of its
    /// bucket in microseconds. None when there are no samples.
    pub fn quantile(&self, p: f64) -> Option<u64> {
        let rank = (p.clamp(0.0, 1.0) * self.count as f64).ceil() as u64;
        let rank = rank.clamp(1, self.count.max(1));
        let mut below = 0_u64;
        let found = self.pairs().find(|(_, n)| {
            below = below.saturating_add(*n);
            below >= rank
        });
        found.map(|(bucket, _)| Self::middle(bucket))
    }

    /// Buckets that have samples, ascending, with their counts.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u64)> {
        let page = |(at, page): (usize, &Page)| {
            let counts: [u64; PAGE] = match page {
                Page::Empty => [0; PAGE],
                page => std::array::from_fn(|i| page.get(i)),
            };
            let numbered = (at * PAGE..).zip(counts);
            numbered
                .filter(|(_, n)| *n > 0)
                .map(|(bucket, n)| (bucket as u32, n))
        };
        let used = self.pages.iter().enumerate();
        used.filter(|(_, page)| **page != Page::Empty)
            .flat_map(page)
    }

    /// The sketch with these buckets and this sum: what [`Sketch::pairs`] and [`Sketch::sum`] gave.
    ///
    /// # Errors
    /// Names a bucket that no sketch has, that has no samples, or that comes twice.
    pub fn from_pairs(
        pairs: impl IntoIterator<Item = (u32, u64)>,
        sum: u128,
    ) -> Result<Self, BadBucket> {
        let mut out = Self::new();
        for (bucket, n) in pairs {
            let (page, at) = (bucket as usize / PAGE, bucket as usize % PAGE);
            let twice = out.pages.get(page).is_some_and(|page| page.get(at) > 0);
            if bucket == 0 || bucket >= Self::BUCKETS || n == 0 || twice {
                return Err(BadBucket { bucket });
            }
            out.put(bucket, n);
        }
        out.sum = sum;
        Ok(out)
    }

    /// The smallest value of a bucket and how many values it has, in microseconds.
    pub fn range(bucket: u32) -> (u64, u64) {
        let shift = (bucket >> 10).saturating_sub(1).min(52);
        let low = u64::from(bucket - (shift << 10)) << shift;
        (low, 1 << shift)
    }

    /// The value that stands for a bucket, in microseconds.
    pub fn middle(bucket: u32) -> u64 {
        let (low, width) = Self::range(bucket);
        low + (width - 1) / 2
    }
}

const fn bucket_of(us: u64) -> u32 {
    let shift = us.ilog2().saturating_sub(10);
    (shift << 10) + (us >> shift) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcplab_base::Random;

    #[test]
    fn buckets_have_no_gaps_and_three_digits() {
        let mut next = 1;
        for bucket in 1..Sketch::BUCKETS {
            let (low, width) = Sketch::range(bucket);
            assert_eq!(low, next);
            assert_eq!(
                (bucket_of(low), bucket_of(low + width - 1)),
                (bucket, bucket)
            );
            assert!(width == 1 || width * 1_024 <= low);
            next = low + width;
        }
        assert!(next > Sketch::MAX_US);
    }

    #[test]
    fn quantiles_are_nearest_ranks_within_a_thousandth() {
        let mut random = Random::stream(1, "sketch");
        let mut all: Vec<u64> = (0..10_001)
            .map(|_| (80_000.0 * libm::exp(1.5 * random.normal())) as u64)
            .collect();
        let mut sketch = Sketch::new();
        all.iter().for_each(|us| sketch.add(*us, 1));
        all.sort_unstable();
        assert_eq!(sketch.sum(), all.iter().map(|us| u128::from(*us)).sum());
        for p in [0.0_f64, 0.001, 0.25, 0.5, 0.9, 0.999, 1.0] {
            let exact = all[((p * 10_001.0).ceil() as usize).max(1) - 1];
            let got = sketch.quantile(p).unwrap();
            assert!(got.abs_diff(exact) * 2_000 <= exact, "{p} {got} {exact}");
        }
        assert_eq!(Sketch::new().quantile(0.5), None);
    }

    #[test]
    fn merging_in_any_order_and_writing_and_reading_lose_nothing() {
        let mut parts = vec![Sketch::new(); 5];
        let mut whole = Sketch::new();
        let mut random = Random::stream(2, "sketch");
        for _ in 0..5_000 {
            let us = 1 << random.below(40);
            whole.add(us, 3);
            parts[random.below(5) as usize].add(us, 3);
        }
        // More than 32 bits hold, in several parts.
        for part in &mut parts {
            part.add(77, 1 << 31);
            whole.add(77, 1 << 31);
        }
        let mut forward = Sketch::new();
        parts.iter().for_each(|part| forward.merge(part));
        let mut backward = Sketch::new();
        parts.iter().rev().for_each(|part| backward.merge(part));
        assert_eq!((&forward, &backward), (&whole, &whole));
        assert_eq!(
            Sketch::from_pairs(whole.pairs(), whole.sum()),
            Ok(whole.clone())
        );
        assert_eq!(whole.quantile(0.5), Some(77));
    }

    #[test]
    fn ends_clamp_and_bad_pairs_are_refused() {
        let mut sketch = Sketch::new();
        sketch.add(0, 1);
        sketch.add(u64::MAX, 1);
        sketch.add(5, 0);
        assert_eq!((sketch.count(), sketch.sum()), (2, 10_000_000_001));
        assert_eq!(sketch.quantile(0.0), Some(1));
        for pairs in [
            vec![(Sketch::BUCKETS, 1)],
            vec![(0, 1)],
            vec![(7, 0)],
            vec![(7, 1), (7, 1)],
            vec![(u32::MAX, 1)],
        ] {
            assert!(Sketch::from_pairs(pairs, 0).is_err());
        }
        sketch.add(9, u64::MAX);
        assert_eq!(sketch.count(), u64::MAX);
    }
}
