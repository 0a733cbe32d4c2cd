//! nstat: text (`#kernel`, a name, a count, a rate) and JSON (`{"kernel":{...}}`).

use serde_json::Value;

use super::builder::Builder;
use super::json::{at, first, looks, one};
use super::{ImportError, Input};
use crate::metrics::{Arm, Better, Metric};

pub(super) fn is(text: &str) -> bool {
    let is_text = |line: &str| line.starts_with("#kernel") || line.starts_with("#extended");
    match looks(text) {
        true => first(text).is_some_and(|d| tables(&d).next().is_some()),
        false => text.lines().next().is_some_and(is_text),
    }
}

/// The tables of a JSON document: `kernel`, or `extended_SOMETHING` with a history of its own.
fn tables(document: &Value) -> impl Iterator<Item = &serde_json::Map<String, Value>> {
    let members = document.as_object().into_iter().flatten();
    let known = members.filter(|(name, _)| *name == "kernel" || name.starts_with("extended"));
    known.filter_map(|(_, table)| table.as_object())
}

/// Which way is better, of the counters of which that is beyond doubt.
fn better(name: &str) -> Better {
    let bad = [
        "TcpRetransSegs",
        "TcpInErrs",
        "TcpAttemptFails",
        "TcpExtTCPTimeouts",
        "TcpExtTCPLostRetransmit",
        "TcpExtTCPSpuriousRTOs",
        "TcpExtListenDrops",
        "TcpExtListenOverflows",
        "UdpInErrors",
        "UdpRcvbufErrors",
    ];
    match bad.contains(&name) {
        true => Better::Lower,
        false => Better::Neither,
    }
}

pub(super) fn read(input: &Input) -> Result<Vec<Arm>, ImportError> {
    let mut builder = Builder::new(input);
    "nstat".clone_into(&mut builder.source().tool);
    if looks(input.text) {
        let document = one(input)?;
        if at(&document, &["kernel"]).is_none() && tables(&document).next().is_none() {
            return Err(ImportError::new(
                input,
                "kernel",
                "no counters found",
                "write it with `nstat -asj`",
            ));
        }
        for (name, value) in tables(&document).flatten() {
            builder.value(Metric::new(name, "", better(name)), value.as_f64());
        }
        return Ok(builder.done());
    }
    for (at, line) in input.text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let Some(name) = words.next().filter(|name| !name.starts_with('#')) else {
            continue;
        };
        let value = words.next().and_then(|word| word.parse().ok());
        if value.is_none() {
            return Err(ImportError::new(
                input,
                format!("line {}", at + 1),
                format!("no value after `{name}`"),
                "give the unmodified output of `nstat`",
            ));
        }
        builder.value(Metric::new(name, "", better(name)), value);
    }
    Ok(builder.done())
}
