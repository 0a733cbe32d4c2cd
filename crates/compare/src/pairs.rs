//! Which run of one arm belongs to which of the other.
//!
//! By the numbers of blocks where runs have them; else by their places in time, when these alternate (before, after,
//! after, before). Runs that lie apart in time cannot be paired.

use std::collections::BTreeMap;

use crate::metrics::Run;

/// How the runs of two arms lie in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// In pairs: places among the runs that count, before and after.
    Pairs(Vec<(usize, usize)>),
    /// Mixed, but not in pairs.
    Mixed,
    /// All of one arm before all of the other.
    Apart,
    /// Two runs have the same time.
    Tied,
    /// Nobody told.
    Unknown,
}

/// How these runs lie; only runs that count are given.
pub fn sequence(before: &[&Run], after: &[&Run]) -> Sequence {
    let order = |run: &Run| run.order.map(|order| order as f64);
    let began = |run: &Run| run.began_s;
    let told = [times(before, after, order), times(before, after, began)];
    let told: Vec<_> = told.into_iter().flatten().collect();
    let is_tied = |times: &&Vec<(f64, usize, usize)>| times.windows(2).any(|w| w[0].0 >= w[1].0);
    let in_time = match told.iter().find(|times| !is_tied(times)) {
        Some(times) => of(times),
        None if told.is_empty() => Sequence::Unknown,
        None => Sequence::Tied,
    };
    // Runs far apart in time are no pairs, even if their blocks say so.
    match by_block(before, after) {
        Some(pairs) if pairs.len() >= 2 && in_time != Sequence::Apart => Sequence::Pairs(pairs),
        _ => in_time,
    }
}

/// Runs of the same block, the first with the first; `None` if a run has no block.
pub(crate) fn by_block(before: &[&Run], after: &[&Run]) -> Option<Vec<(usize, usize)>> {
    let mut blocks: BTreeMap<u32, [Vec<usize>; 2]> = BTreeMap::new();
    for (side, runs) in [before, after].into_iter().enumerate() {
        for (at, run) in runs.iter().enumerate() {
            blocks.entry(run.block?).or_default()[side].push(at);
        }
    }
    for sides in blocks.values_mut() {
        sides[0].sort_by_key(|at| before[*at].order);
        sides[1].sort_by_key(|at| after[*at].order);
    }
    let pairs = blocks
        .values()
        .flat_map(|[before, after]| before.iter().copied().zip(after.iter().copied()));
    Some(pairs.collect())
}

/// Time, side and place of each run in the order of time; none when a run has no time.
fn times(
    before: &[&Run],
    after: &[&Run],
    time: impl Fn(&Run) -> Option<f64>,
) -> Option<Vec<(f64, usize, usize)>> {
    let mut all = Vec::new();
    for (side, runs) in [before, after].into_iter().enumerate() {
        for (at, run) in runs.iter().enumerate() {
            all.push((time(run).filter(|t| t.is_finite())?, side, at));
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(all)
}

fn of(times: &[(f64, usize, usize)]) -> Sequence {
    let changes = times.windows(2).filter(|w| w[0].1 != w[1].1).count();
    let pairs = times.chunks(2).map(|two| match two {
        [(_, 0, before), (_, 1, after)] | [(_, 1, after), (_, 0, before)] => {
            Some((*before, *after))
        }
        _ => None,
    });
    match pairs.collect::<Option<Vec<_>>>() {
        Some(pairs) if pairs.len() >= 2 => Sequence::Pairs(pairs),
        _ if changes <= 1 => Sequence::Apart,
        _ => Sequence::Mixed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(times: &[f64]) -> Vec<Run> {
        let run = |t: &f64| Run {
            began_s: Some(*t),
            ..Run::of(1.0)
        };
        times.iter().map(run).collect()
    }

    fn lie(before: &[Run], after: &[Run]) -> Sequence {
        sequence(
            &before.iter().collect::<Vec<_>>(),
            &after.iter().collect::<Vec<_>>(),
        )
    }

    #[test]
    fn by_time() {
        let abba = lie(&at(&[1.0, 4.0]), &at(&[2.0, 3.0]));
        assert_eq!(abba, Sequence::Pairs(vec![(0, 0), (1, 1)]));
        assert_eq!(lie(&at(&[1.0, 2.0]), &at(&[3.0, 4.0])), Sequence::Apart);
        assert_eq!(
            lie(&at(&[1.0, 2.0, 5.0]), &at(&[3.0, 4.0, 6.0])),
            Sequence::Mixed
        );
        assert_eq!(lie(&[Run::of(1.0)], &[Run::of(2.0)]), Sequence::Unknown);
        assert_eq!(lie(&at(&[1.0, 2.0]), &at(&[2.0, 3.0])), Sequence::Tied);
    }

    #[test]
    fn by_block() {
        let runs = |blocks: &[(u32, u64)]| -> Vec<Run> {
            let run = |(block, order): &(u32, u64)| Run {
                block: Some(*block),
                order: Some(*order),
                ..Run::of(1.0)
            };
            blocks.iter().map(run).collect()
        };
        // A B B A in each block: the first with the first, the second with the second.
        let before = runs(&[(0, 3), (0, 0), (1, 4), (1, 7)]);
        let after = runs(&[(0, 1), (0, 2), (1, 5), (1, 6)]);
        let pairs = vec![(1, 0), (0, 1), (2, 2), (3, 3)];
        assert_eq!(lie(&before, &after), Sequence::Pairs(pairs));
    }
}
