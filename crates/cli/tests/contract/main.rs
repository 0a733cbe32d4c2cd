//! A test made from the contract: every key, socket option, route metric and sysctl changes a named output on each kind
//! of stack, or is refused before anything runs. One that is accepted and ignored fails.
//!
//! The experiments stand in `tests/contract/*.toml`. `not-shown.txt` names the keys that no experiment shows,
//! `not-modelled.txt` those whose effect on a kernel is not the model's, each with the reason.

mod outputs;
mod qdiscs;
mod rows;

use std::collections::{BTreeMap, BTreeSet};

use outputs::{Change, Outputs, run};
use rows::{File, files, folder};
use tcplab_lab::LabError;
use tcplab_lab::check::{Kind, points};
use tcplab_plan::Point;
use tcplab_plan::contract::entries;
use tcplab_tcp::Sysctl;

/// Keys that name things or hold for the whole file: [`keys_of_the_whole_file_change_what_is_read`] has them.
const OF_FILES: [&str; 5] = [
    "run.stacks",
    "run.repeat",
    "run.tolerate",
    "host.name",
    "app.name",
];

/// Every key of a point.
fn all_keys() -> BTreeSet<String> {
    let entries = entries().into_iter();
    let of_points = entries.filter(|e| !["file", "variant", "report"].contains(&e.table.as_str()));
    let keys = of_points.map(|entry| format!("{}.{}", entry.table, entry.name));
    let keys = keys.filter(|key| !OF_FILES.contains(&key.as_str()));
    let sysctls = Sysctl::NAMES.iter().map(|name| format!("sysctl {name}"));
    keys.chain(sysctls).collect()
}

/// What became of keys on one kind of stack.
#[derive(Default)]
struct Found {
    effects: BTreeMap<String, Vec<(String, Change)>>,
    refused: BTreeMap<String, String>,
    /// Rows that change nothing and are not refused.
    silent: Vec<String>,
}

/// What this stack refuses of a point before it runs.
fn refusals(stack: &str, kind: Kind, point: &Point) -> Vec<String> {
    match points(std::slice::from_ref(point), &[(stack, kind)]) {
        Ok(()) => Vec::new(),
        Err(LabError::Refused(lines)) => lines,
        Err(other) => vec![other.to_string()],
    }
}

/// Whether this kind of stack honours a key of a table of the contract, in some setting.
fn is_honoured(key: &str, kind: Kind) -> bool {
    let mut entries = entries().into_iter();
    let entry = entries.find(|e| format!("{}.{}", e.table, e.name) == key);
    entry.is_none_or(|e| e.is_honoured(kind))
}

/// Lines `KEY: reason` of a file of tests/contract.
fn list(name: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder().join(name)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.split_once(": "));
    pairs
        .map(|(key, why)| (key.to_owned(), why.to_owned()))
        .collect()
}

/// Why this stack refuses a point, but for what it refuses without the change.
fn refused(
    (stack, kind): (&str, Kind),
    keys: &[String],
    before: &Result<Point, String>,
    after: &Result<Point, String>,
) -> Option<String> {
    let point = match after {
        Ok(point) => point,
        Err(why) => return Some(why.clone()),
    };
    let before = before.as_ref().map(|point| refusals(stack, kind, point));
    let before = before.unwrap_or_default();
    let new = refusals(stack, kind, point);
    let own = new.iter().find(|line| !before.contains(line)).cloned();
    // One line tells of all keys of a card: it stands against the one that this row changes as well.
    let in_vain = keys.iter().any(|key| !is_honoured(key, kind));
    own.or_else(|| new.into_iter().next().filter(|_| in_vain))
}

fn judge(stack: &str, kind: Kind) -> Found {
    let mut found = Found::default();
    for file in files() {
        let is_run = file.stacks.iter().any(|name| name == stack);
        let outputs = if is_run {
            runs(&file, stack, kind)
        } else {
            BTreeMap::new()
        };
        for (index, row) in file.rows.iter().enumerate() {
            let Some((base, keys)) = &row.against else {
                continue;
            };
            if let Some(why) = refused((stack, kind), keys, &file.rows[*base].point, &row.point) {
                let each = keys.iter().map(|key| (key.clone(), why.clone()));
                found.refused.extend(each);
                continue;
            }
            let (Some(before), Some(after)) = (outputs.get(base), outputs.get(&index)) else {
                continue;
            };
            let place = format!("{}/{}", file.name, row.name);
            for key in keys {
                match before.change(after) {
                    Some(change) => {
                        let known = found.effects.entry(key.clone()).or_default();
                        known.push((place.clone(), change));
                    }
                    None => found.silent.push(format!("{key} ({place})")),
                }
            }
        }
    }
    found
}

/// Runs the rows of a file that the stack does not refuse.
fn runs(file: &File, stack: &str, kind: Kind) -> BTreeMap<usize, Outputs> {
    let rows = file.rows.iter().enumerate();
    let good = rows.filter_map(|(index, row)| {
        let point = row.point.as_ref().ok()?;
        refusals(stack, kind, point).is_empty().then_some(index)
    });
    let good: Vec<usize> = good.collect();
    let outputs = run(&file.with(&good), stack);
    assert_eq!(good.len(), outputs.len(), "{}", file.name);
    good.into_iter().zip(outputs).collect()
}

