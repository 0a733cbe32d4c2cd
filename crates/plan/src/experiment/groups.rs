//! `count`: N like hosts in one table, and the links and applications that multiply with them.
//!
//! The tables are written out before they are decoded, with the places of what they came from, so
//! the decoders know single hosts only. A group meets a single host in one link or application for
//! each of its members; two groups of one size meet member by member.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::error::Fault;
use super::fields::{Fields, name_of};
use super::keys::{Key, apps, host, links};
use super::tree::{Entry, Node, Table, Value};
use crate::rules::MAX_ALL_HOSTS;

/// The file with every host, link and application in a table of its own.
#[derive(Debug)]
pub(crate) struct Expanded<'a> {
    pub tree: Cow<'a, Table>,
    /// For the name of each host that is one of several: the group's name.
    pub hosts: BTreeMap<String, String>,
    /// The same of applications.
    pub apps: BTreeMap<String, String>,
}

/// Sizes of the groups by their names.
type Sizes = BTreeMap<String, u64>;

/// Writes the groups out at one point of the matrix.
pub(crate) fn expand<'a>(root: &Fields<'a>) -> Result<Expanded<'a>, Fault> {
    let tables = root.tables("host", super::MAX_HOSTS)?;
    let mut out = Expanded {
        tree: Cow::Borrowed(root.table),
        hosts: BTreeMap::new(),
        apps: BTreeMap::new(),
    };
    if tables.iter().all(|host| host.node(&host::COUNT).is_none()) {
        return Ok(out);
    }
    let sizes = sizes(&tables)?;
    let mut hosts = Vec::new();
    for fields in &tables {
        let size = name_of(fields.table).and_then(|name| Some((name, *sizes.get(name)?)));
        let Some((name, size)) = size else {
            hosts.push(node(fields, fields.table.clone()));
            continue;
        };
        for n in 1..=size {
            let own = format!("{name}-{n}");
            let mut table = fields.table.clone();
            table.entries.remove("count");
            put(fields, &mut table, "name", Value::Text(own.clone()));
            hosts.push(node(fields, table));
            out.hosts.insert(own, name.to_owned());
        }
    }
    let mut links = Vec::new();
    for fields in root.tables("link", super::MAX_LINKS)? {
        link(&fields, &sizes, &mut links)?;
    }
    let mut apps = Vec::new();
    for fields in root.tables("app", super::MAX_APPS)? {
        app(&fields, &sizes, &mut apps, &mut out.apps)?;
    }
    let tree = out.tree.to_mut();
    for (key, list) in [("host", hosts), ("link", links), ("app", apps)] {
        if let Some(entry) = tree.entries.get_mut(key) {
            entry.node.value = Value::List(list);
        }
    }
    Ok(out)
}

