//! Captures that Python hands over: a path, bytes, an open file.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

/// Bytes between two looks at what Python wants.
const STEP: u64 = 1 << 20;

/// The bytes of a capture. What went wrong in Python while they were read is in [`Watched::failure`].
pub(crate) enum Bytes {
    File(File),
    Own(Cursor<PyBackedBytes>),
    Python(Py<PyAny>),
}

/// Opens what a user gave.
pub(crate) fn open(source: &Bound<'_, PyAny>) -> PyResult<(Bytes, Option<u64>)> {
    if let Ok(bytes) = source.extract::<PyBackedBytes>() {
        let size = bytes.len() as u64;
        return Ok((Bytes::Own(Cursor::new(bytes)), Some(size)));
    }
    if source.hasattr("read")? {
        return Ok((Bytes::Python(source.clone().unbind()), None));
    }
    let path: PathBuf = source.extract().map_err(|_| {
        PyTypeError::new_err("a capture is a path, bytes, or a file opened in binary mode")
    })?;
    let file = File::open(&path);
    let file = file.map_err(|e| os_error(source, &e))?;
    let size = file.metadata().ok().filter(|meta| meta.is_file());
    Ok((Bytes::File(file), size.map(|meta| meta.len())))
}

/// As Python raises it: `FileNotFoundError` and the like, with the file's name.
fn os_error(path: &Bound<'_, PyAny>, e: &io::Error) -> PyErr {
    match e.raw_os_error() {
        Some(number) => {
            let text = e.to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            PyOSError::new_err((number, text.to_owned(), path.clone().unbind()))
        }
        None => PyOSError::new_err(e.to_string()),
    }
}

/// Python's callback while bytes are read, and its failure.
#[derive(Clone)]
pub(crate) struct Watch {
    progress: Option<Arc<Py<PyAny>>>,
    size: Option<u64>,
    failure: Arc<std::sync::Mutex<Option<PyErr>>>,
}

impl Watch {
    pub(crate) fn new(progress: Option<Py<PyAny>>, size: Option<u64>) -> Self {
        Self {
            progress: progress.map(Arc::new),
            size,
            failure: Arc::default(),
        }
    }

    /// What went wrong in Python.
    pub(crate) fn failure(&self) -> Option<PyErr> {
        self.failure.lock().ok().and_then(|mut e| e.take())
    }

    /// Looks for Ctrl-C, and tells how far it is.
    fn look(&self, read: u64) -> io::Result<()> {
        self.attempt(|py| {
            py.check_signals()?;
            if let Some(progress) = &self.progress {
                progress.call1(py, (read, self.size))?;
            }
            Ok(())
        })
    }

    /// Does something in Python; an exception ends the reading.
    fn attempt<T>(&self, what: impl FnOnce(Python<'_>) -> PyResult<T>) -> io::Result<T> {
        Python::attach(what).map_err(|e| {
            if let Ok(mut failure) = self.failure.lock() {
                failure.get_or_insert(e);
            }
            io::Error::other("ended by Python")
        })
    }
}

/// Bytes that are watched.
pub(crate) struct Watched {
    bytes: Bytes,
    watch: Watch,
    read: u64,
    next: u64,
}

impl Watched {
    pub(crate) fn new(bytes: Bytes, watch: Watch) -> Self {
        Self {
            bytes,
            watch,
            read: 0,
            next: STEP,
        }
    }
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = match &mut self.bytes {
            Bytes::File(file) => file.read(buffer)?,
            Bytes::Own(bytes) => bytes.read(buffer)?,
            Bytes::Python(file) => self.watch.attempt(|py| {
                let read = file.call_method1(py, "read", (buffer.len(),))?;
                let read: PyBackedBytes = read.extract(py).map_err(|_| {
                    PyTypeError::new_err("the file gives text: open it in binary mode (\"rb\")")
                })?;
                let n = read.len().min(buffer.len());
                buffer[..n].copy_from_slice(&read[..n]);
                Ok(n)
            })?,
        };
        self.read += n as u64;
        if self.read >= self.next {
            self.next = self.read + STEP;
            self.watch.look(self.read)?;
        }
        Ok(n)
    }
}
