//! tshark's verdicts on a capture, with the preferences that it has when nobody changed any.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use tcplab_analyze::compat::Verdicts;

use super::Frame;

/// What tshark says about a capture.
pub struct Theirs {
    /// One for each frame of the file, in its order.
    pub frames: Vec<Frame>,
    /// `frame.protocols`, beside `frames`.
    pub protocols: Vec<String>,
    /// What it printed on standard error, when it did not like the file.
    pub error: Option<String>,
}

/// `tshark --version`, its first line.
pub fn version() -> anyhow::Result<String> {
    let out = Command::new("tshark")
        .arg("--version")
        .output()
        .context("cannot run tshark; install Debian's package `tshark`")?;
    let text = String::from_utf8_lossy(&out.stdout);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// Lets tshark read a capture. `empty` is a folder without preferences.
pub fn read(path: &Path, empty: &Path) -> anyhow::Result<Theirs> {
    let mut command = Command::new("tshark");
    command
        .env("WIRESHARK_CONFIG_DIR", empty)
        .args(["-n", "-r"])
        .arg(path)
        .args(["-T", "fields", "-E", "separator=|", "-E", "occurrence=l"]);
    for field in ["frame.protocols", "tcp.srcport", "tcp.stream"] {
        command.args(["-e", field]);
    }
    command.args(["-e", "tcp.analysis.duplicate_ack_num"]);
    for (_, field) in Verdicts::FIELDS {
        command.args(["-e", field]);
    }
    let out = command
        .stdin(Stdio::null())
        .output()
        .context("cannot run tshark")?;
    let mut theirs = Theirs {
        frames: Vec::new(),
        protocols: Vec::new(),
        error: None,
    };
    for line in String::from_utf8_lossy(&out.stdout).lines() {
        let (frame, protocols) = parse(line)?;
        theirs.frames.push(frame);
        theirs.protocols.push(protocols);
    }
    if !out.status.success() {
        let text = String::from_utf8_lossy(&out.stderr);
        theirs.error = text.lines().last().map(str::to_owned);
    }
    Ok(theirs)
}

fn parse(line: &str) -> anyhow::Result<(Frame, String)> {
    let words: Vec<&str> = line.split('|').collect();
    let [protocols, port, stream, repetition, flags @ ..] = &words[..] else {
        bail!("tshark printed `{line}`");
    };
    let mut frame = Frame {
        is_tcp: !port.is_empty(),
        stream: stream.parse().ok(),
        repetition: repetition.parse().unwrap_or(0),
        verdicts: 0,
    };
    for (word, (bit, _)) in flags.iter().zip(Verdicts::FIELDS) {
        if !word.is_empty() {
            frame.verdicts |= bit;
        }
    }
    Ok((frame, (*protocols).to_owned()))
}
