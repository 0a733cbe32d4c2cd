//! Reads a capture file through the analyser, for the tests of this folder.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod bulk;
pub mod script;
pub mod talk;

use std::fs::File;
use std::path::{Path, PathBuf};

use tcplab_analyze::budget::Budget;
use tcplab_analyze::findings::Finding;
use tcplab_analyze::report::{Stream, Totals};
use tcplab_analyze::trace::StreamTrace;
use tcplab_analyze::{Analyzer, Options, Output};
use tcplab_base::Instant;
use tcplab_capture::{Body, Reader};
use tcplab_wire::{Config, IcmpError, Parsed, Reassembler, Standing, TcpPacket};

/// Everything that the analyser hands out.
#[derive(Default)]
pub struct Answer {
    pub streams: Vec<Stream>,
    pub findings: Vec<Finding>,
    pub traces: Vec<StreamTrace>,
    pub totals: Totals,
}

impl Answer {
    /// Names of the findings, sorted, each once.
    pub fn ids(&self) -> Vec<&'static str> {
        let mut ids: Vec<_> = self.findings.iter().map(|f| f.id.name()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

/// What a frame holds.
pub struct Seen {
    pub parsed: Parsed,
    /// The ICMP error that quotes the packet.
    pub icmp: Option<IcmpError>,
}

/// Gives each frame of a file: number, time, and what a capture with a given snap length holds.
pub fn frames(path: &Path, mut take: impl FnMut(u64, Option<Instant>, &dyn Fn(usize) -> Seen)) {
    let file = File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut reader = Reader::new(file).expect("a capture");
    while let Some(record) = reader.next().expect("an undamaged capture") {
        if let Body::Frame {
            link,
            data,
            orig_len,
        } = record.body
        {
            let parse = |kept: usize| {
                let data = &data[..data.len().min(kept)];
                let mut parser = Reassembler::default();
                let parsed = parser.parse(link, data, orig_len, &Config::default());
                let quotes = matches!(&parsed, Parsed::Tcp(p) if p.standing == Standing::Quoted);
                let icmp = parser.icmp_error().filter(|_| quotes).copied();
                Seen { parsed, icmp }
            };
            take(record.number, record.time, &parse);
        }
    }
}

/// Analyses a file.
pub fn analyze(path: &Path, options: Options) -> Answer {
    analyze_some(path, options, |_| true)
}

/// Analyses those packets of a file.
pub fn analyze_some(path: &Path, options: Options, keep: impl Fn(&TcpPacket) -> bool) -> Answer {
    let mut analyzer = Analyzer::new(options);
    frames(path, |number, time, parse| {
        let Seen { parsed, icmp } = parse(usize::MAX);
        match parsed {
            Parsed::Tcp(packet) if keep(&packet) => {
                analyzer.packet(number, time, &packet);
                icmp.iter().for_each(|e| analyzer.icmp(number, e));
            }
            Parsed::Tcp(_) => {}
            Parsed::NotTcp(why) => analyzer.other(why),
        }
    });
    answer(analyzer)
}

/// Analyses packets written as lines, see [`script`].
pub fn analyze_script(lines: &[&str]) -> Answer {
    let mut analyzer = Analyzer::new(Options::default());
    for (number, line) in (1..).zip(lines) {
        let (time, _, packet) = script::parse(line);
        analyzer.packet(number, Some(time), &packet);
    }
    answer(analyzer)
}

pub fn answer(mut analyzer: Analyzer) -> Answer {
    analyzer.finish();
    let mut answer = Answer::default();
    while let Some(output) = analyzer.poll() {
        match output {
            Output::Stream(s) => answer.streams.push(*s),
            Output::Finding(f) => answer.findings.push(*f),
            Output::Trace(t) => answer.traces.push(*t),
        }
    }
    answer.totals = analyzer.totals().clone();
    answer
}

/// The parts of a stream's time sum to the whole, and those of its requests, which follow one another.
pub fn adds_up(s: &Stream) {
    let time = &s.budget_us;
    assert_eq!(time.total(), s.duration_us, "{}: {time:?}", s.stream);
    let mut before = 0;
    for r in &s.requests {
        assert_eq!(r.budget_us.total(), r.duration_us, "{}: {r:?}", s.stream);
        assert!(r.start_us >= before, "{}: {r:?}", s.stream);
        before = r.start_us + r.duration_us;
    }
    assert!(before <= s.duration_us);
}

/// The spans of a stream have no gap, and are what its time went to.
pub fn spans_add_up(s: &Stream, trace: &StreamTrace) {
    let mut sums = Budget::default();
    let mut at = 0;
    for span in &trace.spans {
        assert!(
            span.from_us == at && span.to_us > at,
            "{}: {span:?}",
            s.stream
        );
        sums.add(span.class, span.to_us - span.from_us);
        at = span.to_us;
    }
    assert_eq!(sums, s.budget_us, "{}", s.stream);
}

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A capture that others made, which stands beside the repository; `None` with a message when it
/// is not there.
pub fn shared(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("TCPLAB_SHARED_CAPTURES")
        .map_or_else(|| root().join("../shared/captures"), PathBuf::from);
    let path = folder.join(name);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

/// Holds what stands between the marks of this name in `docs/findings.md` to `text`; with `TCPLAB_WRITE_DOCS` set, writes it.
pub fn section(name: &str, text: &str) {
    let path = root().join("docs/findings.md");
    let written = std::fs::read_to_string(&path).expect("the document");
    let (begin, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let (before, rest) = written.split_once(&begin).expect("where it begins");
    let (_, after) = rest.split_once(&end).expect("where it ends");
    let right = format!("{before}{begin}\n{text}\n{end}{after}");
    if std::env::var_os("TCPLAB_WRITE_DOCS").is_some() {
        std::fs::write(&path, &right).expect("the document can be written");
        return;
    }
    let differs = written.lines().zip(right.lines()).find(|(w, r)| w != r);
    assert!(
        written == right,
        "docs/findings.md is not what the tests say; TCPLAB_WRITE_DOCS=1 cargo test -p tcplab-analyze writes it. First \
         difference: {differs:?}"
    );
}
