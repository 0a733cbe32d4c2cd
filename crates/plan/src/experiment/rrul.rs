//! `kind = "rrul"`: flent's Realtime Response Under Load, written out as the applications that it is made of.
//!
//! As flent's tests rrul, rrul_be and rrul_noclassification have it (rrul.conf): TCP uploads and downloads that start
//! after `delay` and last `duration`, pings by UDP and ICMP from the begin to `delay` after the load's end. Names of
//! series and marks are flent's; what it calls BK is CS1. `up` and `down` other than 4 go round the marks again
//! (`BE2`, `BK2` ...). The tables are written before groups of hosts are (`groups.rs`), with the places of what they
//! came from, so the decoders know single applications only.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::error::Fault;
use super::fields::{Fields, name_of};
use super::groups::{node, put};
use super::host::at_name;
use super::keys::{APP, RRUL, apps as keys};
use super::tree::{Node, Table, Value};
use crate::rules::{MAX_SERIES, MAX_STEPS, RESERVED};
use crate::set::{AppSet, DOWNLOAD, PING, SetSeries, UPLOAD};

/// Flows of one direction at most.
pub(crate) const MAX_FLOWS: u64 = 64;
/// Applications that one of them becomes at most: for the bound on work.
pub(crate) const MAX_APPS: usize = MAX_SERIES;

/// The file without sets, and the sets that were in it.
#[derive(Debug)]
pub(crate) struct Expanded<'a> {
    pub tree: Cow<'a, Table>,
    pub sets: Vec<AppSet>,
    /// For the name of each application that was written: its set's.
    pub apps: BTreeMap<String, String>,
}

/// Marks of flows, in flent's order, and those of pings, with their names.
type Marks = (
    &'static [&'static str],
    &'static [(&'static str, &'static str)],
);

const CLASSES: [&str; 4] = ["BE", "BK", "CS5", "EF"];

/// Words of `marks`; each is the name of a test of flent.
pub(crate) const MARKS: [&str; 3] = ["rrul", "rrul_be", "rrul_noclassification"];

fn marks(word: &str) -> Marks {
    match word {
        "rrul_be" => (&["BE"], &[("BE1", "BE"), ("BE2", "BE"), ("BE3", "BE")]),
        "rrul_noclassification" => (&["BE"], &[("EF", "EF"), ("BK", "BK"), ("BE", "BE")]),
        _ => (&CLASSES, &[("EF", "EF"), ("BK", "BK"), ("BE", "BE")]),
    }
}

/// Writes the sets out at one point of the matrix.
pub(crate) fn expand<'a>(root: &Fields<'a>) -> Result<Expanded<'a>, Fault> {
    let mut out = Expanded {
        tree: Cow::Borrowed(root.table),
        sets: Vec::new(),
        apps: BTreeMap::new(),
    };
    let tables = root.tables("app", super::MAX_APPS)?;
    let is_set = |fields: &Fields<'_>| {
        let kind = fields.node("kind").map(|node| &node.value);
        matches!(kind, Some(Value::Text(kind)) if kind == "rrul")
    };
    if !tables.iter().any(is_set) {
        return Ok(out);
    }
    let hosts = root.tables("host", super::MAX_HOSTS)?;
    let mut apps = Vec::new();
    for fields in &tables {
        if !is_set(fields) {
            apps.push(node(fields, fields.table.clone()));
            continue;
        }
        let set = Set::read(fields)?;
        let taken = |name: &str| hosts.iter().any(|host| name_of(host.table) == Some(name));
        if taken(&set.set.name) || RESERVED.contains(&set.set.name.as_str()) {
            let message = format!("an application cannot be called `{}` here", set.set.name);
            return Err(at_name(fields, message));
        }
        for (name, table) in set.apps {
            apps.push(node(fields, table));
            out.apps.insert(name, set.set.name.clone());
        }
        out.sets.push(set.set);
    }
    if let Some(entry) = out.tree.to_mut().entries.get_mut("app") {
        entry.node.value = Value::List(apps);
    }
    Ok(out)
}

/// Whether a file has a set, at any point of its matrix.
pub(crate) fn is_in(tree: &Table) -> bool {
    fn is(node: &Node) -> bool {
        match &node.value {
            Value::Text(kind) => kind == "rrul",
            Value::Axis(_, kinds) => kinds.iter().any(is),
            _ => false,
        }
    }
    let mut kinds = tree.tables("app").filter_map(|app| app.node("kind"));
    kinds.any(is)
}

/// One set on its way.
struct Set<'f, 'a> {
    fields: &'f Fields<'a>,
    set: AppSet,
    port: Option<u64>,
    apps: Vec<(String, Table)>,
}

