//! The kernels we built, in the user's cache folder: `XDG_CACHE_HOME/tcplab/kernels`, or
//! `~/.cache/tcplab/kernels`.
//!
//! `bin/KEY/{linux,manifest.json}` are the kernels, `src/` unpacked sources and `build/` their
//! build folders, which later builds begin from. A kernel appears by one rename, complete with
//! its manifest; what changes anything holds [`Lock`].

mod lock;
mod manifest;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tcplab_os::output::write_own;

pub use lock::{Lock, Wait};
pub use manifest::{Manifest, SCHEMA as MANIFEST_SCHEMA, Source, SourceKind};

use self::manifest::SCHEMA;
use crate::stack::UmlName;
use crate::words::nearest;

/// The folder of kernels.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// A kernel that is there.
#[derive(Clone, Debug)]
pub struct UmlKernel {
    /// The executable.
    pub path: PathBuf,
    /// What it is.
    pub manifest: Manifest,
}

/// Why a kernel cannot be had from the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Neither XDG_CACHE_HOME nor HOME is set.
    #[error("no folder for kernels: set HOME or XDG_CACHE_HOME")]
    NoHome,
    /// It was not built here.
    #[error(
        "uml:{name} is not built here{}; run: {command}",
        did_you_mean(nearest)
    )]
    NotBuilt {
        /// The name in its normal form.
        name: String,
        /// The most similar name that is there.
        nearest: Option<String>,
        /// The command that builds it.
        command: String,
    },
    /// Another tcplab built it, with other edits.
    #[error(
        "uml:{name} was built by another tcplab, without the edits that every build gets now, and would give other \
         times; run: {command}"
    )]
    Outdated {
        /// The name in its normal form.
        name: String,
        /// The command that builds it.
        command: String,
    },
    /// The file system refuses.
    #[error("{}: {source}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map_or(String::new(), |n| format!(" (did you mean uml:{n}?)"))
}

