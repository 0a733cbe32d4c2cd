//! `drop`, `duplicate`, `mark`, `late`: what happens to listed frames of a way.

use super::error::Fault;
use super::fields::Fields;
use super::keys::links as keys;
use crate::point::{By, Does, Event, Of};
use crate::rules::{MAX_EVENT, MAX_EVENTS};
use tcplab_base::quantity::TIME;

pub(super) fn events(fields: &Fields<'_>, by: By) -> Result<Vec<Event>, Fault> {
    let mut out = Vec::new();
    for key in [keys::DROP, keys::DUPLICATE, keys::MARK, keys::LATE].map(|key| key.name) {
        for (node, text) in fields.texts(key)?.unwrap_or_default() {
            if by == By::Kernel {
                let message = "kernel links cannot act on listed frames: write by = \"tcplab\"";
                return Err(fields.fault(key, node, message));
            }
            out.push(event(key, text).map_err(|(why, kind)| {
                let fault = fields.fault(key, node, why);
                match kind {
                    Some(kind) => fault.suggest(kind, Of::WORDS.iter().map(|(word, _)| *word)),
                    None => fault,
                }
            })?);
            if out.len() > MAX_EVENTS {
                let message = format!("more than {MAX_EVENTS} listed events one way");
                return Err(fields.fault(key, node, message));
            }
        }
    }
    Ok(out)
}

/// `data 20`, `data 30-35`, `data 20 by 30ms`; or what is wrong, and a kind that is not known.
fn event<'a>(key: &str, text: &'a str) -> Result<Event, (String, Option<&'a str>)> {
    let form = || {
        let form = match key {
            "late" => "KIND N by TIME, such as \"data 20 by 30ms\"",
            _ => "KIND N or KIND N-M, such as \"data 20\" or \"data 30-35\"",
        };
        (format!("write {form}"), None)
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let (kind, numbers, does) = match (key, words.as_slice()) {
        ("late", [kind, numbers, "by", time]) => {
            let ns = TIME.parse(time).map_err(|why| (why, None))?;
            (
                *kind,
                *numbers,
                Does::DelayNs(i64::try_from(ns).unwrap_or(i64::MAX)),
            )
        }
        ("drop", [kind, numbers]) => (*kind, *numbers, Does::Drop),
        ("duplicate", [kind, numbers]) => (*kind, *numbers, Does::Duplicate),
        ("mark", [kind, numbers]) => (*kind, *numbers, Does::Mark),
        _ => return Err(form()),
    };
    let of = Of::WORDS.iter().find(|(word, _)| *word == kind);
    let Some((_, of)) = of else {
        return Err((format!("`{kind}` is not a kind of frame"), Some(kind)));
    };
    let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
    let number = |text: &str| {
        text.parse::<u64>()
            .ok()
            .filter(|n| (1..=MAX_EVENT).contains(n))
    };
    let (Some(first), Some(last)) = (number(first), number(last)) else {
        return Err((
            format!("`{numbers}` is neither a number from 1 on nor a range of such numbers"),
            None,
        ));
    };
    if first > last {
        return Err((format!("`{numbers}` ends before it begins"), None));
    }
    Ok(Event {
        of: *of,
        first,
        last,
        does,
    })
}
