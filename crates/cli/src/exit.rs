//! The command line with the exit codes at the end of each command's help (docs/exit-codes.md has all of them).

use clap::{Command, CommandFactory};

use crate::args::Cli;
use crate::groups::grouped;

/// Codes of commands that do not say them in a text of their own.
const CODES: &[(&str, &str)] = &[
    (
        "analyze",
        "0 success; 1 a finding matches --fail-on; 2 wrong usage, unreadable or damaged capture, or unwritable output; \
         3 no stream could be checked for --fail-on; 4 cannot run here.",
    ),
    (
        "run",
        "0 success; 1 --bad is true; 2 wrong usage or bad input; 3 a limit ended a run, ports ran out, or --bad is undecided; \
         4 a stack is missing or refuses a setting; 125 --bisect-exit cannot judge; 130 interrupted.",
    ),
    (
        "bisect",
        "0 the first bad stack is found; 1 no stack is bad at the ends; 2 wrong usage or bad input; 3 a stack is undecided, or \
         the order is not from good to bad; 4 a stack is missing; 130 interrupted.",
    ),
    (
        "probe",
        "0 success; 2 wrong usage; 3 the peer did not answer, closed early or answered with more than was asked; \
         4 cannot run here; 130 interrupted.",
    ),
    (
        "link",
        "0 ended by --for, `end` or Ctrl-C; 1 the command of --run-a or --run-b failed; 2 wrong usage; 3 the link failed; \
         4 cannot run here.",
    ),
    (
        "bench",
        "0 success; 1 a row has a --fail-on verdict; 2 wrong usage or bad input; 3 all runs failed, or a row is undecided \
         (--require-verdict); 4 cannot run here; 130 interrupted.",
    ),
];

/// Of all others.
const OTHERS: &str = "0 success; 2 wrong usage or bad input; 4 cannot run here.";

/// The command line.
pub fn command() -> Command {
    each(grouped(Cli::command()), &|sub| {
        let codes = CODES.iter().find(|(of, _)| *of == sub.get_name());
        with(sub, codes.map_or(OTHERS, |(_, codes)| *codes))
    })
}

/// A command whose commands are changed.
fn each(command: Command, change: &dyn Fn(Command) -> Command) -> Command {
    let names = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned());
    let names: Vec<String> = names.collect();
    let changed = |command: Command, name| command.mut_subcommand(name, change);
    names.into_iter().fold(command, changed)
}

/// A command and those below it with these codes.
fn with(command: Command, codes: &str) -> Command {
    let command = each(command, &|sub| with(sub, codes));
    let own = command.get_after_help().map(ToString::to_string);
    match own.unwrap_or_default() {
        own if own.contains("Exit codes:") => command,
        own => {
            let gap = if own.is_empty() { "" } else { "\n\n" };
            command.after_help(format!("{own}{gap}Exit codes: {codes}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &Command) -> usize {
        let help = command.get_after_help().map(ToString::to_string);
        let help = help.unwrap_or_default();
        let name = command.get_name();
        assert_eq!(help.matches("Exit codes:").count(), 1, "{name}: {help}");
        1 + command.get_subcommands().map(check).sum::<usize>()
    }

    #[test]
    fn every_command_says_its_exit_codes_once() {
        assert!(check(&command()) > 30);
    }
}
