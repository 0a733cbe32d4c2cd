//! Outputs that go to files of their own, beside the form on standard output.

use std::path::Path;

use tcplab_analyze::Output;
use tcplab_analyze::report::Totals;

use crate::analyze::{annotate::Annotate, html::Html};
use crate::args::AnalyzeArgs;
use crate::failure::Failure;

/// An output of its own. It sees what the analyser hands out before the form takes it.
pub trait Side {
    /// A capture begins.
    fn begin(&mut self, _file: &str) {}

    /// The analyser handed something out.
    fn see(&mut self, output: &Output) -> Result<(), Failure>;

    /// A capture is over.
    fn end(&mut self, _totals: &Totals) {}

    /// The last call: writes the file. Gives a line that names it.
    fn close(self: Box<Self>) -> Result<String, Failure>;
}

/// The outputs that the arguments ask for. What cannot be done is said now, not after the work.
pub fn choose(args: &AnalyzeArgs, files: &[super::Source]) -> Result<Vec<Box<dyn Side>>, Failure> {
    let mut all: Vec<Box<dyn Side>> = Vec::new();
    if let Some(path) = &args.html {
        all.push(Box::new(Html::new(path)));
    }
    if let Some(path) = &args.annotate {
        all.push(Box::new(Annotate::new(path, files, args)?));
    }
    if let Some(path) = &args.flows {
        all.push(flows(path)?);
    }
    Ok(all)
}

#[cfg(feature = "parquet")]
fn flows(path: &Path) -> Result<Box<dyn Side>, Failure> {
    Ok(Box::new(crate::analyze::flows::Flows::new(path)?))
}

/// Says how to get it.
#[cfg(not(feature = "parquet"))]
fn flows(_path: &Path) -> Result<Box<dyn Side>, Failure> {
    Err(Failure::cannot_run(
        "this tcplab was built without Parquet; build it with `cargo build --release --package tcplab --features parquet`",
    ))
}
