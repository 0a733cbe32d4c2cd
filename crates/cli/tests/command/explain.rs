//! `tcplab explain`: the verdict, its table, its document, its exit codes.

use super::{QUICKACK, bytes, tcplab, tcplab_with};

#[test]
fn the_verdict_names_the_rule_and_the_table_the_first_difference() {
    let run = tcplab(&["explain", QUICKACK]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let verdict = run.out.lines().nth(1).unwrap();
    assert!(verdict.contains("linux-6.1.56"), "{}", run.out);
    assert!(verdict.ends_with("every ACK, and no other"), "{}", run.out);
    let row = run.out.lines().find(|l| l.starts_with("  linux-6.1 "));
    let row = row.unwrap_or_else(|| panic!("{}", run.out));
    assert!(row.contains("ACK 17 (frame 37): after 50.219 ms"), "{row}");
}

#[test]
fn the_document_has_all_profiles() {
    let run = tcplab_with(&["explain", "--json", "-"], &bytes(QUICKACK));
    assert_eq!(run.code, 0, "{}", run.err);
    let document = run.json();
    assert_eq!(document["schema"], "tcplab.explain/1");
    let found = &document["receivers"][0]["found"];
    assert_eq!(found["is_exact"], true);
    assert_eq!(found["profiles"][0]["matched"], found["acks"]);
    let profiles = tcplab(&["stacks", "--profiles", "--json"]).json();
    let known = profiles["profiles"].as_array().unwrap().len();
    assert_eq!(found["profiles"].as_array().unwrap().len(), known);
}

#[test]
fn what_cannot_be_explained_ends_with_3_and_says_why() {
    // The file's header and the packets from the fourth on: the handshake is cut out.
    let whole = bytes(QUICKACK);
    let mut at = 24;
    for _ in 0..3 {
        let len = u32::from_le_bytes(whole[at + 8..at + 12].try_into().unwrap());
        at += 16 + len as usize;
    }
    let middle = [&whole[..24], &whole[at..]].concat();
    let run = tcplab_with(&["explain", "-"], &middle);
    assert_eq!(run.code, 3, "{}", run.out);
    assert!(
        run.out.contains("the handshake is not in the capture"),
        "{}",
        run.out
    );
    let run = tcplab(&["explain", "no-such-file.pcap", "--json"]);
    assert_eq!(run.code, 2);
    assert_eq!(run.json()["schema"], "tcplab.explain/1");
}

#[test]
fn a_damaged_file_ends_with_2_after_what_could_be_read() {
    let whole = bytes(QUICKACK);
    let run = tcplab_with(&["explain", "-"], &whole[..whole.len() - 10]);
    assert_eq!(run.code, 2);
    assert!(run.out.contains("linux-6.1.56"), "{}", run.out);
    assert!(run.err.starts_with("tcplab: -: "), "{}", run.err);
}

#[test]
fn profiles_stand_side_by_side() {
    let run = tcplab(&["stacks", "--profiles"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let mut lines = run.out.lines();
    assert!(
        lines.next().unwrap().contains("linux-6.1.56"),
        "{}",
        run.out
    );
    let rule = run.out.lines().find(|l| l.contains("ack_push_rule"));
    let rule = rule.unwrap();
    assert!(rule.contains("short") && rule.contains("at-mss"), "{rule}");
}
