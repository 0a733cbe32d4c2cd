//! Exact values: equal, or not.

use crate::row::{Row, Verdict};

/// Judges a row of exact values: each run of one side must have its equal at the other, in order.
pub fn judge(row: &mut Row) {
    let (before, after) = (&row.runs_before, &row.runs_after);
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
