//! Copies a user's source tree into the store; the user's tree is read, never written.
//!
//! The copy follows the tree. Only files whose content changed are written, with the current time, so `make` compiles
//! only the files that depend on them, and a checkout of an older commit is a small build. In a git work tree, files
//! that git ignores are left out.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use tcplab_os::output::write_own;

use super::source::is_needed;
use super::{BuildError, hash, overlay};
use crate::edit::Edits;

/// One file as it was when it was copied.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    stamp: String,
    sha256: String,
}

/// By path below the root.
type Index = BTreeMap<String, Entry>;

/// Size, time stamp and mode: when they stay, the content is taken to be the same.
pub(crate) fn stamp(meta: &Metadata) -> String {
    let (s, ns) = (meta.mtime(), meta.mtime_nsec());
    format!("{} {s}.{ns:09} {:o}", meta.len(), meta.mode())
}

/// Brings the copy up to date with `from`, with the edits that every build gets; gives the hash
/// of all file names and contents of `from`.
pub(crate) fn copy(from: &Path, to: &Path, always: &Edits) -> Result<String, BuildError> {
    let index_path = to.with_extension("index");
    let old = read_index(&index_path);
    // Gone while the copy is changed: after a crash everything is compared again.
    crate::store::remove(&index_path)?;
    let may_change = always.files();
    let edited = overlay::edited(from, always)?;
    let mut new = Index::new();
    for name in files(from)? {
        let path = from.join(&name);
        let Ok(meta) = fs::symlink_metadata(&path) else {
            continue; // git lists files that were removed but not committed
        };
        let Some(key) = name.to_str().map(str::to_owned).filter(|_| !meta.is_dir()) else {
            continue;
        };
        let stamp = stamp(&meta);
        let target = to.join(&name);
        // Which edits a file gets may depend on other files.
        if let Some(entry) = old.get(&key).filter(|e| e.stamp == stamp)
            && !may_change.contains(&name)
            && target.symlink_metadata().is_ok()
        {
            new.insert(key, entry.clone());
            continue;
        }
        let sha256 = if meta.is_symlink() {
            copy_link(&path, &target)?
        } else {
            copy_file(&path, &target, &meta, edited.get(&name))?
        };
        new.insert(key, Entry { stamp, sha256 });
    }
    for gone in old.keys().filter(|key| !new.contains_key(*key)) {
        crate::store::remove(&to.join(gone))?;
    }
    write_index(&index_path, &new)?;
    let lines: Vec<String> = new
        .iter()
        .map(|(name, e)| format!("{} {name}\n", e.sha256))
        .collect();
    Ok(hash::of_bytes(lines.concat()))
}

/// The files of a tree that a build for User-Mode Linux can need.
fn files(root: &Path) -> Result<Vec<PathBuf>, BuildError> {
    // Debian's own .gitignore ignores all of Linux: without a Makefile git's list is of no use.
    let list = git_files(root).filter(|list| list.iter().any(|p| p == Path::new("Makefile")));
    if let Some(list) = list {
        return Ok(list.into_iter().filter(|p| is_needed(p)).collect());
    }
    let mut found = Vec::new();
    walk(root, Path::new(""), &mut found)?;
    found.sort();
    Ok(found)
}

