//! Stands in for the writer of Parquet in builds without it: says how to get it.

use std::io;
use std::path::Path;

use tcplab_os::output::Output;

use crate::error::LabError;

/// Whether this build has it.
pub(super) fn need() -> Result<(), LabError> {
    Err(LabError::CannotRun(
        "--rows: this tcplab was built without Parquet; build it with \
         `cargo build --release --package tcplab --features parquet`"
            .to_owned(),
    ))
}

/// Says how to get it.
pub(super) fn write(
    _path: &Path,
    _out: io::Result<Output>,
    _groups: impl Iterator<Item = Result<Vec<u8>, LabError>>,
) -> Result<(), LabError> {
    need()
}
