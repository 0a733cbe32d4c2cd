//! Commands that are not run: whether tcplab takes their options, whether their stacks, expressions, qdiscs and files are such.
//!
//! What stands for something (`FILE...`, `[--on STACK]`, `TIME`) is replaced by one that a command takes.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser};
use tcplab_guest::stack::StackName;
use tcplab_plan::measure::Expression;

use super::shell;
use super::words;

/// What a word of a document stands for, where a command takes only some words.
const STANDS_FOR: [(&str, &str); 7] = [
    ("TIME", "1s"),
    ("N", "1"),
    ("NUMBER", "1"),
    ("I/N", "1/2"),
    ("ID|SEVERITY", "high"),
    ("SHELL", "bash"),
    ("KIND", "bulk"),
];

/// How clap begins to say that a part of a command line is not there.
const MISSING: [&str; 2] = [
    "error: the following required arguments were not provided",
    "error: a value is required",
];

/// Folders whose files a command may name.
const FOLDERS: [&str; 9] = [
    "benches/",
    "crates/",
    "docs/",
    "examples/",
    "extras/",
    "fuzz/",
    "scripts/",
    "tests/",
    "xtask/",
];

/// The checker of commands.
pub struct Usage<'a> {
    /// The repository.
    pub root: &'a Path,
    /// The program.
    pub tcplab: &'a Path,
}

impl Usage<'_> {
    /// The errors in the tcplab commands of a line of shell, and the number of commands.
    ///
    /// A command in running text (`is_whole` is false) may lack required parts: `tcplab analyze --json`.
    pub fn line(&self, line: &str, is_whole: bool) -> Result<(usize, Vec<String>)> {
        let line = line.trim_start_matches(['$', '#', ' ']);
        let (mut count, mut wrong) = (0, Vec::new());
        for words in shell::commands(&plain(line)) {
            let mut words = filled(&words);
            let begin = words
                .iter()
                .position(|word| !matches!(word.as_str(), "sudo") && !word.contains('='));
            words.drain(..begin.unwrap_or(words.len()));
            if !is_ours(&words) {
                continue;
            }
            count += 1;
            let why = self.command(&words, is_whole)?;
            wrong.extend(why.map(|why| format!("`{}`: {why}", words.join(" "))));
            // Commands in words: --run-a 'tcplab probe ...'.
            for word in words.iter().filter(|word| word.starts_with("tcplab ")) {
                let (inner, why) = self.line(word, is_whole)?;
                count += inner;
                wrong.extend(why);
            }
        }
        Ok((count, wrong))
    }

    fn command(&self, words: &[String], is_whole: bool) -> Result<Option<String>> {
        let missing = words.iter().find(|word| {
            FOLDERS.iter().any(|folder| word.starts_with(folder))
                && !word.contains(['*', '{'])
                && !self.root.join(word).exists()
        });
        if let Some(missing) = missing {
            return Ok(Some(format!("there is no {missing}")));
        }
        Ok(
            match (words[0].as_str(), words.get(1).map(String::as_str)) {
                ("tcplab", _) => match self.tcplab(&words[1..], is_whole)? {
                    None => values(&words[1..]),
                    why => why,
                },
                ("cargo", Some("xtask")) => xtask(&words[1..]),
                ("make", Some(target)) => self.make(target)?,
                _ => None,
            },
        )
    }

    /// What the program says of a command line. A command alone, such as `tcplab kernel build`, is a name.
    fn tcplab(&self, words: &[String], is_whole: bool) -> Result<Option<String>> {
        let is_name = words.iter().all(|word| {
            word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-')
        });
        let mut command = Command::new(self.tcplab);
        command.arg("--check-usage").args(words);
        if is_name {
            command.arg("--help");
        }
        let output = command
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run {}", self.tcplab.display()))?;
        let text = String::from_utf8_lossy(&output.stderr);
        let first: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
        let first = first.join(" ");
        let is_right = output.status.success()
            || (!is_whole && MISSING.iter().any(|missing| first.starts_with(missing)));
        Ok((!is_right).then_some(first))
    }

    fn make(&self, target: &str) -> Result<Option<String>> {
        let text =
            std::fs::read_to_string(self.root.join("Makefile")).context("cannot read Makefile")?;
        let is_there = text
            .lines()
            .filter_map(|line| line.split_once(':'))
            .any(|(names, _)| names.split(' ').any(|name| name == target));
        Ok((!is_there).then(|| format!("the Makefile has no target `{target}`")))
    }
}

