//! What was found, counted.

use std::ops::Range;
use std::process::ExitCode;

/// What was found in a block or a code span.
#[derive(Default)]
pub struct Found {
    /// Its line, from 0.
    pub line: usize,
    /// Commands that were run.
    pub commands: usize,
    /// Commands whose output was compared.
    pub compared: usize,
    /// Points of an experiment that were run.
    pub points: usize,
    /// It was read, and contains no runnable example.
    pub read: bool,
    /// Why it was not run.
    pub not_run: Option<String>,
    /// Commands whose options were read.
    pub usages: usize,
    /// Texts of small languages that were read.
    pub words: usize,
    /// The real output, last first, and the lines that it replaces.
    pub output: Vec<(Range<usize>, Vec<String>)>,
    /// Lines, from 0, and what is wrong there.
    failures: Vec<(usize, String)>,
}

impl Found {
    /// Nothing yet.
    pub fn at(line: usize) -> Self {
        Self {
            line,
            ..Self::default()
        }
    }

    /// Whether something is.
    #[cfg(test)]
    pub fn is_wrong(&self) -> bool {
        !self.failures.is_empty()
    }

    /// Adds a failure.
    pub fn wrong(&mut self, line: usize, why: String) {
        self.failures.push((line, why));
    }
}

/// The sums of all pages.
#[derive(Default)]
pub struct Tally {
    sum: Found,
    blocks_run: usize,
    blocks_read: usize,
    experiments: usize,
    not_run: Vec<String>,
    failures: Vec<String>,
}

impl Tally {
    /// Adds what was found in a page.
    pub fn add(&mut self, page: &str, all: Vec<Found>) {
        for found in all {
            let place = |line: usize| format!("{page}:{}", line + 1);
            self.sum.commands += found.commands;
            self.sum.compared += found.compared;
            self.sum.points += found.points;
            self.sum.usages += found.usages;
            self.sum.words += found.words;
            self.blocks_run += usize::from(found.commands > 0);
            self.blocks_read += usize::from(found.read);
            self.experiments += usize::from(found.points > 0);
            if let Some(why) = &found.not_run {
                self.not_run.push(format!("{}: {why}", place(found.line)));
            }
            for (line, why) in &found.failures {
                self.failures.push(format!("{}: {why}", place(*line)));
            }
        }
    }

    /// Prints it all; gives the exit code.
    pub fn print(&self, verbose: bool) -> ExitCode {
        let sum = &self.sum;
        if verbose {
            self.not_run
                .iter()
                .for_each(|line| println!("not run: {line}"));
        }
        self.failures.iter().for_each(|line| println!("{line}"));
        println!(
            "documents: {} commands run in {} blocks, the output of {} compared; {} experiments of {} points run; {} blocks read; \
             {} not run (--verbose says why); {} commands read, {} texts of small languages read; {} wrong",
            sum.commands,
            self.blocks_run,
            sum.compared,
            self.experiments,
            sum.points,
            self.blocks_read,
            self.not_run.len(),
            sum.usages,
            sum.words,
            self.failures.len(),
        );
        ExitCode::from(u8::from(!self.failures.is_empty()))
    }
}
