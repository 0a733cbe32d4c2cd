//! Tests of the real binary: what a person or a script sees of it.

mod agreement;
mod annotate;
mod bench;
mod bench_ssh;
mod bounds;
mod caqm;
mod compare;
mod contract;
mod diff;
mod documents;
mod drill;
mod endings;
mod explain;
mod forms;
mod golden;
mod host;
mod hostile;
mod inject;
mod inputs;
mod json;
mod kernel;
mod link;
mod live;
mod manifest;
mod marks;
mod network;
mod outputs;
mod population;
mod probe;
mod prove;
mod qdisc;
mod qemu;
mod reading;
mod replay;
mod reproduce;
mod rows;
mod rrul;
mod rto_edits;
mod run;
mod schema;
mod ssh;
mod sshd;
mod starters;
mod streams;
mod topology;
mod troubles;
mod usage;
mod via;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tcplab_capture::{Body, Reader};
use tcplab_wire::{Config, Parsed, TcpPacket, parse_frame};

/// What one run of the command gave.
pub struct Run {
    /// Exit code; -1 when a signal ended it.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Run {
    fn new(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Standard output as one JSON document.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|e| panic!("{e}: {}\n{}", self.out, self.err))
    }
}

/// The command, in the repository's root, with no settings of the tester's terminal.
pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tcplab"));
    command.args(args).current_dir(root());
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    command
}

/// Runs the command to its end.
pub fn tcplab(args: &[&str]) -> Run {
    Run::new(command(args).output().unwrap())
}

/// Runs the command with this on its standard input.
pub fn tcplab_with(args: &[&str], input: &[u8]) -> Run {
    let mut command = command(args);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // The command may end without reading it all.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run::new(output)
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// A shipped capture: a Linux 5.10 receiver that leaves quick-ACK mode after 16 segments.
pub const QUICKACK: &str = "tests/captures/quickack-5.10.46.a.pcap";

/// A shipped capture of bulk data with two lost segments, at the client and at the server.
pub const LOSS: [&str; 2] = [
    "tests/captures/bulk-loss.a.pcap",
    "tests/captures/bulk-loss.b.pcap",
];

/// The bytes of a shipped capture.
pub fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(root().join(name)).unwrap()
}

/// A folder for the files of one test.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Runs an experiment; its first point. The result stays in a folder of `place` called like the stack.
pub fn point(experiment: &str, stack: &str, place: &Path) -> Value {
    let file = place.join("t.toml");
    std::fs::write(&file, experiment).unwrap();
    let out = place.join(stack.replace(':', "-"));
    let (file, out) = (text(&file), text(&out));
    let run = tcplab(&["run", file, "--on", stack, "--json", "--out", out]);
    assert_eq!(run.code, 0, "{experiment}\n{}\n{}", run.err, run.out);
    run.json()["points"][0].clone()
}

/// The TCP packets of a capture.
pub fn tcp_packets(path: &Path) -> Vec<TcpPacket> {
    let mut reader = Reader::new(File::open(path).unwrap()).unwrap();
    let mut all = Vec::new();
    while let Some(record) = reader.next().unwrap() {
        let Body::Frame {
            link,
            data,
            orig_len,
        } = record.body
        else {
            continue;
        };
        if let Parsed::Tcp(packet) = parse_frame(link, data, orig_len, &Config::default()) {
            all.push(packet);
        }
    }
    all
}

/// A path as text.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
