//! Changes files of an unpacked source for one build and puts them back, with their time stamps.
//!
//! `make` compares time stamps: edited files are new, so what depends on them is compiled; files
//! that were put back are as old as before, so the build folder of the unedited source stays
//! complete. The originals wait beside the tree until they are back, also over a `kill -9`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::{BuildError, Edits};
use crate::stack::remove;

/// Edits that are in force until this is dropped.
#[derive(Debug)]
pub(crate) struct Overlay {
    tree: PathBuf,
    originals: PathBuf,
}

impl Overlay {
    /// Applies edits to a tree, all or none.
    pub(crate) fn apply(tree: &Path, edits: &Edits) -> Result<Self, BuildError> {
        let overlay = Self {
            tree: tree.to_owned(),
            originals: originals(tree),
        };
        restore(tree)?;
        let texts = edited(tree, edits)?;
        let saving = tree.with_extension("saving");
        remove(&saving)?;
        fs::create_dir_all(&saving).map_err(BuildError::io(&saving))?;
        for (file, _) in &texts {
            copy_with_time(&tree.join(file), &saving.join(file))?;
        }
        fs::rename(&saving, &overlay.originals).map_err(BuildError::io(&overlay.originals))?;
        for (file, text) in &texts {
            let path = tree.join(file);
            fs::write(&path, text).map_err(BuildError::io(&path))?;
        }
        Ok(overlay)
    }

    /// Puts the originals back; what dropping does, with its error.
    pub(crate) fn undo(self) -> Result<(), BuildError> {
        restore(&self.tree)
    }
}

impl Drop for Overlay {
    fn drop(&mut self) {
        // The next build tries again and reports what stands against it.
        let _ = restore(&self.tree);
    }
}

/// The new text of each file that the edits change.
pub(crate) fn edited(tree: &Path, edits: &Edits) -> Result<Vec<(PathBuf, String)>, BuildError> {
    let mut texts = Vec::new();
    for file in edits.files() {
        let path = tree.join(&file);
        if !path.is_file() {
            return Err(edits.no_file(&file).into());
        }
        let text = fs::read_to_string(&path).map_err(BuildError::io(&path))?;
        let text = edits.apply(&file, &text)?;
        texts.push((file, text));
    }
    Ok(texts)
}

fn originals(tree: &Path) -> PathBuf {
    tree.with_extension("originals")
}

/// Puts back what an overlay changed, if there is anything.
pub(crate) fn restore(tree: &Path) -> Result<(), BuildError> {
    let originals = originals(tree);
    if originals.is_dir() {
        move_back(&originals, tree)?;
        remove(&originals)?;
    }
    Ok(())
}

/// A rename keeps the time stamp.
fn move_back(from: &Path, to: &Path) -> Result<(), BuildError> {
    for entry in fs::read_dir(from).map_err(BuildError::io(from))? {
        let entry = entry.map_err(BuildError::io(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            move_back(&source, &target)?;
        } else {
            fs::rename(&source, &target).map_err(BuildError::io(&target))?;
        }
    }
    Ok(())
}

fn copy_with_time(from: &Path, to: &Path) -> Result<(), BuildError> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(BuildError::io(folder))?;
    }
    fs::copy(from, to).map_err(BuildError::io(from))?;
    let time = fs::metadata(from).and_then(|m| m.modified());
    let time = time.map_err(BuildError::io(from))?;
    let file = File::options()
        .write(true)
        .open(to)
        .map_err(BuildError::io(to))?;
    file.set_modified(time).map_err(BuildError::io(to))
}
