//! Result files: the one place that writes what a user keeps.
//!
//! | the name is | what happens |
//! |---|---|
//! | new, or a regular file | a file beside it is written and gets the name when it is complete; mode and owner of the old file are kept |
//! | a symbolic link | the file that it names is written so, the link stays |
//! | a device, a FIFO, `/dev/stdout`, `/dev/fd/N` | it is opened and written |
//! | a folder, a socket, a file without write permission | an error |
//!
//! The file stays unnamed until it is complete (`O_TMPFILE`): a killed process leaves nothing. A file system
//! without such files gets a hidden file with a random name. Where a file may be written but its folder may not, or
//! the file is a mount point, the finished bytes are copied into the file.
//!
//! A name that tcplab chose itself inside a folder ([`Output::create_own`]) is never followed: such a folder may come
//! from somebody else.

mod place;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, AtFlags, OFlag};
use nix::unistd::{AccessFlags, Gid, Uid, faccessat, fchown, linkat};
use tempfile::TempPath;

pub use place::Identity;
use place::{Place, folder_of};

/// Buffer in front of every result; large enough that writing costs no time.
const BUFFER: usize = 128 * 1024;

/// A result file in the making. Dropped without [`Output::commit`] it leaves no file.
#[derive(Debug)]
pub struct Output {
    out: BufWriter<File>,
    to: To,
}

/// What becomes of the bytes.
#[derive(Debug)]
enum To {
    /// They are where they belong.
    Through,
    /// Their file gets the name.
    Name {
        target: PathBuf,
        /// None: the file has no name yet.
        hidden: Option<TempPath>,
        old: Option<Old>,
    },
    /// They are copied into the file of that name, whose folder may not be written.
    Copy { target: PathBuf, old: Old },
}

/// The file that is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Old {
    device: u64,
    inode: u64,
    mode: u32,
    owner: (u32, u32),
}

impl Old {
    fn of(meta: &fs::Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            mode: meta.mode() & 0o777,
            owner: (meta.uid(), meta.gid()),
        }
    }

    /// Gives a new file its mode, and its owner where the system allows it.
    fn dress(self, file: &File) -> io::Result<()> {
        let meta = file.metadata()?;
        if (meta.uid(), meta.gid()) != self.owner {
            let (user, group) = (Uid::from_raw(self.owner.0), Gid::from_raw(self.owner.1));
            // Only root may give a file away; a member may give it to the group.
            if fchown(file, Some(user), Some(group)).is_err() {
                let _ = fchown(file, None, Some(group));
            }
        }
        file.set_permissions(fs::Permissions::from_mode(self.mode))
    }
}

