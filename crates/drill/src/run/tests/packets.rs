//! Packets: sequence numbers, times, what differs, what is passed over.

use super::host::{Host, ISN, has, settings};
use super::why;
use crate::packet::flag;
use crate::run::{Report, Verdict, What};
use crate::script::TcpOption;
use crate::target::IpMode;

/// A passive handshake with time stamps, and the socket that accepts it.
const HANDSHAKE: &str = "\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 1000:1000(0) win 32792 <mss 1000,sackOK,TS val 500 ecr 0,nop,wscale 7>
+0 > S. 700:700(0) ack 1001 win 65535 <mss 1460,sackOK,TS val 10 ecr 500,nop,wscale 8>
+.1 < . 1:1(0) ack 1 win 257 <nop,nop,TS val 600 ecr 10>
+0 accept(3, ..., ...) = 4
";

/// The host's part in it. Its SYN-ACK is absolute, as the script's is.
fn host() -> Host {
    Host::new().sends(
        0,
        "> S. 0:0(0) ack 1001 win 65535 <mss 1460,sackOK,TS val 10 ecr 500,nop,wscale 8>",
    )
}

fn run(host: &mut Host, rest: &str) -> Report {
    host.run(&format!("{HANDSHAKE}{rest}"))
}

#[test]
fn numbers_are_mapped_both_ways() {
    // What leaves is live: relative numbers count from the ISNs.
    let mut host = host()
        .sends(
            200_000,
            "> P. 1:501(500) ack 1001 win 256 <nop,nop,TS val 210 ecr 600>",
        )
        .sends(
            300_000,
            "> . 501:501(0) ack 1001 win 256 <nop,nop,TS val 310 ecr 600,nop,nop,sack 1101:1201>",
        );
    let report = run(
        &mut host,
        "+.1 > P. 1:501(500) ack 1 win 256 <nop,nop,TS val 210 ecr 600>
         +.1 > . 501:501(0) ack 1 win 256 <nop,nop,TS val 310 ecr 600,nop,nop,sack 101:201>
         +.1 < . 1:11(10) ack 501 win 9 <nop,nop,TS val 700 ecr 210,nop,nop,sack 401:501>",
    );
    assert_eq!(report.verdict, Verdict::Pass, "{:?}", report.verdict);
    let (at, packet) = &host.injected[2];
    assert_eq!(at.as_nanos(), 5_400_000_000);
    let tcp = packet.tcp().unwrap();
    assert_eq!((tcp.seq, tcp.ack), (1001, ISN.wrapping_add(501)));
    assert_eq!((tcp.src, tcp.dst, packet.payload_len), (40_001, 8080, 10));
    let ecr = TcpOption::Timestamps {
        val: 700,
        ecr: 77_210,
    };
    assert_eq!(tcp.options[2], ecr);
    let sack = (ISN.wrapping_add(401), ISN.wrapping_add(501));
    assert_eq!(tcp.options[5], TcpOption::Sack(vec![sack]));
}

#[test]
fn each_field_counts() {
    let table = [
        ("> P. 1:501(500) ack 2 win 256", "`ack`"),
        ("> P. 2:502(500) ack 1 win 256", "`seq`"),
        ("> P. 1:500(499) ack 1 win 256", "`length`"),
        (
            "> P. 1:502(501) ack 1 win 256",
            "500 bytes came, and no more",
        ),
        ("> P. 1:501(500) ack 1 win 255", "`win`"),
        ("> . 1:501(500) ack 1 win 256", "`flags`"),
        (
            "> P. 1:501(500) ack 1 win 256 <nop,nop,nop,nop>",
            "`option nop`",
        ),
        ("> [ce] P. 1:501(500) ack 1 win 256", "`ECN`"),
        ("> [tos 0x4] P. 1:501(500) ack 1 win 256", "`tos`"),
        ("> [ttl 3] P. 1:501(500) ack 1 win 256", "`ttl`"),
        ("> P. 1:501(500) ack 1 win 256 urg 3", "`urg`"),
        ("> PE. 1:501(500) ack 1 win 256", "`flags`"),
    ];
    for (expected, name) in table {
        let mut host = host().sends(100_000, "> P. 1:501(500) ack 1001 win 256");
        let report = run(&mut host, &format!("+0 {expected}"));
        let (line, why) = why(&report);
        assert_eq!(line, 8, "{expected}");
        assert!(why.contains(name), "{expected}: {why}");
    }
}

