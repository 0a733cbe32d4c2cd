//! Runs the programs of a build: output into a log, its lines to the progress, and the log's end
//! into the error.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::BuildError;
use crate::store::Lock;

/// Lines of a log that an error shows.
const TAIL: usize = 30;

/// Errors of a compiler above those lines that it shows too.
const ERRORS: usize = 5;

/// Variables of the caller's environment that would change what is built.
const FOREIGN: &[&str] = &[
    "ARCH",
    "SUBARCH",
    "CROSS_COMPILE",
    "O",
    "V",
    "W",
    "LLVM",
    "CC",
    "CFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "KCFLAGS",
    "KBUILD_OUTPUT",
    "KCONFIG_CONFIG",
    "KCONFIG_ALLCONFIG",
    "LOCALVERSION",
    "MAKEFLAGS",
    "MFLAGS",
    "MAKELEVEL",
    "MAKEFILES",
    "GNUMAKEFLAGS",
];

/// Where the output of a build's programs goes.
pub(crate) struct Log<'a> {
    path: PathBuf,
    file: File,
    lock: &'a Lock,
}

impl<'a> Log<'a> {
    /// A new log; programs inherit the lock, so that they hold it as long as they run.
    pub(crate) fn create(path: &Path, lock: &'a Lock) -> Result<Self, BuildError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(BuildError::io(folder))?;
        let file = File::create(path).map_err(BuildError::io(path))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            lock,
        })
    }

    /// Runs a program to its end; `line` sees each line that it prints.
    pub(crate) fn run(
        &mut self,
        what: &str,
        command: &mut Command,
        mut line: impl FnMut(&str),
    ) -> Result<(), BuildError> {
        let program = PathBuf::from(command.get_program());
        for name in FOREIGN {
            command.env_remove(name);
        }
        // One pipe for both streams keeps their order.
        let (read, write) = std::io::pipe().map_err(BuildError::io(&program))?;
        let both = write.try_clone().map_err(BuildError::io(&program))?;
        let input = self.lock.share().map_err(BuildError::io(&program))?;
        command
            .stdin(input)
            .stdout(both)
            .stderr(write)
            .env("LC_ALL", "C");
        writeln!(self.file, "$ {}", shown(command)).map_err(BuildError::io(&self.path))?;
        let mut child = command.spawn().map_err(BuildError::io(&program))?;
        // The write ends that this process holds would keep the pipe open for ever.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut lines = BufReader::new(read);
        let mut text = Vec::new();
        while lines
            .read_until(b'\n', &mut text)
            .map_err(BuildError::io(&program))?
            > 0
        {
            self.file
                .write_all(&text)
                .map_err(BuildError::io(&self.path))?;
            line(String::from_utf8_lossy(&text).trim_end());
            text.clear();
        }
        let status = child.wait().map_err(BuildError::io(&program))?;
        if status.success() {
            return Ok(());
        }
        Err(BuildError::Step {
            what: format!("{what} ({status})"),
            log: self.path.clone(),
            tail: tail(&self.path),
        })
    }
}

/// The command without its environment, which is long.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|w| w.to_string_lossy()).collect();
    words.join(" ")
}

/// The last lines of a file, after the first ones that a compiler calls errors: with several
/// compilers at once those may stand far above the end.
fn tail(path: &Path) -> String {
    let mut text = Vec::new();
    // A log that cannot be read gives no lines; the error names it.
    let _ = File::open(path).and_then(|mut f| f.read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(TAIL);
    let (before, end) = lines.split_at(from);
    let is_error = |l: &&&str| l.contains(" error: ") || l.contains(": undefined reference");
    let mut shown: Vec<&str> = before
        .iter()
        .filter(is_error)
        .take(ERRORS)
        .copied()
        .collect();
    if !shown.is_empty() {
        shown.push("...");
    }
    shown.extend(end);
    shown.join("\n")
}

/// What a program prints, when it can be run and succeeds.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let output = command
        .stdin(Stdio::null())
        .env("LC_ALL", "C")
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn a_failure_shows_the_end_of_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Store::at(folder.path()).lock("a test", |_| ()).unwrap();
        let path = folder.path().join("logs/x.log");
        let mut log = Log::create(&path, &lock).unwrap();
        let mut seen = Vec::new();
        let script = "for i in $(seq 40); do echo line $i; done; echo bad >&2; exit 3";
        let mut command = Command::new("sh");
        let result = log.run("the test", command.args(["-c", script]), |l| {
            seen.push(l.to_owned())
        });
        assert_eq!(seen.len(), 41);
        let text = result.unwrap_err().to_string();
        assert!(
            text.starts_with("the test (exit status: 3) failed; the end of "),
            "{text}"
        );
        assert!(
            text.ends_with("line 40\nbad") && text.contains("line 12\n"),
            "{text}"
        );
        assert!(
            !text.contains("line 11\n") && text.contains("logs/x.log"),
            "{text}"
        );
    }

    #[test]
    fn errors_far_above_the_end_are_shown_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let other = "  CC      net/a.o\n".repeat(TAIL);
        fs::write(
            &path,
            format!("  CC x\na.c:3:1: error: no such thing\n{other}make: Error 2\n"),
        )
        .unwrap();
        let text = tail(&path);
        assert!(
            text.starts_with("a.c:3:1: error: no such thing\n...\n  CC"),
            "{text}"
        );
        assert!(
            text.ends_with("make: Error 2") && text.lines().count() == TAIL + 2,
            "{text}"
        );
    }

    #[test]
    fn programs_hold_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let lock = store.lock_source("a", "a test", |_| ()).unwrap();
        let mut command = Command::new("cat");
        let command_with_lock = command.stdin(Stdio::piped()).stdout(lock.share().unwrap());
        let mut child = command_with_lock.spawn().unwrap();
        drop((lock, command));
        let mut waited = false;
        let again = store.lock_source("a", "another", |_| {
            waited = true;
            drop(child.stdin.take());
        });
        assert!(waited && again.is_ok());
        child.wait().unwrap();
    }
}
