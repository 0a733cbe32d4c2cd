//! ICMP errors, as short conversations built by hand: what they explain, and what they do not.

mod common;

use common::bulk::title;
use common::{Answer, answer, frames, root, script};
use tcplab_analyze::report::State;
use tcplab_analyze::{Analyzer, Options, Parser};
use tcplab_base::Seq;
use tcplab_capture::Reader;
use tcplab_wire::{Config, IcmpError, Parsed, Standing};

const HANDSHAKE: [&str; 3] = [
    "0 > S 100 0 0 60000 mss=1460 sackok",
    "40 < S. 500 101 0 60000 mss=1460 sackok",
    "40 > . 101 501 0 60000",
];

/// Two full segments, called too big by lines to come, and sent again in pieces.
const TOO_BIG: [&str; 9] = [
    "50 > . 101 501 1460 60000",
    "50 > . 1561 501 1460 60000",
    "51 icmp 3 4 1400 101",
    "51 icmp 3 4 1400 1561",
    "51 > . 101 501 1360 60000",
    "51 > . 1461 501 1360 60000",
    "51 > . 2821 501 200 60000",
    "91 < . 501 1461 0 60000",
    "91 < . 501 3021 0 60000",
];

/// As `common::analyze_script`; a line `ms icmp type code mtu seq` is an error of 192.0.2.9 that quotes a packet of the
/// left side.
fn analyze(lines: &[&str]) -> Answer {
    let mut analyzer = Analyzer::new(Options::default());
    for (number, line) in (1..).zip(lines) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["icmp", kind, code, mtu, seq] = words[1..] else {
            let (time, _, packet) = script::parse(line);
            analyzer.packet(number, Some(time), &packet);
            continue;
        };
        let quoted = format!("{} > . {seq} 0 0 0", words[0]);
        let (time, _, mut packet) = script::parse(&quoted);
        packet.standing = Standing::Quoted;
        packet.header_truncated = true;
        let error = IcmpError {
            from: [192, 0, 2, 9].into(),
            kind: kind.parse().expect("a type"),
            code: code.parse().expect("a code"),
            mtu: mtu.parse().expect("an MTU"),
            src: packet.src,
            dst: packet.dst,
            seq: Seq(seq.parse().expect("a sequence number")),
        };
        analyzer.packet(number, Some(time), &packet);
        analyzer.icmp(number, &error);
    }
    answer(analyzer)
}

fn after_handshake(lines: &[&str]) -> Answer {
    analyze(&[&HANDSHAKE, lines].concat())
}

fn cause<'a>(said: &'a Answer, id: &str) -> &'a str {
    let finding = said.findings.iter().find(|f| f.id.name() == id);
    &finding.expect("the finding").cause
}

#[test]
fn a_smaller_mtu_is_named_and_no_link_is_blamed() {
    let said = after_handshake(&TOO_BIG);
    assert_eq!(said.ids(), ["path_mtu"]);
    assert_eq!(
        title(&said, "path_mtu"),
        "packets of 192.0.2.1 were too big for the path: 192.0.2.9 reported an MTU of 1400 bytes; 3 segments sent again, the \
         repairs took 41.0 ms in all"
    );
    assert_eq!(said.findings[0].packets, [6, 7]);
    assert!(said.streams[0].artefacts.is_empty(), "quotes are short");
}

#[test]
fn without_the_message_the_same_packets_are_a_loss() {
    let lines: Vec<&str> = TOO_BIG
        .into_iter()
        .filter(|l| !l.contains("icmp"))
        .collect();
    assert_eq!(after_handshake(&lines).ids(), ["loss"]);
    // One that quotes what nobody sent is not about this connection (RFC 5927 4.1).
    let mut lines = lines;
    lines.insert(2, "51 icmp 3 4 1400 90000");
    assert_eq!(after_handshake(&lines).ids(), ["loss"]);
}

#[test]
fn a_later_loss_is_still_a_loss() {
    let later = [
        "200 > . 3021 501 1360 60000",
        "200 > . 4381 501 1360 60000",
        "200 > . 5741 501 1360 60000",
        "200 > . 7101 501 1360 60000",
        "240 < . 501 3021 0 60000 sack=4381-5741",
        "240 < . 501 3021 0 60000 sack=4381-7101",
        "240 < . 501 3021 0 60000 sack=4381-8461",
        "241 > . 3021 501 1360 60000",
        "281 < . 501 8461 0 60000",
    ];
    let said = after_handshake(&[&TOO_BIG[..], &later].concat());
    assert_eq!(said.ids(), ["loss", "path_mtu"]);
    assert!(
        title(&said, "loss").starts_with("1 segment from 192.0.2.1"),
        "{}",
        title(&said, "loss")
    );
}

