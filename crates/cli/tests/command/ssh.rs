//! Sessions to other machines, over a real sshd in namespaces.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::sshd::Machines;

#[test]
fn two_machines_are_looked_at() {
    let Some(machines) = Machines::start() else {
        return;
    };
    let look = || machines.tcplab(&["doctor", "--on", "ssh:a,b", "--json"], "config");
    let first = look();
    assert_eq!(first.code, 0, "{}", first.err);
    for host in ["a", "b"] {
        assert!(
            first.err.contains(&format!("{host}: copying tcplab")),
            "{}",
            first.err
        );
    }
    let found = first.json();
    for (n, host) in found["hosts"].as_array().unwrap().iter().enumerate() {
        assert_eq!(host["host"], ["a", "b"][n]);
        assert_eq!(host["reached_at"], format!("10.99.{}.2", n + 1));
        assert_eq!(host["no_capture"], Value::Null);
        // One clock: what is found of it lies within the error that is said of it.
        let offset = host["clock"]["offset_ns"].as_i64().unwrap();
        assert!(
            offset.abs() <= host["clock"]["error_ns"].as_i64().unwrap(),
            "{host}"
        );
    }
    let ways = found["ways"].as_array().unwrap();
    assert_eq!(ways.len(), 2);
    assert!(
        ways.iter()
            .all(|way| way["handshake_ns"].as_i64().unwrap() > 0)
    );
    // The copy stays, each machine has its own, and nothing else lies beside it.
    let again = look();
    assert_eq!((again.code, again.err.as_str()), (0, ""));
    for n in [1, 2] {
        let cache = machines.path(&format!("home-{n}/cache/tcplab/bin"));
        let copies: Vec<_> = std::fs::read_dir(cache)
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        assert_eq!(copies.len(), 1, "{copies:?}");
        assert_eq!(std::fs::read_dir(&copies[0]).unwrap().count(), 1);
    }
    // A copy that was cut short is made anew.
    let text = found["hosts"][0]["path"].as_str().unwrap();
    std::fs::OpenOptions::new()
        .write(true)
        .open(text)
        .unwrap()
        .set_len(1000)
        .unwrap();
    let healed = look();
    assert_eq!(healed.code, 0, "{}", healed.err);
    assert!(healed.err.contains("a: copying tcplab"), "{}", healed.err);
    failures(&machines);
}

/// What a new user meets.
fn failures(machines: &Machines) {
    let fails = |on: &str, config: &str, more: &[&str], what: &[&str]| {
        let args = [&["doctor", "--on", on][..], more].concat();
        let run = machines.tcplab(&args, config);
        assert!([2, 4].contains(&run.code), "{on}: {}\n{}", run.out, run.err);
        for what in what {
            assert!(run.err.contains(what), "{on}: {what}: {}", run.err);
        }
    };
    let by_hand = format!("ssh -F {}", machines.path("no_key").display());
    fails(
        "ssh:a",
        "no_key",
        &[],
        &["a: ", "Permission denied", "ssh-copy-id", &by_hand],
    );
    fails(
        "ssh:a",
        "not_known",
        &[],
        &[
            "a: ",
            "Host key verification failed",
            "connect once by hand",
        ],
    );
    fails(
        "ssh:nobody.invalid,a",
        "config",
        &[],
        &["nobody.invalid: ", "there is no such name"],
    );
    fails(
        "ssh:-oProxyCommand=x",
        "config",
        &[],
        &["begins with a dash"],
    );
    fails("ssh:a,", "config", &[], &["empty host"]);
    fails("host", "config", &[], &["ssh:A,B"]);
    // The other machine's address is wrong.
    fails("ssh:a,b=10.99.1.77", "config", &[], &[]);
    // No program of ours, another machine's program, no program at all.
    let other = machines.path("other");
    let mut elf = std::fs::read("/bin/true").unwrap();
    let program = |file: &std::path::Path| ["--ssh-program".to_owned(), file.display().to_string()];
    let words = program("/bin/true".as_ref());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    fails(
        "ssh:a",
        "config",
        &words,
        &["a: tcplab does not start there", "make static"],
    );
    elf[18..20].copy_from_slice(&183_u16.to_le_bytes());
    std::fs::write(&other, elf).unwrap();
    let words = program(&other);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    fails(
        "ssh:a",
        "config",
        &words,
        &["a: Linux on ", "is for Linux on aarch64", "--ssh-program"],
    );
    std::fs::write(&other, "#!/bin/sh\n").unwrap();
    fails("ssh:a", "config", &words, &["no program for 64-bit Linux"]);
}

#[test]
fn a_far_side_ends_with_its_input_and_its_work_with_it() {
    let mut far = Command::new(env!("CARGO_BIN_EXE_tcplab"))
        .arg("__remote")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = far.stdout.take().unwrap();
    let mut input = far.stdin.take().unwrap();
    let hello = frame(&mut out);
    assert!(
        hello["what"]["Done"]["Hello"]["version"].is_string(),
        "{hello}"
    );
    let request = br#"{"Call":[1,{"Listen":{"address":"127.0.0.1"}}]}"#;
    let mut order = (request.len() as u32).to_be_bytes().to_vec();
    order.extend_from_slice(&[0; 4]);
    order.extend_from_slice(request);
    input.write_all(&order).unwrap();
    let note = frame(&mut out);
    let port = note["what"]["Note"]["Listening"].as_u64().unwrap() as u16;
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    drop(input);
    for _ in 0..3_000 {
        if let Some(status) = far.try_wait().unwrap() {
            assert!(status.success());
            assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
            return;
        }
        sleep(Duration::from_millis(10));
    }
    let _ = far.kill();
    let _ = far.wait();
    panic!("the far side is still there");
}

/// The head of the next frame.
fn frame(from: &mut impl Read) -> Value {
    let mut lengths = [0; 8];
    from.read_exact(&mut lengths).unwrap();
    let [a, b, c, d, rest @ ..] = lengths;
    assert_eq!(rest, [0; 4], "no bytes");
    let mut head = vec![0; u32::from_be_bytes([a, b, c, d]) as usize];
    from.read_exact(&mut head).unwrap();
    serde_json::from_slice(&head).unwrap()
}
