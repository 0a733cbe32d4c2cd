//! `tcplab inject`: frames of every group, and what is said of them.

use serde_json::Value;

use super::schema::holds;
use super::tcplab;

#[test]
fn a_small_run_does_no_harm_and_says_so() {
    let run = tcplab(&["inject", "--count", "2000", "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    holds("inject", &document);
    assert_eq!(document["frames"], 2000);
    assert_eq!(document["harm"], 0);
    let text = tcplab(&["inject", "--count", "500", "--target", "endpoint"]);
    assert_eq!(text.code, 0, "{}", text.err);
    assert!(
        text.out
            .contains("500 frames into parser, endpoint (seed 1): 0 did harm")
    );
}

#[test]
fn groups_are_listed_and_one_frame_is_sent() {
    let list = tcplab(&["inject", "--list"]);
    assert_eq!(list.code, 0);
    for group in ["tag-alone", "option-lengths", "mutated-segment"] {
        assert!(list.out.contains(group), "{}", list.out);
    }
    let one = tcplab(&["inject", "--only", "cut:314", "--json"]);
    let document: Value = serde_json::from_str(&one.out).unwrap();
    assert_eq!(document["frames"], 1);
    assert_eq!(document["groups"][0]["group"], "cut");
    for wrong in [
        ["--only", "none"],
        ["--only", "cut:1000000"],
        ["--only", "cut:x"],
    ] {
        let run = tcplab(&["inject", wrong[0], wrong[1]]);
        assert_eq!(run.code, 2, "{wrong:?}: {}", run.err);
    }
}

#[test]
fn this_machine_s_kernel_keeps_working() {
    let run = tcplab(&[
        "inject", "--target", "kernel", "--only", "cut", "--count", "200", "--json",
    ]);
    if run.code == 4 {
        eprintln!("skipped: {}", run.err);
        return;
    }
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    holds("inject", &document);
    // Frames shorter than an Ethernet header are not taken by the interface.
    let sent = document["groups"][0]["sent_to_kernel"].as_u64().unwrap();
    assert!((100..=200).contains(&sent), "{sent}");
}