#[test]
fn a_message_without_an_mtu_is_told_as_one() {
    let lines = TOO_BIG.map(|l| l.replace("3 4 1400", "3 4 0"));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let said = after_handshake(&lines);
    assert!(
        title(&said, "path_mtu").contains("an MTU that the message does not name"),
        "{}",
        title(&said, "path_mtu")
    );
    assert!(!said.findings[0].remedy.iter().any(|r| r.contains("mtu 0")));
}

/// The sender goes on with full segments.
const IGNORED: [&str; 8] = [
    "50 > . 101 501 1460 60000",
    "50 > . 1561 501 1460 60000",
    "51 icmp 3 4 1400 101",
    "51 icmp 3 4 1400 1561",
    "350 > . 101 501 1460 60000",
    "351 icmp 3 4 1400 101",
    "950 > . 101 501 1460 60000",
    "2150 > . 101 501 1460 60000",
];

#[test]
fn sender_that_ignores_the_message_is_a_named_black_hole() {
    let said = after_handshake(&IGNORED);
    assert_eq!(said.ids(), ["black_hole"]);
    let cause = cause(&said, "black_hole");
    assert!(
        cause.starts_with("192.0.2.9 reported an MTU of 1400 bytes (3 times)"),
        "{cause}"
    );
    // If the messages are missing, the finding says that they do not come.
    let lines: Vec<&str> = IGNORED
        .into_iter()
        .filter(|l| !l.contains("icmp"))
        .collect();
    let said = after_handshake(&lines);
    assert_eq!(said.ids(), ["black_hole"], "and no rto_stall before it");
    assert!(said.findings[0].cause.contains("does not come through"));
}

#[test]
fn a_repair_by_the_timer_is_no_stall_but_matters_more() {
    let smaller = [
        "4550 > . 101 501 1360 60000",
        "4590 < . 501 1461 0 60000",
        "4590 > . 1461 501 1360 60000",
        "4590 > . 2821 501 200 60000",
        "4630 < . 501 3021 0 60000",
    ];
    let said = after_handshake(&[&IGNORED[..], &smaller].concat());
    assert_eq!(said.ids(), ["path_mtu"]);
    let cause = cause(&said, "path_mtu");
    assert!(cause.contains("it did not work in time"), "{cause}");
}

#[test]
fn what_answers_a_syn_is_named() {
    let attempt = |error: &str| analyze(&["0 > S 100 0 0 60000 mss=1460", error]);
    for (error, name) in [
        ("10 icmp 3 0 0 100", "network unreachable (type 3, code 0)"),
        ("10 icmp 3 1 0 100", "host unreachable (type 3, code 1)"),
        ("10 icmp 3 3 0 100", "port unreachable (type 3, code 3)"),
        (
            "10 icmp 3 13 0 100",
            "administratively prohibited (type 3, code 13)",
        ),
        ("10 icmp 11 0 0 100", "time exceeded (type 11, code 0)"),
    ] {
        let said = attempt(error);
        assert_eq!(said.ids(), ["unreachable"], "{error}");
        assert_eq!(
            title(&said, "unreachable"),
            format!(
                "192.0.2.1 cannot connect to 192.0.2.2:80: 192.0.2.9 answered the SYN with ICMP {name}"
            )
        );
        assert_eq!(said.streams[0].state, State::HalfOpen);
    }
    // A SYN of another connection.
    assert!(!attempt("10 icmp 3 1 0 7777").ids().contains(&"unreachable"));
}

#[test]
fn repeated_syns_are_explained_by_the_errors() {
    let said = analyze(&[
        "0 > S 100 0 0 60000 mss=1460",
        "1 icmp 3 1 0 100",
        "1000 > S 100 0 0 60000 mss=1460",
        "1001 icmp 3 1 0 100",
    ]);
    assert_eq!(said.ids(), ["unreachable"]);
    assert_eq!(said.findings[0].packets, [2, 4]);
    // A connection that came up in the end was reachable.
    let said = analyze(&[
        "0 > S 100 0 0 60000 mss=1460",
        "1 icmp 3 1 0 100",
        "1000 > S 100 0 0 60000 mss=1460",
        "1040 < S. 500 101 0 60000 mss=1460",
        "1040 > . 101 501 0 60000",
    ]);
    assert_eq!(said.ids(), ["syn_retries"]);
}

/// What the receiver of a black hole sees: the server's small packets, and none of its data.
const RECEIVER: [&str; 4] = [
    "50 > P. 101 501 200 60000",
    "90 < . 501 301 0 60000",
    "8050 > F. 301 501 0 60000",
    "8090 < . 3421 302 0 60000",
];

#[test]
fn missing_data_is_suspected_behind_a_small_mtu() {
    let said = after_handshake(&RECEIVER);
    assert_eq!(said.ids(), ["large_packets_missing"]);
    assert_eq!(
        title(&said, "large_packets_missing"),
        "large packets of 192.0.2.2 may not get through: 2920 bytes that it sent never came, while its small packets arrive"
    );
    assert_eq!(said.findings[0].confidence, None, "nobody has measured it");
}

