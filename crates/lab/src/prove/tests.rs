//! Shipped captures: their conversations as read, and the answers of the experiments.

use std::path::Path;

use tcplab_os::Stop;
use tcplab_plan::app::Message;

use super::conversation::Shown;
use super::*;

/// The findings of a shipped capture, its only connection and that one's packets.
fn analysed(name: &str) -> Heard {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures");
    read(&captures.join(name))
}

/// What `--prove` would keep of a capture.
fn read(path: &Path) -> Heard {
    let rows = Rows {
        first: MOST_ROWS,
        marked: false,
    };
    heard(path, rows).unwrap()
}

/// The experiment's answer to a finding.
fn ask(heard: &Heard, finding: &Finding) -> Proof {
    let seen = Seen {
        finding,
        stream: &heard.stream,
        trace: &heard.trace,
    };
    prove(&Lab::new(Stop::never()), &seen)
}

/// The same for the finding with this name.
fn proof_of(heard: &Heard, id: &str) -> Proof {
    let names: Vec<&str> = heard.findings.iter().map(|f| f.id.name()).collect();
    let finding = heard.findings.iter().find(|f| f.id.name() == id);
    ask(
        heard,
        finding.unwrap_or_else(|| panic!("{id}: only {names:?}")),
    )
}

/// The same for a finding of a shipped capture.
fn proof(capture: &str, id: &str) -> Proof {
    proof_of(&analysed(capture), id)
}

#[test]
fn a_conversation_has_the_writes_and_pauses_of_its_programs() {
    // Client: 200 and 300 bytes apart, 60 ms after each answer of 600 (tests/captures/README.md).
    for file in ["write-write-read.a.pcap", "write-write-read.b.pcap"] {
        let heard = analysed(file);
        let talk = Conversation::of(&heard.stream, &heard.trace).unwrap();
        assert_eq!((talk.mss, talk.cut), (1460, None), "{file}");
        assert!((2_000_000..2_300_000).contains(&talk.rtt_ns), "{talk:?}");
        assert_eq!(talk.sides, [Shown::default(); 2], "{file}");
        assert_eq!(talk.messages.len(), 36, "{file}");
        for (n, turn) in talk.messages.chunks(3).enumerate() {
            let sizes: Vec<(bool, u64)> = turn.iter().map(|m| (m.from_client, m.bytes)).collect();
            assert_eq!(sizes, [(true, 200), (true, 300), (false, 600)], "{file}");
            let [head, body, answer] = turn else {
                panic!("{turn:?}")
            };
            let pause = if n == 0 {
                0..1_000_000
            } else {
                59_000_000..62_000_000
            };
            assert!(pause.contains(&head.after_ns), "{file}: {n}: {head:?}");
            assert_eq!(
                body.after_ns, 0,
                "{file}: it waited for the ACK of the head"
            );
            assert!(answer.after_ns < 1_000_000, "{file}: {answer:?}");
        }
    }
}

#[test]
fn a_small_congestion_window_is_read_from_the_flights() {
    for file in ["request-held.a.pcap", "request-held.b.pcap"] {
        let heard = analysed(file);
        let talk = Conversation::of(&heard.stream, &heard.trace).unwrap();
        assert_eq!(talk.sides[0].initcwnd, Some(1), "{file}");
        assert_eq!(talk.sides[1], Shown::default(), "{file}");
        let request = |m: &&Message| m.from_client;
        assert!(
            talk.messages
                .iter()
                .filter(request)
                .all(|m| m.bytes == 3500)
        );
    }
}

#[test]
fn nagle_against_delayed_acks_is_proved_at_either_end() {
    for file in ["write-write-read.a.pcap", "write-write-read.b.pcap"] {
        let proof = proof(file, "delack_nagle");
        assert_eq!(proof.outcome, Outcome::Proved, "{file}: {proof:?}");
        let before = proof.before_us.unwrap();
        assert!((40_000..60_000).contains(&before), "{proof:?}");
        for cure in &proof.cures {
            assert!(
                cure.gone && cure.after_us.unwrap() < 10_000,
                "{file}: {cure:?}"
            );
        }
    }
}

#[test]
fn a_small_window_against_delayed_acks_is_proved() {
    for file in ["request-held.a.pcap", "request-held.b.pcap"] {
        let proof = proof(file, "delack_request_response");
        assert_eq!(proof.outcome, Outcome::Proved, "{file}: {proof:?}");
        let cure = proof
            .cures
            .iter()
            .find(|c| c.variant == "initcwnd-10")
            .unwrap();
        assert!(
            cure.gone && cure.after_us.unwrap() < 10_000,
            "{file}: {cure:?}"
        );
    }
}

#[test]
fn a_small_receive_window_is_proved() {
    for file in ["small-window.a.pcap", "small-window.b.pcap"] {
        let proof = proof(file, "receive_window_limited");
        assert_eq!(proof.outcome, Outcome::Proved, "{file}: {proof:?}");
    }
}