/// Whether we know what the command may be told.
fn is_ours(words: &[String]) -> bool {
    match words {
        [tcplab, ..] if tcplab == "tcplab" => true,
        [cargo, xtask, ..] => (cargo == "cargo" && xtask == "xtask") || cargo == "make",
        _ => false,
    }
}

/// The line without what says that something may be left out or repeated.
pub fn plain(line: &str) -> String {
    let line = line.replace("[OPTIONS]", "");
    let bracketed = line.contains(" [") || line.contains("[,");
    match bracketed {
        true => line.replace("[,N]", "").replace(['[', ']'], ""),
        false => line,
    }
}

/// The words with what they stand for, up to a `...`.
pub fn filled(words: &[String]) -> Vec<String> {
    let words = words.iter().take_while(|word| *word != "...");
    // Variables of a shell.
    let words = words.filter(|word| !word.starts_with('$'));
    let word = |word: &String| {
        let word = word.trim_end_matches(",...").trim_end_matches("...");
        let found = STANDS_FOR.iter().find(|(name, _)| *name == word);
        found.map_or(word, |(_, value)| value).to_owned()
    };
    words.map(word).collect()
}

/// What is wrong with the values of options that the command reads only when it runs.
fn values(words: &[String]) -> Option<String> {
    let pairs = words.iter().zip(words.iter().skip(1));
    pairs
        .filter(|(_, value)| !value.chars().all(|c| c.is_ascii_uppercase()))
        .find_map(|(option, value)| match option.as_str() {
            "--on" | "--over" => stacks(value),
            "--bad" => Expression::parse(value).err().map(|e| e.to_string()),
            "--a-to-b" | "--b-to-a" => words::way(value),
            _ => None,
        })
}

fn stacks(names: &str) -> Option<String> {
    // The hosts of `ssh:A,B` are parted by the comma too.
    let names = names
        .split(',')
        .filter(|name| !names.starts_with("ssh:") && *name != "STACK");
    names
        .filter_map(|name| StackName::parse(name).err())
        .map(|e| e.to_string())
        .next()
}

fn xtask(words: &[String]) -> Option<String> {
    if words.len() == 2 {
        let known = crate::Cli::command().find_subcommand(&words[1]).is_some();
        return (!known).then(|| "there is no such command of xtask".to_owned());
    }
    let parsed = crate::Cli::try_parse_from(words);
    parsed.err().map(|e| e.kind().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_something_is_replaced() {
        let words = |line: &str| -> Vec<String> {
            let line = plain(line);
            filled(&shell::commands(&line)[0])
        };
        assert_eq!(
            words("tcplab drill PATH... [--on uml:6.1]").join(" "),
            "tcplab drill PATH --on uml:6.1"
        );
        assert_eq!(
            words("tcplab analyze [OPTIONS] -i eth0 [--for TIME]").join(" "),
            "tcplab analyze -i eth0 --for 1s"
        );
        assert_eq!(
            words("tcplab probe client ...").join(" "),
            "tcplab probe client"
        );
    }

    #[test]
    fn late_read_values_are_checked_here() {
        let why = |line: &str| {
            let words: Vec<String> = shell::commands(line).remove(0);
            values(&words)
        };
        assert_eq!(why("run x --on uml:6.1,model --bad 'a > 1'"), None);
        assert_eq!(why("run x --on ssh:a,b --bad EXPRESSION"), None);
        assert!(why("run x --on modle").is_some());
        assert!(why("run x --bad 'a >'").is_some());
        assert!(why("link a b --a-to-b 'cake bandwith 1mbit'").is_some());
        assert_eq!(why("link a b --a-to-b 'cake bandwidth 1mbit'"), None);
    }

    #[test]
    fn our_own_commands_are_known() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(xtask(&words("xtask tidy")), None);
        assert_eq!(xtask(&words("xtask tidy --aims")), None);
        assert!(xtask(&words("xtask tidy --goals")).is_some());
        assert!(xtask(&words("xtask tiddy")).is_some());
    }
}
