//! The notes below a run's table: why a value is missing, what a stack could not do, how connections ended.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tcplab_plan::Point;
use tcplab_plan::outcome::Flow;
use tcplab_plan::profile::unverified;
use tcplab_plan::result::{PointResult, RunDocument};

use super::{agreement, remarks};

/// Variants that a note names; more are counted.
const NAMED: usize = 3;

/// Reasons, each once, except warnings that were said before the run.
pub fn notes(document: &RunDocument, said: &[String]) -> BTreeSet<String> {
    let mut notes = BTreeSet::new();
    notes.extend(ran_on(&document.points));
    notes.extend(of_runs(&document.points, said));
    let stacks = document.points.iter();
    let profiles = stacks.flat_map(|point| point.kernel.split_whitespace());
    notes.extend(profiles.filter_map(unverified));
    notes.extend(unfinished(&document.points));
    notes.extend(errors(&document.points));
    notes
}

/// All that the terminal says of a result, before its run and after it: a page is read alone.
pub fn of_page(document: &RunDocument, points: &[Point]) -> Vec<String> {
    let mut all: Vec<String> = of_result(&document.points);
    all.extend(notes(document, &[]));
    all.extend(remarks::all(points));
    let agree = document.agreement.iter();
    all.extend(agree.map(|pair| agreement::line(pair, None)));
    all
}

/// Warnings of the whole result.
pub fn of_result(points: &[PointResult]) -> Vec<String> {
    let told = [all_failed(points), alike(points)];
    told.into_iter().flatten().collect()
}

/// The kernels of stacks whose name does not say which: `host`, `ssh:A,B`.
fn ran_on(points: &[PointResult]) -> BTreeSet<String> {
    let is_open = |point: &&PointResult| point.stack == "host" || point.stack.starts_with("ssh:");
    let named = points.iter().filter(is_open);
    named
        .filter(|point| !point.kernel.is_empty())
        .map(|point| format!("{} ran on {}", point.stack, point.kernel))
        .collect()
}

/// Missing measures, warnings and errors of single runs: with the variants, if only some have them.
fn of_runs(points: &[PointResult], said: &[String]) -> Vec<String> {
    let mut found: BTreeMap<(&str, String), BTreeSet<&str>> = BTreeMap::new();
    let mut all: BTreeSet<&str> = BTreeSet::new();
    for point in points {
        let variant = variant(point).unwrap_or_default();
        all.insert(variant);
        let missing = point.missing.iter();
        let missing = missing.map(|(name, why)| ("-", format!("{name}: {why}")));
        let new = point.warnings.iter().filter(|text| !said.contains(text));
        let told = new.chain(&point.tolerated).chain(&point.error);
        let told = told.map(|text| (point.stack.as_str(), text.clone()));
        for one in missing.chain(told) {
            found.entry(one).or_default().insert(variant);
        }
    }
    let say = |((stack, text), variants): ((&str, String), BTreeSet<&str>)| {
        let which = match variants.len() {
            n if n == all.len() => String::new(),
            n if n > NAMED => format!(", {n} of {} variants", all.len()),
            _ => format!(", {}", Vec::from_iter(variants).join(", ")),
        };
        format!("{stack}{which}: {text}")
    };
    found.into_iter().map(say).collect()
}

/// The variant of a run, if its file has some.
fn variant(point: &PointResult) -> Option<&str> {
    point.axes.get("variant").and_then(Value::as_str)
}

/// Runs that came to their `max`, and how much was open then.
fn unfinished(points: &[PointResult]) -> Vec<String> {
    let mut found: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for point in points.iter().filter(|point| point.cut_short) {
        let has_not_begun = |flow: &&Flow| {
            let client = &flow.client;
            client.opened_ns.is_none() && client.closed_ns.is_none()
        };
        let [runs, open, later, all] = found.entry(&point.stack).or_default();
        *runs += 1;
        *open += point.flows.iter().filter(|flow| flow.is_open()).count();
        *later += point.flows.iter().filter(has_not_begun).count();
        *all += point.flows.len();
    }
    let say = |(stack, [runs, open, later, all]): (&str, [usize; 4])| {
        let later = match later {
            0 => String::new(),
            1 => ", 1 was not established yet".to_owned(),
            n => format!(", {n} were not established yet"),
        };
        let which = match points.len() {
            1 => "the run".to_owned(),
            _ => format!("{runs} of the runs"),
        };
        let open = match open {
            0 if later.is_empty() => {
                "in no connection did both ends go on, but ends still waited for ends that had given up".to_owned()
            }
            open => format!("{open} of {all} connections were still open{later}"),
        };
        format!(
            "{stack}: {which} reached `max` before the applications ended: {open} (a longer one: --set run.max=TIME)"
        )
    };
    found.into_iter().map(say).collect()
}

