//! Results for a person: what failed and why, counts by folder, and the last line `N passed, N failed, N skipped`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use tcplab_lab::drill::{CaseResult, DrillDocument, Verdict};
use tcplab_plan::profile::unverified;
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::table::{Align, Table};

use super::args::DrillArgs;
use crate::failure::Failure;
use crate::screen;

/// Prints the results.
pub fn print(document: &DrillDocument, args: &DrillArgs, theme: &Theme) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(screen::painted(theme));
    for result in &document.results {
        case(&mut out, result, args)?;
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

/// One case: its line when asked for, and the reason when it is not as it should be.
fn case(out: &mut impl Write, result: &CaseResult, args: &DrillArgs) -> io::Result<()> {
    let word = match result.verdict {
        Verdict::Pass if args.verbose == 0 => return Ok(()),
        // Whoever named the script awaits a verdict.
        Verdict::Skip if args.verbose == 0 && !result.is_left_out() => return Ok(()),
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
