//! Runs against a host that does what each test lists.

mod calls;
mod host;
mod packets;

use super::{Report, Verdict};

/// Line and text of a failure.
fn why(report: &Report) -> (u32, &str) {
    match &report.verdict {
        Verdict::Fail(failure) => (failure.line, &failure.why),
        other => panic!("{other:?}"),
    }
}
