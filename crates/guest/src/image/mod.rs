//! Kernels of a distribution, for `qemu:`: the file to boot and the modules that belong to it.
//!
//! `qemu:/path/vmlinuz` is a file; `qemu:6.1.0-56-cloud-amd64` a release, as it lies in /boot or as
//! Debian's package of that release has it; `qemu:debian` the newest cloud kernel that apt knows.
//! Packages are unpacked into `images/` of the folder of kernels: the system is left alone.

mod fetch;
mod modules;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::build::{find_program, hash_of_file};
use crate::store::{Store, StoreError};

pub use modules::Module;

/// The program that boots them.
pub const PROGRAM: &str = "qemu-system-x86_64";

/// How to get it.
pub const INSTALL: &str = "sudo apt-get install qemu-system-x86";

/// The image that follows the distribution.
pub const NEWEST: &str = "debian";

/// A kernel that QEMU can boot.
#[derive(Clone, Debug)]
pub struct Image {
    /// The compressed kernel.
    pub vmlinuz: PathBuf,
    /// Its modules' folder, where there is one.
    pub modules: Option<PathBuf>,
    /// As `uname -r` will say it.
    pub release: String,
    /// SHA-256 of the kernel's file.
    pub sha256: String,
}

/// Why a kernel image is not available.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// No QEMU.
    #[error("qemu: needs {PROGRAM}, which is not installed: {INSTALL}")]
    NoQemu,
    /// Nothing of this name.
    #[error("qemu:{name}: {why}")]
    None {
        /// What was asked for.
        name: String,
        /// What was looked for.
        why: String,
    },
    /// A file that does not look like a kernel for this machine.
    #[error(
        "{}: not a Linux kernel for x86 (a bzImage, as /boot/vmlinuz-* are)",
        path.display()
    )]
    NotAKernel {
        /// The file.
        path: PathBuf,
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

impl ImageError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}

/// The program, where it is installed.
pub fn qemu() -> Option<PathBuf> {
    find_program(PROGRAM)
}

impl Image {
    /// The image of this name; a package that is not here is fetched by apt into the store.
    ///
    /// # Errors
    /// Without QEMU, without such a kernel, and those of the file system.
    pub fn find(store: Option<&Store>, name: &str) -> Result<Self, ImageError> {
        qemu().ok_or(ImageError::NoQemu)?;
        if name.contains('/') {
            return Self::of_file(Path::new(name));
        }
        let release = match name {
            NEWEST => fetch::newest().or_else(|| newest_of(Self::releases(store))),
            release => Some(release.to_owned()),
        };
        let release = release.ok_or_else(|| ImageError::None {
            name: name.to_owned(),
            why: "apt does not know linux-image-cloud-amd64; try `apt-get update`".into(),
        })?;
        if let Some(path) = Self::local(store, &release) {
            return Self::of_file(&path);
        }
        let store = store.ok_or_else(|| ImageError::None {
            name: release.clone(),
            why: StoreError::NoHome.to_string(),
        })?;
        Self::of_file(&fetch::fetch(store, &release)?)
    }

    /// Releases that are on this machine and can be read, oldest first.
    pub fn releases(store: Option<&Store>) -> Vec<String> {
        let fetched = store.and_then(|store| fs::read_dir(folder(store)).ok());
        let fetched = fetched.into_iter().flatten().flatten();
        let fetched = fetched.filter_map(|e| e.file_name().into_string().ok());
        let installed = fs::read_dir("/boot").into_iter().flatten().flatten();
        let installed = installed.filter_map(|e| {
            let name = e.file_name().into_string().ok()?;
            Some(name.strip_prefix("vmlinuz-")?.to_owned())
        });
        let mut all: Vec<String> = fetched.chain(installed).collect();
        all.retain(|release| Self::local(store, release).is_some());
        all.sort_by_key(|release| numbers(release));
        all.dedup();
        all
    }

    /// The kernel's file of a release, in /boot or fetched before.
    fn local(store: Option<&Store>, release: &str) -> Option<PathBuf> {
        let name = format!("vmlinuz-{release}");
        let fetched = store.map(|store| folder(store).join(release).join("boot").join(&name));
        [Path::new("/boot").join(&name)]
            .into_iter()
            .chain(fetched)
            // Some systems let only root read /boot.
            .find(|path| File::open(path).is_ok())
    }

