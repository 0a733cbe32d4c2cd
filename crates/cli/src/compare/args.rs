//! The command line of `tcplab compare`.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, ValueHint, value_parser};
use tcplab_compare::Verdict;
use tcplab_compare::import::Format;
use tcplab_report::compare::{FORMS, Form};

use crate::markdown::MarkdownArg;

/// `tcplab compare`.
#[derive(Args, Debug)]
#[command(after_help = "\
BEFORE and AFTER are files, result folders of `tcplab run`, or folders with one file per run. The content \
of a file tells its format: iperf3 JSON, netperf, lmbench, wrk, wrk2, ab, fortio, kirk and LTP, KTAP, \
packetdrill's run_all.py, nstat, CSV with a header, tcplab's own (docs/compare.md).

Exit codes: 0 success; 1 a row has a --fail-on verdict; 2 bad input; 3 all runs failed, or a row is \
undecided (--require-verdict).

Examples:
  tcplab compare before.json after.json             one run per side: how many runs would it take?
  tcplab compare --before b*.json --after a*.json   several runs per side
  tcplab compare runs.csv --fail-on worse --junit out.xml   one file with both arms, in CI
  tcplab compare old/ new/ --html report.html       one folder per side; the page plots every run
  tcplab compare RESULT --arms model:linux-6.1,uml:6.1      two stacks of one `tcplab run`")]
pub struct CompareArgs {
    /// Results before the change; without AFTER, one file or result folder with both arms
    #[arg(value_name = "BEFORE", value_hint = ValueHint::AnyPath, required_unless_present = "before")]
    pub first: Option<PathBuf>,
    /// Results after the change
    #[arg(value_name = "AFTER", value_hint = ValueHint::AnyPath)]
    pub second: Option<PathBuf>,
    /// Files before the change, one per run
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "after", conflicts_with_all = ["first", "second"], value_hint = ValueHint::AnyPath)]
    pub before: Vec<PathBuf>,
    /// Files after the change, one per run
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "before", value_hint = ValueHint::AnyPath)]
    pub after: Vec<PathBuf>,
    /// Compare these two arms, if the files have more than two
    #[arg(long, value_name = "BEFORE,AFTER", value_delimiter = ',')]
    pub arms: Vec<String>,
    /// Format of the files [default: detected from their content]
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    pub format: Option<Format>,

    #[command(flatten)]
    pub judge: JudgeArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Write the measurements read as one JSON document (see `tcplab schema metrics`)
    #[arg(long, value_name = "FILE.json", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub metrics: Option<PathBuf>,
}

/// By what rows are judged, and what that does to the exit code.
#[derive(Args, Debug)]
pub struct JudgeArgs {
    /// Treat changes up to this as equal, in percent [default: 1]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, help_heading = "Judgement")]
    pub band: Option<f64>,
    /// Plan enough runs to detect a change of this size, in percent [default: 5]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, help_heading = "Judgement")]
    pub find: Option<f64>,
    /// Call a row too noisy if it needs more than N runs per side [default: 100; `bench`: 400]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(2..), help_heading = "Judgement")]
    pub most_runs: Option<u32>,
    /// Limit the table's false discovery rate to this share [default: 0.05]
    #[arg(long, value_name = "SHARE", value_parser = parse_share, help_heading = "Judgement")]
    pub level: Option<f64>,
    /// Assume that runs differ by this much if a side has only one run, in percent [default: 3]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, help_heading = "Judgement")]
    pub noise: Option<f64>,
    /// Treat virtual-time runs as random samples (different seeds), not as exact values
    #[arg(long, help_heading = "Judgement")]
    pub sampled: bool,
    /// Average only the middle 60 % of the runs (from 10 runs on), for machines with disturbances
    #[arg(long, help_heading = "Judgement")]
    pub robust: bool,
    /// Exit with 1 if a row or a test suite has one of these verdicts
    #[arg(long, value_name = "VERDICT", value_delimiter = ',', value_parser = parse_verdict, help_heading = "Judgement")]
    pub fail_on: Vec<Verdict>,
    /// Exit with 3 if a row is undecided or too noisy, or if nothing could be judged
    #[arg(long, help_heading = "Judgement")]
    pub require_verdict: bool,
}

