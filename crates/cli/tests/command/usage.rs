//! Wrong command lines, files that are no captures, exit codes, colours.

use super::{LOSS, QUICKACK, bytes, command, folder, root, tcplab, tcplab_with, text};

#[test]
fn wrong_command_line_exits_with_2_and_says_why() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "Usage"),
        (&["analyze"], "FILE"),
        (&["analyse", "x"], "analyze"),
        (
            &["analyze", "--acks", "--tshark-compat", QUICKACK],
            "cannot be used with",
        ),
        (&["analyze", "--for", "10s", QUICKACK], "--interface"),
        (&["analyze", "-i", "lo", "--for", "10q"], "10s, 500ms or 2m"),
        (
            &["analyze", "--fail-on", "nonsense", QUICKACK],
            "quickack_exhausted",
        ),
        (&["analyze", "--max-streams", "0", QUICKACK], "1 or more"),
        (
            &["analyze", "--caqm-ethertype", "0x12345", QUICKACK],
            "0xffff",
        ),
        (
            &["analyze", "--caqm-ethertype", "1535", QUICKACK],
            "they begin at 0x0600",
        ),
        (
            &["analyze", "--caqm-ethertype", "0x8100", QUICKACK],
            "of another protocol",
        ),
        (&["analyze", "--caqm-units", "8/64", QUICKACK], "8/64/512"),
        (&["analyze", "--caqm-units", "8/0/1", QUICKACK], "1 to 1024"),
        (&["analyze", "--caqm-type", "8", QUICKACK], "0..=7"),
        (&["analyze", "--pair", QUICKACK], "2 values required"),
        (
            &["analyze", "--fail-on", "info", "--pair", LOSS[0], LOSS[1]],
            "cannot be used with",
        ),
        (
            &["analyze", "--html", "-", QUICKACK],
            "--html -: standard output",
        ),
        (
            &["run", "--html", "-", "examples/delayed-ack.toml"],
            "--html -: standard output",
        ),
        (
            &["analyze", "--annotate", "x.pcapng", QUICKACK, QUICKACK],
            "exactly one",
        ),
        (&["schema", "nothing"], "analyze"),
    ];
    for (args, part) in cases {
        let run = tcplab(args);
        assert_eq!(run.code, 2, "{args:?}: {}", run.err);
        assert!(run.err.contains(part), "{args:?}: {}", run.err);
        assert_eq!(run.out, "", "{args:?}");
    }
}

#[test]
fn every_command_is_listed() {
    let help = tcplab(&["--help"]);
    assert_eq!(help.code, 0);
    let names = "analyze explain run new examples population merge submit report drill bisect diff reproduce compare bench qa kernel stacks \
         doctor probe link inject schema completions man help";
    for name in names.split(' ') {
        assert!(help.out.contains(&format!("\n  {name} ")), "{}", help.out);
    }
    assert!(tcplab(&["--version"]).out.starts_with("tcplab 0."));
}

#[test]
fn unreadable_file_is_named_with_a_remedy() {
    for (name, part) in [
        ("no-such-file.pcap", "check the name"),
        ("tests", "is a folder"),
    ] {
        let run = tcplab(&["analyze", name]);
        assert_eq!(run.code, 2);
        assert!(
            run.err.contains(name) && run.err.contains(part),
            "{}",
            run.err
        );
    }
}

#[test]
fn non_capture_is_refused_with_its_name() {
    let folder = folder();
    let path = folder.path().join("noise");
    std::fs::write(&path, [0, 1, 2, 3, 4, 5, 6, 7]).unwrap();
    let run = tcplab(&["analyze", text(&path)]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("noise: offset 0"), "{}", run.err);
}

