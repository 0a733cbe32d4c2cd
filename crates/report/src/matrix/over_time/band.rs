//! One quantity over time in few numbers: time is cut into bins, and each has the mean, the least and the most of what
//! fell into it. So a peak stays, however long the run and however few the bins.

use serde::{Serialize, Serializer};

/// A quantity over time.
#[derive(Debug, Serialize)]
pub struct Band {
    /// The number of the first bin here; bin n is of the time from n bins after the run's start on.
    first: usize,
    /// What the numbers are to be multiplied with: a power of ten.
    scale: f64,
    /// Means; none: nothing fell into the bin.
    mid: Vec<Number>,
    /// The least of each; left out where it is the mean in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<Vec<Number>>,
    /// The most of each; left out where it is the mean in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<Vec<Number>>,
}

/// An observation: when, and its mean, least and most.
pub(super) type Sample = (i64, [f64; 3]);

/// An integer, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number(Option<i64>);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

#[derive(Clone, Copy, Default)]
struct Bin {
    n: u32,
    sum: f64,
    least: f64,
    most: f64,
}

impl Bin {
    fn add(&mut self, [mid, least, most]: [f64; 3]) {
        if self.n == 0 {
            (self.least, self.most) = (least, most);
        }
        self.n += 1;
        self.sum += mid;
        self.least = self.least.min(least);
        self.most = self.most.max(most);
    }
}

/// Digits that the largest number keeps.
const DIGITS: i32 = 5;

impl Band {
    /// The samples in bins of `bin_ns`; a sample stands for the time that ends with it. None: there is none.
    pub(super) fn of(samples: &[Sample], bin_ns: i64) -> Option<Self> {
        let place =
            |at: i64| usize::try_from((at - 1).max(0) / bin_ns.max(1)).unwrap_or(usize::MAX);
        let first = samples.iter().map(|(at, _)| place(*at)).min()?;
        let last = samples.iter().map(|(at, _)| place(*at)).max()?;
        let mut bins = vec![Bin::default(); last - first + 1];
        for (at, values) in samples {
            bins[place(*at) - first].add(*values);
        }
        let most = bins.iter().map(|bin| bin.most.abs()).fold(0.0, f64::max);
        // Powers of ten by multiplication: alike on every machine.
        let mut exponent = 0;
        while ten(exponent + DIGITS) <= most {
            exponent += 1;
        }
        while exponent > -6 && most > 0.0 && ten(exponent + DIGITS - 1) > most {
            exponent -= 1;
        }
        let number = |value: fn(&Bin) -> f64| {
            let number = |bin: &Bin| {
                let whole = (value(bin) / ten(exponent)).round() as i64;
                Number((bin.n > 0).then_some(whole))
            };
            bins.iter().map(number).collect::<Vec<_>>()
        };
        let mid = number(|bin| bin.sum / f64::from(bin.n));
        let (low, high) = (number(|bin| bin.least), number(|bin| bin.most));
        let is_line = low == mid && high == mid;
        Some(Self {
            first,
            scale: ten(exponent),
            mid,
            low: (!is_line).then_some(low),
            high: (!is_line).then_some(high),
        })
    }
}

fn ten(exponent: i32) -> f64 {
    let power = (0..exponent.abs()).fold(1.0, |power, _| power * 10.0);
    match exponent < 0 {
        true => 1.0 / power,
        false => power,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(samples: &[Sample], bin_ns: i64) -> String {
        serde_json::to_string(&Band::of(samples, bin_ns)).unwrap()
    }

    #[test]
    fn a_bin_keeps_what_was_least_and_most_in_it() {
        let samples = [
            (10, [3_000.0, 0.0, 9_000.0]),
            (20, [1_000.0, 500.0, 2_000.0]),
            // Nothing from 20 to 40.
            (45, [7.0, 7.0, 7.0]),
        ];
        assert_eq!(
            json(&samples, 20),
            r#"{"first":0,"scale":0.1,"mid":[20000,null,70],"low":[0,null,70],"high":[90000,null,70]}"#
        );
    }

    #[test]
    fn what_has_no_extremes_is_a_line_and_begins_where_it_begins() {
        let rates: Vec<Sample> = [(30, 4.6951e9), (40, 1e3)]
            .map(|(at, v)| (at, [v; 3]))
            .into();
        assert_eq!(
            json(&rates, 10),
            r#"{"first":2,"scale":100000.0,"mid":[46951,0]}"#
        );
        assert_eq!(
            json(&[(10, [0.95; 3]), (20, [0.0; 3])], 10),
            r#"{"first":0,"scale":0.00001,"mid":[95000,0]}"#
        );
        assert_eq!(json(&[], 10), "null");
        assert_eq!(
            json(&[(10, [0.0; 3])], 10),
            r#"{"first":0,"scale":1.0,"mid":[0]}"#
        );
    }
}
