//! `tcplab analyze`: reads captures, gives their packets to the analyser and its answers to the
//! outputs that were asked for. One file for each form of output.

mod acks;
mod annotate;
pub mod asked;
mod compat;
pub mod fail_on;
mod fast;
#[cfg(feature = "parquet")]
mod flows;
mod form;
pub mod html;
pub mod json;
mod live;
mod order;
pub mod pair;
mod prove;
mod run;
mod side;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tcplab_analyze::Output;
use tcplab_analyze::report::{ReadError, Totals};
use tcplab_os::{Scratch, say};

use crate::analyze::asked::Asked;
use crate::analyze::form::Form;
use crate::analyze::prove::Prover;
use crate::analyze::side::Side;
use crate::args::{AnalyzeArgs, Color};
use crate::failure::{Failure, Kind};
use crate::files::{Out, Spool, distinct};

/// Runs the command. Failures after this point are part of the document when `--json` is on.
pub fn main(args: &AnalyzeArgs, color: Color) -> Result<ExitCode, Failure> {
    if let Some(word) = &args.explain {
        return crate::help::explain(word, color);
    }
    let outputs = [
        ("-o", args.output.as_deref()),
        ("--html", args.html.as_deref()),
        ("--annotate", args.annotate.as_deref()),
        ("--flows", args.flows.as_deref()),
    ];
    let inputs = args.files.iter().chain(&args.pair);
    let checked = args.check().and_then(|()| distinct(inputs, &outputs));
    let done = checked.and_then(|()| match args.pair.as_slice() {
        [] => analyze(args, color),
        _ => pair::main(args, color),
    });
    match done {
        // When standard output itself failed, its document is broken beyond repair.
        Err(failure) if args.json && (failure.kind != Kind::Output || args.output.is_some()) => {
            json::empty_document(&failure);
            Err(failure)
        }
        done => done,
    }
}

/// A capture to read.
pub struct Source {
    /// Its name for people: as given on the command line.
    pub name: String,
    /// Where its bytes are.
    pub path: PathBuf,
    /// Standard input that must be read twice; removed when dropped.
    _spool: Option<Spool>,
}

impl Source {
    fn new(args: &AnalyzeArgs, path: &Path) -> Result<Self, Failure> {
        let spool = (args.annotate.is_some() && path == Path::new("-"))
            .then(Spool::standard_input)
            .transpose()?;
        Ok(Self {
            name: path.display().to_string(),
            path: spool.as_ref().map_or(path, Spool::path).to_path_buf(),
            _spool: spool,
        })
    }
}

/// Everything that wants what the analyser hands out.
struct Outputs {
    out: Out,
    form: Box<dyn Form>,
    sides: Vec<Box<dyn Side>>,
    verdict: fail_on::Verdict,
    prover: Option<Prover>,
    asked: Asked,
    /// The first thing that went wrong.
    failure: Option<Failure>,
    /// A failure of one output; it ends that output, not the others.
    broken: Option<Failure>,
}

fn analyze(args: &AnalyzeArgs, color: Color) -> Result<ExitCode, Failure> {
    // A live capture ends in good order.
    if args.interface.is_none() && (args.proves() || args.annotate.is_some()) {
        Scratch::remove_on_signals().map_err(|e| Failure::cannot_run(format!("signals: {e}")))?;
    }
    let sources: Result<Vec<Source>, _> = args.files.iter().map(|f| Source::new(args, f)).collect();
    let sources = sources?;
    let mut live = match &args.interface {
        Some(interface) => Some(live::Source::open(interface, args.duration)?),
        None => None,
    };
    let mut outputs = Outputs {
        sides: side::choose(args, &sources)?,
        out: Out::open(args.output.as_deref())?,
        form: form::choose(args, color),
        verdict: fail_on::Verdict::new(&args.fail_on),
        prover: Prover::new(args)?,
        asked: Asked::new(args.stream.iter().map(|n| u64::from(*n))),
        failure: None,
        broken: None,
    };
    outputs.form.open(&mut outputs.out)?;
    for source in &sources {
        outputs.begin(&source.name)?;
        let result = run::file(args, source, &mut |o| outputs.take(o))?;
        outputs.end(&source.name, result)?;
    }
    if let Some(live) = &mut live {
        outputs.begin(&live.name)?;
        let result = live.run(args, &mut |o| outputs.take(o))?;
        outputs.end(&live.name, Ok(result))?;
    }
    outputs.close(args)
}

