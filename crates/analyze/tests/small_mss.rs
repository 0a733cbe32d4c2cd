//! A small MSS, as short conversations built by hand: when it is said, of whom, and what is nearly so.

mod common;

use std::net::{IpAddr, Ipv6Addr};

use common::bulk::{not_checked, title};
use common::{Answer, answer, script};
use tcplab_analyze::{Analyzer, Options};
use tcplab_wire::TcpPacket;

const ID: &str = "small_mss";

/// The left side sends `count` segments of `len` bytes, 5 ms apart. Options of the two SYNs come first.
fn transfer([syn, answer]: [&str; 2], count: u32, len: u32) -> Vec<String> {
    let mut lines = vec![
        format!("0 > S 100 0 0 60000 sackok {syn}"),
        format!("40 < S. 500 101 0 60000 sackok {answer}"),
        "40 > . 101 501 0 60000".to_owned(),
    ];
    for i in 0..count {
        let (at, seq) = (f64::from(50 + 45 * i), 101 + len * i);
        lines.push(format!("{at} > P. {seq} 501 {len} 60000"));
        lines.push(format!("{} < . 501 {} 0 60000", at + 40.0, seq + len));
    }
    lines
}

fn analyze_with(lines: &[String], change: impl Fn(&mut TcpPacket)) -> Answer {
    let mut analyzer = Analyzer::new(Options::default());
    for (number, line) in (1..).zip(lines) {
        let (time, _, mut packet) = script::parse(line);
        change(&mut packet);
        analyzer.packet(number, Some(time), &packet);
    }
    answer(analyzer)
}

fn analyze(mss: [&str; 2], count: u32, len: u32) -> Answer {
    analyze_with(&transfer(mss, count, len), |_| {})
}

#[test]
fn the_end_that_announced_it_is_named() {
    let said = analyze(["mss=1460", "mss=1000"], 16, 1000);
    assert_eq!(said.ids(), [ID]);
    assert_eq!(
        title(&said, ID),
        "192.0.2.2 announced an MSS of 1000 bytes, so 192.0.2.1 sends small segments"
    );
    let finding = &said.findings[0];
    assert!(
        finding.cause.contains("The SYN-ACK of 192.0.2.2")
            && finding.cause.contains("1.5 times as many"),
        "{}",
        finding.cause
    );
    for command in ["`ip route get 192.0.2.1`", "`tracepath 192.0.2.2`"] {
        assert!(
            finding.remedy.iter().any(|r| r.contains(command)),
            "{command}"
        );
    }
    // The other end's MSS limits nothing that was sent.
    assert_eq!(analyze(["mss=1000", "mss=1460"], 16, 1000).ids(), [""; 0]);
}

#[test]
fn an_mss_that_every_path_carries_is_not_small() {
    assert_eq!(analyze(["mss=1460", "mss=1219"], 16, 1219).ids(), [ID]);
    assert_eq!(analyze(["mss=1460", "mss=1220"], 16, 1220).ids(), [""; 0]);
    // Senders do not go as low as that.
    assert_eq!(
        analyze(["mss=1460", "mss=1"], 40, 40).ids(),
        ["capture_artefacts"]
    );
    // Without the option the sender takes 536 bytes (RFC 9293 3.7.1): nobody announced them.
    assert_eq!(analyze(["mss=1460", ""], 40, 536).ids(), [""; 0]);
}

#[test]
fn segments_it_does_not_limit_are_not_blamed() {
    let mss = ["mss=1460", "mss=1000"];
    assert_eq!(analyze(mss, 15, 1000).ids(), [""; 0]);
    // Shorter: the program or the path sets the length. Longer: the sender does not keep to it.
    assert_eq!(analyze(mss, 40, 900).ids(), [""; 0]);
    assert_eq!(analyze(mss, 40, 1448).ids(), ["capture_artefacts"]);
    // One full segment among many short ones.
    let mut lines = transfer(mss, 1, 1000);
    for i in 0..60 {
        let (at, seq) = (f64::from(100 + 45 * i), 1101 + 300 * i);
        lines.push(format!("{at} > P. {seq} 501 300 60000"));
        lines.push(format!("{} < . 501 {} 0 60000", at + 40.0, seq + 300));
    }
    assert_eq!(analyze_with(&lines, |_| {}).ids(), [""; 0]);
    // The last segment of a transfer is short.
    let mut lines = transfer(mss, 16, 1000);
    lines.push("800 > P. 16101 501 10 60000".to_owned());
    assert_eq!(analyze_with(&lines, |_| {}).ids(), [ID]);
}

#[test]
fn super_segments_are_whole_numbers_of_full_ones() {
    let said = analyze(["mss=1460", "mss=1000"], 8, 4000);
    assert_eq!(said.ids(), ["capture_artefacts", ID]);
    // The packet is one of many.
    let mut found = said.findings.iter();
    let artefact = found.find(|f| f.id.name() == "capture_artefacts");
    let artefact = artefact.expect("it was just named");
    let first = format!("(first: packet {})", artefact.packets[0]);
    assert!(artefact.title.ends_with(&first), "{}", artefact.title);
}

#[test]
fn on_the_loopback_device_no_path_limits_a_segment() {
    let lines = transfer(["mss=1460", "mss=1000"], 16, 1000);
    let at = |ip: Ipv6Addr| {
        analyze_with(&lines, |p| {
            (p.src.ip, p.dst.ip) = (IpAddr::V6(ip), IpAddr::V6(ip));
        })
    };
    assert_eq!(at(Ipv6Addr::LOCALHOST).ids(), [""; 0]);
    let elsewhere = at(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));
    assert_eq!(elsewhere.ids(), [ID]);
    let cause = &elsewhere.findings[0].cause;
    assert!(cause.contains("1440 are usual"), "{cause}");
}

#[test]
fn a_capture_that_ends_before_the_acks_shows_it() {
    let mut lines = transfer(["mss=1460", "mss=1000"], 0, 0);
    lines.extend((0..16).map(|i| format!("50 > . {} 501 1000 60000", 101 + 1000 * i)));
    assert_eq!(analyze_with(&lines, |_| {}).ids(), [ID]);
}

#[test]
fn without_the_handshake_it_is_not_checked() {
    let lines = transfer(["mss=1460", "mss=1000"], 16, 1000);
    let cut = analyze_with(&lines[3..], |_| {});
    assert!(not_checked(&cut).contains(&ID), "{:?}", not_checked(&cut));
}
