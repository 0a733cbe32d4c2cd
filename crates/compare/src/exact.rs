//! Exact values: equal, or not.

use crate::metrics::{Metric, Run};
use crate::pairs::by_block;
use crate::row::{Row, Verdict};
use crate::shown::show;

/// Judges a row of exact values: each run of one side must have its equal at the other. No value differs from a value; two
/// sides without one, and a run that failed, say nothing.
pub fn judge(row: &mut Row, before: &Metric, after: &Metric) {
    let (b, a) = (valid(&before.runs), valid(&after.runs));
    let are_runs = !b.is_empty() && !a.is_empty();
    if are_runs && b.iter().chain(&a).all(|run| run.value.is_none()) {
        // Such as packets that neither run captured.
        row.verdict = Verdict::Missing;
        row.why = match absent(before).or_else(|| absent(after)) {
            Some(why) => format!("neither side has a value: {why}"),
            None => "neither side has a value".to_owned(),
        };
        return;
    }
    let (pairs, lone) = match partners(&b, &a) {
        Some(pairs) => (pairs, 0),
        None => by_place(&before.runs, &after.runs),
    };
    if pairs.is_empty() {
        row.verdict = Verdict::Invalid;
        row.why = match b.is_empty() || a.is_empty() {
            true => "one side has no valid run".to_owned(),
            false => "no repetition is valid on both sides".to_owned(),
        };
        return;
    }
    if lone == 0 && 2 * pairs.len() < b.len() + a.len() {
        let (b, a): (Vec<&Run>, Vec<&Run>) = pairs.iter().copied().unzip();
        show(row, &b, &a);
    }
    let runs = pairs.len() + lone;
    let apart = pairs.iter().filter(|(b, a)| b.value != a.value).count() + lone;
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

/// The runs that did not fail.
pub fn valid<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Vec<&'a Run> {
    let runs = runs.into_iter();
    runs.filter(|run| run.failed.is_none()).collect()
}

/// Valid runs of the same repetition; `None` if runs do not tell which it is.
pub fn partners<'a>(before: &[&'a Run], after: &[&'a Run]) -> Option<Vec<(&'a Run, &'a Run)>> {
    let pairs = by_block(before, after)?;
    Some(pairs.iter().map(|(b, a)| (before[*b], after[*a])).collect())
}

/// Valid runs at the same place, and how many runs one side has more.
fn by_place<'a>(before: &'a [Run], after: &'a [Run]) -> (Vec<(&'a Run, &'a Run)>, usize) {
    let is_valid = |(b, a): &(&Run, &Run)| b.failed.is_none() && a.failed.is_none();
    let pairs = before.iter().zip(after).filter(is_valid).collect();
    let more = before.iter().skip(after.len());
    let more = more.chain(after.iter().skip(before.len()));
    (pairs, valid(more).len())
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
            (
                none,
                none,
                Verdict::Missing,
                "neither side has a value: no ACK was delayed",
            ),
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
