//! Two result folders: what their points were told to do, where it differs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use tcplab_compare::{Flag, FlagKind};
use tcplab_os::text::read_bytes;

/// A manifest is smaller.
const MOST_BYTES: u64 = 256 << 20;
/// Differences that are named; more are counted.
const NAMED: usize = 8;
/// Values of a side that are named.
const VALUES: usize = 4;

/// By place: all values of the points of a folder.
type Told = BTreeMap<String, BTreeSet<String>>;

/// The flag of two folders of runs whose points differ in more than their stacks.
pub fn flag(before: &Path, after: &Path) -> Option<Flag> {
    let (before, after) = (told(before)?, told(after)?);
    let places: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let none = BTreeSet::new();
    let differs = |place: &&String| {
        let (was, is) = (before.get(*place), after.get(*place));
        let (was, is) = (was.unwrap_or(&none), is.unwrap_or(&none));
        (was != is).then(|| format!("{place} ({} before, {} after)", list(was), list(is)))
    };
    let mut rows: Vec<String> = places.iter().filter_map(differs).collect();
    let more = rows.len().saturating_sub(NAMED);
    rows.truncate(NAMED);
    if more > 0 {
        rows.push(format!("and {more} more"));
    }
    (!rows.is_empty()).then(|| Flag {
        kind: FlagKind::OtherSettings,
        text: "the two sides ran different points: is that the change to compare?".into(),
        rows,
    })
}

/// What the manifest of a result folder says of its points; `None` of what is no such folder.
fn told(folder: &Path) -> Option<Told> {
    let text = read_bytes(&folder.join("manifest.json"), |_| MOST_BYTES).ok()?;
    let document: Value = serde_json::from_slice(&text).ok()?;
    let mut told = Told::new();
    for point in document["points"].as_array()? {
        for (name, value) in point.as_object()? {
            // The file's name says nothing; axes are values of the keys beside them.
            if !matches!(name.as_str(), "experiment" | "axes") {
                walk(name, value, &mut told);
            }
        }
    }
    Some(told)
}

fn walk(place: &str, value: &Value, told: &mut Told) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (name, value) in fields {
                walk(&format!("{place}.{name}"), value, told);
            }
        }
        Value::Array(values) => {
            for (at, value) in values.iter().enumerate() {
                walk(&format!("{place}[{at}]"), value, told);
            }
        }
        value => {
            let values = told.entry(place.to_owned()).or_default();
            values.insert(
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned),
            );
        }
    }
}

fn list(values: &BTreeSet<String>) -> String {
    let named: Vec<&str> = values.iter().take(VALUES).map(String::as_str).collect();
    match values.len() {
        0 => "not set".to_owned(),
        n if n > VALUES => format!("{} and {} more", named.join(", "), n - VALUES),
        _ => named.join(", "),
    }
}
