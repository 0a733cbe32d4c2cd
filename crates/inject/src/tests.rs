//! All groups into all targets; and that a bug is found.

use tcplab_report::terminal::Theme;
use tcplab_wire::Parsed;

use super::target::parse;
use super::{InjectDocument, TargetName, Wanted, run, run_with};

fn wanted(count: u64) -> Wanted {
    Wanted {
        seed: 1,
        count,
        only: None,
        targets: vec![
            TargetName::Parser,
            TargetName::Analyser,
            TargetName::Endpoint,
        ],
        into: None,
        rate: None,
    }
}

fn told(document: &InjectDocument) -> Vec<String> {
    let harms = document.harms.iter();
    harms
        .map(|h| format!("{} {}:{:?}: {}", h.target, h.group, h.number, h.what))
        .collect()
}

#[test]
fn frames_of_every_group_do_no_harm() {
    let document = run(&wanted(30_000), &|| false).unwrap();
    assert_eq!(told(&document), [""; 0]);
    assert_eq!((document.harm, document.frames), (0, 30_000));
    for group in &document.groups {
        let kinds = group.parsed + group.not_tcp + group.malformed;
        assert_eq!(kinds, group.frames, "{}", group.group);
    }
    let sum = |of: fn(&super::GroupResult) -> u64| document.groups.iter().map(of).sum::<u64>();
    assert!(sum(|g| g.malformed) > 5_000);
    assert!(sum(|g| g.accepted.unwrap_or(0)) > 5_000);
    assert!(sum(|g| g.state_changes.unwrap_or(0)) > 1_000);
    // The same seed does the same.
    let again = run(&wanted(30_000), &|| false).unwrap();
    let text = |document| serde_json::to_string(document).unwrap();
    assert_eq!(text(&document), text(&again));
}

/// A parser that believes the length of a TCP option, as some did (CVE-2020-24337, tcpdump's CVE-2016-7975).
fn careless(frame: &[u8]) -> Parsed {
    let parsed = parse(frame);
    if let Parsed::Tcp(packet) = parsed
        && packet.encap.vlan_tags == 0
        && let Some(header) = frame.get(34..)
    {
        let end = usize::from(packet.header_len);
        let mut at = 20;
        while at < end.min(header.len()) {
            match header[at] {
                0 => break,
                1 => at += 1,
                8 => at += header[at + 2..][..usize::from(header[at + 1]) - 2].len() + 2,
                _ => at += usize::from(header[at + 1]).max(1),
            }
        }
    }
    parsed
}

#[test]
fn a_planted_bug_is_found_and_its_frame_can_be_sent_again() {
    let document = run_with(&wanted(20_000), careless, &|| false).unwrap();
    assert!(document.harm > 0);
    let harm = &document.harms[0];
    assert!(harm.what.starts_with("panic: "), "{}", harm.what);
    assert!(!harm.frame.is_empty() && harm.again.contains("--only "));
    let one = Wanted {
        only: Some((harm.group.clone(), harm.number)),
        targets: vec![TargetName::Parser],
        ..wanted(1)
    };
    let again = run_with(&one, careless, &|| false).unwrap();
    assert_eq!((again.frames, again.harm), (1, 1));
    assert_eq!(again.harms[0].frame, harm.frame);
    // The parser that we ship gets over it.
    assert_eq!(run(&one, &|| false).unwrap().harm, 0);
}

#[test]
fn wrong_names_are_told() {
    let only = |name: &str, number| Wanted {
        only: Some((name.into(), number)),
        ..wanted(1)
    };
    let why = |wanted: &Wanted| run(wanted, &|| false).unwrap_err().to_string();
    assert!(why(&only("nothing", None)).contains("--list"));
    assert!(why(&only("address", Some(51))).contains("0 to 50"));
}

#[test]
fn it_stops_when_it_is_told() {
    let document = run(&wanted(1_000_000), &|| true).unwrap();
    assert_eq!(document.frames, 0);
}

/// A parser that breaks down at every frame: its group is given up.
fn broken(_: &[u8]) -> Parsed {
    panic!("planted")
}

#[test]
fn targets_that_got_fewer_frames_are_named() {
    let wanted = Wanted {
        only: Some(("cut".into(), None)),
        targets: vec![TargetName::Parser, TargetName::Endpoint],
        ..wanted(200)
    };
    let headline = |document: &InjectDocument| {
        let mut out = Vec::new();
        super::text::result(document, &Theme::default(), &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let mut lines = out.lines();
        let line = lines.find(|line| line.contains("frames into"));
        line.unwrap_or_default().to_owned()
    };
    let whole = run(&wanted, &|| false).unwrap();
    assert_eq!(whole.got, [200, 200]);
    assert_eq!(whole.notes, [""; 0]);
    let line = headline(&whole);
    assert_eq!(
        line,
        "200 frames into parser, endpoint (seed 1): 0 did harm"
    );
    let short = run_with(&wanted, broken, &|| false).unwrap();
    assert_eq!(short.got, [50, 200]);
    let note = "parser got 50 of 200 frames";
    assert!(short.notes.iter().any(|n| n == note), "{:?}", short.notes);
    let line = headline(&short);
    assert!(line.starts_with("up to 200 frames into parser, endpoint"));
}
