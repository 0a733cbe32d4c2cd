//! Captures as people have them: without a beginning, of one direction, snapped, with drops.
//!
//! Each labelled capture of `tests/captures` is cut in ten ways. `cuts.json` says for each cause and cut, argued from the
//! packets alone, whether they still determine the cause. Where they do it must be found, or at least the report must
//! name the finding as not checked; an all-clear is wrong. Nothing else may be found in any cut.

mod common;

use std::fmt::Write as _;

use common::{Answer, Seen, answer, frames, root, section};
use serde_json::Value;
use tcplab_analyze::{Analyzer, Options};
use tcplab_base::Instant;
use tcplab_wire::{IcmpError, Parsed, TcpFlags, TcpPacket};

/// Bytes of each frame that a snapped capture keeps.
const SNAP: usize = 60;

/// How a capture was cut.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// The SYN, the SYN-ACK and the ACK of it are gone.
    NoHandshake,
    /// The first packets are gone.
    First(usize),
    /// The first half of the packets is gone.
    Half,
    /// Only what the client sent, or only what the server sent.
    Only { client: bool },
    /// 60 bytes of each frame.
    Snapped,
    /// Every tenth packet is gone.
    EveryTenth,
}

const CUTS: [(&str, Cut); 10] = [
    ("no handshake", Cut::NoHandshake),
    ("first 3", Cut::First(3)),
    ("first 10", Cut::First(10)),
    ("first 20", Cut::First(20)),
    ("first 40", Cut::First(40)),
    ("first half", Cut::Half),
    ("client only", Cut::Only { client: true }),
    ("server only", Cut::Only { client: false }),
    ("snapped", Cut::Snapped),
    ("every 10th", Cut::EveryTenth),
];

/// A packet of a capture: whole, and with its frame cut.
struct Packet {
    number: u64,
    time: Option<Instant>,
    whole: TcpPacket,
    /// The ICMP error that quotes it.
    icmp: Option<IcmpError>,
    snapped: Option<(TcpPacket, Option<IcmpError>)>,
}

fn packets(file: &str) -> Vec<Packet> {
    let mut packets = Vec::new();
    frames(
        &root().join("tests/captures").join(file),
        |number, time, parse| {
            let tcp = |kept| match parse(kept) {
                Seen {
                    parsed: Parsed::Tcp(packet),
                    icmp,
                } => Some((packet, icmp)),
                Seen { .. } => None,
            };
            if let Some((whole, icmp)) = tcp(usize::MAX) {
                packets.push(Packet {
                    number,
                    time,
                    whole,
                    icmp,
                    snapped: tcp(SNAP),
                });
            }
        },
    );
    packets
}

/// The captures that are left of it; the client is the side with the higher port in all of them.
fn analyze_cut(packets: &[Packet], cut: Cut) -> Answer {
    let half = packets.len() / 2;
    let mut analyzer = Analyzer::new(Options::default());
    let mut greeted = false;
    for (i, p) in packets.iter().enumerate() {
        let syn = p.whole.flags.has(TcpFlags::SYN);
        let third = !syn && !greeted;
        greeted |= third;
        let keep = match cut {
            Cut::NoHandshake => !syn && !third,
            Cut::First(n) => i >= n,
            Cut::Half => i >= half,
            // An ICMP error comes from the other side of what it quotes.
            Cut::Only { client } => {
                (p.whole.src.port > p.whole.dst.port) == (client != p.icmp.is_some())
            }
            Cut::Snapped => true,
            Cut::EveryTenth => (i + 1) % 10 != 0,
        };
        let packet = match cut {
            Cut::Snapped => p.snapped.as_ref().map(|s| (&s.0, s.1)),
            _ => Some((&p.whole, p.icmp)),
        };
        if let Some((packet, icmp)) = packet.filter(|_| keep) {
            analyzer.packet(p.number, p.time, packet);
            icmp.iter().for_each(|e| analyzer.icmp(p.number, e));
        }
    }
    answer(analyzer)
}

/// What became of a cause in a cut.
fn outcome(answer: &Answer, cause: &str) -> &'static str {
    let named = |n: &&tcplab_analyze::findings::NotChecked| n.finding.name() == cause;
    if answer.ids().contains(&cause) {
        "found"
    } else if answer.totals.not_checked.iter().any(|n| named(&n)) {
        "not checked"
    } else {
        "missed"
    }
}

