//! `cargo xtask documents`: runs the commands that README.md and docs/ print, and
//! compares what they print with what the documents say.
//!
//! In a block that starts with three backticks and `console`, a line `$ command` is
//! run by bash from the repository's root, with the release build of tcplab in PATH.
//! The lines below it, up to the next command, are what it must print on standard
//! output; a line `...` stands for any lines; no lines mean that only the exit code
//! counts. It must be 0, or N when the command ends in `  # exit code N`.
//! `--write` puts the real output into the documents, where no `...` shortens it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result};

/// What `cargo xtask documents` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Replace the output in the documents by the real one
    #[arg(long)]
    write: bool,
}

/// One command of a document.
#[derive(Debug, PartialEq, Eq)]
struct Example {
    /// Line of the command, from 0.
    line: usize,
    command: String,
    exit_code: i32,
    expected: Vec<String>,
}

/// Runs every example of every document below `root`.
pub fn run(root: &Path, args: &Args) -> Result<ExitCode> {
    let (mut commands, mut failures) = (0, 0);
    for path in documents(root)? {
        let name = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .display()
            .to_string();
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {name}"))?;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        // From the end, so that what is written moves no line that is still to come.
        for example in examples(&text).iter().rev() {
            commands += 1;
            let (exit_code, printed) = execute(root, &example.command)?;
            let is_right = exit_code == example.exit_code
                && (example.expected.is_empty() || matches(&example.expected, &printed));
            let shortened = example.expected.iter().any(|line| line == "...");
            if args.write && !example.expected.is_empty() && !shortened {
                let first = example.line + 1;
                lines.splice(first..first + example.expected.len(), printed);
            } else if !is_right {
                failures += 1;
                let line = example.line + 1;
                println!(
                    "{name}:{line}: `{}` ended with {exit_code} and printed:",
                    example.command
                );
                printed.iter().for_each(|line| println!("    {line}"));
            }
        }
        if args.write {
            fs::write(&path, lines.join("\n") + "\n")
                .with_context(|| format!("cannot write {name}"))?;
        }
    }
    println!("documents: {commands} commands, {failures} differ (cargo xtask documents --write)");
    Ok(if failures == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// README.md and the Markdown files in docs/, sorted.
fn documents(root: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = vec![root.join("README.md")];
    if let Ok(entries) = fs::read_dir(root.join("docs")) {
        for entry in entries {
            let path = entry.context("cannot list docs")?.path();
            if path.extension().is_some_and(|ending| ending == "md") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    Ok(paths)
}

/// The commands in the console blocks of a document.
fn examples(text: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut in_block = false;
    for (line, content) in text.lines().enumerate() {
        if content.starts_with("```") {
            in_block = content == "```console";
            continue;
        }
        if !in_block {
            continue;
        }
        if let Some(command) = content.strip_prefix("$ ") {
            let (command, code) = command
                .split_once("  # exit code ")
                .unwrap_or((command, "0"));
            let exit_code = code.trim().parse().unwrap_or(0);
            found.push(Example {
                line,
                command: command.to_owned(),
                exit_code,
                expected: Vec::new(),
            });
        } else if let Some(example) = found.last_mut() {
            example.expected.push(content.to_owned());
        }
    }
    found
}

/// Runs a command; gives its exit code and the lines of its standard output.
fn execute(root: &Path, command: &str) -> Result<(i32, Vec<String>)> {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("bash")
        .args(["-o", "pipefail", "-c", command])
        .current_dir(root)
        .env(
            "PATH",
            format!("{}:{path}", root.join(target).join("release").display()),
        )
        .env("NO_COLOR", "1")
        .env("COLUMNS", "120")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run bash for `{command}`"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    Ok((output.status.code().unwrap_or(-1), lines))
}

/// Whether the printed lines are the expected ones.
fn matches(expected: &[String], printed: &[String]) -> bool {
    let Some((first, rest)) = expected.split_first() else {
        return printed.is_empty();
    };
    if first == "..." {
        return (0..=printed.len()).any(|skip| matches(rest, printed.get(skip..).unwrap_or(&[])));
    }
    printed
        .split_first()
        .is_some_and(|(line, others)| line == first && matches(rest, others))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn commands_and_outputs_are_found_in_console_blocks_only() {
        let text = "a\n```sh\n$ not run\n```\n```console\n$ one\nout\n$ two  # exit code 2\n```\n";
        let found = examples(text);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].line, found[0].command.as_str()), (5, "one"));
        assert_eq!(found[0].expected, ["out"]);
        assert_eq!((found[1].exit_code, found[1].command.as_str()), (2, "two"));
    }

    #[test]
    fn dots_stand_for_any_lines() {
        assert!(matches(&lines("a\n...\nd"), &lines("a\nb\nc\nd")));
        assert!(matches(&lines("a\n..."), &lines("a")));
        assert!(!matches(&lines("a\n...\nd"), &lines("a\nb\nc")));
        assert!(!matches(&lines("a"), &lines("a\nb")));
        assert!(!matches(&lines("a\nb"), &lines("a")));
    }

    #[test]
    fn a_command_gives_its_output_and_exit_code() {
        let (code, printed) = execute(Path::new("/"), "echo x; exit 3").unwrap();
        assert_eq!((code, printed), (3, vec!["x".to_owned()]));
    }
}
