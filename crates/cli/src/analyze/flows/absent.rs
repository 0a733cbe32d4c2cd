//! Stands in for the Parquet writer in builds without it: says how to get it.

use std::path::Path;

use tcplab_analyze::Output;
use tcplab_analyze::report::Totals;

use crate::analyze::side::Side;
use crate::failure::Failure;

/// Cannot be made.
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
