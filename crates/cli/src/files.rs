//! Files: captures to read (or standard input), results written beside their name and renamed.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Buffer in front of every result; large enough that writing costs no time.
const BUFFER: usize = 128 * 1024;

/// An open input: its bytes, its size where that is known.
pub struct Input {
    /// Size in bytes of a regular file.
    pub size: Option<u64>,
    /// The bytes.
    pub bytes: Box<dyn Read>,
}

impl Input {
    /// Opens a capture; `-` is standard input.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self {
                size: None,
                bytes: Box::new(io::stdin()),
            });
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(|e| cannot_open(&name, &e))?;
        let meta = file.metadata().map_err(|e| cannot_open(&name, &e))?;
        if meta.is_dir() {
            return Err(Failure::input(format!(
                "{name}: is a folder; name the capture files in it, for example {}",
                path.join("*.pcap").display()
            )));
        }
        Ok(Self {
            size: meta.is_file().then_some(meta.len()),
            bytes: Box::new(file),
        })
    }
}

fn cannot_open(name: &str, e: &io::Error) -> Failure {
    let remedy = match e.kind() {
        io::ErrorKind::NotFound => "; check the name, or give `-` to read standard input",
        io::ErrorKind::PermissionDenied => {
            "; captures are often root's: try sudo, or chown the file"
        }
        _ => "",
    };
    Failure::input(format!("{name}: cannot open: {e}{remedy}"))
}

/// Standard input in a temporary file, for outputs that read it twice.
pub struct Spool(tempfile::NamedTempFile);

impl Spool {
    /// Reads standard input to its end.
    pub fn standard_input() -> Result<Self, Failure> {
        let fail =
            |e: io::Error| Failure::input(format!("standard input: cannot keep a copy: {e}"));
        let mut file = tempfile::NamedTempFile::with_prefix("tcplab-").map_err(fail)?;
        io::copy(&mut io::stdin().lock(), &mut file).map_err(fail)?;
        Ok(Self(file))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// A result file: written under another name in the same folder, renamed when it is complete.
/// Dropped without [`Replace::commit`] it leaves nothing behind.
pub struct Replace {
    path: PathBuf,
    temporary: PathBuf,
    file: Option<BufWriter<File>>,
}

impl Replace {
    /// Starts to write `path`.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let file_name = path.file_name().ok_or_else(|| {
            Failure::usage(format!("{}: no file name to write to", path.display()))
        })?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(file_name);
        hidden.push(format!(".{}.part", std::process::id()));
        let temporary = path.with_file_name(hidden);
        let file = File::create(&temporary).map_err(|e| Failure::output(path, &e))?;
        Ok(Self {
            path: path.to_path_buf(),
            temporary,
            file: Some(BufWriter::with_capacity(BUFFER, file)),
        })
    }

    /// Gives the file its name.
    pub fn commit(mut self) -> Result<(), Failure> {
        let fail = |e: &io::Error| Failure::output(&self.path, e);
        if let Some(mut file) = self.file.take() {
            file.flush().map_err(|e| fail(&e))?;
        }
        std::fs::rename(&self.temporary, &self.path).map_err(|e| fail(&e))
    }
}

impl Write for Replace {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => Ok(0),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Replace {
    fn drop(&mut self) {
        self.file = None;
        // After a commit there is nothing left under this name.
        let _ = std::fs::remove_file(&self.temporary);
    }
}

/// Where the result goes: standard output, or the file of `-o`.
pub enum Out {
    /// Standard output.
    Stdout(BufWriter<io::StdoutLock<'static>>),
    /// A file.
    File(Replace),
}

impl Out {
    /// Opens it.
    pub fn open(path: Option<&Path>) -> Result<Self, Failure> {
        Ok(match path {
            Some(path) if path != Path::new("-") => Self::File(Replace::create(path)?),
            _ => Self::Stdout(BufWriter::with_capacity(BUFFER, io::stdout().lock())),
        })
    }

    /// Flushes, and gives a file its name.
    pub fn close(self) -> Result<(), Failure> {
        match self {
            Self::Stdout(mut out) => Ok(out.flush()?),
            Self::File(file) => file.commit(),
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.write_all(bytes),
            Self::File(Replace { file: Some(f), .. }) => f.write_all(bytes),
            Self::File(_) => Ok(()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(file) => file.flush(),
        }
    }
}
