//! Changes files of an unpacked source for one build and puts them back, with their time stamps.
//!
//! `make` compares time stamps: edited files are new, so what depends on them is compiled; files
//! that were put back are as old as before, so the build folder of the unedited source stays
//! complete. The originals wait beside the tree until they are back, also over a `kill -9`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::BuildError;
use crate::edit::{Edits, Texts};
use crate::store::remove;

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
        for file in texts.keys() {
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
pub(crate) fn edited(tree: &Path, edits: &Edits) -> Result<Texts, BuildError> {
    let mut texts = Texts::new();
    for file in edits.files() {
        let path = tree.join(&file);
        if path.is_file() {
            let text = fs::read_to_string(&path).map_err(BuildError::io(&path))?;
            texts.insert(file, text);
        }
    }
    Ok(edits.apply(texts)?)
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

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::edit::Edit;

    /// A tree with one file that `edits` changes, as old as time itself.
    fn tree() -> (tempfile::TempDir, PathBuf, Edits) {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("linux-6.1/tree");
        fs::create_dir_all(tree.join("net")).unwrap();
        fs::write(tree.join("net/a.c"), "one two\n").unwrap();
        let file = File::options()
            .write(true)
            .open(tree.join("net/a.c"))
            .unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let edit = folder.path().join("mine.toml");
        let text = "says = 'x'\n[[change]]\nfile = 'net/a.c'\nfind = 'two'\nreplace = 'three'\n";
        fs::write(&edit, text).unwrap();
        let edit = Edit::load(edit.to_str().unwrap()).unwrap();
        (folder, tree, Edits::new(vec![edit]).unwrap())
    }

    fn state(tree: &Path) -> (String, bool) {
        let path = tree.join("net/a.c");
        let is_old = fs::metadata(&path).unwrap().modified().unwrap() == SystemTime::UNIX_EPOCH;
        (fs::read_to_string(path).unwrap(), is_old)
    }

    #[test]
    fn files_are_edited_and_come_back_as_old_as_they_were() {
        let (_folder, tree, edits) = tree();
        let overlay = Overlay::apply(&tree, &edits).unwrap();
        assert_eq!(state(&tree), ("one three\n".into(), false));
        overlay.undo().unwrap();
        assert_eq!(state(&tree), ("one two\n".into(), true));
        drop(Overlay::apply(&tree, &edits).unwrap());
        assert_eq!(state(&tree), ("one two\n".into(), true));
    }

    #[test]
    fn after_a_crash_the_next_build_puts_them_back() {
        let (_folder, tree, edits) = tree();
        std::mem::forget(Overlay::apply(&tree, &edits).unwrap());
        assert_eq!(state(&tree), ("one three\n".into(), false));
        // Applied to what is edited already, `two` would not be found.
        let again = Overlay::apply(&tree, &edits).unwrap();
        assert_eq!(state(&tree), ("one three\n".into(), false));
        std::mem::forget(again);
        restore(&tree).unwrap();
        assert_eq!(state(&tree), ("one two\n".into(), true));
    }

    #[test]
    fn unfitting_edit_changes_nothing() {
        let (_folder, tree, edits) = tree();
        fs::write(tree.join("net/a.c"), "one\n").unwrap();
        assert!(Overlay::apply(&tree, &edits).is_err());
        fs::remove_file(tree.join("net/a.c")).unwrap();
        let text = Overlay::apply(&tree, &edits).unwrap_err().to_string();
        assert_eq!(text, "edit mine: the source has no file net/a.c");
    }

    /// Sources of kernels, with their series, which builds leave in the store.
    fn trees() -> Vec<(String, PathBuf)> {
        let store = crate::store::Store::of_user().unwrap();
        let sources = fs::read_dir(store.root().join("src"));
        let tree = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let (series, _) = name.strip_prefix("linux-source-")?.split_once('-')?;
            let tree = entry.path().join("tree");
            (tree.is_dir() && !originals(&tree).exists()).then(|| (series.to_owned(), tree))
        };
        let entries = sources.into_iter().flatten().flatten();
        entries.filter_map(tree).collect()
    }

    fn load(names: &[&str]) -> Edits {
        Edits::new(names.iter().map(|n| Edit::load(n).unwrap()).collect()).unwrap()
    }

    #[test]
    fn the_shipped_edits_fit_the_sources_that_are_here() {
        let trees = trees();
        if trees.is_empty() {
            eprintln!("skipped: no source of Linux is unpacked (tcplab kernel build 6.1)");
        }
        for (series, tree) in trees {
            for name in Edit::shipped_names() {
                let texts = edited(&tree, &load(&[name]));
                let texts = texts.unwrap_or_else(|e| panic!("{series} {name}: {e}"));
                assert!(!texts.is_empty(), "{series} {name}");
            }
        }
    }

    #[test]
    fn several_edits_in_one_kernel_but_one_default_of_the_timeouts_rule() {
        let Some((_, tree)) = trees().into_iter().find(|(series, _)| series == "6.1") else {
            eprintln!("skipped: no source of Linux 6.1 is unpacked (tcplab kernel build 6.1)");
            return;
        };
        let all = load(&["el8-receiver", "recovlat", "rto-Y4", "tlp-2016"]);
        assert!(edited(&tree, &all).is_ok());
        let two = edited(&tree, &load(&["rto-D", "rto-R"]));
        let message = two.unwrap_err().to_string();
        assert!(message.starts_with("edit rto-R: net/ipv4/"), "{message}");
    }
}
