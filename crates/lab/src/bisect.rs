//! Searches an ordered list of stacks for the first bad one.
//!
//! Neither end is presumed good or bad: the last one runs first, then the first one, so that N stacks
//! take at most ceil(log2(N)) + 2 runs. As with git bisect, all stacks after the first bad one are
//! taken to be bad.

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

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The index of the first bad one.
    FirstBad(usize),
    /// Both ends are good; those between were not run.
    GoodEnds,
    /// The first one is bad and the last one is good: the order is not from good to bad.
    Reversed,
}

/// The first bad one of `n`. `run` judges one.
///
/// # Errors
/// The first thing that `run` could not say.
pub fn first_bad<E>(
    n: usize,
    mut run: impl FnMut(usize) -> Result<Judgement, E>,
) -> Result<Found, E> {
    let Some(last) = n.checked_sub(1) else {
        return Ok(Found::GoodEnds);
    };
    let at_last = run(last)?;
    let at_first = match last {
        0 => at_last,
        _ => run(0)?,
    };
    match (at_first, at_last) {
        (Judgement::Bad, Judgement::Good) => Ok(Found::Reversed),
        (Judgement::Bad, Judgement::Bad) => Ok(Found::FirstBad(0)),
        (Judgement::Good, Judgement::Good) => Ok(Found::GoodEnds),
        (Judgement::Good, Judgement::Bad) => between(last, run).map(Found::FirstBad),
    }
}

/// The first bad one after the first, which is good, up to `last`, which is bad.
fn between<E>(last: usize, mut run: impl FnMut(usize) -> Result<Judgement, E>) -> Result<usize, E> {
    let (mut low, mut high) = (1, last);
    while low < high {
        let middle = low + (high - low) / 2;
        match run(middle)? {
            Judgement::Bad => high = middle,
            Judgement::Good => low = middle + 1,
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found when `bad` says which ones are bad, and which ones ran.
    fn search(n: usize, bad: impl Fn(usize) -> bool) -> (Found, Vec<usize>) {
        let mut ran = Vec::new();
        let found = first_bad(n, |i| {
            ran.push(i);
            Ok::<_, ()>(if bad(i) {
                Judgement::Bad
            } else {
                Judgement::Good
            })
        });
        (found.unwrap(), ran)
    }

    #[test]
    fn every_place_is_found_within_the_bound() {
        for n in 0..40_usize {
            let bound = n.next_power_of_two().trailing_zeros() as usize + 2;
            for first in 0..=n {
                let (found, ran) = search(n, |i| i >= first);
                let expected = if first < n {
                    Found::FirstBad(first)
                } else {
                    Found::GoodEnds
                };
                assert_eq!(found, expected, "{n} {first}");
                assert!(ran.len() <= bound, "{ran:?} for {n}");
            }
        }
    }

    #[test]
    fn both_ends_run_before_all_others() {
        assert_eq!(
            search(4, |i| i >= 2),
            (Found::FirstBad(2), vec![3, 0, 2, 1])
        );
        assert_eq!(search(4, |_| true), (Found::FirstBad(0), vec![3, 0]));
        assert_eq!(search(4, |i| i == 1), (Found::GoodEnds, vec![3, 0]));
        assert_eq!(search(4, |i| i < 3), (Found::Reversed, vec![3, 0]));
        assert_eq!(search(1, |_| true), (Found::FirstBad(0), vec![0]));
    }

    #[test]
    fn unjudged_point_ends_the_search() {
        assert_eq!(first_bad(3, |_| Err::<Judgement, _>("why")), Err("why"));
    }
}
