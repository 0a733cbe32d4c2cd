//! A rate that a file says: the times at which a link may send, in the format of Mahimahi.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When one way of a link may send, over and over again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateTrace {
    /// The file; a path that is not absolute begins where the run was started.
    pub file: String,
    /// What is in it: milliseconds since the run's start, in order, each a chance to send
    /// [`RateTrace::BYTES`]; after the last one it begins anew at that time. Empty until the run: whoever begins it
    /// reads the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_ms: Vec<u32>,
}

impl RateTrace {
    /// Bytes of Ethernet frames that one line lets through: a full frame of an MTU of 1500.
    pub const BYTES: usize = 1_514;
    /// Lines of a file at most.
    pub const MAX_LINES: usize = 2_000_000;

    /// Reads the text of a file.
    ///
    /// # Errors
    /// The line that is no time, or earlier than the one before; or that the file says nothing.
    pub fn parse(text: &str) -> Result<Vec<u32>, String> {
        let mut at_ms: Vec<u32> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let wrong = |why: &str| format!("line {number}: {why}");
            if at_ms.len() == Self::MAX_LINES {
                return Err(wrong(&format!("more than {} lines", Self::MAX_LINES)));
            }
            let ms = line.trim().parse();
            let ms = ms.map_err(|_| wrong("is not a whole number of milliseconds"))?;
            if at_ms.last().is_some_and(|last| *last > ms) {
                return Err(wrong("is earlier than the line before"));
            }
            at_ms.push(ms);
        }
        match at_ms.last() {
            None => Err("has no lines: write a time in milliseconds on each".to_owned()),
            Some(0) => Err("all times are 0: the last one is how long the trace lasts".to_owned()),
            Some(_) => Ok(at_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_time_on_each_line() {
        assert_eq!(RateTrace::parse("0\n5\r\n5\n12\n"), Ok(vec![0, 5, 5, 12]));
        let wrong = |text: &str| RateTrace::parse(text).unwrap_err();
        assert!(wrong("").contains("no lines"));
        assert!(wrong("0\n0\n").contains("all times are 0"));
        assert!(wrong("1\nx\n").starts_with("line 2: is not a whole number"));
        assert!(wrong("1\n-1\n").starts_with("line 2: is not a whole number"));
        assert!(wrong("7\n3\n").starts_with("line 2: is earlier"));
    }
}
