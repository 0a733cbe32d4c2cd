//! Lower, higher, the same, or not decided.

use tcplab_base::normal;

use crate::{Difference, bh};

/// What a comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The arm has less than the baseline, at the table's false discovery rate.
    Lower,
    /// The arm has more than the baseline, at the table's false discovery rate.
    Higher,
    /// The interval lies inside the band: any difference is small.
    Same,
    /// None of these yet.
    Undecided {
        /// How many connections more, beside those that were run, decide it with four chances in
        /// five when the difference is what was measured (a standard error shrinks with the square
        /// root of their number). None when no number can be named.
        more_connections: Option<u64>,
    },
}

/// The power that [`Verdict::Undecided`] asks for: 80 %.
const POWER: f64 = 0.8;
/// More than so many times the connections is no advice.
const MOST_TIMES: f64 = 1e6;

/// Judges all comparisons of a table together. Each has its difference, if there is one, and the band
/// in which it counts as the same, in per cent. `q` is the false discovery rate of the table,
/// `connections` what each arm ran.
pub fn judge(
    table: &[(Option<Difference>, Option<f64>)],
    q: f64,
    connections: u64,
) -> Vec<Verdict> {
    // What was not compared was not tested.
    let p: Vec<f64> = table
        .iter()
        .filter_map(|(found, _)| found.map(|found| found.p))
        .collect();
    let found = bh(&p, q);
    let critical = -normal::quantile(found.next / 2.0);
    let mut adjusted = found.adjusted.iter();
    let verdict = |(difference, band): &(Option<Difference>, Option<f64>)| {
        let Some(difference) = difference else {
            return Verdict::Undecided {
                more_connections: None,
            };
        };
        let decided = adjusted.next().is_some_and(|p| *p <= q);
        let band = band.unwrap_or(0.0);
        if -band < difference.low_percent && difference.high_percent < band {
            return Verdict::Same;
        }
        match decided {
            true if difference.percent < 0.0 => Verdict::Lower,
            true => Verdict::Higher,
            false => Verdict::Undecided {
                more_connections: more(difference, band, critical, connections),
            },
        }
    };
    table.iter().map(verdict).collect()
}

fn more(difference: &Difference, band: f64, critical: f64, connections: u64) -> Option<u64> {
    let size = difference.percent.abs();
    if !size.is_finite() {
        return None;
    }
    let apart = (critical + normal::quantile(POWER)) * difference.se_percent / size;
    let reach = (difference.high_percent - difference.percent)
        .max(difference.percent - difference.low_percent);
    // The measured difference moves too: the same power for the same band.
    let reach = reach + normal::quantile(POWER) * difference.se_percent;
    let inside = if size < band {
        reach / (band - size)
    } else {
        f64::INFINITY
    };
    let least = apart.min(inside);
    let times = least * least - 1.0;
    let more = (connections as f64 * times).ceil().max(1.0);
    (times <= MOST_TIMES).then_some(more as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(percent: f64, se: f64) -> Difference {
        Difference {
            percent,
            low_percent: percent - 1.96 * se,
            high_percent: percent + 1.96 * se,
            se_percent: se,
            p: 2.0 * normal::cdf(-percent.abs() / se),
            bearing_groups: 100.0,
        }
    }

    #[test]
    fn each_verdict() {
        let table = [
            (Some(difference(12.0, 2.0)), None),
            (Some(difference(-16.0, 2.0)), Some(1.0)),
            (Some(difference(0.5, 0.1)), Some(1.0)),
            (Some(difference(0.5, 0.4)), Some(1.0)),
            (Some(difference(4.0, 2.0)), None),
            (None, Some(1.0)),
        ];
        let verdicts = judge(&table, 0.05, 1_000);
        assert_eq!(
            verdicts[..3],
            [Verdict::Higher, Verdict::Lower, Verdict::Same]
        );
        let more = |at: usize| match verdicts[at] {
            Verdict::Undecided { more_connections } => more_connections,
            other => panic!("{at}: {other:?}"),
        };
        // Its reach 0.78, and 0.84 standard errors of 0.4, in the 0.5 that are left.
        let times = (0.784 + 0.8416 * 0.4) / 0.5;
        assert!(
            more(3)
                .unwrap()
                .abs_diff((1_000.0 * (times * times - 1.0)) as u64)
                <= 2
        );
        // Three count; a fourth of five would at 0.04: z = 2.0537.
        let times: f64 = (2.0537 + 0.8416) * 2.0 / 4.0;
        assert!(
            more(4)
                .unwrap()
                .abs_diff((1_000.0 * (times * times - 1.0)) as u64)
                <= 2
        );
        assert_eq!(more(5), None);
        let nothing = [(Some(difference(0.0, 1.0)), None)];
        let verdict = Verdict::Undecided {
            more_connections: None,
        };
        assert_eq!(judge(&nothing, 0.05, 1_000), [verdict]);
    }
}
