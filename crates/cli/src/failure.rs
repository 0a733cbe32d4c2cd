//! Why the command could not do what it was asked, and the exit code that says so.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_guest::stack::NameError;
use tcplab_guest::store::StoreError;
use tcplab_os::say;
use tcplab_os::text::TextError;

/// Exit code of what Ctrl-C or SIGTERM ended before it was whole, as shells have it of SIGINT.
pub const INTERRUPTED: u8 = 130;

/// Kind of [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Wrong command line; exit code 2.
    Usage,
    /// A file cannot be opened, is no capture or is damaged; exit code 2.
    Input,
    /// The result cannot be written; exit code 2.
    Output,
    /// Ended without an answer; exit code 3.
    Inconclusive,
    /// Impossible on this machine or with this build; exit code 4.
    CannotRun,
    /// Ctrl-C or SIGTERM; exit code 130.
    Interrupted,
}

/// Error that ends the command.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Failure {
    /// Kind of error.
    pub kind: Kind,
    /// What happened and what to do.
    pub message: String,
    /// The reader of our output went away (`| head`): nobody is left to read a message.
    #[serde(skip)]
    #[schemars(skip)]
    broken_pipe: bool,
}

impl Failure {
    fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            broken_pipe: false,
        }
    }

    /// A wrong command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// Input that cannot be read.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(Kind::Input, message)
    }

    /// A run that ended too early.
    pub fn inconclusive(message: impl Into<String>) -> Self {
        Self::new(Kind::Inconclusive, message)
    }

    /// Something that this machine or this build lacks.
    pub fn cannot_run(message: impl Into<String>) -> Self {
        Self::new(Kind::CannotRun, message)
    }

    /// A signal that asked for an end.
    pub fn interrupted(message: impl Into<String>) -> Self {
        Self::new(Kind::Interrupted, message)
    }

    /// An interruption of a command that keeps its finished points, or groups, in the folder of --out.
    #[must_use]
    pub fn resumable(mut self, kept: &str, out: Option<&Path>) -> Self {
        if self.kind == Kind::Interrupted {
            self.message = match out {
                Some(out) => format!(
                    "interrupted; finished {kept} are in {}, and the same command resumes the run",
                    out.display()
                ),
                None => format!(
                    "interrupted; with --out, finished {kept} are kept and the same command resumes the run"
                ),
            };
        }
        self
    }

    /// A file that cannot be written.
    pub fn output(path: &Path, e: &io::Error) -> Self {
        let message = format!("{}: cannot write: {e}", path.display());
        Self {
            broken_pipe: e.kind() == io::ErrorKind::BrokenPipe,
            ..Self::new(Kind::Output, message)
        }
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self.kind {
            // What a shell reports for a program that SIGPIPE ended.
            _ if self.broken_pipe => 141,
            Kind::Usage | Kind::Input | Kind::Output => 2,
            Kind::Inconclusive => 3,
            Kind::CannotRun => 4,
            Kind::Interrupted => INTERRUPTED,
        }
    }

    /// Writes the message to standard error and gives the exit code.
    pub fn report(&self) -> ExitCode {
        if !self.broken_pipe {
            say(&format!("tcplab: {}", self.message));
        }
        ExitCode::from(self.code())
    }
}

impl From<TextError> for Failure {
    fn from(e: TextError) -> Self {
        Self::input(e.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(e: StoreError) -> Self {
        match e {
            StoreError::NotBuilt { .. } | StoreError::Outdated { .. } | StoreError::NoHome => {
                Self::cannot_run(e.to_string())
            }
            StoreError::Io { .. } => Self::input(e.to_string()),
        }
    }
}

impl From<NameError> for Failure {
    fn from(e: NameError) -> Self {
        Self::usage(e.to_string())
    }
}

/// Errors of standard output and of buffers in front of it.
impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Self {
        Self {
            kind: Kind::Output,
            broken_pipe: e.kind() == io::ErrorKind::BrokenPipe,
            message: format!("cannot write the result: {e}"),
        }
    }
}
