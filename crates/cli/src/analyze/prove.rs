//! `--prove`: findings wait here until their connection's packets come, and go on with what an experiment said.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tcplab_analyze::Output;
use tcplab_analyze::findings::{Finding, Proof};
use tcplab_analyze::report::Stream;
use tcplab_analyze::trace::StreamTrace;
use tcplab_lab::Lab;
use tcplab_lab::prove::{Seen, prove, why_not};
use tcplab_os::{Stop, output};

use crate::args::AnalyzeArgs;
use crate::failure::Failure;

/// Experiments of one capture at most.
const MOST: usize = 20;

/// Gives each finding its proof.
pub struct Prover {
    lab: Lab,
    /// Where the experiments are written.
    folder: Option<PathBuf>,
    /// Names of files that were written.
    written: BTreeSet<String>,
    /// The capture, for names of files.
    capture: String,
    /// Experiments of this capture so far.
    done: usize,
    /// A finding came.
    has_any: bool,
    stream: Option<Box<Stream>>,
    held: Vec<Finding>,
    /// Why an experiment could not be written.
    pub broken: Option<Failure>,
}

impl Prover {
    /// When the arguments ask for it.
    pub fn new(args: &AnalyzeArgs) -> Result<Option<Self>, Failure> {
        // The folder is made with its first file; this fails if a file has its name.
        if let Some(folder) = args.prove_out.as_deref().filter(|f| f.exists()) {
            std::fs::create_dir_all(folder).map_err(|e| cannot_write(folder, &e))?;
        }
        Ok(args.proves().then(|| Self {
            // Ctrl-C ends the command as always: a run takes milliseconds.
            lab: Lab::new(Stop::never()),
            folder: args.prove_out.clone(),
            written: BTreeSet::new(),
            capture: String::new(),
            done: 0,
            has_any: false,
            stream: None,
            held: Vec::new(),
            broken: None,
        }))
    }

    /// A capture begins.
    pub fn begin(&mut self, name: &str) {
        self.capture = stem(name);
        self.done = 0;
        self.stream = None;
    }

    /// What the analyser handed out; back comes what may go on.
    pub fn take(&mut self, output: Output) -> Vec<Output> {
        match output {
            Output::Stream(stream) => {
                let mut ready = self.end();
                self.stream = Some(stream.clone());
                ready.push(Output::Stream(stream));
                ready
            }
            Output::Finding(finding) => {
                self.has_any = true;
                self.held.push(*finding);
                Vec::new()
            }
            Output::Trace(trace) => {
                let mut ready = self.settle(Some(&trace));
                ready.push(Output::Trace(trace));
                ready
            }
        }
    }

    /// The findings whose packets do not come any more.
    pub fn end(&mut self) -> Vec<Output> {
        self.settle(None)
    }

    /// Why nothing was tried, or nothing written by `--prove-out`.
    pub fn nothing(&self) -> Option<String> {
        if !self.has_any {
            return Some("--prove: there is no finding whose cure could be tried".to_owned());
        }
        let empty = self.folder.as_deref().filter(|_| self.written.is_empty())?;
        Some(format!(
            "{}: nothing was written, because no finding has an experiment; the proof of each says why",
            empty.display()
        ))
    }

    fn settle(&mut self, trace: Option<&StreamTrace>) -> Vec<Output> {
        let mut held = std::mem::take(&mut self.held);
        for finding in &mut held {
            let mut proof = self.proof(finding, trace);
            self.keep(finding, &mut proof);
            finding.proof = Some(Box::new(proof));
        }
        held.into_iter()
            .map(|finding| Output::Finding(Box::new(finding)))
            .collect()
    }

    fn proof(&mut self, finding: &Finding, trace: Option<&StreamTrace>) -> Proof {
        if let Some(why) = why_not(finding.id) {
            return Proof::none(why);
        }
        let stream = self.stream.as_deref();
        let (Some(stream), Some(trace)) = (stream, trace) else {
            return Proof::none("--max-packets dropped the packets of its stream");
        };
        if stream.stream != finding.stream || trace.stream != finding.stream {
            return Proof::none("--max-packets dropped the packets of its stream");
        }
        if self.done == MOST {
            return Proof::none(format!(
                "only {MOST} findings per capture are tested; select this stream with --stream"
            ));
        }
        self.done += 1;
        prove(
            &self.lab,
            &Seen {
                finding,
                stream,
                trace,
            },
        )
    }

    /// Writes the experiment, when there is one and a place for it.
    fn keep(&mut self, finding: &Finding, proof: &mut Proof) {
        let (Some(folder), Some(text)) = (&self.folder, &proof.experiment) else {
            return;
        };
        let base = format!(
            "{}-{}-{}",
            self.capture,
            finding.stream,
            finding.id.name().replace('_', "-")
        );
        let mut names = std::iter::once(base.clone())
            .chain((2_u64..).map(|n| format!("{base}-{n}")))
            .map(|name| format!("{name}.toml"));
        let Some(name) = names.find(|name| !self.written.contains(name)) else {
            return;
        };
        let path = folder.join(&name);
        let made = std::fs::create_dir_all(folder);
        match made.and_then(|()| output::write_own(&path, text)) {
            Ok(()) => proof.file = Some(path.display().to_string()),
            Err(e) => {
                self.broken.get_or_insert(cannot_write(&path, &e));
            }
        }
        self.written.insert(name);
    }
}

fn cannot_write(path: &Path, e: &std::io::Error) -> Failure {
    Failure::output(path, e)
}

/// A capture's name as the beginning of a file's: letters, digits, points and dashes.
fn stem(name: &str) -> String {
    let file = Path::new(name).file_name().unwrap_or_default();
    let file = file.to_string_lossy();
    let file = file.split(".pcap").next().unwrap_or_default();
    let plain = |c: char| match c.is_ascii_alphanumeric() || c == '.' {
        true => c,
        false => '-',
    };
    let plain: String = file.chars().take(80).map(plain).collect();
    match plain.trim_matches(['-', '.']) {
        "" => "capture".to_owned(),
        stem => stem.to_owned(),
    }
}
