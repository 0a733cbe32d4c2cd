//! Scripts in folders, and the cases that they make: each script in the IP modes that its name allows.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tcplab_drill::IpMode;
use tcplab_drill::options::runner_modes;

use crate::error::LabError;

/// Folders inside folders; more are not searched (a loop of links cannot occur: links to folders are not followed).
const DEPTH: usize = 32;

/// The modes that a script may be run in, as packetdrill's runner has them.
pub const MODES: [IpMode; 3] = IpMode::ALL;

/// A mode's word in results and on the command line.
pub fn word(mode: IpMode) -> &'static str {
    match mode {
        IpMode::Ipv4 => "ipv4",
        IpMode::Ipv6 => "ipv6",
        IpMode::Mapped => "ipv4-mapped-v6",
    }
}

/// A script in one mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The file, as it was given or found.
    pub script: PathBuf,
    /// The mode.
    pub mode: IpMode,
}

/// The scripts of `paths`: files as given, folders searched for `*.pkt`, in order of their names.
///
/// # Errors
/// A path that cannot be read, or a folder without scripts.
pub fn scripts(paths: &[PathBuf]) -> Result<Vec<PathBuf>, LabError> {
    let mut all = Vec::new();
    for path in paths {
        let meta = fs::metadata(path).map_err(LabError::at(path))?;
        if !meta.is_dir() {
            all.push(path.clone());
            continue;
        }
        let before = all.len();
        search(path, DEPTH, &mut all).map_err(LabError::at(path))?;
        if all.len() == before {
            return Err(LabError::Wrong(format!(
                "{}: no *.pkt file in this folder; name a script, or a folder of scripts",
                path.display()
            )));
        }
    }
    Ok(all)
}

fn search(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() && depth > 0 {
            search(&path, depth - 1, found)?;
        } else if !kind.is_dir() && path.extension().is_some_and(|e| e == "pkt") {
            found.push(path);
        }
    }
    Ok(())
}

/// The cases of scripts in these modes: one whose name ends in `v4.pkt` has no IPv6, one that ends in `v6.pkt` only that.
pub fn cases(scripts: &[PathBuf], modes: &[IpMode]) -> Vec<Case> {
    let mut cases = Vec::new();
    for script in scripts {
        let fit = allowed(script).iter();
        cases.extend(fit.filter(|m| modes.contains(m)).map(|&mode| Case {
            script: script.clone(),
            mode,
        }));
    }
    cases
}

/// The modes that the name of a script allows.
pub(super) fn allowed(script: &Path) -> &'static [IpMode] {
    runner_modes(&script.file_name().unwrap_or_default().to_string_lossy())
}

/// The cases in these modes of files among `paths` whose names allow none of the modes: they were named, and nothing of
/// them runs.
pub fn left_out(paths: &[PathBuf], modes: &[IpMode]) -> Vec<Case> {
    let is_out = |script: &&PathBuf| !allowed(script).iter().any(|mode| modes.contains(mode));
    let mut out = Vec::new();
    for script in paths.iter().filter(|path| !path.is_dir()).filter(is_out) {
        let wanted = MODES.into_iter().filter(|mode| modes.contains(mode));
        out.extend(wanted.map(|mode| Case {
            script: script.clone(),
            mode,
        }));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_which_modes() {
        const MODES: [IpMode; 3] = [IpMode::Ipv4, IpMode::Mapped, IpMode::Ipv6];
        let table: [(&str, &[IpMode]); 4] = [
            ("a.pkt", &MODES),
            ("a-v4.pkt", &[IpMode::Ipv4, IpMode::Mapped]),
            ("a-v6.pkt", &[IpMode::Ipv6]),
            ("dir-v6/a.pkt", &MODES),
        ];
        for (name, expected) in table {
            let found = cases(&[PathBuf::from(name)], &MODES);
            let found: Vec<_> = found.iter().map(|c| c.mode).collect();
            assert_eq!(found, expected, "{name}");
        }
        assert_eq!(cases(&["a.pkt".into()], &[IpMode::Ipv6]).len(), 1);
        assert_eq!(cases(&["a-v4.pkt".into()], &[IpMode::Ipv6]).len(), 0);
    }

    #[test]
    fn files_without_a_case_are_left_out() {
        let paths = ["a.pkt", "b-v6.pkt", "c-v4.pkt"].map(PathBuf::from);
        let found = |modes: &[IpMode]| {
            let out = left_out(&paths, modes);
            let name = |case: &Case| format!("{} {}", case.script.display(), word(case.mode));
            out.iter().map(name).collect::<Vec<_>>()
        };
        assert_eq!(found(&[IpMode::Ipv4]), ["b-v6.pkt ipv4"]);
        assert_eq!(found(&[IpMode::Ipv6, IpMode::Ipv6]), ["c-v4.pkt ipv6"]);
        assert_eq!(found(&MODES), [""; 0]);
    }

    #[test]
    fn folders_are_searched_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.pkt", "a.pkt", "c.txt", "sub/z.pkt", "sub/deep/y.pkt"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        std::os::unix::fs::symlink(folder.path(), folder.path().join("sub/loop")).unwrap();
        let found = scripts(&[folder.path().to_owned()]).unwrap();
        let names: Vec<_> = (found.iter())
            .map(|p| p.strip_prefix(folder.path()).unwrap().display().to_string())
            .collect();
        assert_eq!(names, ["a.pkt", "b.pkt", "sub/deep/y.pkt", "sub/z.pkt"]);
        fs::create_dir(folder.path().join("empty")).unwrap();
        let nothing = scripts(&[folder.path().join("empty")]).unwrap_err();
        assert!(nothing.to_string().contains("no *.pkt file"), "{nothing}");
        assert!(scripts(&[folder.path().join("none.pkt")]).is_err());
    }
}
