//! tshark's verdicts on a capture, with the preferences that it has when nobody changed any.

use std::fs;
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

/// Where tshark is told to look, and where its answers are kept.
pub struct Places<'a> {
    /// A folder without preferences.
    pub preferences: &'a Path,
    /// Answers of earlier runs; reading a capture takes tshark half a second at least.
    pub answers: Option<&'a Path>,
}

/// Lets tshark read a capture.
pub fn read(path: &Path, places: &Places<'_>) -> anyhow::Result<Theirs> {
    let kept = places.answers.map(|folder| {
        let name = path.to_string_lossy().replace(['/', '\\'], "_");
        folder.join(name + ".tsv")
    });
    if let Some(text) = kept.as_ref().and_then(|k| fs::read_to_string(k).ok()) {
        return answer(&text);
    }
    let text = ask(path, places.preferences)?;
    if let Some(kept) = kept {
        fs::write(kept, &text)?;
    }
    answer(&text)
}

/// Runs tshark: its complaint (or an empty line), then one line for each frame.
fn ask(path: &Path, preferences: &Path) -> anyhow::Result<String> {
    let mut command = Command::new("tshark");
    command
        .env("WIRESHARK_CONFIG_DIR", preferences)
        .args(["-n", "-r"])
        .arg(path)
        .args(["-T", "fields", "-E", "separator=|", "-E", "occurrence=l"]);
    for field in ["frame.protocols", "tcp.srcport", "tcp.stream"] {
        command.args(["-e", field]);
    }
    for (_, field) in Verdicts::FIELDS {
        command.args(["-e", field]);
    }
    let out = command
        .stdin(Stdio::null())
        .output()
        .context("cannot run tshark")?;
    let complaint = String::from_utf8_lossy(&out.stderr);
    let complaint = match complaint.lines().last() {
        Some(line) if !out.status.success() => line,
        _ => "",
    };
    Ok(format!(
        "{complaint}\n{}",
        String::from_utf8_lossy(&out.stdout)
    ))
}

fn answer(text: &str) -> anyhow::Result<Theirs> {
    let mut lines = text.lines();
    let complaint = lines.next().unwrap_or_default();
    let mut theirs = Theirs {
        frames: Vec::new(),
        protocols: Vec::new(),
        error: (!complaint.is_empty()).then(|| complaint.to_owned()),
    };
    for line in lines {
        let (frame, protocols) = parse(line)?;
        theirs.frames.push(frame);
        theirs.protocols.push(protocols);
    }
    Ok(theirs)
}

fn parse(line: &str) -> anyhow::Result<(Frame, String)> {
    let words: Vec<&str> = line.split('|').collect();
    let [protocols, port, stream, flags @ ..] = &words[..] else {
        bail!("tshark printed `{line}`");
    };
    let mut frame = Frame {
        is_tcp: !port.is_empty(),
        stream: stream.parse().ok(),
        verdicts: 0,
    };
    for (word, (bit, _)) in flags.iter().zip(Verdicts::FIELDS) {
        if !word.is_empty() {
            frame.verdicts |= bit;
        }
    }
    Ok((frame, (*protocols).to_owned()))
}
