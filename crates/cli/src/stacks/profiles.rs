//! `tcplab stacks --profiles`: what the model does under each profile, side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use tcplab_plan::profile::{BEHAVIOURS, Behaviour, KNOWN, Known, NOT_MODELLED, Profile, Takes};
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::style::Ink;
use tcplab_report::terminal::table::{Align, Cell, Table};

use crate::failure::Failure;
use crate::json;
use crate::screen;

/// Schema of the answer.
pub const SCHEMA: &str = "tcplab.profiles/1";

/// The answer of `stacks --profiles --json`.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    profiles: Vec<ProfileRow>,
    behaviours: Vec<BehaviourRow>,
    /// Defaults of sysctls that are not the same everywhere: by name, then by profile.
    sysctls: BTreeMap<String, BTreeMap<&'static str, String>>,
    /// What is the same under every profile, though kernels differ.
    not_modelled: Vec<Difference>,
}

#[derive(Serialize)]
struct Difference {
    what: &'static str,
    changed: &'static str,
}

#[derive(Serialize)]
struct ProfileRow {
    profile: &'static str,
    what: &'static str,
    /// Whether a kernel of this release was compared with it.
    verified: bool,
}

#[derive(Serialize)]
struct BehaviourRow {
    behaviour: &'static str,
    /// Its words, or the least and the greatest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<&'static [&'static str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<[u32; 2]>,
    meaning: &'static str,
    changed: &'static str,
    /// By profile.
    values: BTreeMap<&'static str, String>,
}

/// Prints the profiles.
pub fn main(as_json: bool, theme: &Theme) -> Result<ExitCode, Failure> {
    let profiles: Vec<(&Known, Profile)> = KNOWN.iter().map(|k| (k, k.profile())).collect();
    json::or_words(as_json, &document(&profiles), || print(&profiles, theme))
}

fn document(profiles: &[(&Known, Profile)]) -> Document {
    let behaviour = |known: &Behaviour| {
        let (words, range) = match known.takes {
            Takes::Words(words) => (Some(words), None),
            Takes::Number(min, max) => (None, Some([min, max])),
        };
        let value = |(k, p): &(&Known, Profile)| (k.name, known.value(p));
        BehaviourRow {
            behaviour: known.name,
            words,
            range,
            meaning: known.meaning,
            changed: known.changed,
            values: profiles.iter().map(value).collect(),
        }
    };
    let sysctl = |name: &'static str| {
        let value = |(k, p): &(&Known, Profile)| Some((k.name, p.sysctl(name)?.to_owned()));
        (name.to_owned(), profiles.iter().filter_map(value).collect())
    };
    Document {
        schema: SCHEMA,
        profiles: profiles
            .iter()
            .map(|(known, _)| ProfileRow {
                profile: known.name,
                what: known.what,
                verified: known.verified,
            })
            .collect(),
        behaviours: BEHAVIOURS.iter().map(behaviour).collect(),
        sysctls: sysctls(profiles).into_iter().map(sysctl).collect(),
        not_modelled: NOT_MODELLED
            .iter()
            .map(|&(what, changed)| Difference { what, changed })
            .collect(),
    }
}

/// The sysctls whose default some profile changes.
fn sysctls(profiles: &[(&Known, Profile)]) -> BTreeSet<&'static str> {
    let names = profiles.iter().flat_map(|(_, p)| p.sysctl.iter());
    names.map(|(name, _)| *name).collect()
}

fn print(profiles: &[(&Known, Profile)], theme: &Theme) -> Result<(), Failure> {
    let mut out = screen::painted(theme);
    let columns = ["behaviour", "most profiles", "otherwise"].map(|name| (name, Align::Left));
    let mut table = Table::new(&columns);
    let mut row = |name: &str, value: &dyn Fn(&Profile) -> String| {
        let (usual, others) = by_value(profiles, value);
        table.row(vec![
            name.into(),
            usual.into(),
            Cell::inked(others, Ink::Yellow),
        ]);
    };
    for known in BEHAVIOURS {
        row(known.name, &|p| known.value(p));
    }
    for name in sysctls(profiles) {
        let short = name.trim_start_matches("net.ipv4.");
        row(short, &|p| p.sysctl(name).unwrap_or("-").to_owned());
    }
    writeln!(out, "{}", table.render(theme))?;
    for (known, _) in profiles {
        let unverified = if known.verified { "" } else { "; unverified" };
        writeln!(out, "{}: {}{unverified}", known.name, known.what)?;
    }
    writeln!(out)?;
    for known in BEHAVIOURS {
        writeln!(out, "{}: {} ({})", known.name, known.meaning, known.changed)?;
    }
    writeln!(out, "\nThe same in every profile, although kernels differ:")?;
    for (what, changed) in NOT_MODELLED {
        writeln!(out, "- {what} ({changed})")?;
    }
    Ok(())
}

/// The value that most profiles have, and the profiles of every other value.
fn by_value(
    profiles: &[(&Known, Profile)],
    value: &dyn Fn(&Profile) -> String,
) -> (String, String) {
    let mut values: Vec<(String, Vec<&str>)> = Vec::new();
    for (known, profile) in profiles {
        let (of, name) = (value(profile), known.name.trim_start_matches("linux-"));
        match values.iter_mut().find(|(other, _)| *other == of) {
            Some((_, names)) => names.push(name),
            None => values.push((of, vec![name])),
        }
    }
    values.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let mut values = values.into_iter();
    let usual = values.next().map(|(value, _)| value).unwrap_or_default();
    let other = |(value, names): (String, Vec<&str>)| format!("{value}: {}", names.join(", "));
    (usual, values.map(other).collect::<Vec<_>>().join("; "))
}
