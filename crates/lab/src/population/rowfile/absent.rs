//! Stands in for the writer of Parquet in builds without it: says how to get it.

use std::io;
use std::path::Path;

use tcplab_os::output::Output;

use crate::error::LabError;

/// Never there.
#[derive(Debug)]
pub(super) enum Parquet {}

/// Whether this build has it.
pub(super) fn need() -> Result<(), LabError> {
    Err(LabError::CannotRun(
        "--rows: this tcplab was built without Parquet; build it with \
         `cargo build --release --package tcplab --features parquet`"
            .to_owned(),
    ))
}

impl Parquet {
    /// Says how to get it.
    pub(super) fn create(_path: &Path, _out: io::Result<Output>) -> Result<Self, LabError> {
        match need() {
            Err(e) => Err(e),
            Ok(()) => Err(LabError::CannotRun("no Parquet".to_owned())),
        }
    }

    /// Never called.
    pub(super) fn add(&mut self, _rows: &[u8]) -> Result<(), LabError> {
        match *self {}
    }

    /// Never called.
    pub(super) fn finish(self) -> Result<(), LabError> {
        match self {}
    }
}
