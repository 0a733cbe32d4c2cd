//! The report as a person reads it: from the top, on 80 x 24, and without an all-clear that the packets do not bear out.

use super::{Run, bytes, command, folder, root, tcplab, tcplab_with};

/// Every shipped capture.
fn captures() -> Vec<String> {
    let names = std::fs::read_dir(root().join("tests/captures")).unwrap();
    let mut names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".pcap"))
        .map(|name| format!("tests/captures/{name}"))
        .collect();
    names.sort();
    names
}

/// The classic pcap without its first packets.
fn without_first(capture: &str, packets: usize) -> Vec<u8> {
    let whole = bytes(capture);
    let (header, mut records) = whole.split_at(24);
    for _ in 0..packets {
        if records.is_empty() {
            break;
        }
        let length: [u8; 4] = records[8..12].try_into().unwrap();
        records = &records[16 + u32::from_le_bytes(length) as usize..];
    }
    [header, records].concat()
}

/// The one line that stands for an all-clear.
fn is_all_clear(run: &Run) -> bool {
    run.out
        .lines()
        .any(|line| line.starts_with("No findings: "))
}

#[test]
fn the_cure_is_in_view_and_the_reason_on_the_first_screen() {
    let mut told = 0;
    for capture in captures() {
        let run = tcplab(&["analyze", &capture]);
        let line = |label: &str| {
            let starts = |l: &str| l.starts_with(&format!("  {label:8}"));
            run.out.lines().position(starts)
        };
        let Some(cure) = line("Do") else {
            continue;
        };
        told += 1;
        assert!(cure < 12, "the upper half: {}", run.out);
        if let (Some(why), Some(seen)) = (line("Why"), line("Seen")) {
            assert!(cure < why && why < seen, "{}", run.out);
            assert!(why < 24, "{}", run.out);
        }
    }
    assert!(told > 10, "only {told} captures with something to do");
}

#[test]
fn unexplained_time_is_no_all_clear() {
    let run = tcplab(&["analyze", "tests/captures/bulk-rto.a.pcap"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let has_finding = run.out.contains("  Seen    ");
    assert!(
        has_finding || run.out.contains("packets were sent again"),
        "{}",
        run.out
    );
    assert!(!is_all_clear(&run), "{}", run.out);
    assert!(is_all_clear(&tcplab(&[
        "analyze",
        "tests/captures/quickack-6.1.176.a.pcap"
    ])));
}

#[test]
fn a_capture_without_its_beginning_is_no_all_clear() {
    for capture in captures() {
        for packets in [3, 10] {
            let run = tcplab_with(&["analyze", "-"], &without_first(&capture, packets));
            if !run.out.contains("\nStreams\n") {
                continue;
            }
            assert!(
                !is_all_clear(&run),
                "{capture} without {packets}: {}",
                run.out
            );
            assert!(
                !run.out.contains(": ok\n"),
                "{capture} without {packets}: {}",
                run.out
            );
        }
    }
}

#[test]
fn a_word_of_the_report_is_explained() {
    let run = tcplab(&["help", "rcv_mss"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("segment size"), "{}", run.out);
    assert_eq!(tcplab(&["analyze", "--explain", "rcv_mss"]).out, run.out);
    let run = tcplab(&["help", "quickack_exhausted"]);
    assert!(run.out.contains("6.1.0-13"), "the releases: {}", run.out);
    let run = tcplab(&["analyze", "--explain"]);
    for word in ["TIME-WAIT", "rto_stall", "server thinks", "analyze.md"] {
        assert!(run.out.contains(word), "{word}: {}", run.out);
    }
    let run = tcplab(&["help", "nagel"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.contains("did you mean `Nagle`"), "{}", run.err);
    let run = tcplab(&["analyze", "--explain", "TLP", "x.pcap"]);
    assert_eq!(run.code, 2, "{}", run.out);
}

#[test]
fn help_of_a_command_is_its_help() {
    for command in [&[][..], &["run"], &["kernel", "build"]] {
        let help = tcplab(&[&["help"], command].concat());
        let long = tcplab(&[command, &["--help"]].concat());
        assert_eq!((help.code, help.out), (0, long.out), "{command:?}");
    }
    let both = tcplab(&["help", "population"]).out;
    assert!(both.contains("Usage: tcplab population") && both.contains("drawn from distributions"));
}

#[test]
fn a_terminal_without_unicode_gets_ascii() {
    for capture in captures() {
        let output = command(&["analyze", &capture]).env("LC_ALL", "C").output();
        let output = output.unwrap().stdout;
        assert!(output.is_ascii(), "{}", String::from_utf8_lossy(&output));
    }
}

/// The path loses all for two seconds: an ACK, and the data behind it.
#[test]
fn outage_is_one_finding_at_both_ends() {
    let place = folder();
    let file = place.path().join("t.toml");
    let text = "[[link]]\nrate = \"50mbit\"\ndelay = \"10ms\"\nchange = [\"2s loss 100%\", \"4s loss 0%\"]\n\
                [[app]]\nkind = \"bulk\"\nduration = \"8s\"\n";
    std::fs::write(&file, text).unwrap();
    let out = place.path().join("out");
    let run = tcplab(&["run", super::text(&file), "--out", super::text(&out)]);
    assert_eq!(run.code, 0, "{}", run.err);
    for end in ["client", "server"] {
        let capture = out.join(format!("points/0000/{end}.eth0.pcapng"));
        let answer = tcplab(&["analyze", super::text(&capture)]).out;
        assert!(answer.contains("rto_stall"), "{end}: {answer}");
        assert!(!answer.contains("spurious_rto"), "{end}: {answer}");
    }
}
