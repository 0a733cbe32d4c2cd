//! `--html`: collects for the page of `tcplab-report` and writes it.

use std::path::{Path, PathBuf};

use tcplab_analyze::Output;
use tcplab_analyze::report::{Capture, Report, SCHEMA, Totals};
use tcplab_report::page::{Options, Page};

use crate::analyze::side::Side;
use crate::failure::Failure;
use crate::files::ResultFile;

/// The page in the making.
pub struct Html {
    path: PathBuf,
    page: Page,
    report: Report,
}

impl Html {
    /// For this file.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            page: Page::new(Options::default()),
            report: Report {
                schema: SCHEMA.into(),
                captures: Vec::new(),
            },
        }
    }
}

impl Side for Html {
    fn begin(&mut self, file: &str) {
        self.report.captures.push(Capture {
            file: file.into(),
            ..Capture::default()
        });
    }

    fn see(&mut self, output: &Output) -> Result<(), Failure> {
        let index = self.report.captures.len().saturating_sub(1);
        let Some(capture) = self.report.captures.last_mut() else {
            return Ok(());
        };
        match output {
            Output::Stream(s) => self.page.add_stream(index, (**s).clone()),
            Output::Finding(f) => {
                self.page.add_finding(index, f);
                capture.findings.push((**f).clone());
            }
            Output::Trace(trace) => {
                // The findings of a stream come right before its trace.
                let newest = capture.findings.iter().rev();
                let mine = newest.take_while(|f| f.stream == trace.stream);
                self.page.add_trace(index, trace, mine);
            }
        }
        Ok(())
    }

    fn end(&mut self, totals: &Totals) {
        if let Some(capture) = self.report.captures.last_mut() {
            capture.totals = totals.clone();
            capture.findings.sort_by_key(|f| (f.severity, f.stream));
        }
    }

    fn close(self: Box<Self>) -> Result<String, Failure> {
        let mut file = ResultFile::create(&self.path)?;
        let written = self.page.write(&self.report, &mut file);
        written.map_err(|e| Failure::output(&self.path, &e))?;
        file.commit()?;
        Ok(format!("Page: {}", self.path.display()))
    }
}