impl Outputs {
    fn begin(&mut self, name: &str) -> Result<(), Failure> {
        for side in &mut self.sides {
            side.begin(name);
        }
        if let Some(prover) = &mut self.prover {
            prover.begin(name);
        }
        Ok(self.form.begin(&mut self.out, name)?)
    }

    fn take(&mut self, output: Output) -> std::io::Result<()> {
        match &mut self.prover {
            None => self.give(output),
            Some(prover) => {
                let ready = prover.take(output);
                ready.into_iter().try_for_each(|output| self.give(output))
            }
        }
    }

    /// Hands it to every output.
    fn give(&mut self, output: Output) -> std::io::Result<()> {
        self.verdict.see(&output);
        if !self.sides.is_empty() && self.broken.is_none() {
            self.broken = self.sides.iter_mut().find_map(|s| s.see(&output).err());
        }
        self.form.output(&mut self.out, output)
    }

    /// A capture is over: its counts, or why it could not be read at all.
    fn end(&mut self, name: &str, result: Result<Totals, Failure>) -> Result<(), Failure> {
        let unread = |message: &str| Totals {
            error: Some(ReadError {
                offset: 0,
                message: message.into(),
            }),
            ..Totals::default()
        };
        let (totals, failure) = match result {
            Ok(totals) => {
                let failure = totals.error.as_ref().map(|e| damaged(name, e));
                (totals, failure)
            }
            Err(failure) => (unread(&failure.message), Some(failure)),
        };
        if let Some(failure) = failure {
            // Said at once, so that it stands beside the progress of the files after it.
            failure.report();
            self.failure.get_or_insert(failure);
        }
        if totals.error.is_none() {
            self.asked.capture(name, totals.tcp_streams);
        }
        let held = self.prover.as_mut().map(Prover::end).unwrap_or_default();
        held.into_iter().try_for_each(|output| self.give(output))?;
        self.verdict.end(name, &totals);
        if totals.rows_left_out > 0 {
            left_out(name, totals.rows_left_out);
        }
        for side in &mut self.sides {
            side.end(&totals);
        }
        Ok(self.form.end(&mut self.out, &totals)?)
    }

    fn close(mut self, args: &AnalyzeArgs) -> Result<ExitCode, Failure> {
        let mut written = Vec::new();
        if let Some(failure) = self.prover.as_mut().and_then(|p| p.broken.take()) {
            self.broken.get_or_insert(failure);
        }
        if self.broken.is_none() {
            for side in std::mem::take(&mut self.sides) {
                match side.close() {
                    Ok(line) => written.push(line),
                    Err(failure) => self.broken = self.broken.or(Some(failure)),
                }
            }
        }
        if let Some(failure) = self.broken {
            failure.report();
            self.failure.get_or_insert(failure);
        }
        if let Err(failure) = self.asked.check() {
            failure.report();
            self.failure.get_or_insert(failure);
        }
        self.form.close(&mut self.out, self.failure.as_ref())?;
        // The names of written files are results for a person, and noise for a program.
        let for_people = !args.json && !args.acks && !args.tshark_compat && args.output.is_none();
        for (i, line) in written.iter().enumerate() {
            if for_people {
                let gap = if i == 0 { "\n" } else { "" };
                writeln!(self.out, "{gap}{}", tcplab_base::safe_lines(line))?;
            } else {
                say(line);
            }
        }
        if let Some(why) = self.prover.as_ref().and_then(Prover::nothing) {
            say(&format!("tcplab: {why}"));
        }
        self.out.close()?;
        Ok(match self.failure {
            Some(failure) => ExitCode::from(failure.code()),
            None => self.verdict.exit_code(),
        })
    }
}

fn damaged(name: &str, e: &ReadError) -> Failure {
    Failure::input(format!("{name}: offset {}: {}", e.offset, e.message))
}

/// Says that an output lacks packets.
fn left_out(name: &str, packets: u64) {
    say(&format!(
        "tcplab: {name}: {packets} packets with a verdict were omitted: raise --max-packets"
    ));
}
