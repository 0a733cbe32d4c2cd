//! `[[host]]`: its sysctls, routes, socket options.

use std::collections::BTreeMap;

use super::error::Fault;
use super::faults::{entries, time};
use super::fields::{Fields, Taken};
use super::keys::{CARD, HOST, Key, METRICS, PROFILE_NAMES, SOCKET, host as keys};
use super::tree::{Entry, Node, Table, Value};
use crate::point::{Card, Host, Offload, QuickAck, Route, SocketOptions, SysctlChange, Wrong};
use crate::profile::{BEHAVIOURS, BehaviourError, Profile, Takes};
use crate::rules::{MAX_OUTAGES, RESERVED, bad_sysctl};

pub(crate) fn hosts(tables: &[Fields<'_>]) -> Result<Vec<Host>, Fault> {
    let mut hosts: Vec<Host> = Vec::new();
    for fields in tables {
        let host = host(fields)?;
        if hosts.iter().any(|known| known.name == host.name) {
            let message = format!("duplicate host `{}`", host.name);
            return Err(at_name(fields, message));
        }
        hosts.push(host);
    }
    Ok(hosts)
}

pub(crate) fn at_name(fields: &Fields<'_>, message: String) -> Fault {
    match fields.node(&keys::NAME) {
        Some(node) => fields.fault(&keys::NAME, node, message),
        None => Fault::new(&fields.span, &fields.path, message),
    }
}

fn host(fields: &Fields<'_>) -> Result<Host, Fault> {
    fields.check(&[HOST])?;
    fields.check_fixed(HOST)?;
    let name = fields
        .name(&keys::NAME)?
        .ok_or_else(|| fields.missing(&keys::NAME))?;
    if RESERVED.contains(&name.as_str()) {
        return Err(at_name(fields, format!("a host cannot be called `{name}`")));
    }
    let offloads = [Offload::None, Offload::Tso, Offload::Gro];
    Ok(Host {
        sysctl: sysctls(fields)?,
        changes: changes(fields)?,
        route: match fields.text(&keys::ROUTE)? {
            Some(words) => route(fields, words)?,
            None => Route::default(),
        },
        socket: options(fields, &keys::SOCKET)?,
        forward: fields.get(&keys::FORWARD)?,
        group: None,
        offload: fields.word(&keys::OFFLOAD, &offloads)?.unwrap_or_default(),
        card: card(fields)?,
        profile: fields
            .word(&keys::PROFILE, &PROFILE_NAMES)?
            .map(str::to_owned),
        behaviour: behaviours(fields)?,
        name,
    })
}

/// The card; `None` without any key of it.
fn card(fields: &Fields<'_>) -> Result<Option<Card>, Fault> {
    if CARD.iter().all(|key| fields.node(key).is_none()) {
        return Ok(None);
    }
    Card::read(fields).map(Some)
}

pub(crate) fn sysctls(fields: &Fields<'_>) -> Result<BTreeMap<String, String>, Fault> {
    let mut out = BTreeMap::new();
    let Some(inner) = fields.table(&keys::SYSCTL)? else {
        return Ok(out);
    };
    for (name, entry) in &inner.table.entries {
        let node = entry.node.at(inner.choice);
        if let Some(why) = bad_sysctl(name) {
            return Err(Fault::new(&entry.key, &inner.path, why));
        }
        let value = match &node.value {
            Value::Integer(n) => n.to_string(),
            Value::Text(_) => inner.text(name)?.unwrap_or_default().to_owned(),
            Value::Flag(_) => {
                return Err(inner.fault(name, node, "sysctls are numbers or texts; write 0 or 1"));
            }
            _ => {
                let message = format!("must be a number or a text, not {}", node.found());
                return Err(inner.fault(name, node, message));
            }
        };
        out.insert(name.clone(), value);
    }
    Ok(out)
}

/// `TIME NAME=VALUE`, in the order of their times.
fn changes(fields: &Fields<'_>) -> Result<Vec<SysctlChange>, Fault> {
    let read = entries(fields, &keys::CHANGE, (MAX_OUTAGES, "changes"), change)?;
    let mut out = read.unwrap_or_default();
    out.sort_by_key(|change| change.at_ns);
    Ok(out)
}

fn change(text: &str) -> Result<SysctlChange, String> {
    let form = || "write TIME NAME=VALUE, such as \"5s net.ipv4.tcp_sack=0\"".to_owned();
    let (at, rest) = text
        .trim()
        .split_once(char::is_whitespace)
        .ok_or_else(form)?;
    let (name, value) = rest.split_once('=').ok_or_else(form)?;
    let (name, value) = (name.trim(), value.trim());
    match bad_sysctl(name) {
        Some(why) => Err(why.to_owned()),
        None if value.is_empty() => Err(form()),
        None => Ok(SysctlChange {
            at_ns: time(at)?,
            name: name.to_owned(),
            value: value.to_owned(),
        }),
    }
}

/// Behaviours by name, each value in its own word.
pub(crate) fn behaviours(fields: &Fields<'_>) -> Result<BTreeMap<String, String>, Fault> {
    let mut out = BTreeMap::new();
    let Some(inner) = fields.table(&keys::BEHAVIOUR)? else {
        return Ok(out);
    };
    let mut scratch = Profile::default();
    for (name, entry) in &inner.table.entries {
        let node = entry.node.at(inner.choice);
        let value = match &node.value {
            Value::Text(_) => inner.text(name)?.unwrap_or_default().to_owned(),
            Value::Integer(n) => n.to_string(),
            Value::Flag(flag) => flag.to_string(),
            _ => {
                let message = format!("must be a word or a number, not {}", node.found());
                return Err(inner.fault(name, node, message));
            }
        };
        match scratch.set(name, &value) {
            Ok(word) => out.insert(name.clone(), word),
            Err(error @ BehaviourError::Value { takes, .. }) => {
                let fault = inner.fault(name, node, error.to_string());
                return Err(match takes {
                    Takes::Words(words) => fault.suggest(&value, words.iter().copied()),
                    Takes::Number(..) => fault,
                });
            }
            Err(error) => {
                let known = BEHAVIOURS.iter().map(|known| known.name);
                let fault = Fault::new(&entry.key, &inner.path, error.to_string());
                return Err(fault.suggest(name, known));
            }
        };
    }
    Ok(out)
}

/// Metrics of a route: pairs of words, which are keys of their own.
fn route(fields: &Fields<'_>, text: &str) -> Result<Route, Fault> {
    let whole = fields.node(&keys::ROUTE);
    let span = |word: &str| whole.map_or(fields.span.clone(), |node| within(node, text, word));
    let mut table = Table::default();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let fault = |message| Fault::new(&span(word), fields.path_of(&keys::ROUTE), message);
        let known = || METRICS.iter().map(|key| key.name);
        if known().all(|name| name != word) {
            let message = format!("`{word}` is not a metric of a route");
            return Err(fault(message).suggest(word, known()));
        }
        let value = words.next();
        let value = value.ok_or_else(|| fault(format!("`{word}` needs a value")))?;
        if value == "lock" {
            let message = format!(
                "`{word} lock`: remove `lock`; `rto_min` is always locked, and other metrics cannot be"
            );
            return Err(fault(message));
        }
        let number = value.parse().map(Value::Integer);
        let node = Node {
            span: span(value),
            value: number.unwrap_or_else(|_| Value::Text(value.to_owned())),
        };
        let key = span(word);
        if table
            .entries
            .insert(word.to_owned(), Entry { key, node })
            .is_some()
        {
            return Err(fault(format!("`{word}` stands twice")));
        }
    }
    Route::read(&Fields {
        table: &table,
        span: span(text),
        path: fields.path_of(&keys::ROUTE),
        choice: fields.choice,
    })
}