fn git_files(root: &Path) -> Option<Vec<PathBuf>> {
    if !root.join(".git").exists() {
        return None;
    }
    let mut git = Command::new("git");
    git.arg("-C").arg(root);
    git.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let output = git.output().ok().filter(|o| o.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut list: Vec<PathBuf> = text.split_terminator('\0').map(PathBuf::from).collect();
    list.sort();
    list.dedup();
    Some(list)
}

fn walk(root: &Path, below: &Path, found: &mut Vec<PathBuf>) -> Result<(), BuildError> {
    let folder = root.join(below);
    for entry in fs::read_dir(&folder).map_err(BuildError::io(&folder))? {
        let entry = entry.map_err(BuildError::io(&folder))?;
        let path = below.join(entry.file_name());
        if is_product(&path) || !is_needed(&path) {
            continue;
        }
        if entry.file_type().map_err(BuildError::io(&folder))?.is_dir() {
            walk(root, &path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}

/// Whether this is something that a build in the tree left there: with it the kernel refuses to
/// be built in another folder.
fn is_product(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let parts: Vec<_> = path.components().collect();
    let is_generated = parts.last() == Some(&Component::Normal("generated".as_ref()))
        && parts.contains(&Component::Normal("include".as_ref()));
    let ending = name.rsplit_once('.').map_or("", |(_, e)| e);
    is_generated
        || name == ".git"
        || path == Path::new("include/config")
        || (parts.len() == 1 && (name.starts_with(".config") || name.starts_with("vmlinux")))
        || matches!(
            ending,
            "o" | "a" | "ko" | "cmd" | "d" | "order" | "mod" | "symvers"
        )
}

fn copy_link(from: &Path, to: &Path) -> Result<String, BuildError> {
    let points_to = fs::read_link(from).map_err(BuildError::io(from))?;
    make_folder(to)?;
    crate::store::remove(to)?;
    symlink(&points_to, to).map_err(BuildError::io(to))?;
    Ok(hash::of_bytes(points_to.as_os_str().as_encoded_bytes()))
}

/// Copies a file, or what the edits made of it, unless the copy has that content already; gives
/// the hash of the original.
fn copy_file(
    from: &Path,
    to: &Path,
    meta: &Metadata,
    edited: Option<&String>,
) -> Result<String, BuildError> {
    let content = fs::read(from).map_err(BuildError::io(from))?;
    let sum = hash::of_bytes(&content);
    let content = edited.map_or(content, |text| text.clone().into_bytes());
    if fs::read(to).is_ok_and(|old| old == content) {
        return Ok(sum);
    }
    make_folder(to)?;
    crate::store::remove(to)?;
    fs::write(to, content).map_err(BuildError::io(to))?;
    let mode = fs::Permissions::from_mode(meta.mode() & 0o777 | 0o600);
    fs::set_permissions(to, mode).map_err(BuildError::io(to))?;
    Ok(sum)
}

fn make_folder(file: &Path) -> Result<(), BuildError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(BuildError::io(folder))
}

fn read_index(path: &Path) -> Index {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let mut parts = line.splitn(3, '\t');
            let (stamp, sha256, name) = (parts.next()?, parts.next()?, parts.next()?);
            let entry = Entry {
                stamp: stamp.into(),
                sha256: sha256.into(),
            };
            Some((name.to_owned(), entry))
        })
        .collect()
}

fn write_index(path: &Path, index: &Index) -> Result<(), BuildError> {
    let line = |(name, e): (&String, &Entry)| format!("{}\t{}\t{name}\n", e.stamp, e.sha256);
    let text: Vec<String> = index
        .iter()
        .filter(|(n, _)| !n.contains('\n'))
        .map(line)
        .collect();
    write_own(path, text.concat()).map_err(BuildError::io(path))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    fn write(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn source(root: &Path) {
        write(root, "arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100\n");
        write(root, "net/ipv4/tcp.c", "old\n");
        write(root, "net/ipv4/tcp_input.c", "same\n");
    }

    /// Stands for the edits that every build gets.
    fn always(folder: &Path) -> Edits {
        let path = folder.join("mine.toml");
        let text = "says = 'x'\n[[change]]\nfile = 'arch/um/Kconfig'\nfind = 'int'\nafter = ' \"Timer frequency\"'\n";
        fs::write(&path, text).unwrap();
        let edit = crate::edit::Edit::load(path.to_str().unwrap()).unwrap();
        Edits::new(vec![edit]).unwrap()
    }

    fn age(path: &Path) -> Duration {
        let time = fs::metadata(path).unwrap().modified().unwrap();
        time.duration_since(SystemTime::UNIX_EPOCH).unwrap()
    }

    fn make_old(path: &Path, seconds: u64) {
        let file = fs::File::options().write(true).open(path).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        file.set_modified(time).unwrap();
    }

    #[test]
    fn the_copy_follows_and_touches_only_what_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to/tree"));
        fs::create_dir_all(&to).unwrap();
        source(&from);
        write(&from, "net/gone.c", "x");
        let always = always(folder.path());
        let first = copy(&from, &to, &always).unwrap();
        let read = |name: &str| fs::read_to_string(to.join(name)).unwrap();
        assert!(read("arch/um/Kconfig").contains("Timer frequency"));
        assert!(
            !fs::read_to_string(from.join("arch/um/Kconfig"))
                .unwrap()
                .contains("Timer")
        );
        for name in ["net/ipv4/tcp.c", "net/ipv4/tcp_input.c", "arch/um/Kconfig"] {
            make_old(&to.join(name), 1000);
        }
        // An older time stamp is a change too, as after a checkout of an old commit.
        write(&from, "net/ipv4/tcp.c", "new\n");
        make_old(&from.join("net/ipv4/tcp.c"), 500);
        make_old(&from.join("net/ipv4/tcp_input.c"), 500);
        make_old(&from.join("arch/um/Kconfig"), 500);
        fs::remove_file(from.join("net/gone.c")).unwrap();
        let second = copy(&from, &to, &always).unwrap();
        assert_ne!(first, second);
        assert_eq!(read("net/ipv4/tcp.c"), "new\n");
        assert!(age(&to.join("net/ipv4/tcp.c")) > Duration::from_secs(1000));
        assert_eq!(
            age(&to.join("net/ipv4/tcp_input.c")),
            Duration::from_secs(1000)
        );
        assert_eq!(age(&to.join("arch/um/Kconfig")), Duration::from_secs(1000));
        assert!(!to.join("net/gone.c").exists());
        assert_eq!(copy(&from, &to, &always).unwrap(), second);
    }

    #[test]
    fn build_leftovers_are_not_copied() {
        for (path, expected) in [
            ("include/config", true),
            ("include/generated", true),
            ("arch/x86/include/generated", true),
            ("arch/um/include/generated", true),
            ("net/ipv4/tcp.o", true),
            ("net/ipv4/.tcp.o.cmd", true),
            (".config", true),
            ("vmlinux", true),
            (".git", true),
            ("net/ipv4/tcp.c", false),
            ("scripts/config", false),
            ("arch/um/configs/x86_64_defconfig", false),
            ("include/linux/generated.h", false),
            ("arch/x86/boot/vmlinux.lds.S", false),
        ] {
            assert_eq!(is_product(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn in_a_git_work_tree_git_says_what_belongs_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        source(root);
        write(root, ".gitignore", "*.tmp\n");
        write(root, "Makefile", "");
        write(root, "net/x.tmp", "");
        write(root, "net/new.c", "");
        let git = |args: &[&str]| {
            let mut git = Command::new("git");
            git.arg("-C")
                .arg(root)
                .args(args)
                .output()
                .is_ok_and(|o| o.status.success())
        };
        if !git(&["init", "-q"]) {
            eprintln!("skipped: no git to try it with");
            return;
        }
        assert!(git(&["add", "net/ipv4"]));
        let names = files(root).unwrap();
        let has = |name: &str| names.contains(&PathBuf::from(name));
        assert!(has("net/ipv4/tcp.c") && has("net/new.c") && has("arch/um/Kconfig"));
        assert!(!has("net/x.tmp") && !names.iter().any(|n| n.starts_with(".git/")));
        // Git says nothing about a tree that it ignores.
        write(root, ".gitignore", "/*\n");
        assert!(git(&["rm", "-rq", "--cached", "."]));
        let names = files(root).unwrap();
        assert!(names.contains(&PathBuf::from("net/ipv4/tcp.c")));
    }
}
