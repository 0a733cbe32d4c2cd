//! A source in the store, ready to be built from: Debian's tar file unpacked, or the copy of
//! somebody's tree; either way with the edits that every build gets.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::command::Log;
use super::package::Tarball;
use super::{BuildError, folder, hash, overlay};
use crate::edit::Edits;
use crate::store::{Source, SourceKind, Store};

/// Two thirds of Linux: parts that our kernels do not need. Their Kconfig files and makefiles stay,
/// for those are read.
const NOT_NEEDED: &[&str] = &[
    "drivers/gpu",
    "drivers/media",
    "drivers/staging",
    "drivers/scsi",
    "drivers/infiniband",
    "drivers/net/ethernet",
    "drivers/net/wireless",
    "sound",
    "Documentation",
    "tools/perf",
    "tools/testing",
];

/// Endings of the files that are left out there.
const LEFT_OUT: &[&str] = &["c", "h", "S", "rst", "json", "yaml", "dts", "dtsi"];

/// Whether a file of the source can matter for a build.
pub(crate) fn is_needed(path: &Path) -> bool {
    let ending = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    if !LEFT_OUT.contains(&ending) {
        return true;
    }
    let mut parts = path.iter().filter_map(|p| p.to_str());
    if parts.next() == Some("arch") {
        return parts.next().is_none_or(|a| ["um", "x86"].contains(&a));
    }
    !NOT_NEEDED.iter().any(|part| path.starts_with(part))
}

/// A source ready to be built from.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Name of its folders in the store.
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    /// As its Makefile says: `6.1.192`.
    pub(crate) version: String,
    pub(crate) source: Source,
}

/// The id of what is unpacked or copied: another source, or other edits, other folders.
pub(crate) fn id(name: &str, sum: &str, always: &Edits) -> String {
    let digits = hash::of_bytes(format!("{sum}\n{}", always.content()));
    let digits: String = digits.chars().take(12).collect();
    format!("{name}-{digits}")
}

/// Unpacks a package's tar file, unless it is there.
pub(crate) fn unpack(
    store: &Store,
    tarball: &Tarball,
    sum: String,
    always: &Edits,
    log: &mut Log,
) -> Result<Tree, BuildError> {
    let id = id(&tarball.package, &sum, always);
    let folder = store.root().join("src").join(&id);
    let path = folder.join("tree");
    if !path.is_dir() {
        let part = folder.join("unpacking");
        crate::store::remove(&part)?;
        fs::create_dir_all(&part).map_err(BuildError::io(&part))?;
        let patterns = folder.join("left-out");
        fs::write(&patterns, exclusions(&tarball.package)).map_err(BuildError::io(&patterns))?;
        let mut tar = Command::new("tar");
        tar.arg("-C")
            .arg(&part)
            .args(["--strip-components=1", "--no-same-owner"]);
        tar.arg("--anchored").arg("-X").arg(&patterns);
        tar.arg("-xf").arg(&tarball.path);
        log.run("unpacking the source", &mut tar, |_| ())?;
        for (file, text) in overlay::edited(&part, always)? {
            let file = part.join(file);
            fs::write(&file, text).map_err(BuildError::io(&file))?;
        }
        fs::rename(&part, &path).map_err(BuildError::io(&path))?;
    }
    let version = version_of(&path)?;
    let source = Source {
        kind: SourceKind::Package,
        name: tarball.package.clone(),
        package_version: tarball.version.clone(),
        sha256: sum,
    };
    Ok(Tree {
        id,
        path,
        version,
        source,
    })
}

/// Patterns of what `tar` leaves out, below the folder `top`; the same files as [`is_needed`] says.
fn exclusions(top: &str) -> String {
    let mut patterns = String::new();
    for ending in LEFT_OUT {
        for folder in NOT_NEEDED {
            patterns.push_str(&format!("{top}/{folder}/*.{ending}\n"));
        }
        // Every architecture but um and x86.
        for arch in ["[!ux]*", "x[!8]*", "u[!m]*"] {
            patterns.push_str(&format!("{top}/arch/{arch}/*.{ending}\n"));
        }
    }
    patterns
}

/// Brings the store's copy of a folder up to date.
pub(crate) fn follow(store: &Store, from: &Path, always: &Edits) -> Result<Tree, BuildError> {
    let from = from.canonicalize().map_err(BuildError::io(from))?;
    for lacks in ["Makefile", "Kconfig", "arch/um", "net/ipv4"] {
        if !from.join(lacks).exists() {
            return Err(BuildError::NotATree { path: from, lacks });
        }
    }
    let id = id("folder", &from.to_string_lossy(), always);
    let folder = store.root().join("src").join(&id);
    let path = folder.join("tree");
    fs::create_dir_all(&path).map_err(BuildError::io(&path))?;
    overlay::restore(&path)?;
    let sha256 = folder::copy(&from, &path, always)?;
    let source = Source {
        kind: SourceKind::Folder,
        name: from.display().to_string(),
        package_version: None,
        sha256,
    };
    Ok(Tree {
        id,
        version: version_of(&path)?,
        path,
        source,
    })
}

/// The version that the Makefile at the root of the source gives.
fn version_of(tree: &Path) -> Result<String, BuildError> {
    let path = tree.join("Makefile");
    let text = fs::read_to_string(&path).map_err(BuildError::io(&path))?;
    let value = |name: &str| {
        let lines = text.lines().take(20);
        let mut values = lines.filter_map(|l| l.strip_prefix(name)?.trim().strip_prefix('='));
        values.next().map(|v| v.trim().to_owned())
    };
    let (Some(version), Some(patch)) = (value("VERSION"), value("PATCHLEVEL")) else {
        return Err(BuildError::NotATree {
            path: tree.to_owned(),
            lacks: "VERSION in its Makefile",
        });
    };
    let sub = value("SUBLEVEL").unwrap_or_else(|| "0".into());
    let extra = value("EXTRAVERSION").unwrap_or_default();
    Ok(format!("{version}.{patch}.{sub}{extra}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed() {
        for (path, expected) in [
            ("net/ipv4/tcp.c", true),
            ("include/sound/core.h", true),
            ("sound/core/init.c", false),
            ("sound/Kconfig", true),
            ("arch/um/Makefile", true),
            ("arch/x86/um/ptrace.c", true),
            ("arch/arm64/kernel/setup.c", false),
            ("arch/xtensa/kernel/setup.c", false),
            ("arch/Kconfig", true),
            ("drivers/gpu/drm/i915/a.c", false),
            ("drivers/net/veth.c", true),
            ("drivers/net/ethernet/Kconfig", true),
        ] {
            assert_eq!(is_needed(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn the_version_is_that_of_the_makefile() {
        let folder = tempfile::tempdir().unwrap();
        let write = |text: &str| fs::write(folder.path().join("Makefile"), text).unwrap();
        write(
            "# SPDX\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 0\nEXTRAVERSION = -rc3\nNAME = x\n",
        );
        assert_eq!(version_of(folder.path()).unwrap(), "6.12.0-rc3");
        write("all:\n\ttrue\n");
        assert!(version_of(folder.path()).is_err());
    }
}
