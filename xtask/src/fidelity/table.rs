//! The table of a comparison, for people and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use serde_json::json;

use super::Judged;
use super::reasons::Reasons;

/// Equal scenarios of all, in percent.
pub fn share(judged: &[Judged]) -> f64 {
    let equal = judged.iter().filter(|j| j.verdict.is_equal()).count();
    100.0 * equal as f64 / judged.len().max(1) as f64
}

/// A line for each scenario that differs, then the classes.
pub fn text(judged: &[Judged], reasons: &Reasons) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    for j in judged {
        let v = &j.verdict;
        if v.is_equal() && v.counters.is_empty() && v.tcp_info.is_empty() {
            continue;
        }
        let where_ = v.packets.first.as_ref().map_or(String::new(), |d| {
            format!(
                " after {} of {} packets, {:.6} s: {} | {}",
                v.packets.equal,
                v.packets.packets.0,
                d.time_ns as f64 / 1e9,
                d.values.0,
                d.values.1
            )
        });
        let _ = writeln!(
            out,
            "{:<44} {}{where_}{}{}",
            j.scenario.name,
            v.class(),
            others(j),
            match reasons.of(&j.scenario.name, &j.verdict.class()) {
                Some(_) if v.class() != "equal" => " (reason stated)",
                _ => "",
            }
        );
    }
    out.push('\n');
    for (class, names) in classes(judged) {
        let _ = writeln!(out, "{:>5}  {class}  (such as {})", names.len(), names[0]);
    }
    let equal = judged.iter().filter(|j| j.verdict.is_equal()).count();
    let all = |j: &&Judged| j.verdict.is_equal() && j.verdict.broken_promises().is_empty();
    let _ = writeln!(
        out,
        "{equal} of {} scenarios equal to the last packet ({:.1} %), {} with the promised counters, {} with all counters, {} with tcp_info",
        judged.len(),
        share(judged),
        judged.iter().filter(all).count(),
        judged
            .iter()
            .filter(|j| j.verdict.is_equal() && j.verdict.counters.is_empty())
            .count(),
        judged
            .iter()
            .filter(|j| j.verdict.is_equal() && j.verdict.tcp_info.is_empty())
            .count(),
    );
    out
}

fn others(j: &Judged) -> String {
    let v = &j.verdict;
    if !v.is_equal() {
        return String::new();
    }
    let names = v.counters.iter().chain(&v.tcp_info);
    let mut names = names.map(|o| format!("{} {}|{}", o.name, o.a, o.b));
    let first: Vec<String> = names.by_ref().take(4).collect();
    let rest = names.count();
    let more = if rest > 0 {
        format!(" and {rest} more")
    } else {
        String::new()
    };
    format!("; {}{more}", first.join(", "))
}

/// Names of scenarios by the class of their difference, the most frequent class first.
pub fn classes(judged: &[Judged]) -> Vec<(String, Vec<&str>)> {
    let mut classes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for j in judged {
        let class = classes.entry(j.verdict.class()).or_default();
        class.push(&j.scenario.name);
    }
    let mut classes: Vec<_> = classes.into_iter().collect();
    classes.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    classes
}

/// The whole comparison as one document.
pub fn json(judged: &[Judged]) -> Result<String> {
    let scenarios = judged.iter().map(|j| {
        let v = &j.verdict;
        let other = |o: &super::end::Other| json!({"name": o.name, "a": o.a, "b": o.b});
        json!({
            "name": j.scenario.name,
            "class": v.class(),
            "equal": v.is_equal(),
            "packets": v.packets.packets.0,
            "packets_equal": v.packets.equal,
            "first": v.packets.first.as_ref().map(|d| json!({
                "field": d.field, "kind": d.kind, "host": d.host, "number": d.number,
                "time_ns": d.time_ns, "a": d.values.0, "b": d.values.1,
            })),
            "counters": v.counters.iter().map(other).collect::<Vec<_>>(),
            "tcp_info": v.tcp_info.iter().map(other).collect::<Vec<_>>(),
        })
    });
    let document = json!({
        "schema": "tcplab.fidelity/1",
        "equal_percent": share(judged),
        "scenarios": scenarios.collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&document)?)
}
