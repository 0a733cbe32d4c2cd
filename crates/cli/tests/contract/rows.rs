//! The files of tests/contract: an experiment each, with variants that differ from another one in a single key.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tcplab_plan::contract::entries;
use tcplab_plan::{Experiment, Point};
use toml::Value;

/// One file.
pub(crate) struct File {
    pub(crate) name: String,
    /// Kinds of stack that run it.
    pub(crate) stacks: Vec<String>,
    pub(crate) rows: Vec<Row>,
    /// What stands before its variants.
    head: String,
}

/// One variant.
pub(crate) struct Row {
    pub(crate) name: String,
    text: String,
    /// What it comes to; or why a file cannot say that.
    pub(crate) point: Result<Point, String>,
    /// The variant that it is held against, and the keys in which they differ. None: it is only there for others.
    pub(crate) against: Option<(usize, Vec<String>)>,
}

type Set = BTreeMap<String, Value>;

/// tests/contract.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/contract"))
}

pub(crate) fn files() -> Vec<File> {
    let listed = std::fs::read_dir(folder()).expect("tests/contract");
    let mut paths: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.sort();
    paths.into_iter().map(file).collect()
}

fn file(path: PathBuf) -> File {
    let text = std::fs::read_to_string(&path).unwrap();
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let whole: toml::Table = text.parse().expect("TOML");
    let kinds = kinds(&whole);
    let mut parts = text.split("[[variant]]");
    let head = parts.next().unwrap_or_default();
    let mut sets: Vec<Set> = Vec::new();
    let mut rows = Vec::new();
    let mut stacks = Vec::new();
    for (part, variant) in parts.zip(whole["variant"].as_array().expect("variants")) {
        let set: Set = match variant.get("set").and_then(Value::as_table) {
            Some(set) => set.clone().into_iter().collect(),
            None => Set::new(),
        };
        // Each by itself: what one of them cannot say does not hinder the others.
        let own = format!("[[variant]]{part}");
        let text = format!("{head}{own}");
        let parsed = Experiment::parse(&path.to_string_lossy(), &text).and_then(|experiment| {
            stacks.clone_from(&experiment.stacks);
            experiment.points()
        });
        let row = variant["name"].as_str().expect("a name").to_owned();
        let is_help = row.starts_with("with-");
        rows.push(Row {
            point: parsed
                .map_err(|e| e.message().to_owned())
                .map(|mut points| {
                    let mut point = points.remove(0);
                    // Its name is no output.
                    point.axes.clear();
                    point
                }),
            against: against(&sets, &set, &kinds).filter(|_| !is_help),
            name: row,
            text: own,
        });
        sets.push(set);
    }
    File {
        name,
        stacks,
        rows,
        head: head.to_owned(),
    }
}

impl File {
    /// The experiment with these rows alone.
    pub(crate) fn with(&self, rows: &[usize]) -> String {
        let rows = rows.iter().map(|row| self.rows[*row].text.as_str());
        let text: String = std::iter::once(self.head.as_str()).chain(rows).collect();
        // It is written into another folder.
        text.replace(
            "\"../captures",
            &format!("\"{}/../captures", folder().display()),
        )
    }
}

/// The kinds of applications by their names.
fn kinds(file: &toml::Table) -> BTreeMap<String, String> {
    let apps = file["app"].as_array().expect("applications");
    let text = |app: &Value, key| Some(app.get(key)?.as_str()?.to_owned());
    let each = apps.iter().filter_map(|app| {
        let kind = text(app, "kind")?;
        Some((text(app, "name").unwrap_or_else(|| kind.clone()), kind))
    });
    each.collect()
}

/// The last set before that differs in one path.
fn against(
    before: &[Set],
    set: &Set,
    kinds: &BTreeMap<String, String>,
) -> Option<(usize, Vec<String>)> {
    before.iter().enumerate().rev().find_map(|(index, other)| {
        let paths = set.keys().chain(other.keys());
        let mut paths: Vec<&String> = paths
            .filter(|path| set.get(*path) != other.get(*path))
            .collect();
        paths.sort();
        paths.dedup();
        match paths.as_slice() {
            [path] => Some((index, keys(path, set.get(*path), kinds))),
            _ => None,
        }
    })
}

/// The keys that a path of a variant stands for.
fn keys(path: &str, value: Option<&Value>, kinds: &BTreeMap<String, String>) -> Vec<String> {
    let parts: Vec<&str> = path.splitn(4, '.').collect();
    match parts.as_slice() {
        ["run", key] => vec![format!("run.{key}")],
        ["host", _, "sysctl", rest] => vec!["host.sysctl".into(), format!("sysctl {rest}")],
        ["host", _, "socket", key] => vec!["host.socket".into(), format!("socket.{key}")],
        ["host", _, "route"] => {
            let words = value.and_then(Value::as_str).unwrap_or_default();
            let words = words.split_whitespace().step_by(2);
            let metrics = words.map(|word| format!("route.{word}"));
            metrics.chain(["host.route".to_owned()]).collect()
        }
        ["host", _, key] => vec![format!("host.{key}")],
        ["link", _, way @ ("a_to_b" | "b_to_a"), key] => {
            vec![format!("link.{way}"), format!("way.{key}")]
        }
        ["link", _, key] => vec![format!("link.{key}")],
        ["app", name, key] => {
            let of_all = entries().iter().any(|e| e.table == "app" && e.name == *key);
            let table = match (of_all, kinds.get(*name)) {
                (false, Some(kind)) => format!("app ({kind})"),
                _ => "app".to_owned(),
            };
            vec![format!("{table}.{key}")]
        }
        _ => panic!("{path}: what key is that?"),
    }
}
