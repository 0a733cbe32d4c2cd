//! `tcplab run --dry-run`: what would be run. For people the axes and the first point, without what is not set; with
//! `--json` every value of every point.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;
use serde_json::{Map, Value};
use tcplab_base::{Duration, quantity};
use tcplab_plan::{Point, Population};
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::style::{Ink, safe, wrap};

use crate::failure::Failure;
use crate::screen;

/// What `--dry-run --json` prints.
#[derive(Serialize)]
pub struct Plan<'a> {
    /// Always `tcplab.plan/1`.
    pub schema: &'static str,
    /// The experiment's name.
    pub experiment: &'a str,
    /// Where it would run.
    pub stacks: Vec<String>,
    /// What it would show.
    pub measures: &'a [String],
    /// What its author may have meant otherwise.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub warnings: &'a [String],
    /// The variants, each with what it sets.
    #[serde(skip)]
    pub variants: &'a [(String, String)],
    /// All points, with their defaults.
    pub points: &'a [Point],
}

/// Columns of the names to the left.
const NAMES: usize = 10;

impl Plan<'_> {
    /// Shows it to a person.
    pub fn print(&self, title: Option<&str>, theme: &Theme) -> Result<(), Failure> {
        let mut out = screen::painted(theme);
        let colon = title.map(|title| format!(": {title}")).unwrap_or_default();
        writeln!(out, "{}{}\n", safe(self.experiment), safe(&colon))?;
        let runs = self.points.len() * self.stacks.len();
        let points = match self.points.len() {
            1 => "1 point".to_owned(),
            n => format!("{n} points"),
        };
        let stacks = self.stacks.join(", ");
        let mut whole = vec![("runs", format!("{runs}: {points} on {stacks}"))];
        whole.extend(axes(self.points));
        let sets = |(name, sets): &(String, String)| match sets.is_empty() {
            true => ("variant", format!("{name}: the file without changes")),
            false => ("variant", format!("{name}: {sets}")),
        };
        whole.extend(self.variants.iter().map(sets));
        whole.push(("measures", self.measures.join(", ")));
        lines(&mut out, &whole, theme)?;
        if let Some(first) = self.points.first() {
            let which = match self.points.len() {
                1 => "The point",
                _ => "The first point",
            };
            writeln!(out, "\n{}", theme.paint(Ink::Bold, which))?;
            lines(&mut out, &parts(first), theme)?;
        }
        writeln!(
            out,
            "\nDry run: nothing was run. --json shows every value of every point."
        )?;
        Ok(())
    }
}

/// Shows a population, in all of its variants, to a person.
pub fn of_population(
    populations: &[Population],
    (file, stack): (&str, &str),
    theme: &Theme,
) -> Result<(), Failure> {
    let Some(first) = populations.first() else {
        return Ok(());
    };
    let mut out = screen::painted(theme);
    let title = first.title.as_ref().map(|title| format!(": {title}"));
    let title = title.unwrap_or_default();
    writeln!(out, "{}{}\n", safe(&first.name), safe(&title))?;
    let (n, arms) = (quantity::count(first.connections), first.arms.len());
    let named = first.arms.iter().map(|arm| arm.name.as_str());
    let mut whole = vec![
        (
            "runs",
            format!(
                "{n} connections in each of {arms} arms on {stack}, seed {}",
                first.seed
            ),
        ),
        ("arms", named.collect::<Vec<_>>().join(", ")),
    ];
    let variants = populations.iter().filter_map(|one| one.variant.clone());
    let variants: Vec<String> = variants.collect();
    if !variants.is_empty() {
        whole.push(("variants", variants.join(", ")));
    }
    lines(&mut out, &whole, theme)?;
    writeln!(
        out,
        "\nDry run: nothing was run. `tcplab population show {}` shows the distributions, --json the first connection.",
        safe(file)
    )?;
    Ok(())
}

