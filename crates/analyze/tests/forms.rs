//! Figures do not depend on what else is asked for: rows that are kept for one output, a bound on them, `only`.
//! Every shipped capture, and mutants of it.

mod common;

use std::path::PathBuf;

use common::root;
use tcplab_analyze::report::Totals;
use tcplab_analyze::trace::Rows;
use tcplab_analyze::{Analyzer, Options, Output};
use tcplab_base::{Instant, Random};
use tcplab_capture::{Body, Reader};
use tcplab_wire::{Config, LinkType, Parsed, Reassembler};

/// A frame of a capture, as a reader gives it.
#[derive(Clone)]
struct Frame {
    time: Option<Instant>,
    link: LinkType,
    data: Vec<u8>,
    orig_len: u32,
}

/// The analyser's results for the frames: each stream with its findings as text, then the whole capture.
fn figures(frames: &[Frame], options: Options, only: &[u32]) -> Vec<(u32, String)> {
    let mut analyzer = Analyzer::new(options).only(only);
    let mut parser = Reassembler::default();
    let mut said = Vec::new();
    for (number, f) in (1..).zip(frames) {
        match parser.parse(f.link, &f.data, f.orig_len, &Config::default()) {
            Parsed::Tcp(p) => analyzer.packet(number, f.time, &p),
            Parsed::NotTcp(why) => analyzer.other(why),
        }
        drain(&mut analyzer, &mut said);
    }
    analyzer.finish();
    drain(&mut analyzer, &mut said);
    let totals = Totals {
        // The only figure that is about the rows.
        rows_left_out: 0,
        ..analyzer.totals().clone()
    };
    said.push((u32::MAX, serde_json::to_string(&totals).expect("JSON")));
    said
}

fn drain(analyzer: &mut Analyzer, said: &mut Vec<(u32, String)>) {
    while let Some(output) = analyzer.poll() {
        said.push(match output {
            Output::Stream(s) => {
                common::adds_up(&s);
                (s.stream, serde_json::to_string(&s).expect("JSON"))
            }
            Output::Finding(f) => (f.stream, serde_json::to_string(&f).expect("JSON")),
            Output::Trace(_) => continue,
        });
    }
}

/// The frames of every shipped capture.
fn shipped() -> Vec<(PathBuf, Vec<Frame>)> {
    let folder = root().join("tests/captures");
    let files = std::fs::read_dir(folder).expect("captures");
    let mut files: Vec<PathBuf> = files.map(|f| f.expect("a file").path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "pcap"));
    files.sort();
    let frames = |path: &PathBuf| {
        let mut reader =
            Reader::new(std::fs::File::open(path).expect("a file")).expect("a capture");
        let mut frames = Vec::new();
        while let Some(record) = reader.next().expect("an undamaged capture") {
            if let Body::Frame {
                link,
                data,
                orig_len,
            } = record.body
            {
                frames.push(Frame {
                    time: record.time,
                    link,
                    data: data.to_vec(),
                    orig_len,
                });
            }
        }
        frames
    };
    files.iter().map(|f| (f.clone(), frames(f))).collect()
}

/// What outputs may want kept, and bounds on it.
fn ways() -> impl Iterator<Item = Options> {
    let rows = [
        Rows::ALL,
        Rows {
            first: 0,
            marked: true,
        },
        Rows {
            first: 7,
            marked: false,
        },
    ];
    rows.into_iter().flat_map(|rows| {
        [None, Some(3)].map(|max_rows| Options {
            rows,
            max_rows,
            ..Options::default()
        })
    })
}

fn check(what: &str, frames: &[Frame]) {
    let plain = figures(frames, Options::default(), &[]);
    for options in ways() {
        assert_eq!(figures(frames, options, &[]), plain, "{what}: {options:?}");
    }
}

#[test]
fn no_output_changes_the_figures_of_another() {
    for (path, frames) in shipped() {
        check(&path.display().to_string(), &frames);
    }
}

