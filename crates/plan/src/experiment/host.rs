//! `[[host]]`: its sysctls, routes, socket options.

use std::collections::BTreeMap;

use super::error::Fault;
use super::fields::Fields;
use super::keys::{CARD, HOST, Key, PROFILE_NAMES, SOCKET, host as keys, socket};
use super::tree::{Node, Value};
use crate::point::{Card, Host, Offload, QuickAck, Route, SocketOptions};
use crate::profile::{BEHAVIOURS, BehaviourError, Profile, Takes};
use crate::rules::{
    BAD_CONGESTION, BAD_FORWARD, BAD_SYSCTL, FORWARD_SYSCTL, MS_NS, MTU, RESERVED, ROUTE_ADVMSS,
    ROUTE_QUICKACK, ROUTE_WINDOW, Range, is_congestion, is_sysctl,
};
use tcplab_base::quantity::TIME;

pub(crate) fn hosts(tables: &[Fields<'_>]) -> Result<Vec<Host>, Fault> {
    let mut hosts: Vec<Host> = Vec::new();
    for fields in tables {
        let host = host(fields)?;
        if hosts.iter().any(|known| known.name == host.name) {
            let message = format!("there is a host `{}` already", host.name);
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

/// The card; none: no key speaks of it.
fn card(fields: &Fields<'_>) -> Result<Option<Card>, Fault> {
    if CARD.iter().all(|key| fields.node(key).is_none()) {
        return Ok(None);
    }
    Ok(Some(Card {
        rx_queues: fields.get(&keys::RX_QUEUES)?,
        rx_ring: fields.get(&keys::RX_RING)?,
        rx_ns: fields.get(&keys::RX_USECS)?,
        frame_ns: fields.get(&keys::RX_FRAME_COST)?,
        packet_ns: fields.get(&keys::RX_PACKET_COST)?,
        caqm: fields.get(&keys::NIC_CAQM)?,
        rps: fields.get(&keys::RPS)?,
    }))
}

pub(crate) fn sysctls(fields: &Fields<'_>) -> Result<BTreeMap<String, String>, Fault> {
    let mut out = BTreeMap::new();
    let Some(inner) = fields.table(&keys::SYSCTL)? else {
        return Ok(out);
    };
    for (name, entry) in &inner.table.entries {
        let node = entry.node.at(inner.choice);
        if !is_sysctl(name) {
            return Err(Fault::new(&entry.key, &inner.path, BAD_SYSCTL));
        }
        if name == FORWARD_SYSCTL {
            return Err(Fault::new(&entry.key, &inner.path, BAD_FORWARD));
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

/// Metrics of a route, in the words of ip-route(8).
pub(crate) const ROUTE_METRICS: [&str; 7] = [
    "quickack", "initcwnd", "initrwnd", "rto_min", "advmss", "mtu", "congctl",
];

fn route(fields: &Fields<'_>, text: &str) -> Result<Route, Fault> {
    let at = |word: &str, message: String| {
        let node = fields.node(&keys::ROUTE);
        let span = node.map_or(fields.span.clone(), |node| within(node, text, word));
        Fault::new(&span, fields.path_of(&keys::ROUTE), message)
    };
    let mut route = Route::default();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        if !ROUTE_METRICS.contains(&word) {
            return Err(
                at(word, format!("`{word}` is no metric of a route")).suggest(word, ROUTE_METRICS)
            );
        }
        let Some(value) = words.next() else {
            return Err(at(word, format!("`{word}` needs a value")));
        };
        // `mtu lock 1400`: the lock keeps path MTU discovery off; no stack here offers that.
        let number = |(min, max): Range| match value.parse::<u32>() {
            Ok(n) if (min..=max).contains(&u64::from(n)) => Ok(Some(n)),
            _ => Err(at(
                value,
                format!("`{word}` takes {min} to {max}, not `{value}`"),
            )),
        };
        match word {
            "quickack" => route.quickack = number(ROUTE_QUICKACK)?,
            "initcwnd" => route.initcwnd = number(ROUTE_WINDOW)?,
            "initrwnd" => route.initrwnd = number(ROUTE_WINDOW)?,
            "advmss" => route.advmss = number(ROUTE_ADVMSS)?,
            "mtu" => route.mtu = number(MTU)?,
            "rto_min" => route.rto_min_ns = Some(rto_min(value).map_err(|why| at(value, why))?),
            _ if is_congestion(value) => route.congctl = Some(value.to_owned()),
            _ => return Err(at(value, BAD_CONGESTION.to_owned())),
        }
    }
    Ok(route)
}

/// Linux keeps this metric in whole milliseconds.
fn rto_min(text: &str) -> Result<i64, String> {
    let ns = i64::try_from(TIME.parse(text)?).unwrap_or(i64::MAX);
    match ns % MS_NS == 0 && ns > 0 {
        true => Ok(ns),
        false => Err("`rto_min` takes whole milliseconds from 1ms on".to_owned()),
    }
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
    Ok(SocketOptions {
        nodelay: f.find(&socket::NODELAY)?,
        quickack: quickack(&f)?,
        rcvbuf: f.find(&socket::RCVBUF)?,
        sndbuf: f.find(&socket::SNDBUF)?,
        rcvlowat: f.find(&socket::RCVLOWAT)?,
        user_timeout_ns: f.find(&socket::USER_TIMEOUT)?,
        keepalive_ns: f.find(&socket::KEEPALIVE)?,
        congestion: congestion(&f)?,
        notsent_lowat: f.find(&socket::NOTSENT_LOWAT)?,
        maxseg: f.find(&socket::MAXSEG)?,
        tos: tos(&f)?,
        cpu: f.find(&socket::CPU)?,
    })
}

/// A word of the DS field, or its byte.
fn tos(f: &Fields<'_>) -> Result<Option<u8>, Fault> {
    let Some(node) = f.node(&socket::TOS) else {
        return Ok(None);
    };
    let parsed = match &node.value {
        Value::Integer(n) => u8::try_from(*n).ok(),
        Value::Text(text) => crate::tos::parse(text),
        _ => None,
    };
    parsed.map(Some).ok_or_else(|| {
        let found = node.found();
        let fault = f.fault(&socket::TOS, node, format!("{found} is no value of IP_TOS"));
        fault.help("known: BE, BK, LE, CS0 to CS7, AF11 to AF43, VA, EF, and the byte itself: 0 to 255 or \"0x..\"")
    })
}

fn congestion(f: &Fields<'_>) -> Result<Option<String>, Fault> {
    let (Some(node), Some(name)) = (f.node(&socket::CONGESTION), f.text(&socket::CONGESTION)?)
    else {
        return Ok(None);
    };
    match is_congestion(name) {
        true => Ok(Some(name.to_owned())),
        false => Err(f.fault(&socket::CONGESTION, node, BAD_CONGESTION)),
    }
}

fn quickack(f: &Fields<'_>) -> Result<QuickAck, Fault> {
    let Some(node) = f.node(&socket::QUICKACK) else {
        return Ok(QuickAck::Leave);
    };
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
        f.fault(&socket::QUICKACK, node, format!("{} is no policy of TCP_QUICKACK", node.found()))
            .help("known: \"leave\", \"once 0\", \"once 1\", \"each 0\", \"each 1\", 0 and 1 (the same as once)")
    })
}