#[test]
fn messages_show_both_packets() {
    let mut host = host().sends(104_200, "> P. 1:1001(1000) ack 1002 win 257");
    let report = run(&mut host, "+0 > P. 1:1001(1000) ack 1");
    let (line, why) = why(&report);
    let expected = "\
the packet differs in `ack`, and is 4200 us late (tolerance 4000 us)
  expected  > P. 1:1001(1000) ack 1 win *   at 0.100000
  actual    > P. 1:1001(1000) ack 2 win 257 at 0.104200
                                  ^            ^^^^^^^^
  endpoint: ESTABLISHED, nothing is due";
    assert_eq!((line, why), (8, expected));
}

#[test]
fn times_count_with_tolerance() {
    let early = |us: i64, text: &str| {
        let mut host = host().sends(us, "> P. 1:501(500) ack 1001 win 256");
        run(&mut host, text).verdict == Verdict::Pass
    };
    let at = "+.2 > P. 1:501(500) ack 1 win 256";
    // 12.5 % of 200 ms.
    assert!(early(275_000, at));
    assert!(!early(274_999, at));
    assert!(early(325_000, at));
    assert!(!early(325_001, at));
    // Absolute ones too; the event before is at 0.1.
    assert!(early(104_000, "0.1 > P. 1:501(500) ack 1 win 256"));
    assert!(!early(104_001, "0.1 > P. 1:501(500) ack 1 win 256"));
    let any = "* > P. 1:501(500) ack 1 win 256";
    assert!(early(150_000_000, any));
    let range = "+.1~+.2 > P. 1:501(500) ack 1 win 256";
    assert!(early(250_000, range));
    assert!(!early(187_400, range));
}

#[test]
fn missing_packet_is_awaited_for_two_seconds() {
    let report = run(&mut host(), "+.5 > P. 1:501(500) ack 1 win 256");
    let expected = "\
no packet came until 2.100000
  expected  > P. 1:501(500) ack 1 win 256 at 0.600000
  endpoint: ESTABLISHED, nothing is due";
    assert_eq!(why(&report), (8, expected));
}

#[test]
fn unexpected_packet_fails_the_script() {
    let mut host = host()
        .sends(110_000, "> . 1:1(0) ack 1002 win 256")
        .sends(200_000, "> P. 1:501(500) ack 1001 win 256");
    let report = run(&mut host, "+.1 > P. 1:501(500) ack 1 win 256");
    assert!(why(&report).1.contains("`length`"), "{report:?}");
}

#[test]
fn pieces_make_a_packet_unless_segments_are_strict() {
    let pieces = || {
        host()
            .sends(100_000, "> W. 1:1001(1000) ack 1001 win 256")
            .sends(100_010, "> . 1001:2001(1000) ack 1001 win 256")
            .sends(100_020, "> P. 2001:2301(300) ack 1001 win 256")
    };
    let text = "+0 > WP. 1:2301(2300) ack 1 win 256";
    assert_eq!(run(&mut pieces(), text).verdict, Verdict::Pass);
    let mut strict = settings(IpMode::Ipv4);
    strict.strict_segments = true;
    let report = pieces().run_with(&format!("{HANDSHAKE}{text}"), &strict);
    assert!(why(&report).1.contains("`length`"), "{report:?}");
    // A gap.
    let mut gap = host()
        .sends(100_000, "> . 1:1001(1000) ack 1001 win 256")
        .sends(100_010, "> P. 1002:2001(999) ack 1001 win 256");
    let report = run(&mut gap, "+0 > P. 1:2001(2000) ack 1 win 256");
    let text = why(&report).1;
    assert!(text.contains("its `seq` does not go on"), "{text}");
    // A short piece before the last one.
    let mut short = host()
        .sends(100_000, "> . 1:1001(1000) ack 1001 win 256")
        .sends(100_000, "> . 1001:1501(500) ack 1001 win 256")
        .sends(100_000, "> P. 1501:2501(1000) ack 1001 win 256");
    let report = run(&mut short, "+0 > P. 1:2501(2500) ack 1 win 256");
    assert!(why(&report).1.contains("500 bytes after a piece of 1000"));
}

