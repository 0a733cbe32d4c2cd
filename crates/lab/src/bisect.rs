//! Searches an ordered list of stacks for the first bad one.
//!
//! Neither end is presumed good or bad, so that N stacks take at most ceil(log2(N + 1)) runs. As
//! with git bisect, all stacks after the first bad one are taken to be bad.

use tcplab_plan::measure::{CannotSay, Expression};
use tcplab_plan::result::{PointResult, RunDocument};

/// What one run said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The expression is false at every point.
    Good,
    /// It is true at one point or more.
    Bad,
}

/// Judges a run: bad when the expression is true at any point.
///
/// # Errors
/// A point that failed, or a measure that has no value, when no other point is bad.
pub fn judge(bad: &Expression, document: &RunDocument) -> Result<Judgement, String> {
    let mut unknown = None;
    for point in &document.points {
        match judge_point(bad, point) {
            Ok(true) => return Ok(Judgement::Bad),
            Ok(false) => {}
            Err(why) => unknown = Some(why),
        }
    }
    match unknown {
        Some(why) => Err(why),
        None if document.points.is_empty() => Err("the experiment has no points".into()),
        None => Ok(Judgement::Good),
    }
}

fn judge_point(bad: &Expression, point: &PointResult) -> Result<bool, String> {
    if let Some(e) = &point.error {
        return Err(e.clone());
    }
    let value = |name: &str| point.measures.get(name).copied().flatten();
    bad.evaluate(&value).map_err(|e: CannotSay| {
        match e.missing().and_then(|name| point.missing.get(name)) {
            Some(why) => format!("{e}: {why}"),
            None => e.to_string(),
        }
    })
}

/// The index of the first bad one of `n`, or none when all are good. `run` judges one.
///
/// # Errors
/// The first thing that `run` could not say.
pub fn first_bad<E>(
    n: usize,
    mut run: impl FnMut(usize) -> Result<Judgement, E>,
) -> Result<Option<usize>, E> {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        match run(middle)? {
            Judgement::Bad => high = middle,
            Judgement::Good => low = middle + 1,
        }
    }
    Ok((low < n).then_some(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_found_within_the_bound() {
        for n in 0..40_usize {
            let bound = (n + 1).next_power_of_two().trailing_zeros();
            for first in 0..=n {
                let mut runs = 0;
                let found = first_bad(n, |i| {
                    runs += 1;
                    let bad = i >= first;
                    Ok::<_, ()>(if bad { Judgement::Bad } else { Judgement::Good })
                });
                assert_eq!(found, Ok((first < n).then_some(first)));
                assert!(runs <= bound, "{runs} runs for {n}");
            }
        }
    }

    #[test]
    fn unjudged_point_ends_the_search() {
        assert_eq!(first_bad(3, |_| Err::<Judgement, _>("why")), Err("why"));
    }
}
