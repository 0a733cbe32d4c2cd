//! From a file's text to a population.

use super::keys::{
    CLIENT, COMPARE, LOSS, OUTAGE, POPULATION, POPULATION_FILE, REORDERING, SCOPE, SPIKES,
};
use super::{Client, Compare, Loss, OutageRule, Population, Reordering, SpikeRule};
use crate::dist::{Dist, Kind};
use crate::experiment::error::Fault;
use crate::experiment::fields::Fields;
use crate::experiment::host::{behaviours, hosts, sysctls, within};
use crate::experiment::keys::PROFILE_NAMES;
use crate::experiment::tree::{Choice, Table, Value};
use crate::experiment::variant::{self, Variant};
use crate::experiment::{root, stem, tree};
use tcplab_base::quantity::PERCENT;

/// The base population.
const WEB: &str = include_str!("web.toml");

/// Arms at most.
const MAX_ARMS: usize = 32;
/// Variants at most.
const MAX_VARIANTS: usize = 100;
/// Kinds of clients or of lossy paths at most.
const MAX_KINDS: usize = 100;
/// All of something, in parts of a milliard.
const ALL: u32 = 1_000_000_000;

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
    fields.word("schema", &[(crate::experiment::SCHEMA, ())])?;
    let of = fields
        .table("population")?
        .ok_or_else(|| fields.missing("population"))?;
    of.check(&[POPULATION])?;
    of.check_fixed(POPULATION)?;
    of.word("base", &[("web", ())])?;
    let arms = hosts(&fields.tables("arm", MAX_ARMS)?)?;
    if arms.is_empty() {
        return Err(fields
            .missing("[[arm]]")
            .help("write at least one: `[[arm]]` and `name = \"B\"` is a server as it is"));
    }
    let dist = |key: &str, kind| needed(&of, key, kind);
    let some = |key: &str, kind| more_than_none(&of, key, kind);
    let compare = fields.table("compare")?;
    Ok(Population {
        name: fields.name("name")?.unwrap_or_else(|| stem(file)),
        title: fields.text("title")?.map(str::to_owned),
        variant,
        connections: of
            .count("connections", 1, Population::MAX_CONNECTIONS)?
            .unwrap_or(100_000),
        seed: of.count("seed", 0, (1 << 53) - 1)?.unwrap_or(1),
        hz: u32::try_from(of.count("hz", 24, 1000)?.unwrap_or(1000)).unwrap_or(1000),
        rtt: dist("rtt", Kind::Time)?,
        rate: some("rate", Kind::Rate)?,
        buffer: some("buffer", Kind::Buffer)?,
        jitter: dist("jitter", Kind::Time)?,
        requests: some("requests", Kind::Number)?,
        think: dist("think", Kind::Time)?,
        request: some("request", Kind::Size)?,
        response: some("response", Kind::Size)?,
        client_timeout: some("client_timeout", Kind::Time)?,
        server_timeout: some("server_timeout", Kind::Time)?,
        losses: losses(&of)?,
        ack_loss_ppb: percent(&of, "ack_loss")?.unwrap_or(0),
        spikes: spikes(&of)?,
        reordering: reordering(&of)?,
        outage: outage(&of)?,
        clients: clients(&of)?,
        arms,
        compare: compare
            .as_ref()
            .map(compare_of)
            .transpose()?
            .unwrap_or_default(),
    })
}

/// Puts what the base says where the file says nothing.
fn inherit(tree: &mut Table, base: &Table) {
    let of = |tree: &Table| match tree.entries.get("population").map(|e| &e.node.value) {
        Some(Value::Table(table)) => Some(table.clone()),
        _ => None,
    };
    let Some(base) = of(base) else { return };
    if let Some(entry) = tree.entries.get_mut("population")
        && let Value::Table(own) = &mut entry.node.value
    {
        for (key, entry) in base.entries {
            own.entries.entry(key).or_insert(entry);
        }
    }
}