impl Output {
    /// Starts to write where the user said.
    ///
    /// # Errors
    /// A folder, a socket, a file without write permission; a link or file that another user has put into a folder
    /// that everybody may write; what the system says. The message does not name the file.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::at(Place::of(path)?)
    }

    /// Starts to write a file whose last name tcplab chose: nothing but a regular file is replaced.
    ///
    /// # Errors
    /// There is something else of that name; what the system says.
    pub fn create_own(path: &Path) -> io::Result<Self> {
        Self::at(Place::own(path)?)
    }

    fn at(place: Place) -> io::Result<Self> {
        match place {
            Place::Through(file) => Ok(Self::of(file, To::Through)),
            Place::New(target) => {
                let (file, hidden) = unnamed(folder_of(&target))?;
                let old = None;
                Ok(Self::of(
                    file,
                    To::Name {
                        target,
                        hidden,
                        old,
                    },
                ))
            }
            Place::File(target, meta) => Self::instead_of(target, Old::of(&meta)),
        }
    }

    fn of(file: File, to: To) -> Self {
        Self {
            out: BufWriter::with_capacity(BUFFER, file),
            to,
        }
    }

    fn instead_of(target: PathBuf, old: Old) -> io::Result<Self> {
        // A rename would ignore the file's own mode.
        faccessat(AT_FDCWD, &target, AccessFlags::W_OK, AtFlags::AT_EACCESS)?;
        let (file, hidden) = match unnamed(folder_of(&target)) {
            Ok(made) => made,
            Err(e) if names_are_fixed(&e) => {
                return Ok(Self::of(tempfile::tempfile()?, To::Copy { target, old }));
            }
            Err(e) => return Err(e),
        };
        old.dress(&file)?;
        let old = Some(old);
        Ok(Self::of(
            file,
            To::Name {
                target,
                hidden,
                old,
            },
        ))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// What the system says to the last bytes or to the name; the old file stays then.
    pub fn commit(self) -> io::Result<()> {
        self.end(|_| Ok(()))
    }

    /// The same; the bytes are on the disk before the name is.
    ///
    /// # Errors
    /// As for [`Output::commit`].
    pub fn commit_synced(self) -> io::Result<()> {
        self.end(File::sync_all)
    }

    fn end(self, sync: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        let file = self.out.into_inner().map_err(|e| e.into_error())?;
        match self.to {
            To::Through => Ok(()),
            To::Copy { target, old } => copy(file, &target, old),
            To::Name {
                target,
                hidden,
                old,
            } => {
                sync(&file)?;
                let hidden = match hidden {
                    Some(hidden) => hidden,
                    None => named(&file, folder_of(&target))?,
                };
                match (hidden.persist(&target), old) {
                    (Ok(()), _) => Ok(()),
                    (Err(e), Some(old)) if names_are_fixed(&e.error) => copy(file, &target, old),
                    (Err(e), _) => Err(e.error),
                }
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Whether [`Output::create`] would begin: a long run should not end with a name that cannot be written. Nothing is
/// opened that somebody may be waiting for.
///
/// # Errors
/// Those of [`Output::create`], but for what opening a device or FIFO says.
pub fn check(path: &Path) -> io::Result<()> {
    match place::is_through(path)? {
        true => Ok(()),
        false => Output::create(path).map(drop),
    }
}

/// Writes a whole file whose last name tcplab chose; see [`Output::create_own`].
///
/// # Errors
/// Those of [`Output::create_own`] and [`Output::commit`].
pub fn write_own(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut out = Output::create_own(path)?;
    out.write_all(bytes.as_ref())?;
    out.commit()
}

/// Whether [`Output::create_own`] would begin, without a file.
///
/// # Errors
/// There is something of this name that is not a regular file.
pub fn need_own(path: &Path) -> io::Result<()> {
    Place::own(path).map(drop)
}

/// Opens a file to which a run appends; tcplab chose its last name: it is never followed.
///
/// # Errors
/// There is something else of that name; what the system says.
pub fn append_own(path: &Path) -> io::Result<File> {
    Place::own(path)?;
    OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(path)
}

/// A file in this folder that nobody sees: without a name, or with a hidden one that goes when it is dropped.
fn unnamed(folder: &Path) -> io::Result<(File, Option<TempPath>)> {
    #[cfg(target_os = "linux")]
    if Path::new("/proc/self/fd").exists() {
        let file = fresh().custom_flags(OFlag::O_TMPFILE.bits()).open(folder);
        if let Ok(file) = file {
            return Ok((file, None));
        }
    }
    let hidden = builder().make_in(folder, |path| {
        let flags = OFlag::O_NOFOLLOW.bits();
        fresh().create_new(true).custom_flags(flags).open(path)
    })?;
    let (file, path) = hidden.into_parts();
    Ok((file, Some(path)))
}

/// What a new file is opened with: read again when it must be copied, and of the mode that the user's umask gives.
fn fresh() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o666);
    options
}

fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tcplab-").suffix(".part").rand_bytes(12);
    builder
}

/// Gives a file without a name a hidden one: only a rename replaces what is there.
fn named(file: &File, folder: &Path) -> io::Result<TempPath> {
    let from = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let made = builder().make_in(folder, |path| {
        linkat(AT_FDCWD, &from, AT_FDCWD, path, AtFlags::AT_SYMLINK_FOLLOW).map_err(io::Error::from)
    })?;
    Ok(made.into_temp_path())
}

/// Whether the folder refuses new names: not writable, sticky and another user's file, a mount point.
fn names_are_fixed(e: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    let kinds = [
        PermissionDenied,
        ReadOnlyFilesystem,
        ResourceBusy,
        CrossesDevices,
    ];
    kinds.contains(&e.kind())
}

/// Copies the finished bytes into the file that was there at the start.
fn copy(mut from: File, target: &Path, old: Old) -> io::Result<()> {
    let mut to = OpenOptions::new()
        .write(true)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(target)?;
    let now = Old::of(&to.metadata()?);
    if (now.device, now.inode) != (old.device, old.inode) {
        return Err(io::Error::other("another file took its name meanwhile"));
    }
    from.rewind()?;
    to.set_len(0)?;
    match io::copy(&mut from, &mut to) {
        Ok(_) => Ok(()),
        Err(e) => {
            let said = format!("{e}; the file was written in place and is incomplete");
            Err(io::Error::new(e.kind(), said))
        }
    }
}

#[cfg(test)]
mod tests;
