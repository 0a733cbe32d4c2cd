//! Modules of a kernel: which files, and in which order.
//!
//! A package's tree has no modules.dep (its installation makes that); each module says in its
//! `.modinfo` section what it needs, as `depends=a,b`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::ImageError;

/// A module to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// With underscores, as the kernel calls it.
    pub name: String,
    /// Its file, unpacked.
    pub bytes: Vec<u8>,
}

/// The modules with these names and what they need, those that others need first. Names that the
/// folder lacks are skipped: they may be built in.
pub(super) fn with_dependencies(folder: &Path, names: &[&str]) -> Result<Vec<Module>, ImageError> {
    let mut files = BTreeMap::new();
    collect(&folder.join("kernel"), &mut files);
    let (mut seen, mut order) = (BTreeSet::new(), Vec::new());
    for name in names {
        add(name, &files, &mut seen, &mut order)?;
    }
    Ok(order)
}

fn add(
    name: &str,
    files: &BTreeMap<String, PathBuf>,
    seen: &mut BTreeSet<String>,
    order: &mut Vec<Module>,
) -> Result<(), ImageError> {
    let Some(path) = files.get(name) else {
        return Ok(());
    };
    if !seen.insert(name.to_owned()) {
        return Ok(());
    }
    let bytes = unpacked(path)?;
    for needed in needs(&bytes) {
        add(&needed, files, seen, order)?;
    }
    order.push(Module {
        name: name.to_owned(),
        bytes,
    });
    Ok(())
}

fn collect(folder: &Path, files: &mut BTreeMap<String, PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
            continue;
        }
        let name = entry.file_name();
        if let Some((stem, "" | ".xz" | ".zst" | ".gz")) =
            name.to_str().and_then(|n| n.split_once(".ko"))
        {
            files.insert(stem.replace('-', "_"), path);
        }
    }
}

/// The file as the kernel wants it: the packer's own program unpacks it.
fn unpacked(path: &Path) -> Result<Vec<u8>, ImageError> {
    let program = match path.extension().and_then(|e| e.to_str()) {
        Some("xz") => "xz",
        Some("zst") => "zstd",
        Some("gz") => "gzip",
        _ => return fs::read(path).map_err(ImageError::io(path)),
    };
    let done = Command::new(program).arg("-dc").arg(path).output();
    let done = done.map_err(ImageError::io(Path::new(program)))?;
    match done.status.success() {
        true => Ok(done.stdout),
        false => Err(ImageError::Io {
            path: path.to_owned(),
            source: std::io::Error::other(format!("{program} cannot unpack it")),
        }),
    }
}

/// What `.modinfo` says: texts that end with a zero byte.
fn needs(module: &[u8]) -> Vec<String> {
    const KEY: &[u8] = b"\0depends=";
    let Some(at) = module.windows(KEY.len()).position(|w| w == KEY) else {
        return Vec::new();
    };
    let rest = module.get(at + KEY.len()..).unwrap_or_default();
    let text = rest.split(|b| *b == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text)
        .split(',')
        .filter(|name| !name.is_empty())
        .map(|name| name.replace('-', "_"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(depends: &str) -> Vec<u8> {
        format!("\x7fELF\0license=GPL\0depends={depends}\0retpoline=Y\0").into_bytes()
    }

    #[test]
    fn dependencies_come_first_and_once() {
        let place = tempfile::tempdir().unwrap();
        let kernel = place.path().join("kernel/net");
        fs::create_dir_all(&kernel).unwrap();
        fs::write(kernel.join("a.ko"), module("b-x,c")).unwrap();
        fs::write(kernel.join("b-x.ko"), module("c")).unwrap();
        fs::write(kernel.join("c.ko"), module("")).unwrap();
        fs::write(kernel.join("c.kore"), "").unwrap();
        let names = |wanted: &[&str]| -> Vec<String> {
            let found = with_dependencies(place.path(), wanted).unwrap();
            found.into_iter().map(|m| m.name).collect()
        };
        assert_eq!(names(&["a", "c", "built_in"]), ["c", "b_x", "a"]);
        assert_eq!(names(&["c"]), ["c"]);
    }

    #[test]
    fn a_circle_ends() {
        let place = tempfile::tempdir().unwrap();
        let kernel = place.path().join("kernel");
        fs::create_dir_all(&kernel).unwrap();
        fs::write(kernel.join("a.ko"), module("b")).unwrap();
        fs::write(kernel.join("b.ko"), module("a")).unwrap();
        assert_eq!(with_dependencies(place.path(), &["a"]).unwrap().len(), 2);
    }

    #[test]
    fn a_packed_module_is_unpacked() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("a.ko");
        fs::write(&file, module("b")).unwrap();
        let packed = Command::new("gzip").arg(&file).status();
        if !packed.is_ok_and(|s| s.success()) {
            eprintln!("skipped: no gzip here");
            return;
        }
        let bytes = unpacked(&place.path().join("a.ko.gz")).unwrap();
        assert_eq!(needs(&bytes), ["b"]);
    }
}