#[test]
fn no_missing_data_raises_no_suspicion() {
    let with = |at: usize, line: &'static str| {
        let mut lines = RECEIVER.to_vec();
        lines[at] = line;
        after_handshake(&lines).ids()
    };
    // The server has sent nothing: it thinks.
    assert_eq!(with(3, "8090 < . 501 302 0 60000"), ["no_answer"]);
    // One segment and a half.
    let suspected = |ids: Vec<&str>| ids.contains(&"large_packets_missing");
    assert!(!suspected(with(3, "8090 < . 2700 302 0 60000")));
    // The server had sent just before.
    assert!(!suspected(with(1, "7000 < . 501 301 0 60000")));
    // It came after all.
    let late = [
        &RECEIVER[..],
        &["8100 < . 501 302 1460 60000", "8100 > . 302 1961 0 60000"],
    ];
    assert!(!suspected(after_handshake(&late.concat()).ids()));
}

#[test]
fn hole_before_small_segments_is_suspected_only_if_it_stays() {
    let hole = [
        "50 > P. 101 501 200 60000",
        "90 < P. 3421 301 300 60000",
        "90 > . 301 501 0 60000 sack=3421-3721",
        "400 < P. 3421 301 300 60000",
        "400 > . 301 501 0 60000 sack=3421-3721",
    ];
    let suspected = |more: &[&'static str]| {
        let ids = after_handshake(&[&hole, more].concat()).ids();
        ids.contains(&"large_packets_missing")
    };
    assert!(!suspected(&[]));
    assert!(suspected(&["5000 > F. 301 501 0 60000"]));
    // A full segment had arrived before: the path carries them.
    let full = [
        "45 < . 501 101 1460 60000",
        "45 > . 101 1961 0 60000",
        "90 < P. 5000 101 300 60000",
        "90 > . 101 1961 0 60000 sack=5000-5300",
        "5000 > F. 101 1961 0 60000",
    ];
    let ids = after_handshake(&full).ids();
    assert!(!ids.contains(&"large_packets_missing"), "{ids:?}");
}

/// A file through the parser that the command uses.
fn read(files: &[&str]) -> Vec<Answer> {
    let one = |file: &&str| {
        let path = root().join("tests/captures").join(file);
        let mut said = Answer::default();
        let mut analyzer = Analyzer::new(Options::default());
        let reader = Reader::new(std::fs::File::open(path).expect("the capture"));
        let read = analyzer.read(reader, Parser::new(Config::default()), |output| {
            if let tcplab_analyze::Output::Finding(f) = output {
                said.findings.push(*f);
            }
            Ok::<_, std::convert::Infallible>(())
        });
        assert!(matches!(read, Ok(None)), "{file}");
        said
    };
    files.iter().map(one).collect()
}

#[test]
fn the_errors_of_real_kernels_are_read_from_files() {
    let said = read(&[
        "path-mtu.b.pcap",
        "path-mtu-v6.b.pcap",
        "host-unreachable.a.pcap",
        "prohibited-v6.a.pcap",
    ]);
    let ids: Vec<_> = said.iter().map(Answer::ids).collect();
    assert_eq!(
        ids,
        [["path_mtu"], ["path_mtu"], ["unreachable"], ["unreachable"]]
    );
    for (answer, words) in said.iter().zip([
        "10.77.1.1 reported an MTU of 1400 bytes",
        "fd77:1::1 reported an MTU of 1400 bytes",
        "10.77.0.254 answered the SYN with ICMP host unreachable (type 3, code 1)",
        "fd77::fe answered the SYN with ICMPv6 administratively prohibited (type 1, code 1)",
    ]) {
        let title = &answer.findings[0].title;
        assert!(title.contains(words), "{title}");
    }
}

#[test]
fn a_message_about_a_connection_without_any_trouble_is_told() {
    let said = after_handshake(&[
        "50 > P. 101 501 1460 60000",
        "51 icmp 3 4 1400 101",
        "90 < . 501 1561 0 60000",
    ]);
    assert_eq!(said.ids(), ["path_mtu"]);
    assert!(!title(&said, "path_mtu").contains("sent again"));
}

#[test]
fn both_ends_in_one_file_show_the_black_hole() {
    let mut packets = Vec::new();
    for file in ["black-hole-mtu.a.pcap", "black-hole-mtu.b.pcap"] {
        let path = root().join("tests/captures").join(file);
        frames(&path, |_, time, parse| {
            if let Parsed::Tcp(packet) = parse(usize::MAX).parsed {
                packets.push((time, packet));
            }
        });
    }
    packets.sort_by_key(|p| p.0);
    let mut analyzer = Analyzer::new(Options::default());
    for (number, (time, packet)) in (1..).zip(&packets) {
        analyzer.packet(number, *time, packet);
    }
    assert_eq!(answer(analyzer).ids(), ["black_hole", "capture_artefacts"]);
}
