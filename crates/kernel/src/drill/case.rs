//! One script with all that its run needs, and what its run gave, as data between processes.

use serde::{Deserialize, Serialize};
use tcplab_base::Instant;
use tcplab_drill::IpMode;
use tcplab_drill::run::{Entry, Failure, Report, Verdict, What};
use tcplab_drill::script::Direction;

/// A script to run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Case {
    /// Its text.
    pub text: String,
    /// The text of the `defaults.sh` that it names.
    pub defaults: Option<String>,
    /// The mode.
    #[serde(with = "mode")]
    pub mode: IpMode,
    /// Options of the command line, without the dashes.
    pub options: Vec<(String, Option<String>)>,
    /// Symbols of the command line.
    pub defines: Vec<(String, String)>,
    /// Everything that happened is wanted of a script that passes too.
    pub with_entries: bool,
}

/// `--ip_version`'s words.
mod mode {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use tcplab_drill::IpMode;

    pub(super) fn serialize<S: Serializer>(mode: &IpMode, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(mode.word())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<IpMode, D::Error> {
        let word = String::deserialize(from)?;
        IpMode::named(&word).ok_or_else(|| D::Error::custom("no mode"))
    }
}

/// A report's form between processes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Written {
    /// The case's number in its job.
    pub(super) number: usize,
    verdict: Ended,
    entries: Vec<Happened>,
}

#[derive(Debug, Serialize, Deserialize)]
enum Ended {
    Pass,
    Fail(u32, u32, String),
    Skip(u32, String),
}

#[derive(Debug, Serialize, Deserialize)]
struct Happened {
    at_ns: i64,
    line: u32,
    what: Thing,
}

#[derive(Debug, Serialize, Deserialize)]
enum Thing {
    /// A packet that arrives: its first bytes in hexadecimal digits, how many there were, its text.
    In(String, u32, String),
    /// One that leaves.
    Out(String, u32, String),
    Call(String),
    Shell(String),
    Note(String),
}

impl Written {
    /// A report, with what happened or without.
    pub(super) fn new(number: usize, report: Report, with_entries: bool) -> Self {
        let verdict = match report.verdict {
            Verdict::Pass => Ended::Pass,
            Verdict::Fail(f) => Ended::Fail(f.line, f.column, f.why),
            Verdict::Skip { line, why } => Ended::Skip(line, why),
        };
        let entries = match with_entries || matches!(verdict, Ended::Fail(..)) {
            true => report.entries.into_iter().map(happened).collect(),
            false => Vec::new(),
        };
        Self {
            number,
            verdict,
            entries,
        }
    }

    /// The report again.
    pub(super) fn report(self) -> Report {
        Report {
            verdict: match self.verdict {
                Ended::Pass => Verdict::Pass,
                Ended::Fail(line, column, why) => Verdict::Fail(Failure { line, column, why }),
                Ended::Skip(line, why) => Verdict::Skip { line, why },
            },
            entries: self.entries.into_iter().map(entry).collect(),
        }
    }
}

fn happened(entry: Entry) -> Happened {
    let what = match entry.what {
        What::Packet {
            direction,
            bytes,
            len,
            text,
        } => match direction {
            Direction::In => Thing::In(hexadecimal(&bytes), len, text),
            Direction::Out => Thing::Out(hexadecimal(&bytes), len, text),
        },
        What::Call(text) => Thing::Call(text),
        What::Shell(text) => Thing::Shell(text),
        What::Note(text) => Thing::Note(text),
    };
    Happened {
        at_ns: entry.at.as_nanos(),
        line: entry.line,
        what,
    }
}

fn entry(happened: Happened) -> Entry {
    let packet = |direction, digits: &str, len, text| What::Packet {
        direction,
        bytes: bytes(digits),
        len,
        text,
    };
    Entry {
        at: Instant::from_nanos(happened.at_ns),
        line: happened.line,
        what: match happened.what {
            Thing::In(digits, len, text) => packet(Direction::In, &digits, len, text),
            Thing::Out(digits, len, text) => packet(Direction::Out, &digits, len, text),
            Thing::Call(text) => What::Call(text),
            Thing::Shell(text) => What::Shell(text),
            Thing::Note(text) => What::Note(text),
        },
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |n: u8| char::from(DIGITS[usize::from(n & 15)]);
    bytes
        .iter()
        .flat_map(|b| [digit(b >> 4), digit(*b)])
        .collect()
}

/// Up to the first that is no digit.
fn bytes(digits: &str) -> Vec<u8> {
    let pair = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(text, 16).ok()
    };
    digits.as_bytes().chunks(2).map_while(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_go_there_and_back() {
        let packet = What::Packet {
            direction: Direction::Out,
            bytes: vec![0x45, 0, 0xff],
            len: 1500,
            text: "> .".into(),
        };
        let entries = vec![
            Entry {
                at: Instant::from_nanos(-1),
                line: 7,
                what: packet,
            },
            Entry {
                at: Instant::from_nanos(5),
                line: 0,
                what: What::Note("x".into()),
            },
        ];
        let report = Report {
            verdict: Verdict::Skip {
                line: 3,
                why: "needs shell".into(),
            },
            entries,
        };
        let text = serde_json::to_string(&Written::new(4, report.clone(), true)).unwrap();
        let back: Written = serde_json::from_str(&text).unwrap();
        assert_eq!(back.number, 4);
        assert_eq!(back.report(), report);
        assert_eq!(Written::new(0, report, false).report().entries, []);
    }

    #[test]
    fn cases_go_there_and_back() {
        let case = Case {
            text: "0 `x`".into(),
            defaults: None,
            mode: IpMode::Mapped,
            options: vec![("mss".into(), Some("1".into())), ("debug".into(), None)],
            defines: vec![("A".into(), "B".into())],
            with_entries: true,
        };
        let text = serde_json::to_string(&case).unwrap();
        assert_eq!(serde_json::from_str::<Case>(&text).unwrap(), case);
    }
}
