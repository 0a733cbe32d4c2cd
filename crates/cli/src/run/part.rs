//! Parts of a campaign: `--points`, and `--shard` of points.

use std::str::FromStr;

use super::args::RunArgs;
use crate::failure::Failure;

/// `0,4,7-12`: numbers of points, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points(Vec<usize>);

/// Points that an experiment has at most, on all stacks.
const MOST: usize = 10_000_000;

impl FromStr for Points {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "write numbers and ranges, such as 0,4,7-12".to_owned();
        let mut all = Vec::new();
        for word in text.split(',') {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            let first: usize = first.trim().parse().map_err(|_| wrong())?;
            let last: usize = last.trim().parse().map_err(|_| wrong())?;
            if last >= MOST || first > last {
                return Err(wrong());
            }
            all.extend(first..=last);
        }
        all.sort_unstable();
        all.dedup();
        Ok(Self(all))
    }
}

/// The numbers of the points that a command line asks for; none: all of them.
pub fn chosen(args: &RunArgs, count: usize) -> Result<Option<Vec<usize>>, Failure> {
    if let Some(shard) = args.shard.filter(|shard| !shard.is_whole()) {
        return Ok(Some((0..count).filter(|n| shard.has(*n)).collect()));
    }
    match &args.points {
        Some(Points(all)) if all.last().is_some_and(|last| *last >= count) => {
            Err(Failure::usage(format!(
                "--points: the experiment has points 0 to {}, on all stacks; `--dry-run` lists them",
                count.saturating_sub(1)
            )))
        }
        points => Ok(points.as_ref().map(|points| points.0.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_numbers_and_ranges() {
        let all = |text: &str| text.parse::<Points>().map(|points| points.0);
        assert_eq!(all("7-9,0,8"), Ok(vec![0, 7, 8, 9]));
        for wrong in ["", "a", "3-1", "1,,2", "0-99999999999"] {
            assert!(all(wrong).is_err(), "{wrong}");
        }
    }
}
