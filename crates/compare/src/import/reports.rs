//! Files with several reports of a load generator, one after another: each is a run.

use super::builder::Builder;
use super::{ImportError, Input};
use crate::metrics::{Arm, RemarkKind};

/// Reads each report of a file by itself: errors and successes belong to one report. `begins` tells a report's first line.
pub(super) fn each(
    input: &Input,
    begins: impl Fn(&str) -> bool,
    read: impl Fn(&str, &mut Builder),
) -> Result<Vec<Arm>, ImportError> {
    let mut whole = Arm::named(input.name);
    let mut seen = None;
    let reports = split(input.text, begins).into_iter().map(|(line, text)| {
        let mut builder = Builder::new(input);
        read(text, &mut builder);
        let mut arm = builder.arm;
        if arm.metrics.is_empty() {
            let place = format!("{}: line {line}", input.name);
            let why = "a report without a result: its run failed";
            arm.remark(RemarkKind::Failed, place, why);
        }
        // They differ in nothing but what was asked for.
        arm.sources.retain(|source| seen.as_ref() != Some(source));
        seen = arm.sources.last().cloned().or(seen.take());
        arm
    });
    whole.absorb_all(reports);
    Ok(vec![whole])
}

/// Reports, each with the number of its first line. What stands before the first one belongs to it.
fn split(text: &str, begins: impl Fn(&str) -> bool) -> Vec<(usize, &str)> {
    let mut starts = vec![(1, 0)];
    let (mut at, mut is_first) = (0, true);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if begins(line) && !std::mem::take(&mut is_first) {
            starts.push((number + 1, at));
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).map(|(_, at)| *at).chain([text.len()]);
    let parts = starts.iter().zip(ends);
    parts
        .filter_map(|((number, at), end)| Some((*number, text.get(*at..end)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn reports_begin_where_their_first_line_stands() {
        let parts = split("log\nRun a\n1\nRun b\n2\n", |line| line.starts_with("Run"));
        assert_eq!(parts, [(1, "log\nRun a\n1\n"), (4, "Run b\n2\n")]);
        assert_eq!(split("1\n", |_| false), [(1, "1\n")]);
    }
}
