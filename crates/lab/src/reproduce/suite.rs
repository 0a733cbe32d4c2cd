//! Claims about a suite of packetdrill scripts: how many of its cases pass. The suite is not part of the project: the
//! caller says where its checkout is, and its scripts are compared with a digest, so that the figure is of one commit.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};
use tcplab_os::output::write_own;

use crate::digest::hex;
use crate::drill::{self, DrillDocument, Job};
use crate::error::LabError;
use crate::stack::Lab;

/// Scripts of a repository at one commit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// What to clone.
    repository: String,
    /// What to check out.
    commit: String,
    /// The folder of the scripts in it.
    folder: String,
    /// SHA-256 over names and text of the scripts, in hexadecimal digits.
    sha256: String,
}

impl Suite {
    /// Runs all cases on a stack: what came of them, or why they cannot be run here.
    ///
    /// # Errors
    /// The wish to stop.
    pub(super) fn run(
        &self,
        lab: &Lab,
        stack: &str,
        jobs: usize,
        checkout: Option<&Path>,
    ) -> Result<Result<DrillDocument, String>, LabError> {
        match self.results(lab, stack, jobs, checkout) {
            Err(LabError::Interrupted) => Err(LabError::Interrupted),
            results => Ok(results.map_err(|e| e.to_string())),
        }
    }

    fn results(
        &self,
        lab: &Lab,
        stack: &str,
        jobs: usize,
        checkout: Option<&Path>,
    ) -> Result<DrillDocument, LabError> {
        let stack = lab.stack(stack)?;
        let scripts = self.scripts(checkout)?;
        let job = Job {
            stack: &stack,
            cases: &drill::cases(&scripts, &drill::MODES),
            jobs,
            tolerance_us: None,
            defines: &[],
            logs: false,
            captures: drill::Captures::None,
            mutants: 0,
        };
        drill::run(lab, &job, |_| {})
    }

    /// The scripts in the checkout, if it has the pinned commit.
    fn scripts(&self, checkout: Option<&Path>) -> Result<Vec<PathBuf>, LabError> {
        let Some(checkout) = checkout else {
            return Err(LabError::CannotRun(self.needed()));
        };
        let folder = checkout.join(&self.folder);
        if !folder.is_dir() {
            return Err(LabError::CannotRun(format!(
                "{}: {} is missing; {}",
                checkout.display(),
                self.folder,
                self.needed()
            )));
        }
        let scripts = drill::scripts(std::slice::from_ref(&folder))?;
        if digest(&folder, &scripts)? != self.sha256 {
            return Err(LabError::CannotRun(format!(
                "{}: the scripts differ from commit {}; run: git -C {0} checkout {1}",
                checkout.display(),
                self.commit
            )));
        }
        Ok(scripts)
    }

    /// How to get the suite.
    fn needed(&self) -> String {
        let name = self.repository.rsplit('/').next().unwrap_or_default();
        format!(
            "needs the scripts of {0} at commit {1}, which are not part of tcplab: git clone {0}; git -C {name} checkout {1}; \
             then --packetdrill {name}",
            self.repository, self.commit
        )
    }
}

/// What a formula may name.
pub(super) fn value(document: &DrillDocument, name: &str) -> Option<f64> {
    let count = match name {
        "passed" => document.passed,
        "failed" => document.failed,
        "skipped" => document.skipped,
        "cases" => document.results.len(),
        _ => return None,
    };
    Some(count as f64)
}

/// Keeps the verdicts: `drill.json`, as `drill --json` prints it.
pub(super) fn keep(folder: &Path, document: &DrillDocument) -> Result<(), LabError> {
    let file = folder.join("drill.json");
    let text = serde_json::to_vec_pretty(document).map_err(|e| LabError::Wrong(e.to_string()))?;
    (fs::create_dir_all(folder).and_then(|()| write_own(&file, text))).map_err(LabError::at(&file))
}

/// SHA-256 over the scripts: the length of each name below the folder and the name, then the same for the text.
fn digest(folder: &Path, scripts: &[PathBuf]) -> Result<String, LabError> {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    for script in scripts {
        let name = script.strip_prefix(folder).unwrap_or(script);
        add(name.as_os_str().as_encoded_bytes());
        add(drill::read(script)?.as_bytes());
    }
    Ok(hex(&hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite() -> Suite {
        Suite {
            repository: "https://example.net/tests/scripts".into(),
            commit: "abcdef0".into(),
            folder: "net/tcp".into(),
            sha256: "5f5c8d8b86a1cd5d9c1cb4b41a5e1a1a1fd8b7bd1ce2b9f3e1eb9fd1f9e9aa4a".into(),
        }
    }

    #[test]
    fn a_checkout_must_be_of_the_commit() {
        let why = |checkout: Option<&Path>| suite().scripts(checkout).unwrap_err().to_string();
        let none = why(None);
        for part in [
            "git clone https://example.net/tests/scripts;",
            "git -C scripts checkout abcdef0;",
            "--packetdrill scripts",
        ] {
            assert!(none.contains(part), "{none}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert!(why(Some(folder.path())).contains("net/tcp is missing; needs"));
        let scripts = folder.path().join("net/tcp/a");
        fs::create_dir_all(&scripts).unwrap();
        fs::write(
            scripts.join("b.pkt"),
            "+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n",
        )
        .unwrap();
        let other = why(Some(folder.path()));
        assert!(other.ends_with(" checkout abcdef0"), "{other}");
    }

    #[test]
    fn the_digest_is_of_names_and_texts() {
        let folder = tempfile::tempdir().unwrap();
        let of = |files: &[(&str, &str)]| {
            let folder = folder.path();
            let paths = files.iter().map(|(name, text)| {
                fs::write(folder.join(name), text).unwrap();
                folder.join(name)
            });
            digest(folder, &paths.collect::<Vec<_>>()).unwrap()
        };
        let one = of(&[("a.pkt", "x"), ("b.pkt", "y")]);
        assert_eq!(one, of(&[("a.pkt", "x"), ("b.pkt", "y")]));
        for other in [
            of(&[("a.pkt", "x"), ("c.pkt", "y")]),
            of(&[("a.pkt", "x"), ("b.pkt", "z")]),
            of(&[("a.pkt", "xb"), (".pkt", "y")]),
            of(&[("a.pkt", "x")]),
        ] {
            assert_ne!(one, other);
        }
    }
}
