//! Writes a page from made-up packets, for work on the page and for its browser test:
//! `cargo run -p tcplab-report --example sample_page -- OUT.html`.
//!
//! Stream 0: 1 kB each 100 ms, quick ACKs end at segment 17. 1: a bulk transfer with every kind
//! of retransmission. 2: a bulk transfer of 100,000 packets. 3: a SYN that nobody answers.
//! 4: one direction only. 5 to 11: short exchanges, most of them without charts. 12: requests over one
//! connection. 13: a capture that begins in the middle.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::ExitCode;

use tcplab_analyze::findings::proof::{Cure, Outcome, Proof};
use tcplab_analyze::findings::{Finding, Id, Lacks, Need, NotChecked, Severity};
use tcplab_analyze::report::{
    AckMode, Artefact, Capture, Direction, Handshake, Mode, Report, State, Stream, Totals, Vantage,
};
use tcplab_analyze::trace::StreamTrace;
use tcplab_report::page::{Options, Page};

mod sample {
    pub mod budget;
    pub mod flows;
}
use sample::{budget, flows};

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: sample_page OUT.html");
        return ExitCode::from(2);
    };
    match write_page(&path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("sample_page: {message}");
            ExitCode::from(2)
        }
    }
}

/// The finding of this name.
fn id(name: &str) -> Id {
    Id::of(name).expect("the id of a finding")
}

fn write_page(path: &str) -> Result<(), String> {
    let traces: Vec<StreamTrace> = flows::all();
    let options = Options {
        charts: 8,
        details: 4,
        ..Options::default()
    };
    let mut page = Page::new(options);
    let findings = findings();
    let mut capture = Capture {
        file: "sample.pcapng".into(),
        ..Capture::default()
    };
    for trace in &traces {
        let own = findings.iter().filter(|f| f.stream == trace.stream);
        let stream = stream(trace);
        add_up(&mut capture.totals, &stream);
        page.add_stream(0, stream);
        own.clone().for_each(|f| page.add_finding(0, f));
        page.add_trace(0, trace, own);
        capture.totals.packets += trace.rows.len() as u64;
        capture.totals.tcp_packets += trace.rows.len() as u64;
        capture.totals.tcp_streams += 1;
    }
    capture.totals.time_ns = Some((flows::START_NS, flows::START_NS + 12_000_000_000));
    capture.findings = findings;
    let empty = Capture {
        file: "empty.pcap".into(),
        ..Capture::default()
    };
    let report = Report {
        schema: "tcplab.analyze/1".into(),
        captures: vec![capture, empty],
    };
    let file = File::create(path).map_err(|e| format!("{path}: {e}"))?;
    let mut out = BufWriter::new(file);
    page.write(&report, &mut out).map_err(|e| e.to_string())?;
    out.flush().map_err(|e| format!("{path}: {e}"))
}

/// Adds the time of a stream, and what could not be looked for in it.
fn add_up(totals: &mut Totals, stream: &Stream) {
    totals.budget_us.add_all(&stream.budget_us);
    for request in &stream.requests {
        totals.waited_us.add_all(&request.budget_us);
    }
    for lacks in &stream.not_checked {
        totals
            .not_checked
            .extend(lacks.findings.iter().map(|&finding| NotChecked {
                finding,
                lacks: lacks.lacks,
                streams: 1,
                stream: stream.stream,
            }));
    }
}

/// Figures good enough to look at; the real ones come from the analyser.
fn stream(trace: &StreamTrace) -> Stream {
    let first = trace.rows.first().map_or(0, |r| r.time.as_nanos());
    let last = trace.rows.last().map_or(0, |r| r.time.as_nanos());
    let mut stream = Stream {
        stream: trace.stream,
        client: format!("192.0.2.10:{}", 40_000 + trace.stream),
        server: "198.51.100.80:5001".into(),
        start_ns: first,
        duration_us: ((last - first) / 1_000) as u64,
        state: State::Complete,
        handshake: Some(Handshake {
            server_rtt_us: Some(300),
            client_rtt_us: Some(20),
            ..Handshake::default()
        }),
        vantage: Vantage::Server,
        client_to_server: Box::new(direction(trace, true)),
        server_to_client: Box::new(direction(trace, false)),
        requests: budget::requests(trace),
        budget_us: budget::sum(&trace.spans, 0, u64::MAX),
        ..Stream::default()
    };
    match trace.stream {
        0 => quick_then_delayed(&mut stream.client_to_server),
        3 => (stream.state, stream.handshake) = (State::HalfOpen, Some(Handshake::default())),
        4 => {
            stream.artefacts.push(Artefact::OneDirection);
            cut(
                &mut stream,
                Need::BothDirections,
                &["quickack_exhausted", "rto_stall"],
            );
        }
        13 => {
            cut(
                &mut stream,
                Need::Handshake,
                &["quickack_exhausted", "black_hole"],
            );
            second_segments(&mut stream.client_to_server);
        }
        5 => {
            stream.client = "[2001:db8:1:2:3:4:5:6]:40005".into();
            stream.server = "[2001:db8::80]:443".into();
        }
        _ => {}
    }
    stream
}

