//! `--flows`: one row for each stream as Parquet.

use std::path::Path;

use tcplab_analyze::Output;
use tcplab_analyze::report::Totals;

use crate::analyze::side::Side;
use crate::failure::Failure;

/// Stands in for the writer in builds without the feature `parquet`.
pub struct Flows;

impl Flows {
    /// Says how to get it.
    pub fn new(_path: &Path) -> Result<Self, Failure> {
        Err(Failure::cannot_run(
            "this tcplab was built without Parquet; build it with `cargo build --release --package tcplab --features parquet`",
        ))
    }
}

impl Side for Flows {
    fn begin(&mut self, _file: &str) {}

    fn see(&mut self, _output: &Output) -> Result<(), Failure> {
        Ok(())
    }

    fn end(&mut self, _totals: &Totals) {}

    fn close(self: Box<Self>) -> Result<String, Failure> {
        Ok(String::new())
    }
}
