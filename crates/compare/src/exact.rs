//! Exact values: equal, or not.

use crate::row::{Row, Verdict};

/// Judges a row of exact values: each run of one side must have its equal at the other, in order.
pub fn judge(row: &mut Row) {
    let (before, after) = (&row.runs_before, &row.runs_after);
    if before.is_empty() && after.is_empty() {
        // Such as the first delayed ACK where none is delayed.
        row.verdict = Verdict::Equal;
        "no side has a value".clone_into(&mut row.why);
        return;
    }
    if before.is_empty() || after.is_empty() {
        row.verdict = Verdict::Invalid;
        "a side has no value".clone_into(&mut row.why);
        return;
    }
    let apart = before.iter().zip(after).filter(|(b, a)| b != a).count();
    let apart = apart + before.len().abs_diff(after.len());
    row.verdict = match apart {
        0 => Verdict::Equal,
        _ => Verdict::Differs,
    };
    if apart > 0 && before.len().max(after.len()) > 1 {
        row.why = format!("{apart} of {} runs", before.len().max(after.len()));
    }
}

#[cfg(test)]
mod tests {
    use crate::{Arm, Better, Metric, Options, Run, Verdict, compare};

    #[test]
    fn a_value_that_neither_side_has_is_equal_and_one_that_a_side_lacks_is_none() {
        let arm = |value: Option<f64>| {
            let mut arm = Arm::named("x");
            arm.metrics.push(Metric {
                exact: true,
                runs: vec![Run {
                    value,
                    failed: value.is_none().then(|| "there is none".into()),
                    ..Run::default()
                }],
                ..Metric::new("first", "", Better::Neither)
            });
            arm
        };
        for (before, after, verdict) in [
            (None, None, Verdict::Equal),
            (Some(1.0), None, Verdict::Invalid),
            (None, Some(1.0), Verdict::Invalid),
            (Some(1.0), Some(1.0), Verdict::Equal),
        ] {
            let found = compare(&arm(before), &arm(after), &Options::default());
            assert_eq!(found.rows[0].verdict, verdict, "{before:?} {after:?}");
        }
    }
}
