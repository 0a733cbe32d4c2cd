//! Runs blocks of commands and compares their output.
//!
//! In a `console` block, bash runs each line `$ command` in a separate folder, where the
//! repository's files can be seen and tcplab is in PATH. The lines below it, up to the next
//! command, are the expected standard output. A line `...` stands for any lines. Without lines only
//! the exit code counts. It must be 0, or N when the command ends in `  # exit code N`.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::scratch::Scratch;

/// The most CPU seconds of a process of an example: one that never ends, ends there.
const CPU_S: u32 = 30;

/// One command of a document.
#[derive(Debug, PartialEq, Eq)]
pub struct Example {
    /// Line of the command below the block's fence, from 0.
    pub line: usize,
    pub command: String,
    pub exit_code: i32,
    pub expected: Vec<String>,
}

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    pub exit_code: i32,
    /// The lines of its standard output.
    pub out: Vec<String>,
    /// Its standard error.
    pub err: String,
}

impl Example {
    /// The commands of a block.
    pub fn all(content: &[String]) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for (line, content) in content.iter().enumerate() {
            if let Some(command) = content.strip_prefix("$ ") {
                let (command, code) = command
                    .split_once("  # exit code ")
                    .unwrap_or((command, "0"));
                found.push(Self {
                    line,
                    command: command.to_owned(),
                    exit_code: code.trim().parse().unwrap_or(0),
                    expected: Vec::new(),
                });
            } else if let Some(example) = found.last_mut() {
                example.expected.push(content.to_owned());
            }
        }
        found
    }

    /// Whether some of what it prints is left out.
    pub fn is_shortened(&self) -> bool {
        self.expected.iter().any(|line| line == "...")
    }

    /// What is wrong with what it did.
    pub fn judge(&self, ran: &Ran) -> Option<String> {
        let is_right = ran.exit_code == self.exit_code
            && (self.expected.is_empty() || matches(&self.expected, &ran.out));
        if is_right {
            return None;
        }
        let printed: String = ran.out.iter().map(|l| format!("\n    {l}")).collect();
        Some(format!(
            "`{}` ended with {} and printed:{printed}\n{}",
            self.command, ran.exit_code, ran.err
        ))
    }
}

/// Runs a command in bash.
pub fn execute(folder: &Scratch, tcplab: &Path, command: &str) -> Result<Ran> {
    let path = std::env::var("PATH").unwrap_or_default();
    let bin = tcplab.parent().unwrap_or(Path::new("."));
    let output = Command::new("bash")
        .args(["-o", "pipefail", "-c"])
        .arg(format!("ulimit -t {CPU_S}\n{command}"))
        .current_dir(folder.path())
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("NO_COLOR", "1")
        .env("COLUMNS", "120")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run bash for `{command}`"))?;
    // Of empty lines at the end a document shows none.
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.trim_end().lines();
    Ok(Ran {
        exit_code: output.status.code().unwrap_or(-1),
        out: lines.map(|line| line.trim_end().to_owned()).collect(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
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
    fn commands_and_outputs_are_found() {
        let found = Example::all(&lines("$ one\nout\n$ two  # exit code 2"));
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].line, found[0].command.as_str()), (0, "one"));
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
        let folder = Scratch::new(Path::new("/")).unwrap();
        let ran = execute(&folder, Path::new("/bin/true"), "echo x; exit 3").unwrap();
        assert_eq!((ran.exit_code, ran.out), (3, lines("x")));
    }
}
