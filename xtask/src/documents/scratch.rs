//! A folder for an example: what it writes stays out of the repository, whose files it sees.

use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context, Result};

/// A temporary folder with a link to each entry of the repository but `target`.
pub struct Scratch(tcplab_os::Scratch);

impl Scratch {
    /// Makes one.
    pub fn new(root: &Path) -> Result<Self> {
        let folder = tcplab_os::Scratch::new().context("cannot make a temporary folder")?;
        let entries = std::fs::read_dir(root).context("cannot list the repository")?;
        for entry in entries.flatten() {
            let name = entry.file_name();
            if name != "target" && !name.to_string_lossy().starts_with('.') {
                symlink(entry.path(), folder.path().join(name)).context("cannot make a link")?;
            }
        }
        Ok(Self(folder))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}
