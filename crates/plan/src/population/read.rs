//! From a file's text to a population.

use super::keys::{
    self, CLIENT, COMPARE, LOSS, OUTAGE, POPULATION, POPULATION_FILE, REORDERING, SCOPE, SPIKES,
};
use super::{Client, Compare, Loss, OutageRule, Population, Reordering, SpikeRule, limits, paths};
use crate::dist::Dist;
use crate::experiment::error::Fault;
use crate::experiment::fields::Fields;
use crate::experiment::host::{behaviours, hosts, options, sysctls, within};
use crate::experiment::keys::{Form, Key, PROFILE_NAMES, file, host};
use crate::experiment::tree::{Choice, Node, Table, Value};
use crate::experiment::variant::{self, Variant};
use crate::experiment::{root, stem, tree};
use crate::point::{Host, Ip};

/// The base population.
const WEB: &str = include_str!("web.toml");

/// Arms at most.
const MAX_ARMS: usize = 32;
/// Variants at most.
const MAX_VARIANTS: usize = 100;
/// Kinds of clients or of paths at most.
const MAX_KINDS: usize = 100;
/// All of something, in billionths (10^-9).
const ALL: u64 = 1_000_000_000;

/// The file as it is written; its variants are checked too.
pub(super) fn read(file: &str, text: &str) -> Result<Population, Fault> {
    let tree = whole(text)?;
    let plain = decode(&tree, file, None)?;
    each(&tree, file)?;
    Ok(plain)
}

/// The file's variants.
pub(super) fn variants(file: &str, text: &str) -> Result<Vec<Population>, Fault> {
    each(&whole(text)?, file)
}

/// The tree of a file with what its base says.
fn whole(text: &str) -> Result<Table, Fault> {
    let mut tree = tree::read(text)?;
    inherit(&mut tree, &tree::read(WEB)?);
    Ok(tree)
}

fn each(tree: &Table, file: &str) -> Result<Vec<Population>, Fault> {
    let choice = Choice::new();
    let tables = root(tree, &choice).tables("variant", MAX_VARIANTS)?;
    let one = |variant: Variant| {
        let mut tree = tree.clone();
        tree.entries.remove("variant");
        variant.apply(&mut tree, &SCOPE)?;
        decode(&tree, file, Some(variant.name))
    };
    let variants = variant::variants(&tables, &SCOPE)?;
    variants.into_iter().map(one).collect()
}

fn decode(tree: &Table, file: &str, variant: Option<String>) -> Result<Population, Fault> {
    let choice = Choice::new();
    let fields = root(tree, &choice);
    fields.check(&[POPULATION_FILE])?;
    fields.word(&file::SCHEMA, &[()])?;
    let of = fields
        .table(&keys::OF)?
        .ok_or_else(|| fields.missing(&keys::OF))?;
    of.check(&[POPULATION])?;
    of.check_fixed(POPULATION)?;
    of.word(&keys::BASE, &[()])?;
    let arms = arms(&fields.tables(keys::ARM.name, MAX_ARMS)?)?;
    if arms.is_empty() {
        return Err(fields
            .missing("[[arm]]")
            .help("write at least one: `[[arm]]` and `name = \"B\"` is a server as it is"));
    }
    let dist = |key| needed(&of, key);
    let some = |key| above_zero(&of, key);
    let compare = fields.table(&keys::HOW)?;
    Ok(Population {
        name: fields.name(&file::NAME)?.unwrap_or_else(|| stem(file)),
        title: fields.find(&file::TITLE)?,
        variant,
        connections: of.get(&keys::CONNECTIONS)?,
        seed: of.get(&keys::SEED)?,
        hz: of.get(&keys::HZ)?,
        ip: of.word(&keys::IP, &Ip::BOTH)?.unwrap_or_default(),
        rtt: rtt(&of)?,
        rate: some(&keys::RATE)?,
        buffer: checked(&of, &keys::BUFFER, limits::check_buffer)?,
        jitter: dist(&keys::JITTER)?,
        requests: checked(&of, &keys::REQUESTS, limits::check_requests)?,
        think: dist(&keys::THINK)?,
        request: some(&keys::REQUEST)?,
        response: some(&keys::RESPONSE)?,
        client_timeout: some(&keys::CLIENT_TIMEOUT)?,
        server_timeout: some(&keys::SERVER_TIMEOUT)?,
        losses: losses(&of)?,
        ack_loss_ppb: of.find(&keys::ACK_LOSS)?.unwrap_or(0),
        spikes: spikes(&of)?,
        reordering: reordering(&of)?,
        outage: outage(&of)?,
        middleboxes: paths::middleboxes(&of)?,
        changes: paths::changes(&of)?,
        injects: paths::injects(&of)?,
        clients: clients(&of)?,
        arms,
        compare: compare
            .as_ref()
            .map(compare_of)
            .transpose()?
            .unwrap_or_default(),
    })
}

