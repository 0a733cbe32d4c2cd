//! The generated part of `docs/fidelity.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use tcplab_diff::{Judged, Minimal, table, words};

use super::reasons::Reasons;

const BEGIN: &str = "<!-- fidelity: begin -->";
const END: &str = "<!-- fidelity: end -->";

/// What is written down.
pub struct Findings<'a> {
    /// The list.
    pub list: &'a [Judged],
    /// Drawn scenarios.
    pub random: &'a [Judged],
    /// A small scenario of each class among the drawn ones.
    pub minimal: &'a [Minimal],
    /// The table of [`tcplab_diff::keys`].
    pub keys: &'a str,
    /// The command that was run.
    pub command: String,
    /// Both stacks.
    pub stacks: (String, String),
}

/// Puts the findings between the markers.
///
/// # Errors
/// A document without markers, or that cannot be written.
pub fn write(root: &Path, findings: &Findings<'_>, reasons: &Reasons) -> Result<()> {
    let path = root.join("docs/fidelity.md");
    let name = path.display().to_string();
    let text = fs::read_to_string(&path).with_context(|| name.clone())?;
    let (Some(begin), Some(end)) = (text.find(BEGIN), text.find(END)) else {
        bail!("{name} has no {BEGIN} and {END}");
    };
    let part = part(root, findings, reasons);
    let new = format!("{}{BEGIN}\n\n{part}\n{}", &text[..begin], &text[end..]);
    fs::write(&path, new).with_context(|| name)
}

fn part(root: &Path, f: &Findings<'_>, reasons: &Reasons) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "Written by `{}` at commit {}. It compares `{}` with `{}`.\n",
        f.command,
        commit(root),
        f.stacks.1,
        f.stacks.0
    );
    let _ = writeln!(
        out,
        "| scenarios | all | equal to the last packet | of these, all promised counters equal | share |"
    );
    let _ = writeln!(out, "|---|---|---|---|---|");
    let mut always = Vec::new();
    for (name, group) in groups(f.list) {
        let (equal, promised) = counts(&group);
        if equal == group.len() && promised == group.len() {
            always.push(format!("`{name}` {equal}"));
        } else {
            row(&mut out, &format!("`{name}`"), &group);
        }
    }
    row(&mut out, "**the list**", &f.list.iter().collect::<Vec<_>>());
    if !f.random.is_empty() {
        row(&mut out, "**drawn**", &f.random.iter().collect::<Vec<_>>());
    }
    if !always.is_empty() {
        let _ = writeln!(
            out,
            "\nAll equal, with all promised counters (scenarios): {}.",
            always.join(", ")
        );
    }
    differences(&mut out, f.list, reasons);
    classes(&mut out, f, reasons);
    out += "\nFor each setting that a plain transfer lacks: how many of the drawn scenarios with this setting are equal, worst first (names as in a manifest's points):\n\n";
    out += f.keys;
    out
}

fn groups(list: &[Judged]) -> BTreeMap<&str, Vec<&Judged>> {
    let mut groups: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
    for j in list {
        let group = j.scenario.name.split('/').next().unwrap_or_default();
        groups.entry(group).or_default().push(j);
    }
    groups
}

/// How many are equal, and how many of these with all promised counters.
fn counts(group: &[&Judged]) -> (usize, usize) {
    let equal = group.iter().filter(|j| j.verdict.is_equal());
    let promised = equal
        .clone()
        .filter(|j| j.verdict.broken_promises().is_empty());
    (equal.count(), promised.count())
}

fn row(out: &mut String, name: &str, group: &[&Judged]) {
    let (equal, promised) = counts(group);
    let _ = writeln!(
        out,
        "| {name} | {} | {equal} | {promised} | {:.1} % |",
        group.len(),
        100.0 * equal as f64 / group.len().max(1) as f64
    );
}

fn differences(out: &mut String, list: &[Judged], reasons: &Reasons) {
    let differ = |j: &&Judged| j.verdict.class() != "equal";
    if !list.iter().any(|j| differ(&j)) {
        return;
    }
    let _ = writeln!(out, "\n| differs | first difference | why |\n|---|---|---|");
    for j in list.iter().filter(differ) {
        let class = j.verdict.class();
        let at = j
            .verdict
            .packets
            .first
            .as_ref()
            .map_or_else(String::new, |d| {
                format!(
                    ", packet {} of {}: {}, kernel {}, model {}",
                    j.verdict.packets.equal + 1,
                    j.verdict.packets.packets.0,
                    class,
                    d.values.0,
                    d.values.1
                )
            });
        let why = reasons.of(&j.scenario.name, &j.verdict.class());
        let why = why.map_or("not yet known", |r| r.text.as_str());
        let at = at.trim_start_matches(", ").replace('|', "/");
        let at = if at.is_empty() { class } else { at };
        let _ = writeln!(out, "| `{}` | {at} | {why} |", j.scenario.name);
    }
}

fn classes(out: &mut String, f: &Findings<'_>, reasons: &Reasons) {
    if f.random.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\nClasses of differences among the {} drawn scenarios. The small scenario of a class is reduced as far as possible while the difference stays:\n",
        f.random.len()
    );
    let _ = writeln!(
        out,
        "| class | scenarios | small scenario | why |\n|---|---|---|---|"
    );
    for (class, members) in table::classes(f.random) {
        if class == "equal" {
            continue;
        }
        let small = f.minimal.iter().find(|m| m.class == class);
        let small = small.map_or_else(String::new, |m| {
            format!("{}: {}", m.name, words::of(&m.point))
        });
        let first = members.first().map_or("", |j| j.scenario.name.as_str());
        let why = reasons.of(first, &class);
        let why = why.map_or("not yet known", |r| r.text.as_str());
        let _ = writeln!(out, "| {class} | {} | {small} | {why} |", members.len());
    }
}

fn commit(root: &Path) -> String {
    let git = Command::new("git")
        .args(["log", "-1", "--format=%h of %cs"])
        .current_dir(root)
        .output();
    match git {
        Ok(out) if out.status.success() => String::from_utf8_lossy(&out.stdout).trim().to_owned(),
        _ => "unknown".to_owned(),
    }
}
