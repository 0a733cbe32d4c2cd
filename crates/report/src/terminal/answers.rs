//! The answer of a run with repetitions: of each measure the mean of every arm with its interval, and the change.

use tcplab_compare::{Answer, Answers, Better, Figure, Row, Verdict};
use tcplab_plan::measure::{Described, Unit};

use super::Theme;
use super::style::{Ink, safe};
use super::table::{Align, Cell, Table};
use crate::compare::{figures, ink};

/// Runs from which on their spread says how many more it takes.
const ENOUGH_TO_GUESS: usize = 5;

/// Stands behind the verdict of fewer.
const FEW: &str = " (few runs)";

/// Draws it.
pub fn answers(answers: &Answers, theme: &Theme) -> String {
    let mut out = theme.lines(&head(answers), theme.width, "", None);
    let table = table(answers);
    for (answer, lines) in answers.measures.iter().zip(blocks(&table, answers, theme)) {
        let better = match answer.measure.better {
            Better::Higher => ", more is better",
            Better::Lower => ", less is better",
            Better::Neither => "",
        };
        let name = theme.paint(Ink::Bold, &safe(&answer.measure.name));
        out += &format!("\n{name}{}\n{lines}", theme.paint(Ink::Dim, better));
    }
    let foot = theme.lines(&foot(answers), theme.width, "", Some(Ink::Dim));
    out + "\n" + &foot
}

fn head(answers: &Answers) -> String {
    let percent = answers.level * 100.0;
    let mut text = format!(
        "{} runs of each, each with its own seed. Mean and {percent:.0} % interval",
        answers.repeats
    );
    if let Some(against) = &answers.against {
        text += &format!(
            "; change against `{}`, all else equal, and its interval",
            safe(against)
        );
    }
    text
}

/// All rows in one table, so that columns stand below each other from measure to measure.
fn table(answers: &Answers) -> Table {
    let mut table = Table::new(&[
        ("", Align::Left),
        ("", Align::Right),
        ("", Align::Right),
        ("", Align::Right),
        ("", Align::Left),
        ("", Align::Left),
        ("", Align::Left),
    ]);
    for answer in &answers.measures {
        for figure in &answer.figures {
            table.row(row(&answer.measure, figure));
        }
    }
    table.drop_empty(&[]);
    table
}

fn row(measure: &Described, figure: &Figure) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![
        safe(&figure.arm).into(),
        figure
            .mean
            .map_or("-".into(), |mean| text(measure.unit, mean))
            .into(),
        reach(figure).into(),
    ];
    match figure
        .change
        .as_ref()
        .filter(|row| row.verdict != Verdict::Missing)
    {
        None => cells.extend(["".into(), "".into(), "".into()]),
        Some(row) => cells.extend([
            change(row).into(),
            interval(row).into(),
            Cell::inked(verdict(row), ink(row.verdict)),
        ]),
    }
    cells.push(
        match figure.with_value == figure.runs {
            true => String::new(),
            false => format!("{} of {} runs", figure.with_value, figure.runs),
        }
        .into(),
    );
    cells
}

/// A mean is no whole number, and its digits behind the point say nothing where it is large.
fn text(unit: Unit, mean: f64) -> String {
    let step = match mean.abs() {
        large if large >= 100.0 => 1.0,
        large if large >= 10.0 => 10.0,
        large if large >= 1.0 => 100.0,
        _ => return unit.text(mean),
    };
    let text = unit.text((mean * step).round() / step);
    let is_plain = !matches!(unit, Unit::BitsPerSecond | Unit::Microseconds | Unit::Bytes);
    match text.contains('.') && is_plain {
        true => text.trim_end_matches('0').to_owned(),
        false => text,
    }
}

/// The verdict; how many runs would decide is a guess while there are few.
fn verdict(row: &Row) -> String {
    let runs = row.runs_before.len().min(row.runs_after.len());
    match row.needs {
        Some(_) if runs < ENOUGH_TO_GUESS => format!("{}{FEW}", row.verdict.word()),
        None if runs < ENOUGH_TO_GUESS && has_zero(row) && row.verdict == Verdict::Undecided => {
            format!("{}{FEW}", row.verdict.word())
        }
        _ => figures::verdict(row),
    }
}

/// Whether the change was judged as a difference: a ratio has no interval if a run has the value 0 (or values have both
/// signs).
fn has_zero(row: &Row) -> bool {
    row.p.is_some() && row.interval_percent.is_none()
}

fn change(row: &Row) -> String {
    match row.change_percent {
        None => String::new(),
        Some(change) if change.abs() >= 99.95 => format!("{change:+.0} %"),
        Some(change) => format!("{change:+.1} %"),
    }
}

fn interval(row: &Row) -> String {
    match row.interval_percent {
        None => String::new(),
        Some((low, high)) => {
            // As many digits as both need.
            let places = usize::from(low.abs().min(high.abs()) < 9.95);
            format!("({low:+.places$} to {high:+.places$})")
        }
    }
}