/// A stream without its beginning.
fn cut(stream: &mut Stream, lacks: Need, findings: &[&str]) {
    (stream.state, stream.handshake) = (State::Middle, None);
    stream.client_to_server.window_unscaled = true;
    stream.server_to_client.window_unscaled = true;
    let findings = findings.iter().map(|name| id(name)).collect();
    stream.not_checked = vec![Lacks { lacks, findings }];
}

/// A delayed-ACK receiver whose timer never had to fire.
fn second_segments(d: &mut Direction) {
    d.acks_sent.modes = vec![AckMode {
        mode: Mode::Delayed,
        from_segment: 1,
        from_byte: 0,
        acks: 120,
        mean_us: 70,
    }];
}

fn direction(trace: &StreamTrace, client: bool) -> Direction {
    let mut d = Direction::default();
    for row in trace.rows.iter().filter(|r| r.from_client == client) {
        flows::count(&mut d, row);
    }
    d
}

fn quick_then_delayed(d: &mut Direction) {
    d.acks_sent.first_delayed_segment = Some(17);
    d.acks_sent.path_us = Some(299);
    d.acks_sent.modes = vec![
        AckMode {
            mode: Mode::Quick,
            from_segment: 1,
            from_byte: 0,
            acks: 16,
            mean_us: 326,
        },
        AckMode {
            mode: Mode::Delayed,
            from_segment: 17,
            from_byte: 16_384,
            acks: 84,
            mean_us: 42_190,
        },
    ];
}

/// Equal findings on several streams are one group.
fn stalls() -> impl Iterator<Item = Finding> {
    [(1, flows::rto_packets()), (12, vec![300_051]), (5, vec![])]
        .into_iter()
        .map(|(stream, packets)| Finding {
            id: id("rto_stall"),
            severity: Severity::Medium,
            stream,
            packets,
            title: format!(
                "The server stood still for {} ms until its retransmission timer fired",
                230 + stream
            ),
            cause: "The last segments of a window were lost and no ACK came back.".into(),
            remedy: vec!["Look for loss on the path; `tc -s qdisc` on the sender.".into()],
            confidence: Some(0.97),
            proof: Some(Box::new(Proof::none(
                "the losses of the path are not in the experiment",
            ))),
        })
}

/// What an experiment said about the first finding.
fn proof() -> Proof {
    let cure = |change: &str, stack: &str, after_us: Option<u64>, gone| Cure {
        change: change.into(),
        variant: "cure".into(),
        stack: stack.into(),
        after_us,
        gone,
    };
    let old = "model:linux-6.1.56";
    Proof {
        outcome: Outcome::Proved,
        figure: Some("median wait of 84 ACKs".into()),
        captured_us: Some(42_190),
        stack: Some(old.into()),
        before_us: Some(40_100),
        cures: vec![
            cure(
                "a kernel with the fix on 192.0.2.10",
                "model:linux-6.1",
                Some(0),
                true,
            ),
            cure("`ip route ... quickack 1` on 192.0.2.10", old, None, false),
        ],
        experiment: Some(format!(
            "# One message each 100 ms.\nschema = \"tcplab.experiment/1\"\n{}",
            "messages = [\"server 1024 after 100ms\"]\n".repeat(30)
        )),
        file: Some("experiments/sample-0.toml".into()),
        ..Proof::default()
    }
}

fn findings() -> Vec<Finding> {
    let mut all: Vec<Finding> = single().into_iter().chain(stalls()).collect();
    all.sort_by_key(|f| (f.severity, f.stream));
    all
}

fn single() -> Vec<Finding> {
    let delayed = flows::delayed_packets();
    vec![
        Finding {
            id: id("quickack_exhausted"),
            severity: Severity::High,
            stream: 0,
            packets: delayed,
            title: "The client left quick-ACK mode after 16 segments: 84 ACKs waited 42 ms each"
                .into(),
            cause: "Each write is exactly one rcv_mss (1024 B). Linux up to 6.1.56 ACKs such a \
                    segment by the 40 ms timer once its 16 quick ACKs are spent."
                .into(),
            remedy: vec![
                "Upgrade the receiver's kernel to 6.1.57 or later (Debian 12: 6.1.66-1).".into(),
                "`ip route change 198.51.100.0/24 via 192.0.2.1 dev eth0 quickack 1`".into(),
                "Set TCP_QUICKACK before each read in the application.".into(),
            ],
            confidence: Some(0.99),
            proof: Some(Box::new(proof())),
        },
        Finding {
            id: id("syn_retries"),
            severity: Severity::Info,
            stream: 3,
            packets: vec![flows::SYN_NUMBER, flows::SYN_NUMBER + 1],
            title: "The SYN was sent 4 times <b>without</b> an answer".into(),
            cause: "A firewall drops it or </script> the host is down.".into(),
            remedy: vec![],
            confidence: Some(1.0),
            proof: None,
        },
    ]
}