/// A distribution, when the key is there; a number is its text.
fn dist(fields: &Fields<'_>, key: &str, kind: Kind) -> Result<Option<Dist>, Fault> {
    let Some(node) = fields.node(key) else {
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
    let parsed = Dist::parse(text, kind).map_err(|wrong| {
        let word = text.get(wrong.start..wrong.end).unwrap_or(text);
        Fault::new(
            &within(node, text, word),
            fields.path_of(key),
            wrong.message,
        )
    });
    parsed.map(Some)
}

fn needed(fields: &Fields<'_>, key: &str, kind: Kind) -> Result<Dist, Fault> {
    dist(fields, key, kind)?.ok_or_else(|| fields.missing(key))
}

/// The same of something that every connection has some of: draws below its least are raised to it, and a value that is
/// always 0 would be another one.
fn more_than_none(fields: &Fields<'_>, key: &str, kind: Kind) -> Result<Dist, Fault> {
    let dist = needed(fields, key, kind)?;
    match fields.node(key).filter(|_| dist.as_constant() == Some(0)) {
        Some(node) => Err(fields.fault(key, node, "must be more than 0")),
        None => Ok(dist),
    }
}

fn percent(fields: &Fields<'_>, key: &str) -> Result<Option<u32>, Fault> {
    let ppb = fields.quantity(key, &PERCENT)?;
    Ok(ppb.map(|n| u32::try_from(n).unwrap_or(ALL)))
}

fn needed_percent(fields: &Fields<'_>, key: &str) -> Result<u32, Fault> {
    percent(fields, key)?.ok_or_else(|| fields.missing(key))
}

/// A plain number with a fraction, times a million.
fn millionths(fields: &Fields<'_>, key: &str, most: f64) -> Result<Option<u64>, Fault> {
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

/// Shares that are more than all there is.
fn check_shares(
    fields: &Fields<'_>,
    key: &str,
    shares: impl Iterator<Item = u32>,
    all: bool,
) -> Result<(), Fault> {
    let sum: u64 = shares.map(u64::from).sum();
    let right = match all {
        true => sum == u64::from(ALL),
        false => sum <= u64::from(ALL),
    };
    let Some(node) = fields.node(key).filter(|_| !right) else {
        return Ok(());
    };
    let must = if all { "must be" } else { "must be at most" };
    let percent = sum as f64 / 1e7;
    Err(fields.fault(
        key,
        node,
        format!("the shares add to {percent}%; they {must} 100%"),
    ))
}

fn losses(of: &Fields<'_>) -> Result<Vec<Loss>, Fault> {
    let mut out = Vec::new();
    for fields in of.tables("loss", MAX_KINDS)? {
        fields.check(&[LOSS])?;
        out.push(Loss {
            share_ppb: needed_percent(&fields, "share")?,
            rate: needed(&fields, "rate", Kind::Chance)?,
            burst_ppm: match millionths(&fields, "burst", 1e6)? {
                Some(n) if n < 1_000_000 => {
                    let node = fields
                        .node("burst")
                        .ok_or_else(|| fields.missing("burst"))?;
                    return Err(fields.fault("burst", node, "a burst has at least one packet"));
                }
                burst => burst,
            },
            bad_ppb: percent(&fields, "bad")?.unwrap_or(ALL).max(1),
        });
    }
    check_shares(of, "loss", out.iter().map(|l| l.share_ppb), false)?;
    Ok(out)
}

fn spikes(of: &Fields<'_>) -> Result<SpikeRule, Fault> {
    let Some(fields) = of.table("spikes")? else {
        return Ok(SpikeRule::default());
    };
    fields.check(&[SPIKES])?;
    let data_ppb = percent(&fields, "data")?.unwrap_or(0);
    let ack_ppb = percent(&fields, "ack")?.unwrap_or(0);
    let median_ns = match fields.time("median")? {
        None if data_ppb > 0 || ack_ppb > 0 => return Err(fields.missing("median")),
        median => median.unwrap_or(0),
    };
    Ok(SpikeRule {
        data_ppb,
        ack_ppb,
        median_ns,
        sigma_ppm: millionths(&fields, "sigma", 5.0)?.unwrap_or(0) as u32,
    })
}

fn reordering(of: &Fields<'_>) -> Result<Option<Reordering>, Fault> {
    let Some(fields) = of.table("reordering")? else {
        return Ok(None);
    };
    fields.check(&[REORDERING])?;
    Ok(Some(Reordering {
        data_ppb: needed_percent(&fields, "data")?,
        least: dist(&fields, "least", Kind::Time)?.unwrap_or_else(|| Dist::fixed(Kind::Time, 0)),
        most: needed(&fields, "most", Kind::Time)?,
    }))
}

fn outage(of: &Fields<'_>) -> Result<Option<OutageRule>, Fault> {
    let Some(fields) = of.table("outage")? else {
        return Ok(None);
    };
    fields.check(&[OUTAGE])?;
    let share_ppb = needed_percent(&fields, "share")?;
    if share_ppb == 0 {
        return Ok(None);
    }
    Ok(Some(OutageRule {
        share_ppb,
        start: needed(&fields, "start", Kind::Time)?,
        length: needed(&fields, "length", Kind::Time)?,
        final_ppb: percent(&fields, "final")?.unwrap_or(0),
    }))
}

fn clients(of: &Fields<'_>) -> Result<Vec<Client>, Fault> {
    let mut out = Vec::new();
    for fields in of.tables("clients", MAX_KINDS)? {
        fields.check(&[CLIENT])?;
        let profiles = PROFILE_NAMES.map(|name| (name, name));
        out.push(Client {
            share_ppb: needed_percent(&fields, "share")?,
            profile: fields.word("profile", &profiles)?.map(str::to_owned),
            behaviour: behaviours(&fields)?,
            sysctl: sysctls(&fields)?,
        });
    }
    check_shares(of, "clients", out.iter().map(|c| c.share_ppb), true)?;
    Ok(out)
}

fn compare_of(fields: &Fields<'_>) -> Result<Compare, Fault> {
    fields.check(&[COMPARE])?;
    let default = Compare::default();
    Ok(Compare {
        level_ppb: percent(fields, "level")?.unwrap_or(default.level_ppb),
        band_ppb: percent(fields, "band")?.unwrap_or(default.band_ppb),
        stops: fields
            .word("stop", &[("never", false), ("decided", true)])?
            .unwrap_or(default.stops),
    })
}
