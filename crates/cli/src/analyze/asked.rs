//! `--stream N` where a capture has no stream N: said, never an empty answer.

use std::collections::BTreeMap;

use tcplab_os::say;

use crate::failure::Failure;

/// Names of captures that one message lists.
const LISTED: usize = 3;

/// The numbers that were asked for, and the captures that lack them.
#[derive(Default)]
pub struct Asked {
    /// For each number: whether some capture has it, and the messages of the captures that lack it.
    numbers: BTreeMap<u64, (bool, Vec<String>)>,
}

impl Asked {
    /// These numbers were asked for.
    pub fn new(numbers: impl IntoIterator<Item = u64>) -> Self {
        let numbers = numbers.into_iter().map(|n| (n, Default::default()));
        Self {
            numbers: numbers.collect(),
        }
    }

    /// A capture was read to its end, and has so many streams.
    pub fn capture(&mut self, name: &str, streams: u64) {
        for (number, (found, lacking)) in &mut self.numbers {
            if *number < streams {
                *found = true;
            } else {
                lacking.push(format!("{name} has {}", range(streams)));
            }
        }
    }

    /// The error for numbers that no capture has. What only some of the captures lack is said at once.
    pub fn check(&self) -> Result<(), Failure> {
        let mut missing = Vec::new();
        for (number, (found, lacking)) in &self.numbers {
            let list = listed(lacking);
            match found {
                _ if lacking.is_empty() => {}
                true => say(&format!("tcplab: no stream {number}: {list}")),
                false => missing.push((number, list)),
            }
        }
        let Some((_, list)) = missing.first() else {
            return Ok(());
        };
        let plural = if missing.len() > 1 {
            "streams"
        } else {
            "stream"
        };
        let numbers: Vec<String> = missing.iter().map(|(n, _)| n.to_string()).collect();
        Err(Failure::input(format!(
            "no {plural} {}: {list}",
            numbers.join(", ")
        )))
    }
}

/// The first of them, and how many more there are.
fn listed(lacking: &[String]) -> String {
    let first = lacking.get(..LISTED).unwrap_or(lacking).join("; ");
    match lacking.len().saturating_sub(LISTED) {
        0 => first,
        more => format!("{first}; and {more} more captures"),
    }
}

/// How many streams there are, and their numbers.
fn range(streams: u64) -> String {
    match streams {
        0 => "no TCP stream".into(),
        1 => "1 TCP stream, number 0".into(),
        n => format!("{n} TCP streams, numbers 0 to {}", n - 1),
    }
}