/// Fails for keys that are accepted and ignored; prints what becomes of the others.
fn every_key_has_an_effect_or_is_refused(stack: &str, found: &Found) {
    let keys = all_keys();
    let has = |key: &&String| found.effects.contains_key(*key) || found.refused.contains_key(*key);
    let exceptions = list("not-shown.txt");
    let on_this = |key: &str| format!("{key} ({stack})");
    let is_listed =
        |key: &str| exceptions.contains_key(key) || exceptions.contains_key(&on_this(key));
    let without: Vec<&String> = keys.iter().filter(|key| !has(key)).collect();
    let stale: Vec<&String> = exceptions
        .keys()
        .filter(|key| {
            let name = key
                .split_once(" (")
                .filter(|(name, _)| on_this(name) == **key);
            let name = name.map_or(key.as_str(), |(name, _)| name);
            keys.contains(name) && has(&&name.to_owned())
        })
        .collect();
    let effects = keys.iter().filter(|key| found.effects.contains_key(*key));
    let by_packets = effects.clone().filter(|key| {
        let changes = found.effects[*key].iter();
        changes
            .clone()
            .any(|(_, change)| change.output == "packets")
    });
    println!(
        "{stack}: {} keys: {} change an output ({} of them the packets), {} are only refused",
        keys.len(),
        effects.clone().count(),
        by_packets.count(),
        keys.len() - effects.count() - without.len(),
    );
    assert!(
        found.silent.is_empty(),
        "{stack}: nothing changes: {:#?}",
        found.silent
    );
    assert!(stale.is_empty(), "{stack}: listed, but shown: {stale:?}");
    let unlisted: Vec<&&String> = without.iter().filter(|key| !is_listed(key)).collect();
    assert!(
        unlisted.is_empty(),
        "{stack}: keys without an experiment: {unlisted:#?}"
    );
}

/// The other kinds of kernel stacks have the same code on the host's side: what they do not refuse changes an output here,
/// or stands on the list.
fn what_other_kernels_take_is_shown_on_this_one(kernel: &Found) {
    let exceptions = list("not-shown.txt");
    for (stack, kind) in [
        ("host", Kind::Host),
        ("qemu:debian", Kind::Qemu),
        ("ssh:a,b", Kind::Ssh),
    ] {
        let found = judge(stack, kind);
        let keys = all_keys().into_iter();
        let taken: Vec<String> = keys
            .filter(|key| !found.refused.contains_key(key))
            .collect();
        let is_listed = |key: &String| {
            let listed = ["uml:6.1", kind.word()].map(|of| format!("{key} ({of})"));
            // This machine's kernel may lack it, and then refuses it.
            let is_of_release = key.starts_with("sysctl ") || OF_RELEASE.contains(&key.as_str());
            let is_of_others = is_of_release && kernel.refused.contains_key(key);
            exceptions.contains_key(key)
                || listed.iter().any(|own| exceptions.contains_key(own))
                || is_of_others
        };
        let (shown, not): (Vec<_>, Vec<_>) = taken
            .iter()
            .partition(|key| kernel.effects.contains_key(*key));
        let unlisted: Vec<_> = not.iter().filter(|key| !is_listed(key)).collect();
        println!(
            "{stack}: {} keys are refused in some setting; of the others {} are shown on uml:6.1, {} are listed or of other kernels",
            found.refused.len(),
            shown.len(),
            not.len() - unlisted.len()
        );
        assert!(
            unlisted.is_empty(),
            "{stack}: taken, but not shown on a kernel: {unlisted:#?}"
        );
    }
}

#[test]
fn every_key_changes_something_on_the_model_or_is_refused() {
    let found = judge("model", Kind::Model);
    every_key_has_an_effect_or_is_refused("model", &found);
}

/// Options of sockets that only later kernels have.
const OF_RELEASE: [&str; 2] = ["socket.delack_max", "socket.rto_min"];

/// Keys that change what is drawn (a port by its hash), or where in a tick a run begins: which way a value goes is chance.
const OF_CHANCE: [&str; 3] = ["app.port", "run.boot", "run.seed"];

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn every_key_changes_something_on_a_kernel_and_the_same_on_the_model() {
    let kernel = judge("uml:6.1", Kind::Uml);
    every_key_has_an_effect_or_is_refused("uml:6.1", &kernel);
    what_other_kernels_take_is_shown_on_this_one(&kernel);
    let model = judge("model", Kind::Model);
    let listed = list("not-modelled.txt");
    let (mut same, mut differ) = (0, BTreeMap::new());
    for (key, changes) in &kernel.effects {
        for (place, change) in changes {
            let own = model.effects.get(key).and_then(|known| {
                let mut known = known.iter();
                known
                    .find(|(other, _)| other == place)
                    .map(|(_, change)| change)
            });
            let why = match own {
                Some(_) if OF_CHANCE.contains(&key.as_str()) => None,
                Some(own) => change.differs_from(own),
                None => match (model.effects.get(key), model.refused.get(key)) {
                    // An experiment of a kernel's own link has another one on the model's.
                    (Some(_), _) | (None, Some(_)) => None,
                    (None, None) => Some("the model has no effect".to_owned()),
                },
            };
            match why {
                None => same += 1,
                Some(why) => {
                    differ.insert(format!("{key} ({place})"), why);
                }
            }
        }
    }
    println!(
        "{same} experiments change both in one direction, {} stand on the list",
        listed.len()
    );
    let unlisted: Vec<String> = (differ.iter())
        .filter(|(key, _)| !listed.contains_key(*key))
        .map(|(key, why)| format!("{key}: {why}"))
        .collect();
    assert!(
        unlisted.is_empty(),
        "not the same on the model: {unlisted:#?}"
    );
    let stale: Vec<&String> = listed
        .keys()
        .filter(|key| !differ.contains_key(*key))
        .collect();
    assert!(stale.is_empty(), "listed, but the same on both: {stale:?}");
}
