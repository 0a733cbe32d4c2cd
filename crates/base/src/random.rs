//! Random streams: one for each consumer, named, all from one seed.
//!
//! A stream depends on the run's seed and its own name only, so that a new consumer moves nobody
//! else's draws. The generator is PCG (XSL-RR 128/64, Pcg64Mcg); draws are integers: the same on
//! every machine.

use rand_core::Rng as _;
use rand_pcg::Pcg64Mcg;

use crate::Duration;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(Pcg64Mcg);

impl Random {
    /// The stream of this name (`link/2/loss`) in the run with this seed.
    pub fn stream(seed: u64, name: &str) -> Self {
        // FNV-1a over the name, then both words spread by SplitMix64: near names and near seeds
        // give unrelated states.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let high = split_mix(seed ^ split_mix(hash));
        let low = split_mix(high ^ hash);
        Self(Pcg64Mcg::new(u128::from(high) << 64 | u128::from(low)))
    }

    /// The seed of one of many that are drawn apart, each by its number: a connection of a population.
    pub fn seed_of(seed: u64, number: u64) -> u64 {
        split_mix(seed ^ split_mix(number))
    }

    /// A number below `n`, without bias; 0 when `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        // Lemire: multiply, and draw again where the low half shows a bias.
        let mut wide = u128::from(self.0.next_u64()) * u128::from(n);
        if (wide as u64) < n {
            let least = n.wrapping_neg() % n;
            while (wide as u64) < least {
                wide = u128::from(self.0.next_u64()) * u128::from(n);
            }
        }
        (wide >> 64) as u64
    }

    /// True with a chance of `ppb` billionths (10^-9).
    pub fn chance(&mut self, ppb: u32) -> bool {
        ppb > 0 && self.below(1_000_000_000) < u64::from(ppb)
    }

    /// A time from `-most` to `most`, each nanosecond equally likely.
    pub fn around(&mut self, most: Duration) -> Duration {
        let most = most.as_nanos().max(0);
        let drawn = self.below((most as u64).saturating_mul(2).saturating_add(1));
        Duration::from_nanos(drawn as i64 - most)
    }
}

fn split_mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, name: &str) -> u64 {
        Random::stream(seed, name).below(u64::MAX)
    }

    #[test]
    fn streams_repeat_and_differ_by_seed_and_name() {
        assert_eq!(first(1, "link/0/loss"), first(1, "link/0/loss"));
        assert_ne!(first(1, "link/0/loss"), first(2, "link/0/loss"));
        assert_ne!(first(1, "link/0/loss"), first(1, "link/1/loss"));
        // A golden value: published results depend on it.
        assert_eq!(Random::stream(7, "golden").below(1_000_000), GOLDEN);
    }

    const GOLDEN: u64 = 486_177;

    #[test]
    fn draws_are_even() {
        let mut random = Random::stream(1, "test");
        let mut seen = [0_u32; 5];
        for _ in 0..50_000 {
            seen[random.below(5) as usize] += 1;
        }
        // Five sigma of a binomial with n = 50,000 and p = 1/5 are 447.
        assert!(seen.iter().all(|n| n.abs_diff(10_000) < 447), "{seen:?}");
        let lost = (0..50_000).filter(|_| random.chance(100_000_000)).count();
        assert!(lost.abs_diff(5_000) < 335, "{lost}");
        assert!(!random.chance(0));
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn around_stays_inside() {
        let mut random = Random::stream(1, "test");
        let most = Duration::from_nanos(3);
        let drawn: Vec<i64> = (0..1000).map(|_| random.around(most).as_nanos()).collect();
        assert_eq!(drawn.iter().min(), Some(&-3));
        assert_eq!(drawn.iter().max(), Some(&3));
        assert_eq!(random.around(Duration::ZERO), Duration::ZERO);
    }
}