#[test]
fn the_files_after_a_bad_one_are_read() {
    let run = tcplab(&["analyze", "no-such-file", QUICKACK]);
    assert_eq!(run.code, 2);
    assert!(
        run.out
            .starts_with("no-such-file\n  Not read: no-such-file: cannot open: "),
        "{}",
        run.out
    );
    assert!(!run.out.contains("0 packets"), "{}", run.out);
    assert!(run.out.contains("left quick-ACK mode"), "{}", run.out);
}

#[test]
fn damaged_file_gives_its_readable_part_and_the_place() {
    let whole = bytes(QUICKACK);
    let run = tcplab_with(&["analyze", "-"], &whole[..whole.len() - 50]);
    assert_eq!(run.code, 2);
    assert!(run.out.contains("left quick-ACK mode"), "{}", run.out);
    assert!(
        run.out.contains("Not read to its end: offset "),
        "{}",
        run.out
    );
    assert!(run.err.contains("offset "), "{}", run.err);
}

#[test]
fn fail_on_turns_findings_into_exit_code_1() {
    let cases = [
        ("quickack_exhausted", 1),
        ("zero_window_stall,quickack_exhausted", 1),
        ("high", 0),
        ("info", 1),
        ("zero_window_stall", 0),
    ];
    let nagle = "tests/captures/write-write-read.a.pcap";
    let cases = cases.map(|(condition, code)| (condition, QUICKACK, code));
    for (condition, file, code) in cases.into_iter().chain([("high", nagle, 1)]) {
        let run = tcplab(&["analyze", "--fail-on", condition, file]);
        assert_eq!(run.code, code, "{condition}: {}", run.err);
        assert_eq!(run.err.contains("--fail-on"), code == 1, "{}", run.err);
    }
    // A finding that could not be looked for is not said to be absent.
    let half =
        b"1.0 IP 10.0.0.1.40000 > 10.0.0.2.80: Flags [P.], seq 1:101, ack 1, win 500, length 100\n\
        1.1 IP 10.0.0.1.40000 > 10.0.0.2.80: Flags [P.], seq 101:201, ack 1, win 500, length 100\n";
    for (condition, text, code) in [
        ("delack_nagle", &half[..], 3),
        ("high", &half[..], 3),
        (
            "delack_nagle,high",
            b"1.0 ARP, Request who-has 10.0.0.1\n",
            3,
        ),
    ] {
        let run = tcplab_with(&["analyze", "--fail-on", condition, "-"], text);
        assert_eq!(run.code, code, "{condition}: {}", run.err);
        let line = format!(
            "--fail-on {}: not checked",
            condition.split(',').next().unwrap()
        );
        assert!(run.err.contains(&line), "{}", run.err);
    }
    // Without it findings change nothing; trouble with a file is worse than a finding.
    assert_eq!(tcplab(&["analyze", QUICKACK]).code, 0);
    assert_eq!(
        tcplab(&["analyze", "--fail-on", "high", QUICKACK, "no-such-file"]).code,
        2
    );
}

#[test]
fn fail_on_says_what_was_not_read() {
    let queue = "tests/captures/accept-queue.b.pcap";
    let of = |most| {
        tcplab(&[
            "analyze",
            "--max-streams",
            most,
            "--fail-on",
            "slow_client",
            queue,
        ])
    };
    let run = of("2");
    assert_eq!(run.code, 0, "{}", run.err);
    let said = format!("--fail-on: {queue}: not checked: 40 packets of streams");
    assert!(run.err.contains(&said), "{}", run.err);
    assert_eq!(run.out.matches("partly checked").count(), 5, "{}", run.out);
    assert!(of("100").err.is_empty());
    // An IP packet of 40 bytes of which the file has 20.
    let mut cut = Vec::new();
    for word in [
        0xa1b2_c3d4_u32,
        0x0004_0002,
        0,
        0,
        262_144,
        101,
        1,
        0,
        20,
        40,
    ] {
        cut.extend(word.to_le_bytes());
    }
    cut.extend([0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0]);
    cut.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    let run = tcplab_with(&["analyze", "--fail-on", "high", "-"], &cut);
    assert_eq!(run.code, 3, "{}", run.err);
    let said =
        "--fail-on: -: not checked: 1 frame that was unreadable (cut before the TCP header).";
    assert!(run.err.contains(said), "{}", run.err);
}

