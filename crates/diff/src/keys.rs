//! How the drawn scenarios fare by what they set: a key, how many scenarios have it, how many of them are equal.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tcplab_plan::Point;
use tcplab_plan::app::{Act, AppKind};

use crate::Judged;

/// Names that say on which side or way a key stands, which do not matter here.
const SIDES: [&str; 6] = [
    "client_socket",
    "server_socket",
    "a_to_b",
    "b_to_a",
    "apps",
    "hosts",
];
/// Fields of a point that no key of a file makes by itself.
const OWN: [&str; 6] = [
    "axes",
    "seed",
    "boot_ns",
    "experiment",
    "max_ns",
    "tolerate",
];

/// Two lists in Markdown: what differs in a scenario, the worst first, and what never does. `base`: the point that every
/// scenario was drawn from.
pub fn table(judged: &[Judged], base: &Point) -> String {
    let value = |point: &Point| serde_json::to_value(point).unwrap_or_default();
    let base = value(base);
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for j in judged {
        let point = value(&j.scenario.point);
        let mut keys = BTreeSet::new();
        differences(&base, &point, "", &mut keys);
        if j.scenario.point.links.iter().any(has_no_delay) {
            keys.insert("link without delay".to_owned());
        }
        for app in &j.scenario.point.apps {
            keys.extend(own_words(&app.does).map(str::to_owned));
        }
        for key in keys {
            let count = counts.entry(key).or_default();
            count.0 += 1;
            count.1 += usize::from(j.verdict.is_equal());
        }
    }
    let share = |(all, equal): (usize, usize)| equal as f64 / all as f64 * 100.0;
    let (always, mut rows): (Vec<_>, Vec<_>) = counts
        .into_iter()
        .partition(|(_, (all, equal))| all == equal);
    rows.sort_by(|(_, a), (_, b)| share(*a).total_cmp(&share(*b)));
    let rows = rows
        .iter()
        .map(|(key, (all, equal))| format!("`{key}` {equal}/{all}"));
    let always = always
        .iter()
        .map(|(key, (all, _))| format!("`{key}` {all}"));
    let mut out = String::new();
    for (what, names) in [
        ("Not all equal (equal/all)", rows.collect::<Vec<_>>()),
        ("All equal", always.collect()),
    ] {
        if !names.is_empty() {
            out += &format!("- {what}: {}.\n", names.join(", "));
        }
    }
    out
}

/// Keys and words of a kind that the table names by themselves.
fn own_words(does: &AppKind) -> impl Iterator<Item = &'static str> {
    let items = match does {
        AppKind::Messages { messages } => messages.as_slice(),
        _ => &[],
    };
    let has = |act: Act| items.iter().any(|item| item.does == act);
    let stream = matches!(does, AppKind::Stream { more: 1.., .. });
    let burst = matches!(does, AppKind::RequestResponse { burst: 1.., .. });
    let all = [
        ("burst", burst),
        ("more", items.iter().any(|item| item.more) || stream),
        ("at once", items.iter().any(|item| item.at_once)),
        ("shutdown", has(Act::Shutdown)),
        ("close", has(Act::Close)),
    ];
    all.into_iter()
        .filter_map(|(word, has)| has.then_some(word))
}

fn has_no_delay(link: &tcplab_plan::point::Link) -> bool {
    [&link.a_to_b, &link.b_to_a]
        .iter()
        .all(|way| way.delay_ns == 0)
}

/// The names of the values of `point` that differ from those of `base`.
fn differences(base: &Value, point: &Value, name: &str, found: &mut BTreeSet<String>) {
    match (base, point) {
        (_, Value::Object(members)) if name != "does" => {
            for (key, value) in members {
                if OWN.contains(&key.as_str()) {
                    continue;
                }
                let under = match SIDES.contains(&key.as_str()) {
                    true => name,
                    false => key,
                };
                differences(base.get(key).unwrap_or(&Value::Null), value, under, found);
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (before, after) in before.iter().zip(after) {
                differences(before, after, name, found);
            }
        }
        (before, after) if before == after || after.is_null() => {}
        (_, Value::Object(does)) => {
            let kind = does.keys().next().map_or("does", String::as_str);
            found.insert(format!("kind {kind}"));
        }
        (_, Value::Array(list)) if list.is_empty() => {}
        _ => {
            let plain = name.trim_end_matches("_ns").trim_end_matches("_ppb");
            found.insert(
                plain
                    .trim_end_matches("_bps")
                    .trim_end_matches("_pkts")
                    .to_owned(),
            );
        }
    }
}
