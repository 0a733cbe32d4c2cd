//! What can be asked of a build, and its steps.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::builder::Builder;
use super::{BuildError, command, find_program, hash, package};
use crate::edit::{Edit, Edits};
use crate::store::{Store, UmlKernel, Wait};
use crate::words::is_word;

/// What to build from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Debian's package of a version (`6.1`), or of one release of it (`6.1.176`).
    Package(String),
    /// A source tree.
    Folder(PathBuf),
}

/// What to build.
#[derive(Clone, Debug)]
pub struct Request {
    /// The source.
    pub origin: Origin,
    /// Edits on top.
    pub edits: Edits,
    /// Timer frequency, one of [`crate::stack::HZ_CHOICES`].
    pub hz: u32,
    /// A name of the user's choice.
    pub name: Option<String>,
    /// Compilers at once.
    pub jobs: usize,
    /// Install missing programs by apt.
    pub install: bool,
}

impl Request {
    /// The title that others see while they wait for this build: `Linux 6.1 at 1000 Hz with mss-boundary`.
    fn title(&self) -> String {
        let from = match &self.origin {
            Origin::Package(version) => format!("Linux {version}"),
            Origin::Folder(folder) => folder.display().to_string(),
        };
        let edits = self.edits.names().join(" and ");
        let with = if edits.is_empty() { "" } else { " with " };
        format!("the build of {from} at {} Hz{with}{edits}", self.hz)
    }

    /// The name of the source that the build works on, of which there is one unpacked tree.
    fn source(&self) -> String {
        match &self.origin {
            Origin::Package(version) => package::Wanted(version).package(),
            Origin::Folder(folder) => {
                let path = folder.canonicalize().unwrap_or_else(|_| folder.clone());
                let digits = hash::of_bytes(path.as_os_str().as_encoded_bytes());
                let digits: String = digits.chars().take(12).collect();
                format!("folder-{digits}")
            }
        }
    }
}

/// What happens during a build.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// Another process works on the same source, or removes; said at once and each minute.
    Waiting(&'a Wait),
    /// A new phase.
    Phase(&'a str),
    /// A step of make was done.
    Compiled {
        /// Steps so far.
        done: u64,
        /// Steps in all, about, where known.
        expected: Option<u64>,
        /// What it made.
        file: &'a str,
    },
}

/// A kernel that was asked for.
#[derive(Clone, Debug)]
pub struct Built {
    /// The kernel.
    pub kernel: UmlKernel,
    /// Whether it was there before.
    pub was_there: bool,
    /// CPU seconds of this call, with an unedited kernel that had to be built first.
    pub cpu_s: f64,
}

/// Builds a kernel, or finds it built.
///
/// # Errors
/// When the source cannot be had, an edit does not fit or the build fails.
pub fn build(
    store: &Store,
    request: &Request,
    step: &mut dyn FnMut(Step),
) -> Result<Built, BuildError> {
    if let (Origin::Folder(folder), None) = (&request.origin, &request.name)
        && folder_name(folder).is_none()
    {
        return Err(BuildError::NeedsName(folder.clone()));
    }
    if let Some(name) = request.name.as_deref()
        && (!is_word(name) || Edit::shipped_names().contains(&name))
    {
        return Err(BuildError::Name(name.to_owned()));
    }
    let what = request.title();
    let lock = store.lock_source(&request.source(), &what, |wait| step(Step::Waiting(wait)))?;
    Builder::new(store, request, &lock)?.run(step)
}

/// The default name of a source tree: its folder's name.
pub(crate) fn folder_name(folder: &Path) -> Option<String> {
    let path = folder.canonicalize().ok()?;
    let name = path.file_name()?.to_str()?.to_owned();
    (is_word(&name) && !Edit::shipped_names().contains(&name.as_str())).then_some(name)
}

/// Linux binaries of Debian's package `user-mode-linux` in PATH: real time only.
pub fn prebuilt() -> Option<PathBuf> {
    find_program("linux.uml")
}

/// The version that a prebuilt binary prints.
pub fn prebuilt_version(path: &Path) -> Option<String> {
    command::output(Command::new(path).arg("--version"))
}