impl<'f, 'a> Set<'f, 'a> {
    fn read(fields: &'f Fields<'a>) -> Result<Self, Fault> {
        fields.check_fixed(APP)?;
        fields.check(&[APP, RRUL])?;
        for key in [&keys::CONNECTIONS, &keys::STAGGER] {
            if let Some(node) = fields.node(key) {
                let message = "has no meaning for `rrul`: `up` and `down` say how many";
                return Err(fields.fault(key, node, message));
            }
        }
        let word = fields.word(&keys::RRUL_MARKS, &MARKS)?;
        let up: u64 = fields.get(&keys::RRUL_UP)?;
        let down: u64 = fields.get(&keys::RRUL_DOWN)?;
        let has_pings = fields.get(&keys::RRUL_PINGS)?;
        let mut set = Self {
            fields,
            set: times(fields, word.unwrap_or_default())?,
            port: fields.find(&keys::PORT)?,
            apps: Vec::new(),
        };
        let (classes, pings) = marks(&set.set.test);
        for (prefix, short, flows) in [(UPLOAD, "up", up), (DOWNLOAD, "down", down)] {
            for n in 0..flows {
                set.flow(prefix, short, classes, n as usize)?;
            }
        }
        if has_pings {
            for (name, mark) in pings {
                set.ping(&format!("{PING} UDP {name}"), &format!("udp-{name}"), mark)?;
            }
            set.ping(&format!("{PING} ICMP"), "icmp", "")?;
        }
        if set.apps.is_empty() {
            let message = "the set is empty: write `up`, `down` or `pings`";
            return Err(Fault::new(&fields.span, &fields.path, message));
        }
        Ok(set)
    }

    /// The `n`th flow of a direction.
    fn flow(&mut self, prefix: &str, short: &str, classes: &[&str], n: usize) -> Result<(), Fault> {
        let class = classes[n % classes.len()];
        let round = match n / classes.len() {
            0 => String::new(),
            round => (round + 1).to_string(),
        };
        let name = format!("{class}{round}");
        let start = self.set.start_ns.saturating_add(self.set.delay_ns);
        // A reader whose connection the server has given up would wait for ever.
        let most = self.set.delay_ns.saturating_mul(2);
        let most = self.set.duration_ns.saturating_add(most);
        let waits = match self.fields.node(&keys::CLIENT_TIMEOUT) {
            Some(node) => node.value.clone(),
            None => ns(most),
        };
        let keys = [
            ("client_timeout", waits),
            ("kind", Value::Text("bulk".into())),
            ("start", ns(start)),
            ("duration", ns(self.set.duration_ns)),
            ("reverse", Value::Flag(prefix == DOWNLOAD)),
        ];
        self.add(
            &format!("{prefix} {name}"),
            &format!("{short}-{name}"),
            class,
            keys,
        )
    }

    fn ping(&mut self, series: &str, short: &str, mark: &str) -> Result<(), Fault> {
        let kind = if mark.is_empty() { "ping" } else { "udp-ping" };
        let total = self.set.delay_ns.saturating_mul(2);
        let keys = [
            ("kind", Value::Text(kind.into())),
            ("start", ns(self.set.start_ns)),
            ("duration", ns(total.saturating_add(self.set.duration_ns))),
            ("every", ns(self.set.step_ns)),
        ];
        self.add(series, short, mark, keys)
    }

    /// An application whose sockets have this mark at both ends; an empty one changes nothing.
    fn add(
        &mut self,
        series: &str,
        short: &str,
        mark: &str,
        keys: impl IntoIterator<Item = (&'static str, Value)>,
    ) -> Result<(), Fault> {
        let app = format!("{}-{short}", self.set.name);
        let mut table = self.fields.table.clone();
        table
            .entries
            .retain(|key, _| RRUL.iter().all(|own| own.name != key));
        for (key, value) in keys {
            put(self.fields, &mut table, key, value);
        }
        put(self.fields, &mut table, "name", Value::Text(app.clone()));
        if let Some(port) = self.port {
            let own = port.saturating_add(self.apps.len() as u64);
            let own = i64::try_from(own).unwrap_or(i64::MAX);
            put(self.fields, &mut table, "port", Value::Integer(own));
        }
        for key in ["client_socket", "server_socket"] {
            if mark.is_empty() {
                continue;
            }
            let own = self.fields.table(key)?;
            let mut socket = own.map_or_else(Table::default, |own| own.table.clone());
            put(self.fields, &mut socket, "tos", Value::Text(mark.into()));
            put(self.fields, &mut table, key, Value::Table(socket));
        }
        self.set.series.push(SetSeries {
            name: series.to_owned(),
            app: app.clone(),
        });
        self.apps.push((app, table));
        Ok(())
    }
}

fn ns(ns: i64) -> Value {
    Value::Text(format!("{ns}ns"))
}

/// The set without its series.
fn times(fields: &Fields<'_>, test: &str) -> Result<AppSet, Fault> {
    let duration_ns = fields.get(&keys::RRUL_DURATION)?;
    let set = AppSet {
        name: fields
            .name(&keys::NAME)?
            .unwrap_or_else(|| "rrul".to_owned()),
        test: test.to_owned(),
        start_ns: fields.get(&keys::START)?,
        delay_ns: fields.get(&keys::RRUL_DELAY)?,
        duration_ns,
        settle_ns: fields.find(&keys::RRUL_SETTLE)?.unwrap_or(duration_ns / 4),
        step_ns: fields.get(&keys::RRUL_STEP)?,
        series: Vec::new(),
    };
    let total = set.total_ns();
    if total / set.step_ns > MAX_STEPS {
        let message = format!("makes more than {MAX_STEPS} values; write a longer one");
        return Err(fields.at(&keys::RRUL_STEP, message));
    }
    if duration_ns < set.step_ns {
        return Err(fields.at(&keys::RRUL_DURATION, "must be at least a `step`"));
    }
    if set.settle_ns >= duration_ns {
        let message = "must be shorter than `duration`: nothing would be measured";
        return Err(fields.at(&keys::RRUL_SETTLE, message));
    }
    Ok(set)
}