fn json(path: &str) -> serde_json::Map<String, Value> {
    let text = std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn names<'a>(label: &'a Value, key: &str) -> Vec<&'a str> {
    let list = label[key].as_array().map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(Value::as_str).collect()
}

/// What `cuts.json` says of a cut: `determined`, unless it is listed as `undetermined` or `gone` with the reason.
fn standing(label: &Value, cut: &str) -> &'static str {
    let listed = |kind: &str| label[kind][cut].is_string();
    match (listed("undetermined"), listed("gone")) {
        (true, false) => "undetermined",
        (false, true) => "gone",
        (false, false) => "determined",
        (true, true) => panic!("{cut} is listed twice"),
    }
}

/// The row of a capture, for the table of `docs/findings.md`, and what is wrong with it.
struct Row {
    text: String,
    determined: usize,
    not_checked: usize,
    wrong: Vec<String>,
}

fn row(file: &str, label: &Value) -> Row {
    let cause = label["cause"].as_str().expect("a cause");
    let all = packets(file);
    let mut row = Row {
        text: format!("| {} `{cause}` |", file.trim_end_matches(".pcap")),
        determined: 0,
        not_checked: 0,
        wrong: Vec::new(),
    };
    for (name, cut) in CUTS {
        let standing = standing(label, name);
        let outcome = outcome(&analyze_cut(&all, cut), cause);
        row.determined += usize::from(standing == "determined");
        row.not_checked += usize::from(standing == "determined" && outcome == "not checked");
        if outcome == "missed" && standing != "gone" {
            row.wrong.push(format!(
                "{file}, {name}: {cause} was missed, it is {standing}"
            ));
        }
        let cell = match (standing, outcome) {
            ("gone", "missed") => "-",
            ("gone", "not checked") => "- named",
            ("undetermined", "not checked") => "named",
            ("determined", "not checked") => "**named**",
            ("undetermined", "found") => "found?",
            (_, outcome) => outcome,
        };
        write!(row.text, " {cell} |").expect("text");
    }
    row
}

/// `TCPLAB_WRITE_DOCS=1 cargo test -p tcplab-analyze --test cut` writes the table.
#[test]
fn a_cause_that_is_still_in_the_packets_is_found() {
    let labels = json("tests/captures/labels.json");
    let cuts = json("tests/captures/cuts.json");
    for (file, label) in &labels {
        let causes = names(label, "causes");
        let known = cuts
            .get(file)
            .map(|c| c["cause"].as_str().unwrap_or_default());
        assert_eq!(
            causes.first().copied(),
            known,
            "cuts.json and labels.json differ: {file}"
        );
    }
    let rows: Vec<Row> = cuts.iter().map(|(file, label)| row(file, label)).collect();
    let mut table = String::from("| capture, cause |");
    CUTS.iter()
        .for_each(|(name, _)| write!(table, " {name} |").expect("text"));
    table += "\n|---|";
    table += &"---|".repeat(CUTS.len());
    rows.iter()
        .for_each(|r| write!(table, "\n{}", r.text).expect("text"));
    let wrong: Vec<&str> = rows
        .iter()
        .flat_map(|r| &r.wrong)
        .map(String::as_str)
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let determined: usize = rows.iter().map(|r| r.determined).sum();
    let not_checked: usize = rows.iter().map(|r| r.not_checked).sum();
    assert!(
        determined > 100 && not_checked * 20 <= determined,
        "{not_checked} of {determined} not checked"
    );
    let found = determined - not_checked;
    let sum = format!(
        "The packets of {determined} cuts determine the cause: the report has the finding for {found} of these cuts, names it as not checked for {not_checked}, and misses it for none."
    );
    section("cuts", &format!("{table}\n\n{sum}\n"));
}

#[test]
fn cuts_add_no_findings() {
    let mut wrong = Vec::new();
    for (file, label) in &json("tests/captures/labels.json") {
        let all = packets(file);
        let (causes, allowed) = (names(label, "causes"), names(label, "allowed"));
        for (name, cut) in CUTS {
            for id in analyze_cut(&all, cut).ids() {
                // Findings about the cut are allowed, too.
                let known = causes.contains(&id) || allowed.contains(&id);
                if !known && id != "capture_artefacts" {
                    wrong.push(format!("{file}, {name}: {id} has no cause"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