/// Frames changed as lossy paths, broken captures and ill will change them.
fn mutate(frames: &mut Vec<Frame>, random: &mut Random) {
    let below = |random: &mut Random, n: usize| random.below(n.max(1) as u64) as usize;
    for _ in 0..1 + below(random, 12) {
        let n = frames.len();
        let at = below(random, n);
        match random.below(6) {
            0 => {
                frames.remove(at);
            }
            1 => {
                let again = frames[at].clone();
                frames.insert(below(random, n), again);
            }
            2 => frames.swap(at, below(random, n)),
            3 => {
                let to = (at + 1 + below(random, 5)).min(n - 1);
                let frame = frames.remove(at);
                frames.insert(to, frame);
            }
            4 => {
                let shift = random.below(2_000_000_000) as i64 - 1_000_000_000;
                let time = frames[at].time.map(|t| t.as_nanos() + shift);
                frames[at].time = time.map(Instant::from_nanos);
            }
            _ => {
                let data = &mut frames[at].data;
                // Behind the addresses: ports, numbers, flags, window, options.
                let byte = 34 + below(random, 40);
                if let Some(b) = data.get_mut(byte) {
                    *b ^= 1 << random.below(8);
                }
            }
        }
        if frames.len() < 2 {
            return;
        }
    }
}

#[test]
fn nor_on_mutants() {
    const MUTANTS: u64 = 12;
    for (path, frames) in shipped() {
        for seed in 0..MUTANTS {
            let mut random = Random::stream(seed, "mutant");
            let mut mutant = frames.clone();
            mutate(&mut mutant, &mut random);
            check(&format!("{} mutant {seed}", path.display()), &mutant);
        }
    }
}

#[test]
fn a_stream_alone_is_what_it_is_among_others() {
    // All captures one after the other: their addresses are partly the same, so ports are used again.
    let frames: Vec<Frame> = shipped().into_iter().flat_map(|(_, f)| f).collect();
    let all = figures(&frames, Options::default(), &[]);
    let streams = all.iter().map(|s| s.0).filter(|s| *s != u32::MAX).max();
    for stream in 0..=streams.expect("streams") {
        let alone = figures(&frames, Options::default(), &[stream]);
        // What a capture lacks is said of the first stream that shows it.
        let about = |s: &&(u32, String)| s.0 == stream && !s.1.contains("capture_artefacts");
        let among: Vec<_> = all.iter().filter(about).collect();
        assert_eq!(alone.iter().filter(about).collect::<Vec<_>>(), among);
        assert!(alone.iter().all(|s| s.0 == stream || s.0 == u32::MAX));
    }
}

#[test]
fn a_retransmission_is_known_by_its_frame_and_counted_once() {
    // The first timeout was needed. The second was not: its ACK says so twice, by DSACK and by the echo.
    let lines = [
        "0 > S 100 0 0 60000 mss=1460 sackok ts=1000,0",
        "50 < S. 500 101 0 60000 mss=1460 sackok ts=9000,1000",
        "50 > . 101 501 0 60000 ts=1050,9000",
        "51 > P. 101 501 100 60000 ts=1051,9000",
        "400 > P. 101 501 100 60000 ts=1400,9000",
        "450 < . 501 201 0 60000 ts=9400,1400",
        "500 > P. 201 501 100 60000 ts=1500,9400",
        "900 > P. 201 501 100 60000 ts=1900,9400",
        "910 < . 501 301 0 60000 ts=9860,1500 sack=201-301",
    ];
    for rows in [Rows::NONE, Rows::ALL] {
        let mut analyzer = Analyzer::new(Options {
            rows,
            ..Options::default()
        });
        for (number, line) in (1..).zip(lines) {
            let (time, _, packet) = common::script::parse(line);
            analyzer.packet(number, Some(time), &packet);
        }
        analyzer.finish();
        let Some(Output::Stream(s)) = analyzer.poll() else {
            panic!("no stream");
        };
        let again = &s.client_to_server.retransmissions;
        assert_eq!((again.total, again.spurious), (2, 1), "{rows:?}");
    }
}
