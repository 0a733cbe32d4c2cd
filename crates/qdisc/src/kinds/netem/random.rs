//! Draws of 32 bits, each like the one before as far as is asked (`get_crandom()`).

use tcplab_base::Random;

use super::settings::Chance;

/// A number of 32 bits.
pub(crate) fn draw(draws: &mut Random) -> u32 {
    draws.below(1 << 32) as u32
}

/// A stream of such numbers.
#[derive(Clone, Debug)]
pub(crate) struct Correlated {
    draws: Random,
    last: u32,
    rho: u32,
}

impl Correlated {
    /// A stream with a correlation in parts of 2^32.
    pub fn new(mut draws: Random, rho: u32) -> Self {
        let last = draw(&mut draws);
        Self { draws, last, rho }
    }

    pub fn next(&mut self) -> u32 {
        let value = draw(&mut self.draws);
        if self.rho == 0 {
            return value;
        }
        let rho = u64::from(self.rho) + 1;
        let sum = u64::from(value) * ((1 << 32) - rho) + u64::from(self.last) * rho;
        self.last = (sum >> 32) as u32;
        self.last
    }
}

/// A chance with draws of its own.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    probability: u32,
    draws: Correlated,
}

impl Event {
    pub fn new(chance: Chance, draws: Random) -> Self {
        Self {
            probability: chance.probability,
            draws: Correlated::new(draws, chance.correlation),
        }
    }

    /// Whether it happens this time; one that never does takes no draw.
    pub fn happens(&mut self) -> bool {
        self.probability > 0 && self.probability >= self.draws.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlation_shows_in_neighbours() {
        for (rho, right) in [(0, 0.0), (1 << 30, 0.25), (3 << 30, 0.75), (u32::MAX, 1.0)] {
            let mut draws = Correlated::new(Random::stream(3, "t"), rho);
            let all: Vec<f64> = (0..40_000).map(|_| f64::from(draws.next())).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let product = |a: f64, b: f64| (a - mean) * (b - mean);
            let own: f64 = all.iter().map(|a| product(*a, *a)).sum();
            let next: f64 = all.windows(2).map(|w| product(w[0], w[1])).sum();
            let is = if own == 0.0 { 1.0 } else { next / own };
            // Five standard errors of 40,000 draws are 0.025.
            assert!((is - right).abs() < 0.025, "{rho}: {is} for {right}");
        }
    }
}
