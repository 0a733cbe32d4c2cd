//! Why a session gives no answer.

use std::io;
use std::path::PathBuf;

/// What went wrong; the host is named as the user named it.
#[derive(Debug, thiserror::Error)]
pub enum SshError {
    /// The client could not be started.
    #[error("cannot start ssh: {0}; install the package openssh-client")]
    NoClient(io::Error),
    /// ssh gave up before it reached a shell there.
    #[error("{host}: {words}\n  {hint}")]
    Refused {
        /// The host.
        host: String,
        /// What ssh said.
        words: String,
        /// The way out.
        hint: String,
    },
    /// Its system or processor is not the one that this program was built for.
    #[error(
        "{host}: {there} there, but {file} is for Linux on {ours}: name a tcplab for it with --ssh-program FILE"
    )]
    Machine {
        /// The host.
        host: String,
        /// Its system and machine.
        there: String,
        /// The machine of the program.
        ours: String,
        /// The program.
        file: String,
    },
    /// The program was copied and does not start.
    #[error("{host}: tcplab does not start there: {words}\n  {hint}")]
    Start {
        /// The host.
        host: String,
        /// What the far side said.
        words: String,
        /// The way out.
        hint: String,
    },
    /// The tcplab there has another version.
    #[error(
        "{host}: the program there is tcplab {there}, but this is {ours}: name a program of this version with --ssh-program"
    )]
    Version {
        /// The host.
        host: String,
        /// Its version.
        there: String,
        /// Ours.
        ours: String,
    },
    /// The copy is not what was sent.
    #[error("{host}: the copy of tcplab there is damaged: remove {path} there")]
    Damaged {
        /// The host.
        host: String,
        /// The file.
        path: String,
    },
    /// The connection went away.
    #[error("{host}: the ssh connection broke{}", after(words))]
    Gone {
        /// The host.
        host: String,
        /// The last words of ssh and of the far side.
        words: String,
    },
    /// It does not answer in time.
    #[error("{host}: no answer for {seconds} s{}", after(words))]
    Silent {
        /// The host.
        host: String,
        /// How long was waited.
        seconds: u64,
        /// The last words of ssh and of the far side.
        words: String,
    },
    /// A request failed there, in its own words.
    #[error("{host}: {words}")]
    Far {
        /// The host.
        host: String,
        /// What it said.
        words: String,
    },
    /// The program to copy cannot be used.
    #[error("{}: {what}", file.display())]
    Program {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The user wants an end.
    #[error("interrupted")]
    Interrupted,
}

fn after(words: &str) -> String {
    match words.trim() {
        "" => String::new(),
        words => format!(": {words}"),
    }
}

impl SshError {
    /// A request failed at `host`, in these words.
    pub fn far(host: &str, words: impl Into<String>) -> Self {
        Self::Far {
            host: host.to_owned(),
            words: words.into(),
        }
    }

    /// An answer that makes no sense from `host`.
    pub(crate) fn odd(host: &str, what: impl std::fmt::Display) -> Self {
        Self::far(host, format!("unexpected answer: {what}"))
    }
}
