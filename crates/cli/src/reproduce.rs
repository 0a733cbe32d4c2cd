//! `tcplab reproduce`: published claims, measured again.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueHint};
use tcplab_lab::reproduce::{self, List, Options};
use tcplab_plan::result::{Claim, REPRODUCE_SCHEMA, ReproduceDocument, Rule, Verdict};
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::style::wrap;
use tcplab_report::terminal::table::{Align, Cell, Table};

use crate::args::Color;
use crate::failure::Failure;
use crate::files::check_outputs;
use crate::json;
use crate::markdown::MarkdownArg;
use crate::run::{INCONCLUSIVE, lab, processors, progress::Progress};
use crate::screen;
use crate::terminal;

/// `tcplab reproduce`.
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes: 0 all claims hold; 1 a claim does not hold; 3 some claims could not be measured, the rest hold; \
4 no claim could be measured. docs/reproduce.md shows the last results.

Examples:
  tcplab reproduce                              measure all claims
  tcplab reproduce --only 'quickack.*'          measure some claims
  tcplab reproduce --only '*drill*' --packetdrill ~/packetdrill   claims that need packetdrill's scripts
  tcplab reproduce --json | jq '.claims[] | select(.verdict == \"fail\")'")]
pub struct ReproduceArgs {
    /// Measure only claims whose names match; `*` and `?` work as in a shell
    #[arg(long, value_name = "GLOB")]
    pub only: Option<String>,
    /// Keep results and captures in this folder, one result per experiment and stack
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Checkout of packetdrill at the commit that claim drill.399 names; without it, the claim prints the commands to get it
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub packetdrill: Option<PathBuf>,
    /// Run N points in parallel [default: number of CPUs]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Print one JSON document (see `tcplab schema reproduce`)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub markdown: MarkdownArg,
}

/// Runs `tcplab reproduce`.
pub fn main(args: &ReproduceArgs, color: Color) -> ExitCode {
    let done = run(args, color);
    let done = done.map_err(|e| e.resumable("points", args.out.as_deref()));
    json::finish(REPRODUCE_SCHEMA, args.json, done)
}

fn run(args: &ReproduceArgs, color: Color) -> Result<ExitCode, Failure> {
    args.markdown.beside_json(args.json)?;
    check_outputs([], &[("--markdown", args.markdown.file())])?;
    let mut list = List::new()?;
    if let Some(pattern) = &args.only {
        let all: Vec<String> =
            (list.claims.iter().map(|claim| claim.published.id.clone())).collect();
        list.only(pattern);
        if list.claims.is_empty() {
            return Err(Failure::usage(format!(
                "no claim matches `{pattern}`; the claims are {}",
                all.join(", ")
            )));
        }
    }
    let lab = lab()?;
    let progress = Progress::new();
    let options = Options {
        jobs: args.jobs.unwrap_or_else(processors),
        out: args.out.as_deref(),
        packetdrill: args.packetdrill.as_deref(),
    };
    let document = reproduce::run(&lab, &list, options, |p| progress.show(p))?;
    progress.clear();
    let is_told = args.markdown.tell(|| markdown(&document))?;
    if args.json {
        json::print(&document)?;
    } else if !is_told {
        table(&document, &terminal::theme(color, false))?;
    }
    Ok(ExitCode::from(code(&document)))
}

fn code(document: &ReproduceDocument) -> u8 {
    let any = |verdict| document.claims.iter().any(|c| c.verdict == verdict);
    match (any(Verdict::Fail), any(Verdict::NotRun), any(Verdict::Pass)) {
        (true, ..) => 1,
        (false, false, _) => 0,
        (false, true, true) => INCONCLUSIVE,
        (false, true, false) => 4,
    }
}

