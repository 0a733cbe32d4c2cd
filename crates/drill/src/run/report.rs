//! What a run says: the verdict, and everything that happened.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use tcplab_base::Instant;
use tcplab_capture::{Interface, PcapngWriter};
use tcplab_wire::LinkType;

use crate::script::Direction;

/// How a script ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Verdict {
    /// As it says.
    Pass,
    /// Not as it says.
    Fail(Failure),
    /// It asks for what the target or we do not have.
    Skip {
        /// The line that asks for it; 0: no line.
        line: u32,
        /// What.
        why: String,
    },
}

/// Where and how a script failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// The line of the event, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// What was wrong: the first line is a sentence, more lines show both sides. Without the file's name.
    pub why: String,
}

/// Something that happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// When, since the script's begin.
    #[serde(with = "nanoseconds")]
    pub at: Instant,
    /// The line of the script that asked for it or expected it; 0: none did.
    pub line: u32,
    /// What.
    pub what: What,
}

mod nanoseconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use tcplab_base::Instant;

    pub(super) fn serialize<S: Serializer>(at: &Instant, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_i64(at.as_nanos())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Instant, D::Error> {
        i64::deserialize(from).map(Instant::from_nanos)
    }
}

/// Bytes kept of a packet: all headers that a script can have around it.
pub const SNAP_BYTES: usize = 256;

/// What happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum What {
    /// A packet, as it was on the wire.
    Packet {
        /// Which way it went.
        direction: Direction,
        /// From the IP header on, at most [`SNAP_BYTES`]: payload is zeros.
        bytes: Vec<u8>,
        /// How many there were.
        len: u32,
        /// Its text, in the script's numbers where they are known.
        text: String,
    },
    /// A system call that is over, with its result.
    Call(String),
    /// A setting that a shell line asked for.
    Shell(String),
    /// A packet that differs, where that is not fatal (`--non_fatal=packet`), or output of code.
    Note(String),
}

/// What a run says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// How it ended.
    pub verdict: Verdict,
    /// What happened, in the order of time.
    pub entries: Vec<Entry>,
}

impl Report {
    /// Whether there was a packet.
    pub fn has_packets(&self) -> bool {
        let is_packet = |entry: &Entry| matches!(entry.what, What::Packet { .. });
        self.entries.iter().any(is_packet)
    }

    /// Everything that happened, a line each, as `-v` shows it.
    pub fn transcript(&self, path: &str) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            let at = seconds(entry.at.as_nanos() / 1_000);
            let place = match entry.line {
                0 => "-".to_string(),
                line => format!("{path}:{line}"),
            };
            let what = match &entry.what {
                What::Packet { text, .. } | What::Call(text) | What::Note(text) => text.clone(),
                What::Shell(text) => format!("`{text}`"),
            };
            text += &format!("{at:>12}  {what}  ({place})\n");
        }
        text
    }

    /// Writes the packets as pcapng: one interface of IP packets, each packet with its line of the
    /// script and its text in the script's numbers as comments.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_pcapng(&self, path: &str, out: impl Write) -> io::Result<()> {
        let mut writer = PcapngWriter::new(out)?;
        let interface = writer.add_interface(&Interface {
            link: LinkType::Raw,
            snaplen: SNAP_BYTES as u32,
            tsresol: 9,
            name: Some("tun0".into()),
        })?;
        let failed = match &self.verdict {
            Verdict::Fail(failure) => failure.line,
            _ => 0,
        };
        for entry in &self.entries {
            let What::Packet {
                bytes, len, text, ..
            } = &entry.what
            else {
                continue;
            };
            let place = format!("{path}:{}", entry.line);
            let comments: &[&str] = match entry.line {
                0 => &["not in the script", text],
                line if line == failed => &[&place, text, "the script failed here"],
                _ => &[&place, text],
            };
            writer.packet(interface, Some(entry.at), bytes, *len, comments)?;
        }
        writer.finish().map(drop)
    }
}

impl What {
    /// A packet, of which the headers are kept.
    pub(super) fn packet(direction: Direction, bytes: &[u8], text: String) -> Self {
        Self::Packet {
            direction,
            bytes: bytes.iter().copied().take(SNAP_BYTES).collect(),
            len: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            text,
        }
    }
}

/// Microseconds as seconds with six decimals.
pub(super) fn seconds(us: i64) -> String {
    let sign = if us < 0 { "-" } else { "" };
    let us = us.unsigned_abs();
    format!("{sign}{}.{:06}", us / 1_000_000, us % 1_000_000)
}
