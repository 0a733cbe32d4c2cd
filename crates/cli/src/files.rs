//! Files: captures to read (or standard input), and results.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use tcplab_os::output::{self, Identity, Output};
use tcplab_os::{Scratch, text};

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
            // The result folder of a run has one for each point.
            let example = match path.join("points").is_dir() {
                true => path.join("points/0000/*.pcapng"),
                false => path.join("*.pcap"),
            };
            return Err(Failure::input(format!(
                "{name}: is a folder; name the capture files in it, for example {}",
                example.display()
            )));
        }
        Ok(Self {
            size: meta.is_file().then_some(meta.len()),
            bytes: Box::new(file),
        })
    }
}

/// The longest manifest: one of 100,000 points has less.
const MOST_MANIFEST: u64 = 1 << 30;

/// What messages and results call an experiment's file.
pub fn name_of(path: &Path) -> String {
    match path == Path::new("-") {
        true => "stdin".to_owned(),
        false => path.display().to_string(),
    }
}

/// The text of an experiment's or a population's file, or of a manifest.
pub fn experiment(path: &Path) -> Result<String, Failure> {
    if let Some(name) = missing_example(path) {
        return Err(Failure::input(format!(
            "{}: no such file; `tcplab examples {name}` writes {name}.toml",
            path.display()
        )));
    }
    let most = |head: &[u8]| match head.trim_ascii_start().starts_with(b"{") {
        true => MOST_MANIFEST,
        false => tcplab_plan::MAX_FILE as u64,
    };
    Ok(text::text(path, text::read_bytes(path, most)?)?)
}

/// The text of a file of a result folder.
pub fn of_result(path: &Path) -> Result<String, Failure> {
    Ok(text::read_text(path, MOST_MANIFEST)?)
}

/// The built-in example with this name, if the file does not exist.
fn missing_example(path: &Path) -> Option<&'static str> {
    let stem = path.file_stem()?.to_str()?;
    let example = tcplab_examples::EXAMPLES
        .iter()
        .find(|file| file.name == stem);
    example.map(|file| file.name).filter(|_| !path.exists())
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
pub struct Spool {
    path: PathBuf,
    _folder: Scratch,
}

impl Spool {
    /// Reads standard input to its end.
    pub fn standard_input() -> Result<Self, Failure> {
        let fail = |e: io::Error| {
            let place = std::env::temp_dir();
            let place = place.display();
            Failure::input(format!(
                "standard input: cannot keep a copy in {place}: {e}; TMPDIR names another place"
            ))
        };
        let folder = Scratch::new().map_err(fail)?;
        let path = folder.path().join("standard-input");
        let mut file = Output::create_own(&path).map_err(fail)?;
        io::copy(&mut io::stdin().lock(), &mut file).map_err(fail)?;
        file.commit().map_err(fail)?;
        Ok(Self {
            path,
            _folder: folder,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A file that an option names; see [`tcplab_os::output`]. Its errors name it.
pub struct ResultFile {
    path: PathBuf,
    out: Output,
}

impl ResultFile {
    /// Starts to write `path`.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let out = Output::create(path).map_err(|e| Failure::output(path, &e))?;
        let path = path.to_path_buf();
        Ok(Self { path, out })
    }

    /// Gives the file its name.
    pub fn commit(self) -> Result<(), Failure> {
        let done = self.out.commit();
        done.map_err(|e| Failure::output(&self.path, &e))
    }
}

impl Write for ResultFile {
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

/// Writes a whole file that an option names.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = ResultFile::create(path)?;
    file.write_all(text.as_bytes())
        .map_err(|e| Failure::output(path, &e))?;
    file.commit()
}

/// Refuses, before long work, what [`distinct`] refuses and a file that cannot be written.
pub fn check_outputs<'a>(
    inputs: impl IntoIterator<Item = &'a PathBuf>,
    outputs: &[(&str, Option<&Path>)],
) -> Result<(), Failure> {
    distinct(inputs, outputs)?;
    for path in outputs.iter().filter_map(|(_, path)| *path) {
        output::check(path).map_err(|e| Failure::output(path, &e))?;
    }
    Ok(())
}

/// Refuses an output that is an input, and two outputs that are one file. `-` is standard input, or the output of `-o`; the
/// others are beside what standard output has.
pub fn distinct<'a>(
    inputs: impl IntoIterator<Item = &'a PathBuf>,
    outputs: &[(&str, Option<&Path>)],
) -> Result<(), Failure> {
    let inputs: Vec<(String, Identity)> = inputs
        .into_iter()
        .filter_map(|path| {
            let is_stdin = path == Path::new("-");
            let which = match is_stdin {
                true => Identity::of_open(io::stdin()),
                false => Identity::of(path),
            };
            let name = path.display().to_string();
            Some((
                if is_stdin {
                    "standard input".into()
                } else {
                    name
                },
                which?,
            ))
        })
        .collect();
    let mut before: Vec<(String, Identity)> = Vec::new();
    if let Some(which) = Identity::of_open(io::stdout()) {
        before.push(("standard output".into(), which));
    }
    for (option, path) in outputs {
        let Some(path) = *path else {
            continue;
        };
        if path == Path::new("-") {
            match *option {
                "-o" => continue,
                _ => {
                    return Err(Failure::usage(format!(
                        "{option} -: standard output has another result; name a file (`./-` is the file `-`)"
                    )));
                }
            }
        }
        let Some(which) = Identity::of(path) else {
            continue;
        };
        let name = format!("{option} {}", path.display());
        let is_same = |other: &&(String, Identity)| other.1 == which;
        if let Some((input, _)) = inputs.iter().find(is_same) {
            return Err(Failure::usage(format!(
                "{name}: is the file of the input {input}; choose another name"
            )));
        }
        if let Some((other, _)) = before.iter().find(is_same) {
            return Err(Failure::usage(format!(
                "{name}: is also the file of {other}; choose another name"
            )));
        }
        before.push((name, which));
    }
    Ok(())
}

/// Where the result goes: standard output, or the file of `-o`.
pub enum Out {
    /// Standard output.
    Stdout(BufWriter<io::StdoutLock<'static>>),
    /// A file.
    File(ResultFile),
}

impl Out {
    /// Opens it.
    pub fn open(path: Option<&Path>) -> Result<Self, Failure> {
        Ok(match path {
            Some(path) if path != Path::new("-") => Self::File(ResultFile::create(path)?),
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
            Self::File(file) => file.out.write(bytes).map_err(|e| named(&file.path, &e)),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.write_all(bytes),
            Self::File(file) => (file.out.write_all(bytes)).map_err(|e| named(&file.path, &e)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(file) => file.out.flush().map_err(|e| named(&file.path, &e)),
        }
    }
}

/// Adds the file to an error of the many that may be meant.
fn named(path: &Path, e: &io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("{}: {e}", path.display()))
}