/// Lines with their names to the left.
fn lines(
    out: &mut impl Write,
    named: &[(&'static str, String)],
    theme: &Theme,
) -> Result<(), Failure> {
    let width = theme.width.saturating_sub(NAMES + 4).max(20);
    for (name, text) in named {
        for (at, part) in wrap(&safe(text), width).iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            writeln!(out, "  {name:<NAMES$}  {part}")?;
        }
    }
    Ok(())
}

/// Each axis with its values in their order; the repetitions with their seeds.
fn axes(points: &[Point]) -> Vec<(&'static str, String)> {
    let mut axes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut seeds: BTreeMap<u64, u64> = BTreeMap::new();
    for point in points {
        for (axis, value) in &point.axes {
            if axis == "variant" {
                continue;
            }
            if axis == "repeat" {
                seeds.insert(value.as_u64().unwrap_or_default(), point.seed);
                continue;
            }
            let values = axes.entry(axis).or_default();
            let value = plain(value);
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    let told = axes.into_iter().map(|(axis, values)| {
        let text = format!("{}: {}", axis, values.join(", "));
        ("axis", text)
    });
    let seeds: Vec<String> = seeds.values().map(u64::to_string).collect();
    let repeats = match seeds.as_slice() {
        [] => None,
        [first @ .., last] if first.len() > 3 => Some(format!(
            "{} of each; seeds {}, ... {last}",
            seeds.len(),
            first[..3].join(", ")
        )),
        all => Some(format!("{} of each; seeds {}", all.len(), all.join(", "))),
    };
    told.chain(repeats.map(|text| ("repeats", text))).collect()
}

/// What a point consists of.
fn parts(point: &Point) -> Vec<(&'static str, String)> {
    let host = |at: usize| point.hosts.get(at).map_or("?", |host| host.name.as_str());
    let mut parts = Vec::new();
    for one in &point.hosts {
        parts.push(("host", head(&one.name, words(one, &["name"]))));
    }
    for link in &point.links {
        let names = format!("{}-{}", host(link.a), host(link.b));
        let ways = [words(&link.a_to_b, &[]), words(&link.b_to_a, &[])];
        let own = words(link, &["a", "b", "a_to_b", "b_to_a"]);
        let [there, back] = ways;
        if there == back {
            parts.push(("link", head(&names, format!("{there}; {own}"))));
        } else {
            parts.push(("link", head(&names, own)));
            let (a, b) = (host(link.a), host(link.b));
            parts.push(("", format!("a_to_b ({a} to {b}): {there}")));
            parts.push(("", format!("b_to_a ({b} to {a}): {back}")));
        }
    }
    for app in &point.apps {
        let own = words(app, &["name", "group", "client", "server", "does"]);
        let does = words(&app.does, &[]);
        let values = does.find(' ').map_or("", |at| &does[at..]);
        let does = format!("{}{values}", app.does.word());
        let ends = format!("client {}, server {}", host(app.client), host(app.server));
        parts.push(("app", head(&app.name, format!("{does}; {ends}; {own}"))));
    }
    let left = ["experiment", "axes", "hosts", "links", "apps", "sets"];
    parts.push(("run", words(point, &left)));
    parts
}

fn head(name: &str, rest: String) -> String {
    match rest.is_empty() {
        true => name.to_owned(),
        false => format!("{name}: {rest}"),
    }
}

/// The fields of something that are set, in words; none of those that are left out.
fn words(of: &impl Serialize, without: &[&str]) -> String {
    match serde_json::to_value(of) {
        Ok(Value::Object(map)) => fields(&map, without),
        Ok(other) => plain(&other),
        Err(_) => String::new(),
    }
}

fn fields(map: &Map<String, Value>, without: &[&str]) -> String {
    let told = map
        .iter()
        .filter(|(key, _)| !without.contains(&key.as_str()))
        .filter_map(|(key, value)| field(key, value));
    told.collect::<Vec<_>>().join(", ")
}

fn field(key: &str, value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) if text == "none" || text == "leave" => None,
        Value::Number(number) if number.as_f64() == Some(0.0) => None,
        Value::Array(all) if all.is_empty() => None,
        Value::Bool(true) => Some(key.to_owned()),
        Value::Object(map) => {
            let inner = fields(map, &[]);
            (!inner.is_empty()).then(|| format!("{key} ({inner})"))
        }
        Value::Array(all) => {
            let all: Vec<String> = all.iter().take(8).map(plain).collect();
            Some(format!("{key} [{}]", all.join(", ")))
        }
        Value::Number(number) => Some(quantity(key, number)),
        Value::String(text) => Some(format!("{key} {text}")),
    }
}

/// A number in the unit that the end of its key says.
fn quantity(key: &str, number: &serde_json::Number) -> String {
    let Some(n) = number.as_u64() else {
        return format!("{key} {number}");
    };
    let of = |unit: &str| key.strip_suffix(unit);
    if let Some(name) = of("_ns") {
        return format!(
            "{name} {}",
            quantity::time(Duration::from_nanos(i64::try_from(n).unwrap_or(i64::MAX)))
        );
    }
    if let Some(name) = of("_bps") {
        return format!("{name} {}", quantity::rate(n as f64));
    }
    if let Some(name) = of("_ppb") {
        return format!("{name} {}", quantity::percent(n));
    }
    if let Some(name) = of("_pkts") {
        return format!("{name} {n} packets");
    }
    format!("{key} {n}")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(map) => fields(map, &[]),
        other => other.to_string(),
    }
}