fn table(document: &ReproduceDocument, theme: &Theme) -> Result<(), Failure> {
    let mut out = screen::painted(theme);
    let mut table = Table::new(&[
        ("claim", Align::Left),
        ("expected", Align::Right),
        ("measured", Align::Right),
        ("unit", Align::Left),
        ("verdict", Align::Left),
        ("stack", Align::Left),
    ]);
    for claim in &document.claims {
        table.row(vec![
            claim.id.as_str().into(),
            expected(claim).into(),
            measured(claim).into(),
            claim.unit.as_str().into(),
            Cell::from(verdict(claim.verdict)),
            claim.stack.as_str().into(),
        ]);
    }
    write!(out, "{}", table.render(theme))?;
    writeln!(out, "\n{}", sum(document))?;
    let failed = |claim: &&Claim| claim.verdict == Verdict::Fail;
    for claim in document.claims.iter().filter(failed) {
        writeln!(out, "\n{} does not hold: {}", claim.id, claim.source)?;
        for line in wrap(&claim.why, theme.width.saturating_sub(2)) {
            writeln!(out, "  {line}")?;
        }
    }
    for (why, claims) in not_run(document) {
        writeln!(out, "\nnot run ({claims}): {why}")?;
    }
    Ok(())
}

/// The reasons, each once, and how many claims it holds up.
fn not_run(document: &ReproduceDocument) -> Vec<(&str, usize)> {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for claim in &document.claims {
        if claim.verdict != Verdict::NotRun {
            continue;
        }
        match reasons.iter_mut().find(|(why, _)| *why == claim.why) {
            Some((_, count)) => *count += 1,
            None => reasons.push((&claim.why, 1)),
        }
    }
    reasons
}

/// The columns of a table; what all rows share of those from `unit` on stands above the table, once.
const COLUMNS: [&str; 7] = [
    "claim", "expected", "measured", "verdict", "unit", "stack", "note",
];
const SHARED_FROM: usize = UNIT;
const UNIT: usize = 4;
const STACK: usize = 5;

type Row = [String; COLUMNS.len()];

fn markdown(document: &ReproduceDocument) -> String {
    let mut out = format!(
        "{}. A claim holds if its row has no verdict. After \"Equal\" one figure is both the expected and the measured one.\n",
        sum(document)
    );
    let all = &document.claims;
    let is_beside_kernel = |claim: &Claim| all.iter().any(|other| is_same_on_model(other, claim));
    let own: Vec<&Claim> = all
        .iter()
        .filter(|claim| !is_beside_kernel(claim))
        .collect();
    for claims in own.chunk_by(|a, b| a.source == b.source) {
        out += &group(claims, all);
    }
    out
}

/// The table of one source, and below it the claims with the expected figure and no note. `all` has the same claims of
/// the model.
fn group(claims: &[&Claim], all: &[Claim]) -> String {
    let on_model = |claim: &Claim| all.iter().find(|other| is_same_on_model(claim, other));
    let rows: Vec<Row> = claims
        .iter()
        .map(|claim| row(claim, on_model(claim)))
        .collect();
    let is_shared = |column: &usize| {
        *column >= SHARED_FROM
            && rows.len() > 1
            && rows
                .windows(2)
                .all(|pair| pair[0][*column] == pair[1][*column])
    };
    let used = (0..COLUMNS.len()).filter(|column| rows.iter().any(|row| !row[*column].is_empty()));
    let (shared, own): (Vec<usize>, Vec<usize>) = used.partition(is_shared);
    let source = claims.first().map_or("", |claim| claim.source.as_str());
    let mut out = format!("\n**{}**", cell(source));
    if let Some(row) = rows.first().filter(|_| !shared.is_empty()) {
        let values: Vec<&str> = shared.iter().map(|column| row[*column].as_str()).collect();
        out += &format!(" ({})", values.join("; "));
    }
    out += "\n\n";
    let is_short = !own.contains(&STACK) && rows.iter().filter(|row| is_plain(row)).count() > 1;
    let (plain, other): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| is_short && is_plain(row));
    if !other.is_empty() {
        out += &lines(&other, &own);
    }
    if !plain.is_empty() {
        let gap = if other.is_empty() { "" } else { "\n" };
        let unit = |row: &Row| match own.contains(&UNIT) {
            true => format!(" {}", row[UNIT]),
            false => String::new(),
        };
        let figures: Vec<String> = plain
            .iter()
            .map(|row| format!("{} {}{}", row[0], row[1], unit(row)))
            .collect();
        out += &format!("{gap}Equal: {}.\n", figures.join(", "));
    }
    out
}

