//! What this machine can do for tcplab, by trying it, and how to get the rest.
//!
//! Every check tries the thing itself where that leaves nothing behind: namespaces and a TAP
//! device in a child process, a packet socket, a kernel that boots until it finds no init.

mod boot;
mod system;

use serde::Serialize;

use crate::store::Store;

/// The folder for a guest's memory.
const MEMORY: &str = "/dev/shm";

/// Answer of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It works here.
    Works,
    /// It does not; `remedy` says what would help.
    Missing,
    /// It could not be tried.
    Unknown,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Short name that does not change: `user-namespaces`.
    pub id: &'static str,
    /// Its answer.
    pub verdict: Verdict,
    /// What was found, for a person.
    pub found: String,
    /// What it is for.
    pub used_for: &'static str,
    /// What to do about it, when it does not work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Check {
    fn works(id: &'static str, used_for: &'static str, found: impl Into<String>) -> Self {
        Self {
            id,
            verdict: Verdict::Works,
            found: found.into(),
            used_for,
            remedy: None,
        }
    }

    fn missing(
        id: &'static str,
        used_for: &'static str,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let remedy = Some(remedy.into());
        Self {
            id,
            verdict: Verdict::Missing,
            found: found.into(),
            used_for,
            remedy,
        }
    }

    fn unknown(id: &'static str, used_for: &'static str, found: impl Into<String>) -> Self {
        Self {
            id,
            verdict: Verdict::Unknown,
            found: found.into(),
            used_for,
            remedy: None,
        }
    }
}

/// Tries everything; takes about a second. Without a folder of kernels, what needs one is missing.
pub fn examine(store: Option<&Store>) -> Vec<Check> {
    vec![
        system::this_kernel(),
        system::root(),
        system::namespaces(),
        system::tap(),
        system::capture(),
        system::memory_folder(),
        boot::uml(store),
        system::kernels(store),
        system::build_tools(),
        system::disk(store),
        system::program(
            "qemu",
            "qemu-system-x86_64",
            "qemu-system-x86",
            "stock kernels, `qemu:`",
        ),
        system::program("tshark", "tshark", "tshark", "comparisons with Wireshark"),
    ]
}

/// Whether namespaces can be made here, which `host` needs, as far as that can be tried.
pub(crate) fn has_namespaces() -> bool {
    system::namespaces().verdict != Verdict::Missing || system::root().verdict == Verdict::Works
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_check_has_a_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let checks = examine(Some(&Store::at(folder.path())));
        for check in &checks {
            assert_eq!(
                check.verdict == Verdict::Missing,
                check.remedy.is_some(),
                "{check:?}"
            );
            assert!(
                !check.found.is_empty() && !check.used_for.is_empty(),
                "{check:?}"
            );
        }
        let kernels = checks.iter().find(|c| c.id == "kernels").unwrap();
        assert_eq!(kernels.verdict, Verdict::Missing);
        let homeless = examine(None);
        assert_eq!(homeless.len(), checks.len());
        let kernels = homeless.iter().find(|c| c.id == "kernels").unwrap();
        assert!(
            kernels.remedy.as_ref().unwrap().contains("HOME"),
            "{kernels:?}"
        );
        let mut ids: Vec<&str> = checks.iter().map(|c| c.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), checks.len());
    }
}