fn reach(figure: &Figure) -> String {
    let (Some(mean), Some(reach)) = (figure.mean, figure.reach) else {
        return String::new();
    };
    let percent = 100.0 * reach / mean.abs();
    match percent {
        0.0 => "\u{b1}0 %".into(),
        p if !p.is_finite() => String::new(),
        p if p >= 9.95 => format!("\u{b1}{p:.0} %"),
        p if p >= 0.095 => format!("\u{b1}{p:.1} %"),
        p => format!("\u{b1}{p:.2} %"),
    }
}

/// The lines of each measure.
fn blocks(table: &Table, answers: &Answers, theme: &Theme) -> Vec<String> {
    let rendered = table.render(theme);
    let mut lines = rendered.lines().skip(table.heading());
    let take = |answer: &Answer| {
        let own = lines.by_ref().take(answer.figures.len());
        own.map(|line| format!("{}\n", line.trim_end())).collect()
    };
    answers.measures.iter().map(take).collect()
}

fn foot(answers: &Answers) -> String {
    let figures = answers.measures.iter().flat_map(|answer| &answer.figures);
    let rows: Vec<&Row> = figures
        .filter_map(|figure| figure.change.as_ref())
        .collect();
    let has = |verdict: Verdict| rows.iter().any(|row| row.verdict == verdict);
    let mut parts = Vec::new();
    if has(Verdict::Same) {
        let band = answers.band_percent;
        parts.push(format!("same: the whole interval lies within {band} %"));
    }
    if rows.iter().any(|row| verdict(row).contains('~')) {
        parts.push(
            "undecided ~N: about N runs of each would decide, if the change is as measured".into(),
        );
    }
    if rows.iter().any(|row| verdict(row).ends_with(FEW)) {
        parts.push(format!(
            "few runs: fewer than {ENOUGH_TO_GUESS} of each cannot say how many would decide"
        ));
    }
    if rows
        .iter()
        .any(|row| has_zero(row) && row.verdict != Verdict::Same)
    {
        parts.push(
            "no interval: some run has the value 0, so the verdict is on the difference, not the ratio, and has no ~N"
                .into(),
        );
    }
    if has(Verdict::TooNoisy) {
        parts.push("too noisy >X %: detecting a smaller change would take too many runs".into());
    }
    let excludes_0 = |row: &&&Row| {
        row.interval_percent
            .is_some_and(|(low, high)| low * high > 0.0)
    };
    if rows
        .iter()
        .filter(excludes_0)
        .any(|row| row.verdict.is_open())
    {
        parts.push(
            "verdicts are adjusted for the number of measures (Benjamini-Hochberg), intervals are not"
                .into(),
        );
    }
    if rows.iter().any(|row| row.paired) {
        parts.push("runs with the same seed are compared in pairs".into());
    }
    if !answers.zero.is_empty() {
        let names: Vec<_> = answers.zero.iter().map(|name| safe(name)).collect();
        parts.push(format!("0 in every run: {}", names.join(", ")));
    }
    parts.push("--all shows every run".into());
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use tcplab_compare::answers;
    use tcplab_plan::result::{PointResult, RunDocument};

    use super::*;

    /// Drops of two arms: 3, 1, ... against 0 in every run.
    fn text(runs: u32) -> String {
        let name = "link.a-b.a_to_b.queue_drops";
        let point = |variant: &str, n: u32, value: f64| PointResult {
            stack: "model".into(),
            axes: [("variant", variant.into()), ("repeat", n.into())]
                .map(|(axis, value)| (axis.to_owned(), value))
                .into(),
            measures: [(name.to_owned(), Some(value))].into(),
            ..PointResult::default()
        };
        let drops = |n: u32| if n.is_multiple_of(3) { 40.0 } else { 1.0 };
        let cubic = (1..=runs).map(|n| point("cubic", n, drops(n)));
        let bbr = (1..=runs).map(|n| point("bbr", n, 0.0));
        let document = RunDocument {
            measures: vec![Described::of(name)],
            points: cubic.chain(bbr).collect(),
            ..RunDocument::default()
        };
        let found = answers(&document, None, None).unwrap();
        super::answers(&found, &Theme::default())
    }

    #[test]
    fn a_change_without_an_interval_says_why() {
        let [three, six, sixty] = [3, 6, 60].map(text);
        assert!(three.contains("-100 %  undecided (few runs)"), "{three}");
        assert!(three.contains("few runs: fewer than 5"), "{three}");
        assert!(six.contains("-100 %  undecided\n"), "{six}");
        assert!(sixty.contains("-100 %  lower"), "{sixty}");
        for text in [three, six, sixty] {
            let flat = text.replace('\n', " ");
            assert!(
                flat.contains("no interval: some run has the value 0"),
                "{text}"
            );
        }
    }
}
