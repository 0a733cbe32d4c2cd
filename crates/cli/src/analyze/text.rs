//! The report for a person.

use std::io::{self, Write};

use tcplab_analyze::Output;
use tcplab_analyze::report::Totals;

use crate::analyze::form::Form;
use crate::args::{AnalyzeArgs, Color};
use crate::files::Out;
use crate::terminal;

/// Collects what the report shows of a capture.
pub struct Text {
    file: String,
}

impl Text {
    /// For these arguments.
    pub fn new(_args: &AnalyzeArgs, color: Color) -> Self {
        let _ = (terminal::colors(color), terminal::width());
        Self {
            file: String::new(),
        }
    }
}

impl Form for Text {
    fn begin(&mut self, _out: &mut Out, file: &str) -> io::Result<()> {
        self.file = file.to_owned();
        Ok(())
    }

    fn output(&mut self, out: &mut Out, output: Output) -> io::Result<()> {
        match output {
            Output::Stream(s) => writeln!(out, "stream {}: {} -> {}", s.stream, s.client, s.server),
            Output::Finding(f) => writeln!(out, "stream {}: {}", f.stream, f.title),
            Output::Trace(_) => Ok(()),
        }
    }

    fn end(&mut self, out: &mut Out, totals: &Totals) -> io::Result<()> {
        writeln!(
            out,
            "{}: {} packets, {} TCP",
            self.file, totals.packets, totals.tcp_packets
        )
    }
}
