//! Why an experiment could not be run.

use std::io;
use std::path::{Path, PathBuf};

use tcplab_guest::stack::NameError;
use tcplab_guest::store::StoreError;
use tcplab_inject::InjectError;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// No such stack.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A kernel that is not there.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stack that this version or this machine cannot run.
    #[error("{0}")]
    CannotRun(String),
    /// A wrong name, or a folder that holds something else.
    #[error("{0}")]
    Wrong(String),
    /// A point that asks for what its stack cannot do; the others go on.
    #[error("{0}")]
    Point(String),
    /// A limit ended a run before it had an answer; the other points go on.
    #[error("{0}")]
    Limit(String),
    /// Settings that a stack does not honour; nothing was run.
    #[error("{}", .0.join("\n"))]
    Refused(Vec<String>),
    /// A run that broke off; the other points go on.
    #[error("{0}")]
    Run(String),
    /// The file system.
    #[error("{}: {source}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Ctrl-C.
    #[error("interrupted before the result was complete")]
    Interrupted,
}

impl LabError {
    /// Whether a run was ended before it had an answer, and another limit may let it have one.
    pub fn is_inconclusive(&self) -> bool {
        matches!(self, Self::Limit(_))
    }

    /// Adds the path to an error of the file system.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

impl From<InjectError> for LabError {
    fn from(e: InjectError) -> Self {
        match e {
            InjectError::Wrong(why) => Self::Wrong(why),
            InjectError::CannotRun(why) => Self::CannotRun(why),
            InjectError::Limit(why) => Self::Limit(why),
            InjectError::Run(why) => Self::Run(why),
            InjectError::Interrupted => Self::Interrupted,
        }
    }
}