/// A table of those of `columns` that a row uses.
fn lines(rows: &[&Row], columns: &[usize]) -> String {
    let is_used = |column: &&usize| rows.iter().any(|row| !row[**column].is_empty());
    let columns: Vec<usize> = columns.iter().filter(is_used).copied().collect();
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let mut out = line(columns.iter().map(|column| COLUMNS[*column]).collect());
    out += &format!("|{}\n", "---|".repeat(columns.len()));
    for row in rows {
        out += &line(columns.iter().map(|column| row[*column].as_str()).collect());
    }
    out
}

/// Whether a row has the expected figure, and nothing to remark.
fn is_plain(row: &Row) -> bool {
    let [_, expected, measured, verdict, _, _, note] = row;
    expected == measured && verdict.is_empty() && note.is_empty()
}

/// Whether a claim says of the model what another says of a kernel, with the same verdict.
fn is_same_on_model(of_kernel: &Claim, claim: &Claim) -> bool {
    claim.id.strip_prefix("model.") == Some(&of_kernel.id)
        && claim.source == of_kernel.source
        && claim.unit == of_kernel.unit
        && expected(claim) == expected(of_kernel)
        && claim.verdict == of_kernel.verdict
}

/// A row of the table: a claim, and the same one of the model, written `[model.]CLAIM`.
fn row(claim: &Claim, on_model: Option<&Claim>) -> Row {
    let both = || [claim].into_iter().chain(on_model);
    let prefix = if on_model.is_some() { "[model.]" } else { "" };
    let stacks: Vec<String> = both().map(|claim| format!("`{}`", claim.stack)).collect();
    let mut values: Vec<String> = both().map(measured).collect();
    values.dedup();
    let judged = match claim.verdict {
        Verdict::Pass => "",
        other => verdict(other),
    };
    [
        format!("`{prefix}{}`", claim.id),
        expected(claim),
        values.join("; "),
        judged.to_owned(),
        claim.unit.clone(),
        stacks.join(", "),
        cell(&claim.why),
    ]
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn sum(document: &ReproduceDocument) -> String {
    let count = |verdict| {
        let has = |claim: &&Claim| claim.verdict == verdict;
        document.claims.iter().filter(has).count()
    };
    format!(
        "{} claims: {} hold, {} do not, {} not run",
        document.claims.len(),
        count(Verdict::Pass),
        count(Verdict::Fail),
        count(Verdict::NotRun)
    )
}

const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail => "FAIL",
        Verdict::NotRun => "not run",
    }
}

/// The published value and how far the measured one may be from it.
fn expected(claim: &Claim) -> String {
    let value = number(claim.expected);
    match claim.rule {
        Rule::Within | Rule::Band if claim.tolerance == 0.0 => value,
        Rule::Within | Rule::Band => format!("{value} ± {}", number(claim.tolerance)),
        Rule::Sign => format!("sign of {value}"),
        Rule::SignAndFactor => format!("{value} x/÷ {}", number(claim.tolerance)),
        Rule::Order => "in order".to_owned(),
    }
}

fn measured(claim: &Claim) -> String {
    match (claim.measured, claim.interval) {
        (None, _) => "-".to_owned(),
        (Some(_), Some((low, high))) if low != high => {
            format!("{} to {}", number(low), number(high))
        }
        (Some(value), _) => number(value),
    }
}

/// A whole number as such, others with three decimals at most.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
