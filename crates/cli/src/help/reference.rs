//! What experiments and results are made of, by name: keys, kinds of application, sysctls, qdiscs, profiles, behaviours, measures, exit codes.

use std::collections::{BTreeMap, BTreeSet};

use tcplab_lab::check::sysctls;
use tcplab_plan::contract;
use tcplab_plan::measure::{APP, Known, LINK, LOG, PACKETS, RUN};
use tcplab_plan::profile::{BEHAVIOURS, Behaviour, KNOWN, Profile};
use tcplab_qdisc::{SUPPORTED, words_of};
use tcplab_report::glossary::{page, plain};
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::style::Ink;

use super::{pages, paper};
use crate::stacks::keys;

/// The page whose table lists the exit codes.
const EXIT_CODES: &str = "exit-codes";

/// Entries of this plain name.
pub(super) fn of(theme: &Theme, asked: &str) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(of_keys(theme, asked));
    found.extend(of_kind(theme, asked));
    found.extend(of_sysctl(theme, asked));
    found.extend(of_qdisc(theme, asked));
    found.extend(of_profile(theme, asked));
    found.extend(of_behaviour(theme, asked));
    found.extend(of_measure(theme, asked));
    found.extend(of_exit_code(theme, asked));
    found
}

/// All names, for suggestions.
pub(super) fn names() -> Vec<String> {
    let keys = contract::entries();
    let keys = keys.iter().map(|e| format!("{}.{}", e.table, e.name));
    let sysctls = sysctls().into_iter().map(|e| e.row.name.to_owned());
    let fixed = SUPPORTED
        .iter()
        .map(|(kind, _)| *kind)
        .chain(KNOWN.iter().map(|known| known.name))
        .chain(BEHAVIOURS.iter().map(|behaviour| behaviour.name))
        .chain(measures().into_iter().map(|(_, known)| known.name));
    let kinds = contract::entries();
    let kinds = kinds.iter().filter_map(|e| kind_of(&e.table));
    let kinds: BTreeSet<String> = kinds.map(str::to_owned).collect();
    keys.chain(sysctls)
        .chain(kinds)
        .chain(fixed.map(str::to_owned))
        .collect()
}

/// A title above lines that are wrapped already.
fn lines(theme: &Theme, title: &str, lines: &[String]) -> String {
    let mut out = format!("{}\n\n", theme.paint(Ink::Bold, title));
    for line in lines {
        out += &format!("  {line}\n");
    }
    out
}

/// Keys: `host.sysctl`, or `sysctl` of any table. Tables in which a key means the same share an entry.
fn of_keys(theme: &Theme, asked: &str) -> Vec<String> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for entry in contract::entries() {
        let whole = format!("{}.{}", entry.table, entry.name);
        if plain(&whole) != asked && plain(entry.name) != asked {
            continue;
        }
        let mut text = Vec::new();
        keys::of_key(&entry, &mut text);
        match found.iter_mut().find(|(_, other)| *other == text) {
            Some((tables, _)) => *tables += &format!(", {whole}"),
            None => found.push((whole, text)),
        }
    }
    let one = |(names, text): (String, Vec<String>)| {
        let title = format!("{names} (key of experiment files)");
        lines(theme, &title, &text)
    };
    found.into_iter().map(one).collect()
}

/// A kind of application: the keys that only it has.
fn of_kind(theme: &Theme, asked: &str) -> Option<String> {
    let entries = contract::entries();
    let own = entries
        .iter()
        .filter(|e| kind_of(&e.table).is_some_and(|kind| plain(kind) == asked));
    let mut text = Vec::new();
    let mut kind = None;
    for entry in own {
        kind = kind_of(&entry.table);
        keys::of_key(entry, &mut text);
    }
    let title = format!("{} (kind of application)", kind?);
    text.push(String::new());
    text.push(
        "Keys of every application: docs/experiment.md, `tcplab help experiment`.".to_owned(),
    );
    Some(lines(theme, &title, &text))
}

/// The kind whose table this is: `app (KIND)`.
fn kind_of(table: &str) -> Option<&str> {
    table.strip_prefix("app (")?.strip_suffix(')')
}

fn of_sysctl(theme: &Theme, asked: &str) -> Option<String> {
    let is = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        plain(name) == asked || plain(last) == asked
    };
    let entry = sysctls().into_iter().find(|e| is(e.row.name))?;
    let mut text = Vec::new();
    keys::of_sysctl(&entry, &mut text);
    let title = format!("{} (sysctl of hosts)", entry.row.name);
    Some(lines(theme, &title, &text))
}