#[test]
fn the_end_of_quick_acks_is_proved() {
    for file in [
        "quickack-5.10.46.a.pcap",
        "quickack-5.10.46.b.pcap",
        "quickack-rtt50-hz1000.a.pcap",
    ] {
        let proof = proof(file, "quickack_exhausted");
        assert_eq!(proof.outcome, Outcome::Proved, "{file}: {proof:?}");
        assert!(
            proof.cures.iter().all(|c| c.gone),
            "{file}: {:?}",
            proof.cures
        );
        let fixed = proof
            .cures
            .iter()
            .find(|c| c.stack == "model:linux-6.1")
            .unwrap();
        assert!(fixed.after_us < proof.before_us, "{file}: {fixed:?}");
    }
}

/// The same of a conversation on the model, captured at the server: it answers with `bytes` each time.
fn recorded([client, server]: [&str; 2], pause: Option<&str>, bytes: &str) -> Heard {
    let talk = format!("\"client 200\", \"server {bytes}\"");
    let again = pause.map(|pause| format!(", \"client 200 after {pause}\", \"server {bytes}\""));
    let again = again.unwrap_or_default().repeat(4);
    let text = format!(
        "[[host]]\nname = \"client\"\n{client}\n[[host]]\nname = \"server\"\n{server}\n[[link]]\ndelay = \"25ms\"\n\
         [[app]]\nkind = \"messages\"\nmessages = [{talk}{again}]\n"
    );
    let points = File::parse("t.toml", &text)
        .and_then(|file| file.points())
        .unwrap();
    let lab = Lab::new(Stop::never());
    let folder = Scratch::new().unwrap();
    let stack = lab.stack("model").unwrap();
    lab.run_one(&points[0], &stack, folder.path(), None)
        .unwrap();
    read(&folder.path().join("server.eth0.pcapng"))
}

#[test]
fn windows_that_make_transfers_slow_are_proved() {
    for (id, client, pause, bytes) in [
        ("window_after_idle", "", Some("3s"), "1m"),
        ("slow_start", "", Some("3s"), "80k"),
        (
            "receive_window_limited",
            "sysctl = { \"net.ipv4.tcp_rmem\" = \"4096 80000 80000\" }",
            None,
            "2m",
        ),
        (
            "window_scaling_off",
            "sysctl = { \"net.ipv4.tcp_window_scaling\" = 0 }",
            None,
            "2m",
        ),
    ] {
        let proof = proof_of(&recorded([client, ""], pause, bytes), id);
        assert_eq!(proof.outcome, Outcome::Proved, "{id}: {proof:?}");
        let (captured, before) = (proof.captured_us.unwrap(), proof.before_us.unwrap());
        assert!(
            before.abs_diff(captured) * 20 <= captured,
            "{id}: {captured} {before}"
        );
    }
}

#[test]
fn path_effects_are_not_proved_and_say_why() {
    let mut seen = 0;
    for file in [
        "bulk-rto.b.pcap",
        "bulk-loss.b.pcap",
        "zero-window.a.pcap",
        "spurious-rto.b.pcap",
    ] {
        let heard = analysed(file);
        for finding in &heard.findings {
            let proof = ask(&heard, finding);
            assert_eq!(proof.outcome, Outcome::NotProved, "{file}: {proof:?}");
            assert!(
                proof.reason.is_some() && proof.experiment.is_none(),
                "{file}"
            );
            seen += 1;
        }
    }
    assert!(seen >= 4, "{seen}");
}

#[test]
fn a_conversation_without_its_handshake_says_so() {
    let mut heard = analysed("write-write-read.a.pcap");
    heard.stream.handshake = None;
    let proof = ask(&heard, &heard.findings[0]);
    assert_eq!(proof.outcome, Outcome::NotProved);
    assert!(proof.reason.unwrap().contains("handshake"));
}

#[test]
fn another_timer_is_no_proof() {
    // Windows waits 200 ms: the same finding, and another stack.
    let mut heard = analysed("write-write-read.a.pcap");
    let mut late = tcplab_base::Duration::from_nanos(0);
    for row in &mut heard.trace.rows {
        if row
            .acked
            .as_ref()
            .is_some_and(|a| a.class == tcplab_analyze::trace::AckClass::Delayed)
        {
            late = late + tcplab_base::Duration::from_millis(160);
        }
        row.time = row.time + late;
    }
    let proof = ask(&heard, &heard.findings[0]);
    assert_eq!(proof.outcome, Outcome::NotReproduced, "{proof:?}");
    assert!(proof.reason.unwrap().contains("another stack"));
}

/// Super-segments end with PSH, as writes do: an experiment with these must not deny the right cure.
#[test]
fn super_segments_are_no_writes() {
    let tso = recorded(["", "offload = \"tso\""], Some("3s"), "1m");
    let proof = proof_of(&tso, "window_after_idle");
    assert_eq!(proof.outcome, Outcome::NotReproduced, "{proof:?}");
    assert_eq!(proof.reason.as_deref(), Some(GONE));
    let mut whole = recorded(["", ""], Some("3s"), "1m");
    let plain = proof_of(&whole, "window_after_idle");
    assert_eq!(plain.outcome, Outcome::Proved, "{plain:?}");
    // As a capture at the sender has them.
    let mut rows = whole.trace.rows.iter_mut();
    rows.find(|row| !row.from_client && row.len > 1_000)
        .unwrap()
        .len = 2_896;
    let proof = proof_of(&whole, "window_after_idle");
    assert_eq!(proof.outcome, Outcome::NotProved, "{proof:?}");
}
