//! The table of a comparison, for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::Judged;
use crate::runs::Runs;

/// Equal scenarios of all, in percent.
pub fn share(judged: &[Judged]) -> f64 {
    let equal = judged.iter().filter(|j| j.verdict.is_equal()).count();
    100.0 * equal as f64 / judged.len().max(1) as f64
}

/// A line for each scenario that differs, or whose counters or tcp_info do. `note` may add a word.
pub fn each(judged: &[Judged], note: impl Fn(&Judged) -> Option<&'static str>) -> String {
    let mut out = String::new();
    for j in judged {
        let v = &j.verdict;
        if v.is_equal() && v.counters.is_empty() && v.tcp_info.is_empty() {
            continue;
        }
        let note = note(j).map_or(String::new(), |note| format!(" ({note})"));
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "{:<44} {}{}{}{note}",
            j.scenario.name,
            v.class(),
            place(j),
            others(j),
        );
    }
    out
}

/// How many of each class, and how many are equal.
pub fn summary(runs: &Runs, judged: &[Judged]) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{} | {}\n", runs.a.name, runs.b.name);
    for (class, members) in classes(judged) {
        let Some(first) = nearest(&members) else {
            continue;
        };
        let such = match class == "equal" {
            true => String::new(),
            false => format!("such as {}{}", first.scenario.name, place(first)),
        };
        let line = format!("{:>5}  {class:<26} {such}", members.len());
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let count = |keeps: &dyn Fn(&Judged) -> bool| {
        let equal = judged.iter().filter(|j| j.verdict.is_equal() && keeps(j));
        equal.count()
    };
    let _ = writeln!(
        out,
        "\n{} of {} scenarios equal to the last packet ({:.1} %), {} with the promised counters, {} with all counters, {} \
         with tcp_info",
        count(&|_| true),
        judged.len(),
        share(judged),
        count(&|j| j.verdict.broken_promises().is_empty()),
        count(&|j| j.verdict.counters.is_empty()),
        count(&|j| j.verdict.tcp_info.is_empty()),
    );
    let others: Vec<_> = judged
        .iter()
        .filter(|j| !j.not_compared().is_empty())
        .collect();
    if let Some(first) = others.first() {
        let _ = writeln!(
            out,
            "only TCP is compared: {} of the scenarios also sent datagrams or pings, such as {} ({})",
            others.len(),
            first.scenario.name,
            first.not_compared().join(", "),
        );
    }
    out
}

/// Where a scenario's packets part.
fn place(j: &Judged) -> String {
    let packets = &j.verdict.packets;
    packets.first.as_ref().map_or(String::new(), |d| {
        format!(
            " after {} of {} packets, {:.6} s: {} | {}",
            packets.equal,
            packets.packets.0,
            d.time_ns as f64 / 1e9,
            d.values.0,
            d.values.1
        )
    })
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

/// Scenarios by the class of their difference, the most frequent class first.
pub fn classes(judged: &[Judged]) -> Vec<(String, Vec<&Judged>)> {
    let mut classes: BTreeMap<String, Vec<&Judged>> = BTreeMap::new();
    for j in judged {
        classes.entry(j.verdict.class()).or_default().push(j);
    }
    let mut classes: Vec<_> = classes.into_iter().collect();
    classes.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
    classes
}

/// The scenario with the fewest packets before the difference: the quickest to read.
pub fn nearest<'a>(members: &[&'a Judged]) -> Option<&'a Judged> {
    let key = |j: &&&Judged| j.verdict.packets.equal;
    members.iter().min_by_key(key).copied()
}