fn of_qdisc(theme: &Theme, asked: &str) -> Option<String> {
    let (kind, what) = SUPPORTED.iter().find(|(kind, _)| plain(kind) == asked)?;
    let words = words_of(kind).unwrap_or_default().join(", ");
    let about = format!("Supported: {what}.\nWords: {words}.\ndocs/qdisc.md says more.");
    Some(page(theme, &format!("{kind} (qdisc of links)"), &about))
}

fn of_profile(theme: &Theme, asked: &str) -> Option<String> {
    let asked = asked.strip_prefix("model ").unwrap_or(asked);
    let known = KNOWN.iter().find(|known| plain(known.name) == asked)?;
    let (own, usual) = (known.profile(), Profile::default());
    let differs = |b: &&Behaviour| b.value(&own) != b.value(&usual);
    let values = BEHAVIOURS.iter().filter(differs);
    let values = values.map(|b| format!("{} {}", b.name, b.value(&own)));
    let values: Vec<String> = values.collect();
    let verified = match known.verified {
        true => "Compared with this kernel, packet by packet.",
        false => "Unverified: not compared with this kernel.",
    };
    let values = match values.as_slice() {
        [] => format!("Its behaviours are those of {}.", usual.name),
        values => format!("Unlike {}: {}.", usual.name, values.join(", ")),
    };
    let about = format!("{}.\n{verified}\n{values}", known.what);
    Some(page(theme, &format!("{} (profile)", known.name), &about))
}

fn of_behaviour(theme: &Theme, asked: &str) -> Option<String> {
    let behaviour = BEHAVIOURS.iter().find(|b| plain(b.name) == asked)?;
    let mut by_value: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for known in KNOWN {
        let value = behaviour.value(&known.profile());
        by_value.entry(value).or_default().push(known.name);
    }
    let values = by_value
        .iter()
        .map(|(value, of)| format!("{value}: {}", of.join(", ")));
    let about = format!(
        "{}.\nTakes: {}.\nChanged: {}.\n{}.",
        behaviour.meaning,
        behaviour.takes.words(),
        behaviour.changed,
        values.collect::<Vec<_>>().join(".\n")
    );
    Some(page(
        theme,
        &format!("{} (behaviour)", behaviour.name),
        &about,
    ))
}

/// All measures, each with what stands before its name.
fn measures() -> Vec<(&'static str, &'static Known)> {
    let of = |owner: &'static str, known: &'static [Known]| known.iter().map(move |k| (owner, k));
    PACKETS
        .iter()
        .map(|of| ("HOST", &of.known))
        .chain(of("APP", &APP))
        .chain(of("APP.client", &LOG))
        .chain(of("link.A-B.a_to_b", &LINK))
        .chain(of("run", &RUN))
        .collect()
}

fn of_measure(theme: &Theme, asked: &str) -> Vec<String> {
    let is = |owner: &str, name: &str| {
        let name = plain(name);
        // `client.acks.delayed`: the first part is a name from the file.
        let after = asked.split_once(' ').map_or("", |(_, after)| after);
        let whole = plain(&format!("{owner}.{name}"));
        name == asked || whole == asked || (name.contains([' ', '_']) && name == after)
    };
    let found = measures()
        .into_iter()
        .filter(|(owner, k)| is(owner, k.name));
    let one = |(owner, known): (&str, &Known)| {
        let unit = match known.values.unit.name() {
            "" => String::new(),
            unit => format!(" Unit: {unit}."),
        };
        let title = format!("{owner}.{} (measure)", known.name);
        page(theme, &title, &format!("{}.{unit}", known.meaning))
    };
    found.map(one).collect()
}

/// An exit code: `3`, `exit code 3`.
fn of_exit_code(theme: &Theme, asked: &str) -> Option<String> {
    let code = asked.strip_prefix("exit code ").unwrap_or(asked);
    let rows = pages::markdown(EXIT_CODES)?.lines();
    let cells = rows.filter(|line| line.starts_with('|')).map(paper::cells);
    let row = cells.into_iter().find(|cells| {
        let first = cells.first();
        first.is_some_and(|c| c == code && c.parse::<u8>().is_ok())
    })?;
    let about = row.get(1..)?.join(" ");
    Some(page(
        theme,
        &format!("exit code {code}"),
        &format!("{about}."),
    ))
}
