//! `[[link]]`: which hosts it joins, and what happens to frames each way.

use std::path::Path;

use super::error::Fault;
use super::events::events;
use super::faults;
use super::fields::Fields;
use super::host::within;
use super::keys::{Key, LINK, WAY, links as keys};
use super::tc::Shape;
use super::tree::{Node, Value};
use super::way_rules::{two_rates, unchangeable};
use crate::point::{By, Direction, Host, Ip, Link};
use tcplab_qdisc::netem::{Chance, Loss};
use tcplab_qdisc::{Kind, ONLY_KERNEL, Settings};

/// The links. There is one at most between two hosts, so their names are its name.
pub(crate) fn links(tables: &[Fields<'_>], (hosts, ip): (&[Host], Ip)) -> Result<Vec<Link>, Fault> {
    let mut links: Vec<Link> = Vec::new();
    for fields in tables {
        let link = link(fields, hosts)?;
        if let Some(message) = wrong_mtu(&link, (hosts, ip)) {
            return Err(fields.at(&keys::MTU, message));
        }
        let ends = |l: &Link| (l.a.min(l.b), l.a.max(l.b));
        if links.iter().any(|known| ends(known) == ends(&link)) {
            let host = |i: usize| hosts.get(i).map_or("", |h| h.name.as_str());
            let (a, b) = (host(link.a), host(link.b));
            let message = format!("duplicate link between `{a}` and `{b}`");
            return Err(Fault::new(&fields.span, &fields.path, message));
        }
        let name = |l: &Link| {
            let host = |i: usize| hosts.get(i).map_or("", |h| h.name.as_str());
            format!("{}-{}", host(l.a), host(l.b))
        };
        if let Some(known) = links.iter().find(|known| name(known) == name(&link)) {
            let message = format!("two links are called `{}`: rename a host", name(known));
            return Err(Fault::new(&fields.span, &fields.path, message));
        }
        links.push(link);
    }
    Ok(links)
}

/// TCP's smallest segments: headers without options, and the default of `tcp_min_snd_mss`.
const LEAST_TCP: u32 = 20 + 20 + 48;

/// Why a link cannot carry these hosts' packets, if it cannot.
pub(crate) fn wrong_mtu(link: &Link, (hosts, ip): (&[Host], Ip)) -> Option<String> {
    let (mtu, least) = (link.mtu, ip.least_mtu());
    if mtu < least {
        return Some(format!(
            "{mtu} is too small: IPv6 needs links with an MTU of at least {least} bytes (RFC 8200 5)"
        ));
    }
    if mtu < LEAST_TCP {
        return Some(format!(
            "{mtu} is too small: below {LEAST_TCP} bytes IP would fragment TCP's smallest segments (tcp_min_snd_mss), and no stack here shows fragments"
        ));
    }
    let ends = [link.a, link.b]
        .into_iter()
        .filter_map(|end| hosts.get(end));
    let larger = ends.filter_map(|host| Some((host, host.route.mtu.filter(|route| *route > mtu)?)));
    larger.map(|(host, route)| {
        format!(
            "the route of `{}` has mtu {route}, more than this link's {mtu}: raise the link's mtu, or lower the route's",
            host.name
        )
    }).next()
}

fn link(fields: &Fields<'_>, hosts: &[Host]) -> Result<Link, Fault> {
    fields.check(&[LINK])?;
    fields.check_fixed(LINK)?;
    let by = fields.word(&keys::BY, &[By::Tcplab, By::Kernel])?;
    let by = by.unwrap_or_default();
    let (a, b) = between(fields, hosts)?;
    let both = queue(fields, by)?;
    let faults = faults::read(fields, by, Direction::default())?;
    Ok(Link {
        a,
        b,
        by,
        mtu: fields.get(&keys::MTU)?,
        a_to_b: way(fields, keys::A_TO_B.name, (&both, &faults), by)?,
        b_to_a: way(fields, keys::B_TO_A.name, (&both, &faults), by)?,
    })
}

/// Paths of files begin in the folder of the experiment's own.
pub(crate) fn locate(links: &mut [Link], experiment: &str) {
    let folder = Path::new(experiment).parent().unwrap_or(Path::new(""));
    let ways = links
        .iter_mut()
        .flat_map(|link| [&mut link.a_to_b, &mut link.b_to_a]);
    for trace in ways.filter_map(|way| way.rate_trace.as_mut()) {
        trace.file = folder.join(&trace.file).to_string_lossy().into_owned();
    }
}

/// A qdisc that shares out the rate of the wire has to know it.
fn knows_rate(fields: &Fields<'_>, key: &str, way: &Direction) -> Result<(), Fault> {
    let Some(queue) = way.queue.as_ref().filter(|_| way.rate_bps.is_none()) else {
        return Ok(());
    };
    if !queue.kind().asks_rate() {
        return Ok(());
    }
    let message = format!(
        "`{}` needs a link rate: add `rate = \"10gbit\"` to the link, or the words `rate 10gbit`",
        queue.words()
    );
    let said = [key, keys::QDISC.name].into_iter();
    let said = said.filter_map(|key| Some((key, fields.node(key)?))).next();
    Err(match said {
        Some((key, node)) => fields.fault(key, node, message),
        None => Fault::new(&fields.span, fields.path_of(key), message),
    })
}

fn between(fields: &Fields<'_>, hosts: &[Host]) -> Result<(usize, usize), Fault> {
    let ends = fields
        .texts(&keys::BETWEEN)?
        .ok_or_else(|| fields.missing(&keys::BETWEEN))?;
    let [(first, a), (second, b)] = ends.as_slice() else {
        let message = format!("a link is between two hosts, not {}", ends.len());
        return Err(fields.at(&keys::BETWEEN, message));
    };
    let a = host_index(fields, &keys::BETWEEN, first, a, hosts)?;
    let b = host_index(fields, &keys::BETWEEN, second, b, hosts)?;
    if a == b {
        return Err(fields.fault(
            &keys::BETWEEN,
            second,
            "a link must join two different hosts",
        ));
    }
    Ok((a, b))
}

/// The host of this name.
pub(crate) fn host_index(
    fields: &Fields<'_>,
    key: &Key,
    node: &Node,
    name: &str,
    hosts: &[Host],
) -> Result<usize, Fault> {
    hosts
        .iter()
        .position(|host| host.name == name)
        .ok_or_else(|| {
            let short: String = name.chars().take(40).collect();
            fields
                .fault(key, node, format!("no host `{short}`"))
                .suggest(name, hosts.iter().map(|host| host.name.as_str()))
        })
}

/// What a table says of the queue: in keys, or in tc's words.
pub(crate) enum Queue {
    Keys(Shape),
    Kernel(String),
    /// A qdisc of tcplab's own link, and the keys of the wire behind it.
    Own(Settings, Shape),
}

fn queue(fields: &Fields<'_>, by: By) -> Result<Queue, Fault> {
    let keys = shape(fields)?;
    let (Some(node), Some(words)) = (fields.node(&keys::QDISC), fields.text(&keys::QDISC)?) else {
        return Ok(Queue::Keys(keys));
    };
    match qdisc(fields, keys::QDISC.name, node, words, by)? {
        Queue::Own(own, _) if wire_of(&own, &keys) != keys => {
            let message = "repeats what a key next to it says: remove one of the two";
            Err(fields.fault(&keys::QDISC, node, message))
        }
        Queue::Own(own, _) => behind(fields, own, keys),
        Queue::Keys(said) => match said.twice(&keys) {
            Some(key) => {
                let message = format!("repeats the key `{key}`: remove one of the two");
                Err(fields.fault(&keys::QDISC, node, message))
            }
            None => Ok(Queue::Keys(said.or(&keys))),
        },
        kernels if keys == Shape::default() => Ok(kernels),
        Queue::Kernel(_) => {
            let message = "with by = \"kernel\" a way has one qdisc and no keys beside it: put `rate` into its words (`htb rate 30mbit child fq_codel`), and a delay on another link";
            Err(fields.fault(&keys::QDISC, node, message))
        }
    }
}

/// The wire behind a qdisc: what netem's words say, they say instead of the keys.
fn wire_of(own: &Settings, keys: &Shape) -> Shape {
    let Kind::Netem(netem) = own.kind() else {
        return keys.clone();
    };
    let is_delayed = netem.latency_ns != 0 || netem.jitter_ns != 0;
    Shape {
        rate_bps: keys.rate_bps.filter(|_| netem.rate.is_none()),
        delay_ns: keys.delay_ns.filter(|_| !is_delayed),
        jitter_ns: keys.jitter_ns.filter(|_| !is_delayed),
        loss_ppb: keys
            .loss_ppb
            .filter(|_| netem.loss == Loss::Random(Chance::default())),
        limit_pkts: keys.limit_pkts,
    }
}

/// Why a limit of the link cannot stand beside this qdisc, and where to write it.
fn own_limit(own: &Settings, key: &Key) -> String {
    let word = match own.kind() {
        Kind::Cake(_) => "memlimit",
        _ => "limit",
    };
    format!(
        "the qdisc `{}` has its own limit: write `{word}` in its words, or move `{}` into the variants without a qdisc",
        own.words(),
        key.name
    )
}

/// A qdisc of our own with the wire of these keys behind it.
fn behind(fields: &Fields<'_>, own: Settings, keys: Shape) -> Result<Queue, Fault> {
    if let (Some(_), Some(node)) = (keys.limit_pkts, fields.node(&keys::LIMIT)) {
        return Err(fields.fault(&keys::LIMIT, node, own_limit(&own, &keys::LIMIT)));
    }
    Ok(Queue::Own(own, keys))
}

fn qdisc(fields: &Fields<'_>, key: &str, node: &Node, words: &str, by: By) -> Result<Queue, Fault> {
    if by == By::Kernel {
        return Ok(Queue::Kernel(of_words(fields, key, node, words)?.into()));
    }
    // What the wire does itself needs no qdisc.
    let shape = match Shape::parse(words) {
        // Linux netem_enqueue(): the limit counts the packets that are delayed as well. The link's limit does not.
        Ok(shape) if shape.limit_pkts.is_some() && shape.delay_ns.is_some_and(|ns| ns > 0) => {
            return own_qdisc(fields, key, node, words);
        }
        Ok(shape) => shape,
        Err(_) => return own_qdisc(fields, key, node, words),
    };
    match contradiction(&shape) {
        Some((_, why)) => Err(fields.fault(key, node, why)),
        None => Ok(Queue::Keys(shape)),
    }
}

fn own_qdisc(fields: &Fields<'_>, key: &str, node: &Node, words: &str) -> Result<Queue, Fault> {
    let own = of_words(fields, key, node, words)?;
    Ok(Queue::Own(own, Shape::default()))
}

fn of_words(fields: &Fields<'_>, key: &str, node: &Node, words: &str) -> Result<Settings, Fault> {
    Settings::parse(words).map_err(|wrong| {
        if ONLY_KERNEL.contains(&wrong.word) {
            let message = format!(
                "tcplab does not know the kernel's qdisc `{}`; it knows {}",
                wrong.word,
                wrong.known.join(", ")
            );
            let place = within(node, words, wrong.word);
            return Fault::new(&place, fields.path_of(key), message);
        }
        let fault = Fault::new(
            &within(node, words, wrong.word),
            fields.path_of(key),
            wrong.why,
        );
        match wrong.known.is_empty() {
            true => fault,
            false => fault.suggest(wrong.word, wrong.known.iter().copied()),
        }
    })
}

fn shape(fields: &Fields<'_>) -> Result<Shape, Fault> {
    Ok(Shape {
        rate_bps: fields.find(&keys::RATE)?,
        delay_ns: fields.find(&keys::DELAY)?,
        jitter_ns: fields.find(&keys::JITTER)?,
        limit_pkts: fields.find(&keys::LIMIT)?,
        loss_ppb: fields.find(&keys::LOSS)?,
    })
}

/// What the single values cannot say: the key that is wrong, and why.
fn contradiction(shape: &Shape) -> Option<(&'static str, &'static str)> {
    if shape.rate_bps == Some(0) {
        return Some((
            keys::RATE.name,
            "a rate of 0 passes no frames; remove it for no limit",
        ));
    }
    let larger = shape.jitter_ns.unwrap_or(0) > shape.delay_ns.unwrap_or(0);
    larger.then_some((keys::JITTER.name, "the jitter is larger than the delay"))
}

pub(crate) fn way(
    fields: &Fields<'_>,
    key: &str,
    around: (&Queue, &Direction),
    by: By,
) -> Result<Direction, Fault> {
    let way = one_way(fields, key, around, by)?;
    if let Some(why) = two_rates(&way) {
        return Err(match fields.node(keys::RATE_TRACE.name) {
            Some(node) => fields.fault(keys::RATE_TRACE.name, node, why),
            None => Fault::new(&fields.span, fields.path_of(key), why),
        });
    }
    knows_rate(fields, key, &way)?;
    one_limit(fields, key, (around.0, &way))?;
    let why = unchangeable(&way).or_else(|| netem_again(fields, key, &way));
    if let Some(why) = why {
        return Err(match fields.node(keys::CHANGE.name) {
            Some(node) => fields.fault(keys::CHANGE.name, node, why),
            None => Fault::new(&fields.span, fields.path_of(key), why),
        });
    }
    Ok(way)
}

/// What netem's words say became keys of the link, which stay when a qdisc comes: another netem would act beside them.
fn netem_again(fields: &Fields<'_>, key: &str, way: &Direction) -> Option<String> {
    let queues = way
        .changes
        .iter()
        .filter_map(|change| change.queue.as_ref());
    // A `pfifo` only changes the limit of the wire's FIFO.
    let mut others = queues
        .map(Settings::kind)
        .filter(|kind| !matches!(kind, Kind::Pfifo(_)));
    if way.queue.is_some() || !matches!(others.next(), Some(Kind::Netem(_))) {
        return None;
    }
    let words = |value: &Value| match value {
        Value::Text(words) => Some(words.clone()),
        _ => None,
    };
    let own = fields.node(key).and_then(|node| match &node.value {
        Value::Table(_) => {
            let inner = fields.table_of(key, node, fields.path_of(key)).ok()?;
            words(&inner.node(&keys::QDISC)?.value)
        }
        value => words(value),
    });
    let both = || words(&fields.node(&keys::QDISC)?.value);
    let words = own.or_else(both)?;
    words.trim_start().starts_with("netem").then(|| {
        "a change to `qdisc netem`: the link's netem is part of the wire: change its words without `qdisc netem` (`5s delay 80ms`)".to_owned()
    })
}

/// A qdisc has a limit of its own, so limits of the link beside it would do nothing.
fn one_limit(
    fields: &Fields<'_>,
    key: &str,
    (both, way): (&Queue, &Direction),
) -> Result<(), Fault> {
    let Some(own) = &way.queue else {
        return Ok(());
    };
    if let Some((node, Value::Table(_))) = fields.node(key).map(|node| (node, &node.value)) {
        let inner = fields.table_of(key, node, fields.path_of(key))?;
        for limit in [&keys::LIMIT, &keys::LIMIT_BYTES] {
            if let Some(node) = inner.node(limit) {
                return Err(inner.fault(limit, node, own_limit(own, limit)));
            }
        }
    }
    match fields.node(&keys::LIMIT_BYTES) {
        Some(node) if matches!(both, Queue::Own(..)) => {
            Err(fields.fault(&keys::LIMIT_BYTES, node, own_limit(own, &keys::LIMIT_BYTES)))
        }
        _ => Ok(()),
    }
}

/// What a way says itself.
struct Said {
    queue: Queue,
    /// Whether words name the queue: else a qdisc of the link holds.
    is_named: bool,
    /// All but the queue.
    way: Direction,
}

fn said(
    fields: &Fields<'_>,
    key: &str,
    (both, around): (&Queue, &Direction),
    by: By,
) -> Result<Said, Fault> {
    let mut said = Said {
        queue: Queue::Keys(Shape::default()),
        is_named: false,
        way: around.clone(),
    };
    let Some(node) = fields.node(key) else {
        return Ok(said);
    };
    match &node.value {
        Value::Text(_) => {
            let words = fields.text(key)?.unwrap_or_default();
            said.is_named = true;
            said.queue = match (qdisc(fields, key, node, words, by)?, both) {
                // The wire behind it is the link's.
                (Queue::Own(own, _), Queue::Keys(keys) | Queue::Own(_, keys)) => {
                    let wire = wire_of(&own, keys);
                    behind(fields, own, wire)?
                }
                (own, _) => own,
            };
        }
        Value::Table(_) => {
            let inner = fields.table_of(key, node, fields.path_of(key))?;
            inner.check(&[WAY])?;
            said.queue = queue(&inner, by)?;
            said.way = faults::read(&inner, by, said.way)?;
            said.is_named = inner.node(&keys::QDISC).is_some();
            said.way.events = events(&inner, by)?;
        }
        _ => {
            let message = format!("must be tc's words or a table, not {}", node.found());
            return Err(fields.fault(key, node, message));
        }
    }
    Ok(said)
}

fn one_way(
    fields: &Fields<'_>,
    key: &str,
    around: (&Queue, &Direction),
    by: By,
) -> Result<Direction, Fault> {
    let own = said(fields, key, around, by)?;
    let node = fields.node(key);
    let merged = |own: Shape, both: &Shape| {
        let shape = own.or(both);
        let Some((wrong, why)) = contradiction(&shape) else {
            return Ok(shape);
        };
        // In the way's own table when it has one, else in the link's.
        Err(match node {
            Some(node) => fields.fault(key, node, why),
            None => fields.at(wrong, why),
        })
    };
    let refused =
        |why| node.map_or_else(|| fields.missing(key), |node| fields.fault(key, node, why));
    let is_named = own.is_named;
    let queue = match (own.queue, around.0) {
        (Queue::Keys(own), Queue::Keys(both)) => Queue::Keys(merged(own, both)?),
        (Queue::Own(qdisc, own), Queue::Keys(both) | Queue::Own(_, both)) => {
            let wire = wire_of(&qdisc, both);
            Queue::Own(qdisc, merged(own, &wire)?)
        }
        (Queue::Keys(own), Queue::Own(_, both)) if is_named => Queue::Keys(merged(own, both)?),
        (Queue::Keys(own), Queue::Own(qdisc, both)) => {
            Queue::Own(qdisc.clone(), merged(own, both)?)
        }
        (Queue::Keys(own), Queue::Kernel(words)) if own == Shape::default() => {
            Queue::Kernel(words.clone())
        }
        (Queue::Kernel(_), Queue::Keys(both)) if *both != Shape::default() => {
            let message = "with by = \"kernel\" a way has one qdisc, and these words leave the link's rate, delay, jitter, limit or loss out: say all in the words (`htb rate 30mbit child fq_codel`), and put a delay on another link";
            return Err(refused(message));
        }
        (Queue::Keys(_), Queue::Kernel(_)) => {
            return Err(refused(
                "the link's `qdisc` is the kernel's: write the whole `qdisc` here as well",
            ));
        }
        (own, _) => own,
    };
    Ok(direction(queue, own.way, by))
}

/// For the kernel's link, the qdisc's words hold all settings; the other fields keep their defaults.
fn direction(queue: Queue, way: Direction, by: By) -> Direction {
    let own = match &queue {
        Queue::Own(own, _) => Some(own.clone()),
        _ => None,
    };
    let qdisc = match (&queue, by) {
        (Queue::Kernel(words), _) => Some(words.clone()),
        (Queue::Keys(shape), By::Kernel) => shape.to_netem(),
        _ => None,
    };
    let shape = match (queue, by) {
        (Queue::Keys(shape), By::Tcplab) | (Queue::Own(_, shape), _) => shape,
        _ => Shape::default(),
    };
    Direction {
        rate_bps: shape.rate_bps,
        delay_ns: shape.delay_ns.unwrap_or(0),
        jitter_ns: shape.jitter_ns.unwrap_or(0),
        limit_pkts: shape.limit_pkts.unwrap_or(keys::LIMIT.number() as u32),
        loss_ppb: shape.loss_ppb.unwrap_or(0),
        queue: own,
        qdisc,
        ..way
    }
}