/// A capture without streams is no all-clear beside one with streams.
#[test]
fn fail_on_names_a_capture_without_streams() {
    // A header of pcap, and no packet.
    let mut empty = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 262_144, 101] {
        empty.extend(word.to_le_bytes());
    }
    let clean = "tests/captures/bulk-clean.b.pcap";
    let run = tcplab_with(
        &["analyze", "--fail-on", "high", "--json", clean, "-"],
        &empty,
    );
    assert_eq!(run.code, 0, "{}", run.err);
    let said = "--fail-on: -: not checked: no TCP stream was read";
    assert!(run.err.contains(said), "{}", run.err);
    assert_eq!(run.err.matches("not checked").count(), 1, "{}", run.err);
    // Alone, it is told once.
    let run = tcplab_with(&["analyze", "--fail-on", "high", "--json", "-"], &empty);
    assert_eq!(run.code, 3, "{}", run.err);
    assert_eq!(run.err.matches("no TCP stream").count(), 1, "{}", run.err);
}

#[test]
fn colours_follow_the_flag_then_the_environment() {
    let colours = |args: &[&str], env: &[(&str, &str)]| {
        let mut command = command(args);
        command.envs(env.iter().copied());
        let output = command.output().unwrap();
        output.stdout.contains(&0x1b)
    };
    let plain: &[&str] = &["analyze", QUICKACK];
    assert!(!colours(plain, &[]), "not a terminal");
    assert!(colours(plain, &[("CLICOLOR_FORCE", "1")]));
    assert!(!colours(
        plain,
        &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]
    ));
    assert!(!colours(plain, &[("CLICOLOR_FORCE", "0")]));
    assert!(colours(
        &["analyze", "--color=always", QUICKACK],
        &[("NO_COLOR", "1")]
    ));
    assert!(!colours(
        &["analyze", "--color=never", QUICKACK],
        &[("CLICOLOR_FORCE", "1")]
    ));
}

#[test]
fn nothing_but_the_result_goes_to_standard_output() {
    let run = tcplab(&["analyze", "--json", LOSS[0], LOSS[1]]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let run = tcplab(&["analyze", QUICKACK]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
}

#[test]
fn output_file_appears_when_complete() {
    let folder = folder();
    let path = folder.path().join("answer.json");
    let run = tcplab(&["analyze", "--json", "-o", text(&path), QUICKACK]);
    assert_eq!((run.code, run.out.as_str()), (0, ""), "{}", run.err);
    let direct = tcplab(&["analyze", "--json", QUICKACK]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), direct.out);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let run = tcplab(&["analyze", "-o", "/no/such/folder/x", QUICKACK]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("/no/such/folder/x"), "{}", run.err);
}

#[cfg(unix)]
#[test]
fn closed_reader_prints_no_error() {
    let mut command = std::process::Command::new("bash");
    let binary = env!("CARGO_BIN_EXE_tcplab");
    let many = vec![LOSS[0]; 200].join(" ");
    let script = format!("set -o pipefail; {binary} analyze --acks {many} | head -1");
    command.args(["-c", &script]).current_dir(root());
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(141));
}

#[test]
fn completions_and_the_manual_page_are_made() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = tcplab(&["completions", shell]);
        assert_eq!(run.code, 0);
        assert!(run.out.contains("tshark-compat"), "{shell}");
    }
    let man = tcplab(&["man"]);
    assert_eq!(man.code, 0);
    for part in [".TH tcplab 1", "TCPLAB ANALYZE", "fail\\-on", "NO_COLOR"] {
        assert!(man.out.contains(part), "{part}");
    }
}