#[test]
fn an_active_connection_is_learned_from_its_syn() {
    use crate::call::Outcome;
    use crate::target::Made;
    let mut host = Host::new()
        .answers(Made::Done(Outcome::failed(115)))
        .sends_as_client(0, "> S 0:0(0) win 65535 <mss 1460>")
        .sends_as_client(1_000_000, "> S 0:0(0) win 65535 <mss 1460>")
        .sends_as_client(1_100_001, "> . 1:1(0) ack 5001 win 65535");
    let report = host.run(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
         +0 connect(3, ..., ...) = -1 EINPROGRESS (in progress)
         +0 > S 200:200(0) win 65535 <mss 1460>
         +1 > S 200:200(0) win 65535 <mss 1460>
         +.1 < S. 5000:5000(0) ack 201 win 100 <mss 1000>
         +0 > . 1:1(0) ack 1 win 65535",
    );
    assert_eq!(report.verdict, Verdict::Pass);
    let (_, packet) = &host.injected[0];
    let tcp = packet.tcp().unwrap();
    assert!(has(packet, flag::SYN));
    assert_eq!((tcp.ack, tcp.dst), (ISN.wrapping_add(1), 33_333));
    // Each packet has its line.
    let lines: Vec<u32> = report
        .entries
        .iter()
        .filter(|e| matches!(e.what, What::Packet { .. }))
        .map(|e| e.line)
        .collect();
    assert_eq!(lines, [3, 4, 5, 6]);
}

#[test]
fn icmp_quotes_what_the_host_sent() {
    let mut host = host().sends(100_000, "> P. 1:501(500) ack 1001 win 256");
    let report = run(
        &mut host,
        "+0 > P. 1:501(500) ack 1 win 256
         +0 < icmp unreachable frag_needed mtu 600 [1:501(500)]",
    );
    assert_eq!(report.verdict, Verdict::Pass);
    let bytes = report.entries.iter().rev().find_map(|e| match &e.what {
        What::Packet { bytes, .. } => Some(bytes.clone()),
        _ => None,
    });
    let bytes = bytes.unwrap();
    assert_eq!(bytes.len(), 20 + 8 + 20 + 8);
    assert_eq!(bytes[20..22], [3, 4]);
    assert_eq!(bytes[26..28], 600_u16.to_be_bytes());
    // The quoted header goes the other way, with the live number.
    assert_eq!(bytes[40..44], [192, 168, 0, 1]);
    assert_eq!(bytes[48..52], [0x1f, 0x90, 0x9c, 0x41]);
    assert_eq!(bytes[52..56], ISN.wrapping_add(1).to_be_bytes());
}

#[test]
fn echo_of_an_unsent_stamp_is_an_error() {
    let text = "+0 < . 1:1(0) ack 1 win 257 <nop,nop,TS val 600 ecr 12>";
    let report = run(&mut host(), text);
    assert!(why(&report).1.contains("the script calls 12"), "{report:?}");
    let mut scaled = settings(IpMode::Ipv4);
    scaled.ts_ecr_scaled = true;
    let mut host = host();
    let report = host.run_with(&format!("{HANDSHAKE}{text}"), &scaled);
    assert_eq!(report.verdict, Verdict::Pass);
    let options = &host.injected[2].1.tcp().unwrap().options;
    let stamp = TcpOption::Timestamps {
        val: 600,
        ecr: 77_012,
    };
    assert_eq!(options[2], stamp);
}

