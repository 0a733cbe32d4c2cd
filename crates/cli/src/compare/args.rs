//! The command line of `tcplab compare`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use tcplab_compare::Verdict;
use tcplab_compare::import::Format;

use crate::markdown::MarkdownArg;

/// `tcplab compare`.
#[derive(Args, Debug)]
#[command(after_help = "\
BEFORE and AFTER are files, result folders of `tcplab run`, or folders whose files are repeats. What a file is, is told by its
content: iperf3 JSON, netperf, lmbench, wrk, wrk2, ab, fortio, kirk and LTP, KTAP, packetdrill's run_all.py, nstat, CSV with a heading,
tcplab's own (docs/compare.md).

Exit codes: 0 done; 1 a row has a verdict of --fail-on; 2 bad input; 3 all runs failed, or a row is
open and --require-verdict.

Examples:
  tcplab compare before.json after.json                   iperf3, once each: how many runs would it take?
  tcplab compare --before b*.json --after a*.json         several runs a side
  tcplab compare runs.csv --fail-on worse --junit out.xml one file with both arms, in CI
  tcplab compare old/ new/ --html report.html             folders of files; a picture of each row's runs
  tcplab compare folder-of-tcplab-run --arms model:linux-6.1,uml:6.1   two stacks: equal counters, or not")]
pub struct CompareArgs {
    /// What it was before; alone: one file or result folder with both arms
    #[arg(value_name = "BEFORE", value_hint = ValueHint::AnyPath, required_unless_present = "before")]
    pub first: Option<PathBuf>,
    /// What it is now
    #[arg(value_name = "AFTER", value_hint = ValueHint::AnyPath)]
    pub second: Option<PathBuf>,
    /// Files of the arm before, each a repeat
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "after", conflicts_with_all = ["first", "second"], value_hint = ValueHint::AnyPath)]
    pub before: Vec<PathBuf>,
    /// Files of the arm after, each a repeat
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "before", value_hint = ValueHint::AnyPath)]
    pub after: Vec<PathBuf>,
    /// Names of the two arms, where files have more
    #[arg(long, value_name = "BEFORE,AFTER", value_delimiter = ',')]
    pub arms: Vec<String>,
    /// What the files are, where their content does not tell
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    pub format: Option<Format>,

    #[command(flatten)]
    pub judge: JudgeArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Write what was read as one document (see `tcplab schema metrics`)
    #[arg(long, value_name = "FILE.json", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub metrics: Option<PathBuf>,
}

/// By what rows are judged, and what that does to the exit code.
#[derive(Args, Debug)]
pub struct JudgeArgs {
    /// Changes up to this do not matter, per cent
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = parse_percent, help_heading = "Judgement")]
    pub band: f64,
    /// A change that runs must be able to find, per cent
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = parse_percent, help_heading = "Judgement")]
    pub find: f64,
    /// The most runs a side that are sensible [default: 100; of `bench`, whose runs are short: 400]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..), help_heading = "Judgement")]
    pub most_runs: Option<u32>,
    /// False discovery rate of the table
    #[arg(long, value_name = "SHARE", default_value = "0.05", value_parser = parse_share, help_heading = "Judgement")]
    pub level: f64,
    /// What single runs are assumed to differ by, per cent
    #[arg(long, value_name = "PERCENT", default_value = "3", value_parser = parse_percent, help_heading = "Judgement")]
    pub noise: f64,
    /// Repeats of a stack in virtual time are samples (other seeds), not values that must be equal
    #[arg(long, help_heading = "Judgement")]
    pub sampled: bool,
    /// Means are of the middle 60 % of runs, from 10 on: for machines that disturb single runs
    #[arg(long, help_heading = "Judgement")]
    pub robust: bool,
    /// Exit with 1 when a row or a suite of tests has one of these verdicts
    #[arg(long, value_name = "VERDICT", value_delimiter = ',', value_parser = parse_verdict, help_heading = "Judgement")]
    pub fail_on: Vec<Verdict>,
    /// Exit with 3 when a row is undecided or too noisy
    #[arg(long, help_heading = "Judgement")]
    pub require_verdict: bool,
}

/// How a comparison is shown.
#[derive(Args, Debug)]
pub struct OutputArgs {
    /// Print one JSON document (see `tcplab schema compare`)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub markdown: MarkdownArg,
    /// Write the rows as CSV
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub csv: Option<PathBuf>,
    /// Write JUnit XML
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub junit: Option<PathBuf>,
    /// Write one self-contained HTML page with a picture of each row's runs
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Show rows that are equal or on one side only, and every row of an objection
    #[arg(long, help_heading = "Output")]
    pub all: bool,
}

impl OutputArgs {
    /// The files that are written, with their options.
    pub fn files(&self) -> [(&'static str, Option<&Path>); 4] {
        [
            ("--markdown", self.markdown.file()),
            ("--csv", self.csv.as_deref()),
            ("--junit", self.junit.as_deref()),
            ("--html", self.html.as_deref()),
        ]
    }
}

fn parse_format(text: &str) -> Result<Format, String> {
    let names: Vec<&str> = Format::names().collect();
    Format::named(text).ok_or_else(|| format!("write one of {}", names.join(", ")))
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim().parse::<f64>().ok();
    let number = number.filter(|n| (0.0..=1_000.0).contains(n));
    number.ok_or_else(|| "write a percentage, such as 1 or 2.5%".into())
}

fn parse_share(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|n| *n > 0.0 && *n < 1.0);
    number.ok_or_else(|| "write a share between 0 and 1, such as 0.05".into())
}

fn parse_verdict(text: &str) -> Result<Verdict, String> {
    let found = Verdict::ALL.iter().find(|verdict| verdict.word() == text);
    let words: Vec<&str> = Verdict::ALL.iter().map(|verdict| verdict.word()).collect();
    found
        .copied()
        .ok_or_else(|| format!("write some of {}", words.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(parse_percent("2.5%"), Ok(2.5));
        assert!(parse_percent("-1").is_err() && parse_share("1").is_err());
        assert_eq!(parse_verdict("too-noisy"), Ok(Verdict::TooNoisy));
        assert!(parse_verdict("bad").unwrap_err().contains("worse"));
        assert!(parse_format("x").unwrap_err().contains("iperf3"));
    }
}
