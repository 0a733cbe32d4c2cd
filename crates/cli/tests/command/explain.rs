//! `tcplab explain`: the verdict, its table, its document, its exit codes.

use super::{QUICKACK, bytes, folder, tcplab, tcplab_with, text};

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
fn unexplained_capture_exits_with_3_and_says_why() {
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
    assert!(run.out.contains("lacks the handshake"), "{}", run.out);
    let run = tcplab(&["explain", "no-such-file.pcap", "--json"]);
    assert_eq!(run.code, 2);
    assert_eq!(run.json()["schema"], "tcplab.explain/1");
}

#[test]
fn damaged_file_exits_with_2_after_its_readable_part() {
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
    let rule = run.out.lines().find(|l| l.contains("ack_push_rule"));
    let rule = rule.unwrap();
    // The value of most profiles, then the others with theirs.
    let words: Vec<&str> = rule.split_whitespace().collect();
    assert_eq!(words[1..4], ["at-mss", "short:", "4.6,"]);
    assert!(words.contains(&"6.1.56"), "{rule}");
}

/// A sender, a switch that may know CAQM, a receiver; captures of the simulator.
const CAQM: &str = r#"
measures = ["flow.goodput_bps"]
run = { linger = "1ms" }
host = [
    { name = "sender", sysctl = { "net.core.sysctl_caqm_enable" = 1, "net.core.sysctl_caqm_filter_nics" = "0xff" }, socket = { congestion = "caqm" } },
    { name = "switch", forward = true },
    { name = "sink", sysctl = { "net.core.sysctl_caqm_enable" = 1, "net.core.sysctl_caqm_filter_nics" = "0xff" }, socket = { congestion = "caqm" } },
]
app = [{ kind = "bulk", name = "flow", client = "sender", server = "sink", duration = "20ms" }]

[[link]]
between = ["sender", "switch"]
rate = "1gbit"
delay = "100us"

[[link]]
between = ["switch", "sink"]
rate = "500mbit"
delay = "100us"
a_to_b = "caqm qt 0x10"
"#;

#[test]
fn a_receiver_of_caqm_is_played_with_caqm_on() {
    let place = folder();
    let file = place.path().join("t.toml");
    std::fs::write(&file, CAQM).unwrap();
    let out = place.path().join("out");
    let run = tcplab(&[
        "run",
        text(&file),
        "--on",
        "model:linux-6.1",
        "--out",
        text(&out),
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    let points = out.join("points");
    let point = std::fs::read_dir(points).unwrap().next().unwrap().unwrap();
    let capture = point.path().join("sink.eth0.pcapng");
    let run = tcplab(&["explain", text(&capture), "--json"]);
    assert_eq!(run.code, 0, "{} {}", run.err, run.out);
    let document = run.json();
    let found = &document["receivers"][0]["found"];
    let tags = |of: &str| found["caqm"][of].as_u64().unwrap();
    assert!(tags("receiver") > 20 && tags("sender") > 100, "{found}");
    assert_eq!(found["is_exact"], true, "{found}");
    // As a receiver of Reno's, 8 of its 580 ACKs would be where linux-6.1 sends none.
    // 5.10.262 has its fixes of delayed ACKs, too.
    let best = serde_json::json!(["linux-5.10", "linux-6.1"]);
    assert_eq!(found["best"], best);
    let shown = tcplab(&["explain", text(&capture)]);
    for part in [
        "CAQM was agreed on",
        "sysctl_caqm_enable = 1",
        "does not tell",
    ] {
        assert!(shown.out.contains(part), "{part}: {}", shown.out);
    }
    let plain = tcplab(&["explain", QUICKACK, "--json"]).json();
    assert_eq!(plain["receivers"][0]["found"].get("caqm"), None);
}

#[test]
fn a_receiver_over_ipv6_is_known_as_over_ipv4() {
    let place = folder();
    let file = place.path().join("v6.toml");
    let experiment = "run.ip = \"ipv6\"\n[[link]]\ndelay = \"5ms\"\n\
                      [[app]]\nkind = \"stream\"\nchunk = 1448\nevery = \"100ms\"\ncount = 50\n";
    std::fs::write(&file, experiment).unwrap();
    super::point(experiment, "model:linux-6.1.56", place.path());
    let capture = place
        .path()
        .join("model-linux-6.1.56/points/0000/client.eth0.pcapng");
    let run = tcplab(&["explain", text(&capture)]);
    assert_eq!(run.code, 0, "{}", run.err);
    let verdict = run.out.lines().nth(1).unwrap();
    assert!(verdict.contains("linux-6.1.56"), "{}", run.out);
    assert!(verdict.ends_with("every ACK, and no other"), "{}", run.out);
}