/// The place of a word in a text: exact when the text has no escapes before it.
pub(crate) fn within(node: &Node, text: &str, word: &str) -> super::error::Span {
    let quotes = node.span.len().saturating_sub(text.len()) / 2;
    let offset = (word.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    match offset <= text.len() && node.span.len() >= text.len() && quotes <= 3 {
        true => {
            let start = node.span.start + quotes + offset;
            start..start + word.len()
        }
        false => node.span.clone(),
    }
}

/// Options of sockets.
pub(crate) fn options(fields: &Fields<'_>, key: &Key) -> Result<SocketOptions, Fault> {
    let Some(f) = fields.table(key)? else {
        return Ok(SocketOptions::default());
    };
    f.check(&[SOCKET])?;
    SocketOptions::read(&f)
}

impl Taken for QuickAck {
    fn read(f: &Fields<'_>, key: &Key, node: &Node) -> Result<Self, Fault> {
        let text = match &node.value {
            Value::Integer(n) => n.to_string(),
            Value::Text(text) => text.clone(),
            _ => String::new(),
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let value = |word: &str| match word {
            "0" => Some(0),
            "1" => Some(1),
            _ => None,
        };
        let policy = match words.as_slice() {
            ["leave"] => Some(QuickAck::Leave),
            ["once", n] | [n] => value(n).map(QuickAck::Once),
            ["each", n] => value(n).map(QuickAck::Each),
            _ => None,
        };
        policy.ok_or_else(|| {
        f.fault(key, node, format!("{} is not a policy of TCP_QUICKACK", node.found()))
            .help("known: \"leave\", \"once 0\", \"once 1\", \"each 0\", \"each 1\", 0 and 1 (the same as once)")
    })
    }

    fn absent(_: &Key) -> Option<Self> {
        Some(Self::Leave)
    }

    fn check(&self, path: &str, _: &Key) -> Result<(), Wrong> {
        match self {
            Self::Once(n) | Self::Each(n) if ![0, 1].contains(n) => {
                Err(Wrong::at(path, format!("takes 0 or 1, not {n}")))
            }
            _ => Ok(()),
        }
    }
}
