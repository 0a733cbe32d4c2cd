//! `--annotate`: the copy has the same packets, and stock tshark filters by our comments.

use std::process::Command;

use super::{LOSS, QUICKACK, bytes, folder, tcplab, tcplab_with, text};

/// Runs tshark on a file; `None` when it is not installed.
fn tshark(file: &str, args: &[&str]) -> Option<Vec<String>> {
    let output = Command::new("tshark")
        .args(["-r", file])
        .args(args)
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: tshark is not installed (apt install tshark)");
        return None;
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn wireshark_finds_our_comments() {
    let folder = folder();
    let path = folder.path().join("annotated.pcapng");
    let run = tcplab(&["analyze", "--annotate", text(&path), QUICKACK]);
    assert_eq!(run.code, 0, "{}", run.err);
    let whole = tcplab(&["analyze", "--json", QUICKACK]).json();
    let acks = &whole["captures"][0]["streams"][0]["client_to_server"]["acks_sent"];
    let count = |filter: &str| Some(tshark(text(&path), &["-Y", filter])?.len() as u64);
    let Some(delayed) = count("frame.comment contains \"tcplab delayed_ack\"") else {
        return;
    };
    assert_eq!(delayed, acks["delayed"].as_u64().unwrap());
    assert_eq!(
        count("frame.comment contains \"tcplab ack_mode quick->delayed\""),
        Some(1)
    );
    let finding = "frame.comment contains \"tcplab finding id=quickack_exhausted\"";
    let packets = whole["captures"][0]["findings"][0]["packets"]
        .as_array()
        .unwrap();
    assert_eq!(count(finding), Some(packets.len() as u64));
}

#[test]
fn the_packets_and_their_times_are_the_same() {
    let folder = folder();
    let path = folder.path().join("annotated.pcapng");
    // Through standard input, which is read once and needed twice.
    let run = tcplab_with(
        &["analyze", "--annotate", text(&path), "-"],
        &bytes(LOSS[1]),
    );
    assert_eq!(run.code, 0, "{}", run.err);
    let fields = [
        "-T",
        "fields",
        "-e",
        "frame.time_epoch",
        "-e",
        "frame.len",
        "-e",
        "tcp.seq",
        "-e",
        "ip.id",
    ];
    let Some(copy) = tshark(text(&path), &fields) else {
        return;
    };
    let original = super::root().join(LOSS[1]);
    assert_eq!(copy, tshark(text(&original), &fields).unwrap());
    let retransmissions = "frame.comment contains \"tcplab retransmission\"";
    assert_eq!(
        tshark(text(&path), &["-Y", retransmissions]).unwrap().len(),
        2
    );
}

#[test]
fn the_copy_gives_the_same_answer() {
    let folder = folder();
    let path = folder.path().join("annotated.pcapng");
    assert_eq!(
        tcplab(&["analyze", "--annotate", text(&path), LOSS[0]]).code,
        0
    );
    let answer =
        |file: &str| tcplab(&["analyze", "--json", file]).json()["captures"][0]["streams"].clone();
    assert_eq!(answer(text(&path)), answer(LOSS[0]));
}

#[test]
fn text_holds_no_packets_to_copy() {
    let folder = folder();
    let path = folder.path().join("annotated.pcapng");
    let line =
        "00:00:00.1 IP 10.0.0.1.40000 > 10.0.0.2.80: Flags [S], seq 1, win 64240, length 0\n";
    let run = tcplab_with(
        &["analyze", "--annotate", text(&path), "-"],
        line.as_bytes(),
    );
    assert_eq!(run.code, 2);
    assert!(run.err.contains("contains no packet bytes"), "{}", run.err);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