#[test]
fn stamps_are_compared_when_a_tick_is_said() {
    let mut settings = settings(IpMode::Ipv4);
    settings.ts_tick_us = 1_000;
    let verdict = |val: u32| {
        let sent = format!("> P. 1:501(500) ack 1001 win 256 <nop,nop,TS val {val} ecr 600>");
        let mut host = host().sends(100_000, &sent);
        let text = "+0 > P. 1:501(500) ack 1 win 256 <nop,nop,TS val 110 ecr 600>";
        host.run_with(&format!("{HANDSHAKE}{text}"), &settings)
            .verdict
    };
    // 12.5 % of 100 ms.
    assert_eq!(verdict(122), Verdict::Pass);
    assert!(matches!(verdict(123), Verdict::Fail(_)));
}

#[test]
fn broken_packets_fail_the_script() {
    let report = run(&mut host(), "+0 < icmp unreachable nowhere");
    assert_eq!(
        why(&report),
        (8, "`nowhere` is not a code of ICMP's `unreachable`")
    );
}

#[test]
fn a_capture_holds_every_packet() {
    let mut host = host().sends(100_001, "> P. 1:501(500) ack 1001 win 256");
    let report = run(&mut host, "+0 > P. 1:501(500) ack 1 win 256");
    let mut bytes = Vec::new();
    report.write_pcapng("a.pkt", &mut bytes).unwrap();
    let mut reader = tcplab_capture::Reader::new(&bytes[..]).unwrap();
    let mut lengths = Vec::new();
    while let Ok(Some(record)) = reader.next() {
        if let tcplab_capture::Body::Frame { data, .. } = record.body {
            lengths.push(data.len());
        }
    }
    // The payload is left out.
    assert_eq!(lengths, [60, 60, 52, 256]);
    assert!(bytes.windows(7).any(|w| w == b"a.pkt:8"));
}

#[test]
fn differences_can_be_noted_only() {
    let mut settings = settings(IpMode::Ipv4);
    settings.non_fatal_packet = true;
    let mut host = host().sends(100_001, "> P. 1:501(500) ack 1001 win 256");
    let text = format!("{HANDSHAKE}+0 > P. 1:501(500) ack 2 win 256");
    let report = host.run_with(&text, &settings);
    assert_eq!(report.verdict, Verdict::Pass);
    let note = report.entries.iter().find_map(|e| match &e.what {
        What::Note(text) => Some((e.line, text.as_str())),
        _ => None,
    });
    let (line, text) = note.unwrap();
    assert_eq!(line, 8);
    assert!(text.starts_with("the packet differs in `ack`"), "{text}");
}

#[test]
fn a_host_that_lives_on_is_reset_at_the_end() {
    use crate::call::{Call, Outcome};
    use crate::target::Made;
    let mut settings = settings(IpMode::Ipv4);
    settings.reset_at_end = true;
    let mut host = host()
        .answers(Made::Done(Outcome::ok(0)))
        .answers(Made::Done(Outcome::ok(0)));
    let report = host.run_with(HANDSHAKE, &settings);
    assert_eq!(report.verdict, Verdict::Pass);
    let closed = [102, 101].map(|fd| Call::Close { fd });
    assert_eq!(host.calls[host.calls.len() - 2..], closed);
    let (_, packet) = host.injected.last().unwrap();
    let tcp = packet.tcp().unwrap();
    assert_eq!(tcp.flags, flag::RST | flag::ACK);
    // After the last packet of the script.
    assert_eq!((tcp.seq, tcp.ack), (1001, ISN.wrapping_add(1)));
}

#[test]
fn what_leaves_elsewhere_is_passed_over() {
    let mut host = host()
        .sends_as_client(50_000, "> S 0:0(0) win 65535 <mss 1460>")
        .sends(100_001, "> P. 1:501(500) ack 1001 win 256");
    let report = run(&mut host, "+0 > P. 1:501(500) ack 1 win 256");
    assert_eq!(report.verdict, Verdict::Pass);
    let transcript = report.transcript("a.pkt");
    assert!(transcript.contains("> S 4000000000:4000000000(0) win 65535 <mss 1460>  (-)"));
}