/// A stack, and the variant where the file has some.
type Place<'a> = (&'a str, Option<&'a str>);

/// Connections that an error ended, by what it was.
fn errors(points: &[PointResult]) -> Vec<String> {
    let mut found: BTreeMap<(Place<'_>, &str, &str, &str), usize> = BTreeMap::new();
    let mut all: BTreeMap<(Place<'_>, &str), usize> = BTreeMap::new();
    for point in points {
        let variant = variant(point);
        let place = (point.stack.as_str(), variant);
        for flow in &point.flows {
            *all.entry((place, &flow.app)).or_default() += 1;
            for (end, name) in [(&flow.client, "client"), (&flow.server, "server")] {
                if let Some(error) = &end.error {
                    *found.entry((place, &flow.app, name, error)).or_default() += 1;
                }
            }
        }
    }
    let say = |((place, app, end, error), n): ((Place<'_>, &str, &str, &str), usize)| {
        let of = all.get(&(place, app)).copied().unwrap_or(n);
        let (stack, variant) = place;
        let variant = variant.map_or_else(String::new, |variant| format!(", {variant}"));
        let which = match (n, of) {
            (1, 1) => "the connection".to_owned(),
            _ if n == of => format!("all {n} connections"),
            _ => format!("{n} of {of} connections"),
        };
        format!("{stack}{variant}: {app}: {which} ended with {error} at the {end}")
    };
    found.into_iter().map(say).collect()
}

/// What the applications met at both ends. (tcp_info is left out: an end that only receives has a congestion control, too.)
fn met(flow: &Flow) -> impl PartialEq + '_ {
    [&flow.client, &flow.server].map(|end| {
        let times = (end.opened_ns, end.closed_ns, &end.latency_ns, &end.pings);
        let done = (end.written_bytes, end.read_bytes, end.completed, &end.error);
        (times, done)
    })
}

/// Variants that came to the same in every run: what sets them apart changed nothing.
fn alike(points: &[PointResult]) -> Option<String> {
    let mut runs: BTreeMap<&str, BTreeMap<String, &PointResult>> = BTreeMap::new();
    let mut order = Vec::new();
    for point in points {
        let variant = variant(point)?;
        let mut others = point.axes.clone();
        others.remove("variant");
        let key = serde_json::to_string(&(&point.stack, others)).ok()?;
        if !order.contains(&variant) {
            order.push(variant);
        }
        runs.entry(variant).or_default().insert(key, point);
    }
    let same = |a: &PointResult, b: &PointResult| {
        let is_whole = a.error.is_none() && b.error.is_none();
        let ends = a.flows.iter().map(met).eq(b.flows.iter().map(met));
        is_whole
            && ends
            && a.counters == b.counters
            && a.links == b.links
            && a.measures == b.measures
    };
    let alike = |a: &&str, b: &&str| {
        let (a, b) = (&runs[a], &runs[b]);
        a.len() == b.len()
            && a.iter()
                .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
    };
    let mut kinds: Vec<Vec<&str>> = Vec::new();
    for variant in order {
        match kinds.iter_mut().find(|kind| alike(&kind[0], &variant)) {
            Some(kind) => kind.push(variant),
            None => kinds.push(vec![variant]),
        }
    }
    let several = kinds.iter().filter(|kind| kind.len() > 1);
    let named: Vec<String> = several
        .map(|kind| format!("`{}`", kind.join("`, `")))
        .collect();
    (!named.is_empty()).then(|| {
        format!(
            "the variants {} gave the same counters and times in every run: what sets them apart changed no result",
            named.join("; ")
        )
    })
}

/// That an error ended every connection of the run: also an answer, where an experiment is about failures, so no exit code
/// says it.
fn all_failed(points: &[PointResult]) -> Option<String> {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    let clients = points.iter().flat_map(|point| &point.flows);
    for flow in clients {
        *found.entry(flow.client.error.as_deref()?).or_default() += 1;
    }
    let all: usize = found.values().sum();
    let which = match all {
        0 => return None,
        1 => "the only connection".to_owned(),
        _ => format!("all {all} connections"),
    };
    let each: Vec<String> = found
        .iter()
        .map(|(error, n)| format!("{n} {error}"))
        .collect();
    let how = match found.first_key_value() {
        Some((error, n)) if *n == all => (*error).to_owned(),
        _ => format!("an error ({})", each.join(", ")),
    };
    Some(format!(
        "{which} ended with {how}: the measures are of failures"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(variant: &str, repeat: u64, written: u64) -> PointResult {
        let flow = Flow {
            client: tcplab_plan::outcome::End {
                written_bytes: written,
                ..Default::default()
            },
            ..Default::default()
        };
        let axes = [("variant", variant.into()), ("repeat", repeat.into())];
        PointResult {
            axes: axes.map(|(name, value)| (name.to_owned(), value)).into(),
            flows: vec![flow],
            ..Default::default()
        }
    }

    #[test]
    fn a_warning_of_some_variants_names_them() {
        let mut points = ["a", "b", "c", "d", "e"].map(|name| point(name, 1, 5));
        for (at, text) in [(0, "x"), (1, "x"), (2, "y")] {
            points[at].warnings.push(text.to_owned());
        }
        let mut told = |text: &str, n: usize| {
            for point in &mut points[..n] {
                point.warnings.push(text.to_owned());
            }
            of_runs(&points, &["x".to_owned()])
        };
        assert_eq!(told("z", 4), [", c: y", ", 4 of 5 variants: z"]);
        assert_eq!(told("w", 5)[0], ": w");
    }

    #[test]
    fn a_stack_whose_name_is_no_kernel_is_told_with_its_kernel() {
        let mut points = vec![point("a", 1, 5), point("a", 1, 5)];
        for (point, stack) in points.iter_mut().zip(["host", "uml:6.1"]) {
            point.stack = stack.to_owned();
            point.kernel = "Linux 6.18.1".to_owned();
        }
        let told = ran_on(&points);
        assert_eq!(Vec::from_iter(told), ["host ran on Linux 6.18.1"]);
    }

    #[test]
    fn a_page_has_what_the_terminal_says_before_and_after_the_run() {
        let mut points = vec![point("a", 1, 5), point("b", 1, 7)];
        points[0].warnings.push("said before".to_owned());
        points[0].tolerated.push("`x` is ignored".to_owned());
        points[0].cut_short = true;
        points[1].error = Some("the kernel fell".to_owned());
        points[1].missing.insert("rtt".into(), "no ping".into());
        points[1].flows[0].client.error = Some("ETIMEDOUT".to_owned());
        points[0].flows[0].client.error = Some("ETIMEDOUT".to_owned());
        let document = RunDocument {
            points,
            ..RunDocument::default()
        };
        let page = of_page(&document, &[]).join("\n");
        let terminal = notes(&document, &["said before".to_owned()]);
        assert!(terminal.iter().all(|note| page.contains(note)), "{page}");
        for words in [
            "said before",
            "is ignored",
            "reached `max`",
            "the kernel fell",
            "rtt: no ping",
            "all 2 connections ended with ETIMEDOUT: the measures are of failures",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
    }

    #[test]
    fn variants_without_effect_are_named() {
        let mut points = vec![
            point("a", 1, 5),
            point("b", 1, 5),
            point("c", 1, 7),
            point("a", 2, 6),
            point("b", 2, 6),
            point("c", 2, 6),
        ];
        let told = alike(&points).unwrap();
        assert!(
            told.starts_with("the variants `a`, `b` gave the same"),
            "{told}"
        );
        // A run that differs is an effect; so is one that failed.
        points[4].flows[0].client.written_bytes = 9;
        assert_eq!(alike(&points), None);
        points.truncate(2);
        points[1].error = Some("x".to_owned());
        assert_eq!(alike(&points), None);
        points[0].axes.clear();
        assert_eq!(alike(&points), None);
    }
}
