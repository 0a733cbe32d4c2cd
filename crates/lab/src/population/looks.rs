//! When a run with `stop = "decided"` looks at its table, and how much of the significance level each look may spend.
//!
//! A run that may end at any look errs more often than a run with one look: with five looks at 5 %, about 17 % of runs
//! decide falsely. So the looks share the level. The final table's share of false rows is at most the sum of the
//! shares of all looks (Bonferroni), and these sum to the level. The same holds for intervals that miss the true
//! value. Looks come at doubling numbers of groups; each spends the level in proportion to its new groups (Lan and
//! DeMets, Biometrika 70 (1983), with linear spending).

use tcplab_plan::Population;

use super::engine::GROUPS;

/// Groups of the first look.
const FIRST: u32 = 128;

/// The groups of each look: the last one has all.
pub(crate) fn looks() -> impl Iterator<Item = u32> {
    std::iter::successors(Some(FIRST), |groups| Some(groups * 2)).take_while(|n| *n <= GROUPS)
}

/// The part of the level that the table of so many groups may spend; all of it in a run without early stop.
pub(crate) fn share(population: &Population, groups: u32) -> f64 {
    match population.compare.stops {
        true => spent(groups.min(GROUPS), FIRST, GROUPS),
        false => 1.0,
    }
}

/// What the last look spends of looks at `first` groups, then at twice as many each, up to `all`.
fn spent(groups: u32, first: u32, all: u32) -> f64 {
    let own = std::iter::successors(Some(first), |n| Some(n * 2))
        .take_while(|n| *n <= groups)
        .last()
        .unwrap_or(first);
    let new = if own == first { first } else { own / 2 };
    f64::from(new) / f64::from(all)
}

#[cfg(test)]
mod tests {
    use tcplab_base::Random;
    use tcplab_stats::{Design, Ratio, Verdict, compare, judge};

    use super::*;

    #[test]
    fn looks_spend_the_level_once() {
        let all: Vec<u32> = looks().collect();
        assert_eq!(all, [128, 256, 512, 1_024, 2_048]);
        let shares: Vec<f64> = all.iter().map(|n| spent(*n, FIRST, GROUPS)).collect();
        assert_eq!(shares, [1.0 / 16.0, 1.0 / 16.0, 0.125, 0.25, 0.5]);
        assert_eq!(shares.iter().sum::<f64>(), 1.0);
    }

    /// Experiments of one row without a difference that decide it at one of five looks; `share` says what a look spends.
    fn false_ends(experiments: u64, share: impl Fn(u32) -> f64) -> usize {
        const ALL: u32 = 512;
        let ends = |seed: &u64| {
            let mut random = Random::stream(*seed, "looks");
            let mut row = vec![Ratio::new(ALL as usize), Ratio::new(ALL as usize)];
            let mut next = 0;
            [32, 64, 128, 256, ALL].iter().any(|&groups| {
                while next < groups {
                    // Events that both arms share, and some of their own.
                    let events = random.below(4);
                    for arm in &mut row {
                        let own: u64 = (0..4).map(|_| u64::from(random.below(4) == 0)).sum();
                        arm.add(next as usize, events + own, 10);
                    }
                    next += 1;
                }
                let design = Design {
                    seed: *seed,
                    replicates: 300,
                    ..Design::default()
                };
                let there = |of: &Vec<u64>| of[..groups as usize].to_vec();
                let part = row.iter().map(|arm| Ratio {
                    numerator: there(&arm.numerator),
                    denominator: there(&arm.denominator),
                });
                let found = compare(&[part.collect()], &design)[0][0].ok();
                let verdict = judge(&[(found, None)], 0.05 * share(groups), 1)[0];
                matches!(verdict, Verdict::Lower | Verdict::Higher)
            })
        };
        (0..experiments).filter(ends).count()
    }

    #[test]
    fn looking_often_decides_no_more_often_falsely() {
        // 5 % of 400 are 20; a binomial is above 33 in less than 0.3 % of cases.
        let wrong = false_ends(400, |groups| spent(groups, 32, 512));
        assert!(wrong <= 33, "{wrong}");
        // Each look at the whole level: this is what the shares are for.
        let naive = false_ends(400, |_| 1.0);
        assert!(naive > 40, "{naive}");
    }
}
