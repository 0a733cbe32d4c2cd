//! Synthetic connections: clustered counts, rare events, heavy-tailed times.
#![allow(dead_code, reason = "each test file uses a part")]

use tcplab_base::Random;
use tcplab_stats::{Block, Ratio};

/// Poisson by multiplication: small means only.
pub fn poisson(random: &mut Random, mean: f64) -> u64 {
    let limit = libm::exp(-mean);
    let (mut product, mut count) = (random.unit(), 0);
    while product > limit {
        product *= random.unit();
        count += 1;
    }
    count
}

/// A draw of at least `minimum`. Without the limit, the mean is `minimum` x alpha / (alpha - 1).
pub fn pareto(random: &mut Random, minimum: f64, alpha: f64, limit: f64) -> f64 {
    (minimum * libm::exp(random.exponential() / alpha)).min(limit)
}

/// What one arm did.
pub struct Arm {
    pub rows: Vec<Ratio>,
    pub latency: Vec<Block>,
}

pub const ROWS: [&str; 9] = [
    "timeouts",
    "probes",
    "dsacks",
    "undos",
    "retransmissions",
    "aborts",
    "recovery mean",
    "abort recovery mean",
    "latency mean",
];

impl Arm {
    pub fn new(groups: usize, blocks: usize) -> Self {
        Self {
            rows: vec![Ratio::new(groups); ROWS.len()],
            latency: vec![Block::default(); blocks],
        }
    }

    /// One connection. `path` gives what its network does in every arm, `own` what differs by arm;
    /// `factor` multiplies the timeouts.
    pub fn connection(&mut self, number: usize, path: &mut Random, own: &mut Random, factor: f64) {
        let group = number % self.rows[0].numerator.len();
        let block = group % self.latency.len();
        let bad = path.chance(60_000_000);
        let severity = match bad {
            true => 0.5 * libm::exp(0.8 * path.normal()),
            false => 0.004,
        };
        let common = poisson(path, 0.5 * severity.min(20.0));
        // A path's own events are kept or not in proportion, so an effect is one on the mean.
        let kept = match factor < 1.0 {
            true => (0..common).filter(|_| own.unit() < factor).count() as u64,
            false => common + poisson(own, common as f64 * (factor - 1.0)),
        };
        let timeouts = kept + poisson(own, 0.5 * severity.min(20.0) * factor);
        let probes = poisson(path, severity.min(20.0)) + poisson(own, 0.01);
        let dsacks = poisson(own, 0.4 * timeouts as f64);
        let undos = (0..timeouts).filter(|_| own.chance(300_000_000)).count() as u64;
        let aborted = u64::from(bad && path.chance(5_000_000));
        let mut recovery = 0;
        for _ in 0..timeouts {
            recovery += pareto(own, 200_000.0, 1.2, 1e9) as u64;
        }
        let abort = aborted * pareto(own, 5e6, 1.5, 1e9) as u64;
        let responses = 1 + path.below(5);
        let rtt = 80_000.0 * libm::exp(0.668 * path.normal());
        let mut latency = 0;
        for response in 0..responses {
            let jitter = 1.0 + 0.1 * own.exponential();
            let size = libm::exp(0.7 * path.normal());
            let waited = if response == 0 { recovery } else { 0 };
            let us = (rtt * size * jitter) as u64 + waited;
            self.latency[block].times.add(us, 1);
            latency += us;
        }
        let counted = [
            (timeouts, 1),
            (probes, 1),
            (dsacks, 1),
            (undos, 1),
            (3 * timeouts + probes, 10 * responses),
            (aborted, 1),
            (recovery, timeouts),
            (abort, aborted),
            (latency, responses),
        ];
        for (row, (n, d)) in self.rows.iter_mut().zip(counted) {
            row.add(group, n, d);
        }
    }
}

/// Two arms over the same connections, or over disjoint ones; the second has `factor` times the
/// timeouts.
pub fn two_arms(
    seed: u64,
    connections: usize,
    groups: usize,
    paired: bool,
    factor: f64,
) -> [Arm; 2] {
    let mut arms = [Arm::new(groups, 64), Arm::new(groups, 64)];
    for (which, arm) in arms.iter_mut().enumerate() {
        let world = if paired { 0 } else { which };
        for number in 0..connections {
            let key = Random::seed_of(seed, (number * 2 + world) as u64);
            let mut path = Random::stream(key, "path");
            let mut own = Random::stream(key, if which == 0 { "arm/0" } else { "arm/1" });
            let factor = if which == 0 { 1.0 } else { factor };
            arm.connection(number, &mut path, &mut own, factor);
        }
    }
    arms
}