fn sizes(tables: &[Fields<'_>]) -> Result<Sizes, Fault> {
    let mut sizes = Sizes::new();
    let mut all = 0_u64;
    for fields in tables {
        let count: Option<u64> = fields.find(&host::COUNT)?;
        all = all.saturating_add(count.unwrap_or(1));
        if all > MAX_ALL_HOSTS {
            let message = format!("more than {MAX_ALL_HOSTS} hosts in all");
            return Err(Fault::new(&fields.span, &fields.path, message));
        }
        let (Some(count), Some(name)) = (count, name_of(fields.table)) else {
            continue;
        };
        let same = |other: &&Fields<'_>| name_of(other.table) == Some(name);
        if tables.iter().filter(same).count() > 1 {
            let message = format!("duplicate host `{name}`");
            return Err(super::host::at_name(fields, message));
        }
        sizes.insert(name.to_owned(), count);
    }
    Ok(sizes)
}

/// How many of something that joins these two hosts; none: neither is a group.
fn together(sizes: &Sizes, a: &str, b: &str) -> Result<Option<u64>, String> {
    match (sizes.get(a), sizes.get(b)) {
        (Some(x), Some(y)) if x != y => Err(format!(
            "`{a}` has {x} hosts and `{b}` has {y}: only groups of the same size can be joined member by member"
        )),
        (x, y) => Ok(x.or(y).copied()),
    }
}

/// The `n`-th of a group; a single host stays what it is.
fn member(sizes: &Sizes, name: &str, n: u64) -> String {
    match sizes.contains_key(name) {
        true => format!("{name}-{n}"),
        false => name.to_owned(),
    }
}

fn link(fields: &Fields<'_>, sizes: &Sizes, out: &mut Vec<Node>) -> Result<(), Fault> {
    let ends = fields.texts(&links::BETWEEN)?.unwrap_or_default();
    let count = match ends.as_slice() {
        [(_, a), (second, b)] => {
            together(sizes, a, b).map_err(|why| fields.fault(&links::BETWEEN, second, why))?
        }
        // The decoder says what is wrong with it.
        _ => None,
    };
    let Some(count) = count else {
        out.push(node(fields, fields.table.clone()));
        return Ok(());
    };
    for n in 1..=count {
        let mut table = fields.table.clone();
        let ends = ends.iter().map(|(node, name)| Node {
            span: node.span.clone(),
            value: Value::Text(member(sizes, name, n)),
        });
        put(fields, &mut table, "between", Value::List(ends.collect()));
        out.push(node(fields, table));
    }
    Ok(())
}

fn app(
    fields: &Fields<'_>,
    sizes: &Sizes,
    out: &mut Vec<Node>,
    groups: &mut BTreeMap<String, String>,
) -> Result<(), Fault> {
    let end = |key: &Key| fields.get::<String>(key);
    let (client, server) = (end(&apps::CLIENT)?, end(&apps::SERVER)?);
    let (client, server) = (client.as_str(), server.as_str());
    let count =
        together(sizes, client, server).map_err(|why| match fields.node(&apps::CLIENT) {
            Some(node) => fields.fault(&apps::CLIENT, node, why),
            None => Fault::new(&fields.span, &fields.path, why),
        })?;
    let Some(count) = count else {
        out.push(node(fields, fields.table.clone()));
        return Ok(());
    };
    let name = match name_of(fields.table) {
        Some(name) => name,
        None => fields.text(&apps::KIND)?.unwrap_or("app"),
    };
    let port: Option<u64> = fields.find(&apps::PORT)?;
    for n in 1..=count {
        let own = format!("{name}-{n}");
        let mut table = fields.table.clone();
        let mut set = |key, value| put(fields, &mut table, key, value);
        set("name", Value::Text(own.clone()));
        set("client", Value::Text(member(sizes, client, n)));
        set("server", Value::Text(member(sizes, server, n)));
        // On one server each needs a port of its own.
        if let Some(port) = port.filter(|_| !sizes.contains_key(server)) {
            let port = i64::try_from(port + n - 1).unwrap_or(i64::MAX);
            set("port", Value::Integer(port));
        }
        out.push(node(fields, table));
        groups.insert(own, name.to_owned());
    }
    Ok(())
}

pub(super) fn node(fields: &Fields<'_>, table: Table) -> Node {
    Node {
        span: fields.span.clone(),
        value: Value::Table(table),
    }
}

/// Writes a value over another one, at its place; or at the table's.
pub(super) fn put(fields: &Fields<'_>, table: &mut Table, key: &str, value: Value) {
    let place = fields.table.entries.get(key);
    let (at, span) = match (place, fields.node(key)) {
        (Some(entry), Some(node)) => (entry.key.clone(), node.span.clone()),
        _ => (fields.span.clone(), fields.span.clone()),
    };
    let node = Node { span, value };
    table
        .entries
        .insert(key.to_owned(), Entry { key: at, node });
}

/// At most how many members any group of this file may have, over all axes: for the bound on work.
pub(crate) fn largest(tree: &Table) -> usize {
    let counts = tree.tables("host").filter_map(|host| host.node("count"));
    let counts = counts.map(highest);
    let most = counts.max().unwrap_or(1).min(MAX_ALL_HOSTS.cast_signed());
    usize::try_from(most).unwrap_or(1).max(1)
}

fn highest(node: &Node) -> i64 {
    match &node.value {
        Value::Integer(n) => *n,
        Value::Axis(_, values) => values.iter().map(highest).max().unwrap_or(1),
        _ => 1,
    }
}
