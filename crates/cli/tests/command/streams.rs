//! Standard output and standard error that are closed, full, or a pipe that nobody reads: no command panics, and the exit
//! code tells whether the result is out.

use std::fs::File;
use std::process::{Command, Stdio};

use super::{LOSS, QUICKACK, command, folder, root, text};

/// The exit code of a Rust program that panicked.
const PANICKED: i32 = 101;

/// Every command that prints a result and needs neither root nor a network.
const PRINTS: &[&[&str]] = &[
    &["--help"],
    &["--version"],
    &["run", "--help"],
    &["stacks"],
    &["stacks", "--json"],
    &["stacks", "--profiles"],
    &["doctor"],
    &["doctor", "--json"],
    &["kernel", "list", "--json"],
    &["kernel", "list"],
    &["analyze", QUICKACK],
    &["analyze", QUICKACK, "--json"],
    &["analyze", QUICKACK, "--acks"],
    &["analyze", LOSS[0], "--tshark-compat"],
    &["analyze", "--pair", LOSS[0], LOSS[1]],
    &["explain", QUICKACK],
    &["run", "examples/delayed-ack.toml"],
    &["run", "examples/delayed-ack.toml", "--json"],
    &["run", "examples/delayed-ack.toml", "--dry-run"],
    &[
        "bisect",
        "examples/delayed-ack.toml",
        "--bad",
        "1 > 2",
        "--over",
        "model:linux-6.1,model:linux-6.12",
    ],
    &["population", "show", "examples/rto-p0.toml"],
    &["drill", "tests/pkt/open", "--folders"],
    &["drill", "tests/pkt/open", "--tap"],
    &["drill", "tests/pkt/open", "--dry-run"],
    &["inject", "--list"],
    &["schema", "run"],
    &["completions", "bash"],
    &["man"],
];

/// Commands that only have something to say on standard error, and their exit codes.
const FAILS: &[(&[&str], i32)] = &[
    (&["no-such-command"], 2),
    (&["run"], 2),
    (&["run", "no-such-file"], 2),
    (&["run", "no-such-file", "--json"], 2),
    (&["analyze", "no-such-file"], 2),
    (&["drill", "no-such-file"], 2),
    (&["kernel", "rm", "no-such-kernel"], 2),
    (&["link", "new:a", "vlan:3"], 2),
];

/// The command with an empty cache: it boots no kernel.
fn alone(args: &[&str], cache: &str) -> Command {
    let mut command = command(args);
    command.env("XDG_CACHE_HOME", cache);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The same, started by a shell that closes one of its streams.
fn closed(args: &[&str], cache: &str, which: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec \"$0\" \"$@\" {which}>&-")]);
    shell.arg(env!("CARGO_BIN_EXE_tcplab")).args(args);
    shell.env("XDG_CACHE_HOME", cache).current_dir(root());
    shell.stdin(Stdio::null());
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

/// The exit code and standard error. Fails on a panic.
fn ended(command: &mut Command) -> (i32, String) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code().unwrap_or(-1);
    assert_ne!(code, PANICKED, "{command:?}: {said}");
    assert!(!said.contains("panicked"), "{command:?}: {said}");
    (code, said)
}

#[test]
fn closed_or_full_stdout_ends_a_command_without_a_panic() {
    let place = folder();
    let cache = text(place.path());
    for args in PRINTS {
        let (usual, said) = ended(&mut alone(args, cache));
        assert!(usual <= 3, "{args:?}: {said}");
        let (reader, pipe) = std::io::pipe().unwrap();
        drop(reader);
        let (code, said) = ended(alone(args, cache).stdout(pipe));
        assert_eq!(code, 141, "{args:?}: as a shell says SIGPIPE: {said}");
        assert!(
            !said.contains("pipe"),
            "{args:?}: nobody is left to read: {said}"
        );
        let (code, said) = ended(alone(args, cache).stdout(full()));
        assert_eq!(code, 2, "{args:?}: {said}");
        assert!(said.contains("cannot write the result"), "{args:?}: {said}");
        // Nobody wants it: not even an error.
        assert_eq!(ended(&mut closed(args, cache, "")).0, usual, "{args:?}");
    }
}

#[test]
fn closed_or_full_stderr_changes_no_exit_code() {
    let place = folder();
    let cache = text(place.path());
    let failing = FAILS.iter().copied();
    for (args, usual) in failing.chain([(PRINTS[16], 0), (PRINTS[19], 1)]) {
        assert_eq!(ended(&mut alone(args, cache)).0, usual, "{args:?}");
        assert_eq!(
            ended(alone(args, cache).stderr(full())).0,
            usual,
            "{args:?}"
        );
        assert_eq!(ended(&mut closed(args, cache, "2")).0, usual, "{args:?}");
        let (reader, pipe) = std::io::pipe().unwrap();
        drop(reader);
        assert_eq!(ended(alone(args, cache).stderr(pipe)).0, usual, "{args:?}");
    }
}
