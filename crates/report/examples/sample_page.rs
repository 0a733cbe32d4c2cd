//! Writes a page from made-up packets, for work on the page and for its browser test:
//! `cargo run -p tcplab-report --example sample_page -- OUT.html`.
//!
//! Stream 0: 1 kB each 100 ms, quick ACKs end at segment 17. 1: a bulk transfer with every kind
//! of retransmission. 2: a bulk transfer of 100,000 packets. 3: a SYN that nobody answers.
//! 4: one direction only. 5 and up: short exchanges, the last of them without charts.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::ExitCode;

use tcplab_analyze::findings::{Finding, Id, Severity};
use tcplab_analyze::report::{
    AckMode, Artefact, Capture, Direction, Handshake, Mode, Report, State, Stream, Vantage,
};
use tcplab_analyze::trace::StreamTrace;
use tcplab_report::page::{Options, Page};

mod sample {
    pub mod flows;
}
use sample::flows;

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
        page.add_stream(0, stream(trace));
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
        handshake: Some(Handshake::default()),
        vantage: Vantage::Server,
        client_to_server: Box::new(direction(trace, true)),
        server_to_client: Box::new(direction(trace, false)),
        ..Stream::default()
    };
    match trace.stream {
        0 => quick_then_delayed(&mut stream.client_to_server),
        3 => stream.state = State::HalfOpen,
        4 => stream.artefacts.push(Artefact::OneDirection),
        5 => {
            stream.client = "[2001:db8:1:2:3:4:5:6]:40005".into();
            stream.server = "[2001:db8::80]:443".into();
        }
        _ => {}
    }
    stream
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

fn findings() -> Vec<Finding> {
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
            proof: None,
        },
        Finding {
            id: id("rto_stall"),
            severity: Severity::Medium,
            stream: 1,
            packets: flows::rto_packets(),
            title: "The server stood still for 231 ms until its retransmission timer fired".into(),
            cause: "The last segments of a window were lost and no ACK came back.".into(),
            remedy: vec!["Look for loss on the path; `tc -s qdisc` on the sender.".into()],
            confidence: Some(0.97),
            proof: None,
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