// `bench`, which asks, is there on Linux alone.
#[cfg(target_os = "linux")]
impl JudgeArgs {
    /// The first of its options that was given.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            ("--band", self.band.is_some()),
            ("--find", self.find.is_some()),
            ("--most-runs", self.most_runs.is_some()),
            ("--level", self.level.is_some()),
            ("--noise", self.noise.is_some()),
            ("--sampled", self.sampled),
            ("--robust", self.robust),
            ("--fail-on", !self.fail_on.is_empty()),
            ("--require-verdict", self.require_verdict),
        ];
        let first = options.into_iter().find(|(_, is_given)| *is_given);
        first.map(|(option, _)| option)
    }
}

/// How a comparison is shown.
#[derive(Args, Debug)]
pub struct OutputArgs {
    /// Print one JSON document; `tcplab schema NAME` describes it
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub markdown: MarkdownArg,
    #[command(flatten)]
    pub files: FormFiles,
    /// Also show equal rows, one-sided rows and every row that a warning is about
    #[arg(long, help_heading = "Output")]
    pub all: bool,
}

impl OutputArgs {
    /// The files that are written, with their options.
    pub fn files(&self) -> Vec<(&'static str, Option<&Path>)> {
        let mut files = vec![("--markdown", self.markdown.file())];
        files.extend(
            self.files
                .0
                .iter()
                .map(|(form, path)| (form.option, Some(&**path))),
        );
        files
    }
}

/// The files that are asked for by the options of [`FORMS`].
#[derive(Debug)]
pub struct FormFiles(pub Vec<(&'static Form, PathBuf)>);

impl Args for FormFiles {
    fn augment_args(command: Command) -> Command {
        FORMS.iter().fold(command, |command, form| {
            let name = form.option.trim_start_matches('-');
            let arg = Arg::new(name).long(name).value_name("FILE").help(form.help);
            command.arg(
                arg.value_parser(value_parser!(PathBuf))
                    .help_heading("Output")
                    .value_hint(ValueHint::FilePath),
            )
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FormFiles {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let asked = FORMS.iter().filter_map(|form| {
            let path: &PathBuf = matches.get_one(form.option.trim_start_matches('-'))?;
            Some((form, path.clone()))
        });
        Ok(Self(asked.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
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

    #[cfg(target_os = "linux")]
    #[test]
    fn help_names_the_defaults() {
        let rules = tcplab_compare::Options::default().rules;
        let command = JudgeArgs::augment_args(Command::new("compare"));
        let bench = crate::bench::MOST_RUNS;
        for (name, default) in [
            ("band", rules.band_percent.to_string()),
            ("find", rules.find_percent.to_string()),
            (
                "most_runs",
                format!("{}; `bench`: {bench}", rules.most_runs),
            ),
            ("level", rules.q.to_string()),
            ("noise", rules.assumed_noise_percent.to_string()),
        ] {
            let arg = command.get_arguments().find(|arg| arg.get_id() == name);
            let help = arg.and_then(Arg::get_help).unwrap().to_string();
            assert!(
                help.ends_with(&format!("[default: {default}]")),
                "{name}: {help}"
            );
        }
    }

    #[test]
    fn words() {
        assert_eq!(parse_percent("2.5%"), Ok(2.5));
        assert!(parse_percent("-1").is_err() && parse_share("1").is_err());
        assert_eq!(parse_verdict("too-noisy"), Ok(Verdict::TooNoisy));
        assert!(parse_verdict("bad").unwrap_err().contains("worse"));
        assert!(parse_format("x").unwrap_err().contains("iperf3"));
    }
}
