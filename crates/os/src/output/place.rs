//! What a name stands for before a result is written to it.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::{AsFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd::geteuid;

/// Links in a row; Linux follows as many (path_resolution(7)).
const HOPS: usize = 40;

/// The sticky bit and everybody's permission to write: `/tmp`.
const SHARED: u32 = 0o1002;

/// What is at the end of a name.
#[derive(Debug)]
pub(super) enum Place {
    /// Nothing yet; the name has no links.
    New(PathBuf),
    /// A regular file; the name has no links.
    File(PathBuf, Metadata),
    /// A device, a FIFO or an open descriptor, open for writing.
    Through(File),
}

/// One step of [`follow`].
enum Found {
    Nothing(PathBuf),
    There(PathBuf, Metadata),
    /// One of this process's descriptors.
    Descriptor(RawFd),
}

impl Place {
    /// Follows links.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        match follow(path)? {
            Found::Nothing(path) => Ok(Self::New(path)),
            Found::Descriptor(number) => duplicate(number).map(Self::Through),
            Found::There(path, meta) => Self::there(path, meta),
        }
    }

    /// Follows no link, and takes nothing but a regular file.
    pub(super) fn own(path: &Path) -> io::Result<Self> {
        need_name(path)?;
        match fs::symlink_metadata(path) {
            Ok(meta) if meta.is_file() => Ok(Self::File(path.to_owned(), meta)),
            Ok(_) => Err(wrong(
                "this name exists and is not a regular file: remove it, or choose another folder",
            )),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Self::New(path.to_owned())),
            Err(e) => Err(e),
        }
    }

    fn there(path: PathBuf, meta: Metadata) -> io::Result<Self> {
        let kind = meta.file_type();
        if kind.is_dir() {
            return Err(wrong("is a folder; name a file in it"));
        }
        if kind.is_socket() {
            return Err(wrong(
                "is a socket; write to standard output and connect that",
            ));
        }
        let is_device = kind.is_char_device() || kind.is_block_device();
        if !is_device && is_planted(&path, &meta)? {
            return Err(planted());
        }
        if kind.is_file() {
            return Ok(Self::File(path, meta));
        }
        let file = OpenOptions::new()
            .write(true)
            .custom_flags(OFlag::O_NOFOLLOW.bits() | OFlag::O_NOCTTY.bits())
            .open(&path)?;
        let now = file.metadata()?;
        match (now.dev(), now.ino()) == (meta.dev(), meta.ino()) {
            true => Ok(Self::Through(file)),
            false => Err(wrong("another file took its name meanwhile")),
        }
    }
}

/// Whether a name stands for what is written as it is; it is not opened.
pub(super) fn is_through(path: &Path) -> io::Result<bool> {
    Ok(match follow(path)? {
        Found::Nothing(_) => false,
        Found::Descriptor(_) => true,
        Found::There(_, meta) => {
            let kind = meta.file_type();
            kind.is_fifo() || kind.is_char_device() || kind.is_block_device()
        }
    })
}

/// Follows the links of the last name; those before it are the system's.
fn follow(path: &Path) -> io::Result<Found> {
    need_name(path)?;
    let mut at = path.to_owned();
    for _ in 0..HOPS {
        if let Some(number) = descriptor(&at) {
            return Ok(Found::Descriptor(number));
        }
        let meta = match fs::symlink_metadata(&at) {
            Ok(meta) => meta,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing(at)),
            Err(e) => return Err(e),
        };
        if !meta.is_symlink() {
            return Ok(Found::There(at, meta));
        }
        // Linux does the same where fs.protected_symlinks is set; here it does not depend on that.
        if is_planted(&at, &meta)? {
            return Err(planted());
        }
        at = folder_of(&at).join(fs::read_link(&at)?);
        need_name(&at)?;
    }
    Err(Errno::ELOOP.into())
}

/// The number of an open descriptor that a name in /proc stands for; the link there is no name of a file.
fn descriptor(path: &Path) -> Option<RawFd> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let folder = fs::canonicalize(path.parent()?).ok()?;
    let own = format!("/proc/{}", std::process::id());
    let is_own = folder.starts_with(&own) && folder.ends_with("fd");
    // Without /proc, /dev/fd is a folder of its own.
    (is_own || folder == Path::new("/dev/fd")).then_some(number)
}

/// The same open file: it is neither cut nor written from its begin.
fn duplicate(number: RawFd) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    return crate::sys::duplicate(number).map(File::from);
    #[cfg(not(target_os = "linux"))]
    return OpenOptions::new()
        .append(true)
        .open(format!("/dev/fd/{number}"));
}

/// Whether another user has put this into a folder that everybody may write, where its name may have been foreseen.
fn is_planted(path: &Path, meta: &Metadata) -> io::Result<bool> {
    let folder = fs::metadata(folder_of(path))?;
    let is_shared = folder.mode() & SHARED == SHARED;
    let is_trusted = meta.uid() == geteuid().as_raw() || meta.uid() == folder.uid();
    Ok(is_shared && !is_trusted)
}

fn planted() -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        "belongs to another user, in a folder that every user may write to: choose another name",
    )
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

fn need_name(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() {
        return Err(wrong("the name is empty"));
    }
    match path.file_name() {
        Some(_) if !path.as_os_str().as_bytes().ends_with(b"/") => Ok(()),
        _ => Err(wrong("is a folder; name a file in it")),
    }
}

/// The folder of a name.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A regular file, or one that a name would become: equal when two names are one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity(Which);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Which {
    /// Device and inode.
    There(u64, u64),
    /// The folder's device and inode, and the name.
    New(u64, u64, OsString),
}

impl Identity {
    /// That of a name. None: a device, a FIFO, a folder, an open descriptor (whose writers go on after each other), or
    /// what cannot be looked at.
    pub fn of(path: &Path) -> Option<Self> {
        match follow(path).ok()? {
            Found::There(_, meta) => {
                let there = Which::There(meta.dev(), meta.ino());
                meta.is_file().then_some(Self(there))
            }
            Found::Nothing(path) => {
                let folder = fs::metadata(folder_of(&path)).ok()?;
                let name = path.file_name()?.to_owned();
                Some(Self(Which::New(folder.dev(), folder.ino(), name)))
            }
            Found::Descriptor(_) => None,
        }
    }

    /// That of an open file: standard input or output.
    pub fn of_open(fd: impl AsFd) -> Option<Self> {
        let file = File::from(fd.as_fd().try_clone_to_owned().ok()?);
        let meta = file.metadata().ok()?;
        let there = Which::There(meta.dev(), meta.ino());
        meta.is_file().then_some(Self(there))
    }
}