    /// A kernel by its file.
    fn of_file(path: &Path) -> Result<Self, ImageError> {
        let release = release_of(path)?;
        let sha256 = hash_of_file(path).map_err(ImageError::io(path))?;
        // A package's tree, or the running system's.
        let beside = path.parent().and_then(Path::parent);
        let modules = beside
            .into_iter()
            .chain([Path::new("/"), Path::new("/usr")])
            .map(|root| root.join("lib/modules").join(&release))
            .find(|folder| folder.join("kernel").is_dir());
        Ok(Self {
            vmlinuz: path.to_owned(),
            modules,
            release,
            sha256,
        })
    }

    /// Those of these modules that it has as files, and what they need, in order of loading.
    ///
    /// # Errors
    /// When one cannot be read or unpacked.
    pub fn modules(&self, names: &[&str]) -> Result<Vec<Module>, ImageError> {
        match &self.modules {
            Some(folder) => modules::with_dependencies(folder, names),
            None => Ok(Vec::new()),
        }
    }
}

fn folder(store: &Store) -> PathBuf {
    store.root().join("images")
}

fn newest_of(releases: Vec<String>) -> Option<String> {
    let mut cloud = releases;
    cloud.retain(|r| r.ends_with("-cloud-amd64"));
    cloud.pop()
}

/// The numbers in a release, to compare by.
fn numbers(release: &str) -> (Vec<u64>, String) {
    let parts = release.split(|c: char| !c.is_ascii_digit());
    (
        parts.filter_map(|p| p.parse().ok()).collect(),
        release.to_owned(),
    )
}

/// The release in the set-up header of a bzImage (Documentation/arch/x86/boot.rst: `HdrS` at 0x202,
/// at 0x20e where the version's text lies, counted from 0x200).
fn release_of(path: &Path) -> Result<String, ImageError> {
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(64 * 1024).read_to_end(&mut head))
        .map_err(ImageError::io(path))?;
    release_in(&head).ok_or_else(|| ImageError::NotAKernel {
        path: path.to_owned(),
    })
}

fn release_in(head: &[u8]) -> Option<String> {
    if head.get(0x202..0x206)? != b"HdrS" {
        return None;
    }
    let at = u16::from_le_bytes(head.get(0x20e..0x210)?.try_into().ok()?);
    let text = head.get(usize::from(at) + 0x200..)?;
    let word = text.split(|b| *b == b' ' || *b == 0).next()?;
    let release = String::from_utf8(word.to_vec()).ok()?;
    // It becomes a part of a path.
    let is_word = !release.is_empty() && !release.starts_with('.') && !release.contains('/');
    is_word.then_some(release)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(release: &[u8]) -> Vec<u8> {
        let mut head = vec![0; 0x300];
        head[0x202..0x206].copy_from_slice(b"HdrS");
        head[0x20e..0x210].copy_from_slice(&0x80u16.to_le_bytes());
        head[0x280..0x280 + release.len()].copy_from_slice(release);
        head
    }

    #[test]
    fn a_kernel_says_its_release() {
        let head = header(b"6.1.0-56-cloud-amd64 (debian-kernel@lists.debian.org) #1");
        assert_eq!(release_in(&head).as_deref(), Some("6.1.0-56-cloud-amd64"));
        assert_eq!(release_in(&header(b"../../etc #1")), None);
        assert_eq!(release_in(&header(b"")), None);
        assert_eq!(release_in(b"\x7fELF"), None);
        assert_eq!(release_in(&head[..0x210]), None);
    }

    #[test]
    fn the_newest_of_several_is_by_number() {
        let all = [
            "6.1.0-9-cloud-amd64",
            "6.1.0-56-cloud-amd64",
            "6.12.1-amd64",
        ];
        let mut all: Vec<String> = all.map(str::to_owned).into();
        all.sort_by_key(|r| numbers(r));
        assert_eq!(newest_of(all).as_deref(), Some("6.1.0-56-cloud-amd64"));
    }

    #[test]
    fn a_fetched_release_is_found_with_its_modules() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::at(place.path());
        let root = place.path().join("images/9.9.9-test");
        fs::create_dir_all(root.join("lib/modules/9.9.9-test/kernel")).unwrap();
        fs::create_dir_all(root.join("boot")).unwrap();
        let file = root.join("boot/vmlinuz-9.9.9-test");
        fs::write(&file, header(b"9.9.9-test #1")).unwrap();
        assert!(Image::releases(Some(&store)).contains(&"9.9.9-test".to_owned()));
        let image = Image::of_file(&file).unwrap();
        assert_eq!(image.release, "9.9.9-test");
        assert_eq!(image.modules, Some(root.join("lib/modules/9.9.9-test")));
        fs::write(&file, "no kernel").unwrap();
        assert!(matches!(
            Image::of_file(&file),
            Err(ImageError::NotAKernel { .. })
        ));
    }
}
