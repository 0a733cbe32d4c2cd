//! What is written beside each kernel that we built: how it can be called, and all that decides
//! what is in it.

use serde::{Deserialize, Serialize};

use crate::edit::Edit;

/// Version of this form.
pub const SCHEMA: &str = "tcplab.kernel/1";

/// `manifest.json` of a built kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: String,
    /// Hash of source, configuration, edits and HZ; the name of its folder.
    pub key: String,
    /// Names after `uml:`, in their normal form.
    pub names: Vec<String>,
    /// The kernel's own version, as `uname -r` begins: `6.1.192`.
    pub version: String,
    /// Timer frequency.
    pub hz: u32,
    /// Names of the edits that were asked for, sorted. Those of every build are not listed.
    pub edits: Vec<String>,
    /// Names of the edits that every build got when this one was made.
    #[serde(default)]
    pub every_build: Vec<String>,
    /// Where the source came from.
    pub source: Source,
    /// SHA-256 of the final `.config`.
    pub config_sha256: String,
    /// SHA-256 of the executable.
    pub binary_sha256: String,
    /// Its size.
    pub binary_bytes: u64,
    /// First line of `cc --version`.
    pub compiler: String,
    /// Version of tcplab that built it.
    pub tcplab: String,
    /// User and system time of the compilers, in seconds.
    pub build_cpu_s: f64,
}

impl Manifest {
    /// Whether it has the edits that every build gets today. Without them the same kernel gives other times.
    pub fn is_current(&self) -> bool {
        self.every_build == Edit::names_of_every_build()
    }
}

/// Where a source came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Package or folder.
    pub kind: SourceKind,
    /// Package name, or path of the folder.
    pub name: String,
    /// Version of the package, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package_version: Option<String>,
    /// SHA-256 of the package's tar file, or of the folder's files and their names.
    pub sha256: String,
}

/// Kind of a [`Source`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// Debian's linux-source package.
    Package,
    /// Somebody's source tree.
    Folder,
}
