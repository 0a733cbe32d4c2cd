//! The report for a person, one for each capture.

use std::io::{self, Write};

use tcplab_analyze::Output;
use tcplab_analyze::report::Totals;
use tcplab_report::terminal::{Collector, Theme, style};

use crate::analyze::form::Form;
use crate::args::AnalyzeArgs;
use crate::files::Out;

/// Collects what the report shows of a capture.
pub struct Text {
    all: bool,
    theme: Theme,
    file: String,
    collector: Collector,
    captures: usize,
}

impl Text {
    /// For these arguments.
    pub fn new(args: &AnalyzeArgs, theme: Theme) -> Self {
        Self {
            all: args.all || !args.stream.is_empty(),
            theme,
            file: String::new(),
            collector: Collector::new(args.all),
            captures: 0,
        }
    }
}

impl Form for Text {
    fn begin(&mut self, _out: &mut Out, file: &str) -> io::Result<()> {
        self.file = match file {
            "-" => "standard input".into(),
            name => name.into(),
        };
        self.collector = Collector::new(self.all);
        Ok(())
    }

    fn output(&mut self, _out: &mut Out, output: Output) -> io::Result<()> {
        match output {
            Output::Stream(s) => self.collector.stream(&s),
            Output::Finding(f) => self.collector.finding(&f),
            Output::Trace(_) => {}
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Out, totals: &Totals) -> io::Result<()> {
        let collector = std::mem::replace(&mut self.collector, Collector::new(self.all));
        if self.captures > 0 {
            out.write_all(b"\n")?;
        }
        self.captures += 1;
        let mut text = collector.render(&self.theme, &self.file, totals);
        if self.theme.ascii {
            text = style::ascii(&text);
        }
        out.write_all(style::screen(&text, self.theme.color).as_bytes())?;
        // The reports of many files come one by one, not all at the end.
        out.flush()
    }
}
