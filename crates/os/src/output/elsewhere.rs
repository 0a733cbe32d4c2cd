//! Takes the place of `mod.rs` on systems that are not Unix: result files by the standard library alone.
//!
//! A file beside the name is written and gets the name when it is complete; an existing file that is read-only and a
//! folder are errors.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Buffer in front of every result.
const BUFFER: usize = 128 * 1024;

/// A result file in the making. Dropped without [`Output::commit`] it leaves no file.
#[derive(Debug)]
pub struct Output {
    out: BufWriter<NamedTempFile>,
    target: PathBuf,
}

impl Output {
    /// Starts to write where the user said.
    ///
    /// # Errors
    /// A folder, a read-only file; what the system says. The message does not name the file.
    pub fn create(path: &Path) -> io::Result<Self> {
        let target = match fs::canonicalize(path) {
            Ok(there) => there,
            Err(e) if e.kind() == io::ErrorKind::NotFound => path.to_owned(),
            Err(e) => return Err(e),
        };
        Self::create_own(&target)
    }

    /// Starts to write a file whose last name tcplab chose: nothing but a regular file is replaced.
    ///
    /// # Errors
    /// There is something else of that name; what the system says.
    pub fn create_own(path: &Path) -> io::Result<Self> {
        need_own(path)?;
        let hidden = tempfile::Builder::new()
            .prefix(".tcplab-")
            .suffix(".part")
            .tempfile_in(folder_of(path))?;
        Ok(Self {
            out: BufWriter::with_capacity(BUFFER, hidden),
            target: path.to_owned(),
        })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// What the system says to the last bytes or to the name; the old file stays then.
    pub fn commit(self) -> io::Result<()> {
        let file = self.out.into_inner().map_err(|e| e.into_error())?;
        file.persist(&self.target).map(drop).map_err(|e| e.error)
    }

    /// The same; the bytes are on the disk before the name is.
    ///
    /// # Errors
    /// As for [`Output::commit`].
    pub fn commit_synced(mut self) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().as_file().sync_all()?;
        self.commit()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Whether [`Output::create`] would begin.
///
/// # Errors
/// Those of [`Output::create`].
pub fn check(path: &Path) -> io::Result<()> {
    Output::create(path).map(drop)
}

/// Writes a whole file whose last name tcplab chose.
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
/// There is something of this name that is not a regular file, or is read-only.
pub fn need_own(path: &Path) -> io::Result<()> {
    if path.file_name().is_none() {
        return Err(wrong("is a folder; name a file in it"));
    }
    match fs::symlink_metadata(path) {
        Ok(meta) if !meta.is_file() => Err(wrong("this name exists and is not a regular file")),
        Ok(meta) if meta.permissions().readonly() => Err(io::ErrorKind::PermissionDenied.into()),
        Ok(_) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
    }
}

/// Opens a file to which a run appends; tcplab chose its last name.
///
/// # Errors
/// There is something else of that name; what the system says.
pub fn append_own(path: &Path) -> io::Result<File> {
    need_own(path)?;
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).open(path)
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A regular file, or one that a name would become: equal when two names are one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity(PathBuf);

impl Identity {
    /// That of a name. None: what cannot be looked at.
    pub fn of(path: &Path) -> Option<Self> {
        if let Ok(there) = fs::canonicalize(path) {
            return Some(Self(there));
        }
        let folder = fs::canonicalize(folder_of(path)).ok()?;
        Some(Self(folder.join(path.file_name()?)))
    }

    /// That of an open file: not known here.
    pub fn of_open<T>(_: T) -> Option<Self> {
        None
    }
}
