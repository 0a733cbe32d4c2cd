//! Exact values: equal, or not.

use crate::metrics::Metric;
use crate::row::{Row, Verdict};

/// Judges a row of exact values: each run of one side must have its equal at the other, in order. Nothing to measure
/// equals nothing to measure, and differs from a value; of a run that failed nothing is known.
pub fn judge(row: &mut Row, before: &Metric, after: &Metric) {
    let (b, a) = (given(before), given(after));
    if b.iter().chain(&a).all(Option::is_none) {
        // Such as the first delayed ACK where none is delayed.
        row.verdict = Verdict::Equal;
        "neither side has a value".clone_into(&mut row.why);
        return;
    }
    if b.is_empty() || a.is_empty() {
        row.verdict = Verdict::Invalid;
        "one side has no valid run".clone_into(&mut row.why);
        return;
    }
    let runs = b.len().max(a.len());
    let apart = b.iter().zip(&a).filter(|(b, a)| b != a).count() + b.len().abs_diff(a.len());
    row.verdict = match apart {
        0 => Verdict::Equal,
        _ => Verdict::Differs,
    };
    if apart == 0 {
        return;
    }
    let told = match (absent(before), absent(after)) {
        (None, Some(why)) if row.runs_after.is_empty() => Some(format!("nothing after: {why}")),
        (Some(why), None) if row.runs_before.is_empty() => Some(format!("nothing before: {why}")),
        _ => None,
    };
    row.why = match told {
        Some(told) => told,
        None if runs > 1 => format!("{apart} of {runs} runs"),
        None => String::new(),
    };
}

/// What each run gave that did not fail.
fn given(metric: &Metric) -> Vec<Option<f64>> {
    let runs = metric.runs.iter().filter(|run| run.failed.is_none());
    runs.map(|run| run.value).collect()
}

/// Why a metric has no value: the reason of its first run without one.
pub fn absent(metric: &Metric) -> Option<&str> {
    metric.runs.iter().find_map(|run| run.absent.as_deref())
}

#[cfg(test)]
mod tests {
    use crate::{Arm, Better, FlagKind, Metric, Options, Run, Verdict, compare};

    #[test]
    fn nothing_to_measure_is_a_result_and_a_failed_run_is_not() {
        let arm = |(value, failed): (Option<f64>, bool)| {
            let why = |is: bool| is.then(|| "no ACK was delayed".to_owned());
            let mut arm = Arm::named("x");
            arm.metrics.push(Metric {
                exact: true,
                runs: vec![Run {
                    value,
                    failed: why(failed),
                    absent: why(value.is_none() && !failed),
                    ..Run::default()
                }],
                ..Metric::new("first", "", Better::Neither)
            });
            arm
        };
        let (one, none, failed) = ((Some(1.0), false), (None, false), (None, true));
        for (before, after, verdict, why) in [
            (none, none, Verdict::Equal, "neither side has a value"),
            (
                one,
                none,
                Verdict::Differs,
                "nothing after: no ACK was delayed",
            ),
            (
                none,
                one,
                Verdict::Differs,
                "nothing before: no ACK was delayed",
            ),
            (one, one, Verdict::Equal, ""),
            (one, failed, Verdict::Invalid, "one side has no valid run"),
        ] {
            let found = compare(&arm(before), &arm(after), &Options::default());
            let row = &found.rows[0];
            assert_eq!(
                (row.verdict, row.why.as_str()),
                (verdict, why),
                "{before:?} {after:?}"
            );
            let is_told = found.flags.iter().any(|f| f.kind == FlagKind::FailedRun);
            assert_eq!(is_told, before.1 || after.1);
        }
    }

    /// The places of runs count: values are not moved into the gaps.
    #[test]
    fn a_gap_stays_where_it_is() {
        let arm = |values: [Option<f64>; 2]| {
            let run = |value: Option<f64>| Run {
                value,
                absent: value.is_none().then(String::new),
                ..Run::default()
            };
            let mut arm = Arm::named("x");
            arm.metrics.push(Metric {
                exact: true,
                runs: values.map(run).into(),
                ..Metric::new("first", "", Better::Neither)
            });
            arm
        };
        let (before, after) = (arm([Some(1.0), None]), arm([None, Some(1.0)]));
        let found = compare(&before, &after, &Options::default());
        assert_eq!(found.rows[0].verdict, Verdict::Differs);
        assert_eq!(found.rows[0].why, "2 of 2 runs");
    }
}