/// What tcplab keeps for the user: `XDG_CACHE_HOME/tcplab`, or `HOME/.cache/tcplab`. It need not be there yet.
///
/// # Errors
/// When the environment names no home.
pub fn cache_folder() -> Result<PathBuf, StoreError> {
    let named = |name| std::env::var_os(name).filter(|v| !v.is_empty());
    let cache = named("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| named("HOME").map(|home| Path::new(&home).join(".cache")))
        .ok_or(StoreError::NoHome)?;
    Ok(cache.join("tcplab"))
}

impl Store {
    /// The user's.
    ///
    /// # Errors
    /// When the environment names no home.
    pub fn of_user() -> Result<Self, StoreError> {
        Ok(Self::at(cache_folder()?.join("kernels")))
    }

    /// In some folder, which need not be there yet.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the kernel with this key lies, or will.
    pub(crate) fn kernel_folder(&self, key: &str) -> PathBuf {
        self.root.join("bin").join(key)
    }

    /// The kernel that has this name.
    ///
    /// # Errors
    /// When none has, or one that lacks an edit which every build gets, with the command that builds it.
    pub fn find(&self, name: &UmlName) -> Result<UmlKernel, StoreError> {
        let wanted = name.to_string();
        let kernels = self.list()?;
        let names = kernels.iter().flat_map(|k| &k.manifest.names);
        let nearest = nearest(&wanted, names.map(String::as_str));
        let found = kernels
            .into_iter()
            .find(|k| k.manifest.names.contains(&wanted));
        let command = name.build_command();
        match found {
            Some(kernel) if kernel.manifest.is_current() => Ok(kernel),
            Some(_) => Err(StoreError::Outdated {
                name: wanted,
                command,
            }),
            None => Err(StoreError::NotBuilt {
                name: wanted,
                nearest,
                command,
            }),
        }
    }

    /// The kernel with this key, if it is there.
    pub(crate) fn by_key(&self, key: &str) -> Option<UmlKernel> {
        read_kernel(&self.kernel_folder(key))
    }

    /// All kernels, by their first name. What is no kernel of ours is passed over.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> Result<Vec<UmlKernel>, StoreError> {
        let folder = self.root.join("bin");
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => {
                return Err(StoreError::Io {
                    path: folder,
                    source,
                });
            }
        };
        let mut kernels: Vec<UmlKernel> = entries
            .filter_map(|entry| read_kernel(&entry.ok()?.path()))
            .collect();
        kernels.sort_by(|a, b| {
            let key = |k: &UmlKernel| (k.manifest.names.first().cloned(), k.manifest.key.clone());
            key(a).cmp(&key(b))
        });
        Ok(kernels)
    }

    /// Makes these the names of one kernel and of no other; a kernel goes with its last name.
    /// Needs the lock.
    ///
    /// # Errors
    /// When a manifest cannot be written.
    pub fn name(&self, _lock: &Lock, key: &str, names: &[String]) -> Result<UmlKernel, StoreError> {
        let _names = self.lock_names()?;
        self.give_names(key, names)
    }

    fn give_names(&self, key: &str, names: &[String]) -> Result<UmlKernel, StoreError> {
        for mut other in self.list()? {
            let before = other.manifest.names.len();
            if other.manifest.key == key {
                continue;
            }
            other.manifest.names.retain(|n| !names.contains(n));
            if other.manifest.names.is_empty() {
                remove(&self.kernel_folder(&other.manifest.key))?;
            } else if other.manifest.names.len() != before {
                self.write(&other.manifest)?;
            }
        }
        let folder = self.kernel_folder(key);
        let mut kernel = self.by_key(key).ok_or_else(|| StoreError::Io {
            path: folder,
            source: io::ErrorKind::NotFound.into(),
        })?;
        let before = kernel.manifest.names.len();
        for name in names {
            if !kernel.manifest.names.contains(name) {
                kernel.manifest.names.push(name.clone());
            }
        }
        if kernel.manifest.names.len() != before {
            self.write(&kernel.manifest)?;
        }
        Ok(kernel)
    }

    /// Writes a manifest in one step.
    fn write(&self, manifest: &Manifest) -> Result<(), StoreError> {
        let path = self.kernel_folder(&manifest.key).join("manifest.json");
        write_own(&path, manifest_text(manifest)).map_err(|source| StoreError::Io { path, source })
    }

    /// Puts a finished kernel where it belongs, in one step. Needs the lock.
    pub(crate) fn put(
        &self,
        _lock: &Lock,
        binary: &Path,
        manifest: &Manifest,
    ) -> Result<UmlKernel, StoreError> {
        let _names = self.lock_names()?;
        let folder = self.kernel_folder(&manifest.key);
        let temporary = self.root.join("bin").join(format!(".new-{}", manifest.key));
        let fail = |source: io::Error| StoreError::Io {
            path: folder.clone(),
            source,
        };
        remove(&temporary)?;
        fs::create_dir_all(&temporary).map_err(fail)?;
        fs::rename(binary, temporary.join("linux")).map_err(fail)?;
        fs::write(temporary.join("manifest.json"), manifest_text(manifest)).map_err(fail)?;
        remove(&folder)?;
        fs::rename(&temporary, &folder).map_err(fail)?;
        self.give_names(&manifest.key, &manifest.names)
    }

    /// Removes a name, and the kernel when it was the last one but for that of its release; gives
    /// whether it was. Needs the lock.
    ///
    /// # Errors
    /// When no kernel has the name, or it cannot be removed.
    pub fn remove(&self, _lock: &Lock, name: &UmlName) -> Result<bool, StoreError> {
        let _names = self.lock_names()?;
        let mut kernel = self.find(name)?;
        let text = name.to_string();
        let manifest = &mut kernel.manifest;
        manifest.names.retain(|n| *n != text);
        // `6.1` takes `6.1.192` along, which nobody asked for by itself.
        let is_by_release =
            |n: &String| UmlName::parse(n).is_ok_and(|n| n.base == manifest.version);
        if name.is_version() && manifest.names.iter().all(is_by_release) {
            manifest.names.clear();
        }
        if kernel.manifest.names.is_empty() {
            remove(&self.kernel_folder(&kernel.manifest.key))?;
            return Ok(true);
        }
        self.write(&kernel.manifest)?;
        Ok(false)
    }

    /// Removes unpacked sources, build folders and fetched images; gives their size in bytes. Needs the lock.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn remove_sources(&self, _lock: &Lock) -> Result<u64, StoreError> {
        let mut bytes = 0;
        for name in ["build", "src", "packages", "images", "logs", "apt"] {
            let path = self.root.join(name);
            bytes += size_of(&path);
            remove(&path)?;
        }
        Ok(bytes)
    }
}

fn manifest_text(manifest: &Manifest) -> String {
    // A struct of strings and numbers always has a JSON form.
    let mut text = serde_json::to_string_pretty(manifest).unwrap_or_default();
    text.push('\n');
    text
}

fn read_kernel(folder: &Path) -> Option<UmlKernel> {
    let text = fs::read_to_string(folder.join("manifest.json")).ok()?;
    let manifest: Manifest = serde_json::from_str(&text).ok()?;
    let path = folder.join("linux");
    let is_ours = manifest.schema == SCHEMA && folder.file_name()? == manifest.key.as_str();
    (is_ours && path.is_file()).then_some(UmlKernel { path, manifest })
}

/// Removes a file or folder that may not be there.
pub(crate) fn remove(path: &Path) -> Result<(), StoreError> {
    let result = if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    match result {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::Io {
            path: path.to_path_buf(),
            source: e,
        }),
        _ => Ok(()),
    }
}

/// Bytes that a folder takes on disk.
pub(crate) fn size_of(path: &Path) -> u64 {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return 0;
    };
    let below = if meta.is_dir() {
        fs::read_dir(path).ok()
    } else {
        None
    };
    let entries = below.into_iter().flatten().flatten();
    on_disk(&meta) + entries.map(|e| size_of(&e.path())).sum::<u64>()
}

#[cfg(unix)]
fn on_disk(meta: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(meta) * 512
}

#[cfg(not(unix))]
fn on_disk(meta: &fs::Metadata) -> u64 {
    meta.len()
}

#[cfg(test)]
mod tests;