/// The arms: one server each.
fn arms(tables: &[Fields<'_>]) -> Result<Vec<Host>, Fault> {
    for fields in tables {
        for key in [&host::COUNT, &host::FORWARD] {
            if fields.node(key).is_some() {
                let why =
                    "does not apply to an arm, which is one server at the end of a path: remove it";
                return Err(fields.at(key, why));
            }
        }
        fields.check(&[host::ARM])?;
    }
    hosts(tables)
}

/// Puts what the base says where the file says nothing.
fn inherit(tree: &mut Table, base: &Table) {
    let Some(base) = base.node("population").and_then(Node::table) else {
        return;
    };
    if let Some(entry) = tree.entries.get_mut("population")
        && let Value::Table(own) = &mut entry.node.value
    {
        for (key, entry) in &base.entries {
            (own.entries.entry(key.clone())).or_insert_with(|| entry.clone());
        }
    }
}

/// A distribution, when the key is there; a number is its text.
pub(super) fn dist(fields: &Fields<'_>, key: &Key) -> Result<Option<Dist>, Fault> {
    let (Some(node), Form::Dist(kind)) = (fields.node(key), &key.form) else {
        return Ok(None);
    };
    let number;
    let text = match &node.value {
        Value::Integer(n) => {
            number = n.to_string();
            number.as_str()
        }
        Value::Float(n) => {
            number = n.to_string();
            number.as_str()
        }
        _ => fields.text(key)?.unwrap_or_default(),
    };
    let parsed = Dist::parse(text, *kind).map_err(|wrong| {
        let word = text.get(wrong.start..wrong.end).unwrap_or(text);
        Fault::new(
            &within(node, text, word),
            fields.path_of(key),
            wrong.message,
        )
    });
    parsed.map(Some)
}

pub(super) fn needed(fields: &Fields<'_>, key: &Key) -> Result<Dist, Fault> {
    dist(fields, key)?.ok_or_else(|| fields.missing(key))
}

/// The RTT of the paths, which cannot be a part of itself.
fn rtt(fields: &Fields<'_>) -> Result<Dist, Fault> {
    let dist = needed(fields, &keys::RTT)?;
    match dist.is_relative() {
        true => Err(fields.at(
            &keys::RTT,
            "`rtt` inside this key is the RTT itself: write a time, such as 80ms",
        )),
        false => Ok(dist),
    }
}

/// The same for something that every connection needs. Draws below its least are raised to it; a constant 0 is refused.
fn above_zero(fields: &Fields<'_>, key: &Key) -> Result<Dist, Fault> {
    let dist = needed(fields, key)?;
    match fields.node(key).filter(|_| dist.as_constant() == Some(0)) {
        Some(node) => Err(fields.fault(key, node, "must be more than 0")),
        None => Ok(dist),
    }
}

/// The same for something that has other limits, too.
fn checked(
    fields: &Fields<'_>,
    key: &Key,
    check: impl Fn(&Fields<'_>, &Dist) -> Result<(), Fault>,
) -> Result<Dist, Fault> {
    let dist = above_zero(fields, key)?;
    check(fields, &dist)?;
    Ok(dist)
}

/// A plain number with a fraction, times a million.
fn millionths(fields: &Fields<'_>, key: &Key, most: f64) -> Result<Option<u64>, Fault> {
    let Some(node) = fields.node(key) else {
        return Ok(None);
    };
    let number = match &node.value {
        Value::Integer(n) => *n as f64,
        Value::Float(n) => *n,
        Value::Text(text) => text.trim().parse().unwrap_or(f64::NAN),
        _ => f64::NAN,
    };
    match (0.0..=most).contains(&number) {
        true => Ok(Some((number * 1e6).round() as u64)),
        false => Err(fields.fault(key, node, format!("must be a number from 0 to {most}"))),
    }
}

/// The tables of a key that takes these `own` keys; `read` gives the share of each with its kind. The shares of clients are
/// all there is, others at most that.
pub(super) fn kinds<T>(
    of: &Fields<'_>,
    (key, own): (&Key, &[Key]),
    read: impl Fn(&Fields<'_>) -> Result<(u32, T), Fault>,
) -> Result<Vec<T>, Fault> {
    let (mut out, mut sum) = (Vec::new(), 0);
    for fields in of.tables(key.name, MAX_KINDS)? {
        fields.check(&[own])?;
        let (share_ppb, kind) = read(&fields)?;
        sum += u64::from(share_ppb);
        out.push(kind);
    }
    let must = match key.name == keys::THE_CLIENTS.name {
        true if sum != ALL => "must be",
        false if sum > ALL => "must be at most",
        _ => return Ok(out),
    };
    let Some(node) = of.node(key) else {
        return Ok(out);
    };
    let percent = sum as f64 / 1e7;
    let message = format!("the shares add to {percent}%; they {must} 100%");
    Err(of.fault(key, node, message))
}

fn losses(of: &Fields<'_>) -> Result<Vec<Loss>, Fault> {
    kinds(of, (&keys::THE_LOSS, LOSS), |fields| {
        let loss = Loss {
            share_ppb: fields.get(&keys::LOSS_SHARE)?,
            rate: needed(fields, &keys::LOSS_RATE)?,
            burst_ppm: match millionths(fields, &keys::LOSS_BURST, 1e6)? {
                Some(n) if n < 1_000_000 => {
                    return Err(fields.at(&keys::LOSS_BURST, "a burst has at least one packet"));
                }
                burst => burst,
            },
            bad_ppb: fields.get::<u32>(&keys::LOSS_BAD)?.max(1),
        };
        limits::check_loss(fields, &loss)?;
        Ok((loss.share_ppb, loss))
    })
}

fn spikes(of: &Fields<'_>) -> Result<SpikeRule, Fault> {
    let Some(fields) = of.table(&keys::THE_SPIKES)? else {
        return Ok(SpikeRule::default());
    };
    fields.check(&[SPIKES])?;
    let data_ppb = fields.get(&keys::SPIKE_DATA)?;
    let ack_ppb = fields.get(&keys::SPIKE_ACK)?;
    let median_ns = match fields.find(&keys::SPIKE_MEDIAN)? {
        None if data_ppb > 0 || ack_ppb > 0 => return Err(fields.missing(&keys::SPIKE_MEDIAN)),
        median => median.unwrap_or(0),
    };
    Ok(SpikeRule {
        data_ppb,
        ack_ppb,
        median_ns,
        sigma_ppm: millionths(&fields, &keys::SPIKE_SIGMA, 5.0)?.unwrap_or(0) as u32,
    })
}

fn reordering(of: &Fields<'_>) -> Result<Option<Reordering>, Fault> {
    let Some(fields) = of.table(&keys::THE_REORDERING)? else {
        return Ok(None);
    };
    fields.check(&[REORDERING])?;
    let rule = Reordering {
        data_ppb: fields.get(&keys::REORDER_DATA)?,
        least: dist(&fields, &keys::REORDER_LEAST)?
            .unwrap_or_else(|| Dist::fixed(crate::dist::Kind::Time, 0)),
        most: needed(&fields, &keys::REORDER_MOST)?,
    };
    limits::check_reordering(&fields, &rule)?;
    Ok(Some(rule))
}

fn outage(of: &Fields<'_>) -> Result<Option<OutageRule>, Fault> {
    let Some(fields) = of.table(&keys::THE_OUTAGE)? else {
        return Ok(None);
    };
    fields.check(&[OUTAGE])?;
    let share_ppb = fields.get(&keys::OUTAGE_SHARE)?;
    if share_ppb == 0 {
        return Ok(None);
    }
    Ok(Some(OutageRule {
        share_ppb,
        start: needed(&fields, &keys::OUTAGE_START)?,
        length: needed(&fields, &keys::OUTAGE_LENGTH)?,
        final_ppb: fields.get(&keys::OUTAGE_FINAL)?,
    }))
}

fn clients(of: &Fields<'_>) -> Result<Vec<Client>, Fault> {
    kinds(of, (&keys::THE_CLIENTS, CLIENT), |fields| {
        let client = Client {
            share_ppb: fields.get(&keys::CLIENT_SHARE)?,
            profile: fields
                .word(&host::PROFILE, &PROFILE_NAMES)?
                .map(str::to_owned),
            behaviour: behaviours(fields)?,
            sysctl: sysctls(fields)?,
            socket: options(fields, &host::SOCKET)?,
        };
        Ok((client.share_ppb, client))
    })
}

fn compare_of(fields: &Fields<'_>) -> Result<Compare, Fault> {
    fields.check(&[COMPARE])?;
    Ok(Compare {
        level_ppb: fields.get(&keys::LEVEL)?,
        band_ppb: fields.get(&keys::BAND)?,
        stops: fields.word(&keys::STOP, &[false, true])?.unwrap_or(false),
    })
}
