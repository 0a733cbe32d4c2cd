//! Results for a person: what failed and why, counts by folder, and the last line `N passed, N failed, N skipped`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use tcplab_lab::drill::{CaseResult, DrillDocument, UnchangedNumbers, Verdict};
use tcplab_plan::profile::unverified;
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::table::{Align, Table};

use super::args::DrillArgs;
use crate::failure::Failure;
use crate::screen;

/// Prints the results.
pub fn print(document: &DrillDocument, args: &DrillArgs, theme: &Theme) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(screen::painted(theme));
    let mut skips = Skips::of(document);
    for result in &document.results {
        if args.verbose == 0 && result.verdict == Verdict::Skip {
            skips.first(&mut out, result)?;
        } else {
            case(&mut out, result, args)?;
        }
    }
    if args.folders {
        write!(out, "{}", folders(document).render(theme))?;
    }
    if let Some(note) = unverified(&document.stack) {
        writeln!(out, "{note}")?;
    }
    if let Some(mutants) = &document.mutants {
        for survivor in &mutants.survivors {
            writeln!(out, "passes although changed: {survivor}")?;
        }
        writeln!(out, "{} of {} mutants fail", mutants.failed, mutants.run)?;
        if !mutants.unchanged.is_empty() {
            writeln!(out, "{}", unchanged(&mutants.unchanged))?;
        }
    }
    let mut known = String::new();
    if let (Some(expected), Some(path)) = (&document.expected, &args.expect) {
        let path = path.display();
        for name in &expected.passes {
            writeln!(
                out,
                "known failure passes now, remove it from {path}: {name}"
            )?;
        }
        for line in &expected.unused {
            writeln!(out, "{path}, {line} matches no case")?;
        }
        known = format!(" ({} known)", expected.failed);
    }
    writeln!(
        out,
        "{} passed, {} failed{known}, {} skipped",
        document.passed, document.failed, document.skipped
    )?;
    out.flush()?;
    Ok(())
}

/// The numbers that mutants leave, by their kinds.
fn unchanged(numbers: &UnchangedNumbers) -> String {
    let kinds = [
        (numbers.bounds, "bounds in asserts"),
        (numbers.range_ends, "ends of time ranges"),
        (numbers.time_stamps, "time stamps"),
    ];
    let kinds = kinds.iter().filter(|(count, _)| *count > 0);
    let kinds: Vec<String> = kinds
        .map(|(count, kind)| format!("{count} ({kind})"))
        .collect();
    format!("numbers that no mutant changes: {}", kinds.join(", "))
}

/// Cases that were skipped, by their reasons: one line for each reason.
struct Skips<'a>(BTreeMap<&'a str, usize>);

impl<'a> Skips<'a> {
    fn of(document: &'a DrillDocument) -> Self {
        let mut counts = BTreeMap::new();
        let skipped = |r: &&CaseResult| r.verdict == Verdict::Skip;
        for result in document.results.iter().filter(skipped) {
            *counts.entry(result.reason()).or_default() += 1;
        }
        Self(counts)
    }

    /// The first case that has its reason stands for all of them.
    fn first(&mut self, out: &mut impl Write, result: &CaseResult) -> io::Result<()> {
        let Some(count) = self.0.remove(result.reason()) else {
            return Ok(());
        };
        let more = match count {
            1 => String::new(),
            _ => format!(" and {} more", count - 1),
        };
        writeln!(out, "SKIP {}{more}: {}", result.name(), result.reason())
    }
}

/// One case: its line when asked for, and the reason when it is not as it should be.
fn case(out: &mut impl Write, result: &CaseResult, args: &DrillArgs) -> io::Result<()> {
    let word = match result.verdict {
        Verdict::Pass if args.verbose == 0 => return Ok(()),
        Verdict::Fail if result.known && args.verbose == 0 => return Ok(()),
        Verdict::Fail if result.known => "KNOWN",
        Verdict::Pass => "OK  ",
        Verdict::Fail => "FAIL",
        Verdict::Skip => "SKIP",
    };
    let name = result.name();
    match (result.verdict, result.line) {
        (Verdict::Skip, _) => writeln!(out, "{word} {name}: {}", result.reason())?,
        _ => writeln!(out, "{word} {name}")?,
    }
    if result.verdict == Verdict::Fail {
        for line in result.why.lines() {
            writeln!(out, "  {line}")?;
        }
        if let Some(capture) = &result.capture {
            writeln!(out, "    packets: {capture}")?;
        }
    }
    let wanted = match result.verdict {
        _ if args.verbose > 1 => true,
        Verdict::Pass => args.log_on_success && args.verbose > 0,
        Verdict::Fail => args.log_on_error && args.verbose > 0,
        Verdict::Skip => false,
    };
    if wanted {
        for line in &result.log {
            writeln!(out, "    {line}")?;
        }
    }
    Ok(())
}

/// Counts of each folder.
fn folders(document: &DrillDocument) -> Table {
    let mut sums: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for result in &document.results {
        let folder = Path::new(&result.script).parent();
        let folder = folder.map(|f| f.display().to_string()).unwrap_or_default();
        let sum = sums.entry(folder).or_default();
        sum[match result.verdict {
            Verdict::Pass => 0,
            Verdict::Fail => 1,
            Verdict::Skip => 2,
        }] += 1;
    }
    let mut table = Table::new(&[
        ("folder", Align::Left),
        ("passed", Align::Right),
        ("failed", Align::Right),
        ("skipped", Align::Right),
    ]);
    for (folder, sum) in sums {
        let mut row = vec![folder.into()];
        row.extend(sum.map(|n| n.to_string().into()));
        table.row(row);
    }
    table
}
