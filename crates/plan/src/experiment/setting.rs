//! `--set PATH=VALUE`: values from the command line that replace those of the file and of its variants.

use super::error::{Fault, ParseError, Span};
use super::tree::{self, Entry, Node, Table, Value};
use super::variant::{Scope, Variant};

/// All settings of a command line. Their places lie behind the file's text, each on a line of its own.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// The start of each setting, and its text.
    lines: Vec<(usize, String)>,
    pub(super) sets: Variant,
}

impl Settings {
    /// Reads `--set` words. `file_bytes` is the length of the file's text; positions of the words follow it.
    pub fn read(file_bytes: usize, words: &[String]) -> Result<Self, ParseError> {
        let mut at = file_bytes + 1;
        let mut lines = Vec::new();
        let mut sets = Vec::new();
        for word in words {
            let one = setting(at, word).map_err(|fault| error(at, word, fault))?;
            sets.push(one);
            lines.push((at, word.clone()));
            at += word.len() + 1;
        }
        let sets = Variant {
            name: String::new(),
            place: String::new(),
            sets,
        };
        Ok(Self { lines, sets })
    }

    /// All texts in them, each with the last part of its path.
    pub fn texts(&self) -> Vec<(&str, &Node)> {
        let mut found = Vec::new();
        for (path, entry) in &self.sets.sets {
            let key = path.rsplit('.').next().unwrap_or_default();
            entry.node.texts(key, &mut found);
        }
        found
    }

    /// Puts them into a tree.
    pub fn apply(&self, tree: &mut Table, scope: &Scope) -> Result<(), Fault> {
        self.sets.apply(tree, scope)
    }

    /// The error of a fault in the file or in a setting.
    pub fn error(&self, file: &str, text: &str, fault: Fault) -> ParseError {
        let mut lines = self.lines.iter().rev();
        match lines.find(|(at, _)| *at <= fault.span.start) {
            Some((at, line)) => error(*at, line, fault),
            None => ParseError::new(file, text, fault),
        }
    }

    /// A warning for each value of a variant that one of them replaces.
    pub fn replaced<'a>(&'a self, variants: &'a [Variant]) -> impl Iterator<Item = String> + 'a {
        let within = |of: &str, path: &str| {
            let rest = path.strip_prefix(of);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.sets.sets.iter().flat_map(move |(path, _)| {
            let has = move |variant: &&Variant| variant.sets.iter().any(|(of, _)| within(path, of));
            variants.iter().filter(has).map(move |variant| {
                let name = &variant.name;
                format!("--set {path} overrides the value that variant `{name}` sets")
            })
        })
    }
}

fn error(at: usize, line: &str, mut fault: Fault) -> ParseError {
    let back = |place: usize| place.saturating_sub(at);
    fault.span = back(fault.span.start)..back(fault.span.end);
    ParseError::new("--set", line, fault)
}

/// The path and the value of `PATH=VALUE`.
fn setting(at: usize, word: &str) -> Result<(String, Entry), Fault> {
    let whole = at..at + word.len();
    let Some((path, value)) = word.split_once('=') else {
        let help = "write PATH=VALUE, such as link.a-b.rate=10mbit";
        return Err(Fault::new(&whole, "", "missing `=`").help(help));
    };
    let key = at..at + path.len();
    let span = at + path.len() + 1..whole.end;
    let path = path.trim();
    if path.is_empty() || value.trim().is_empty() {
        let message = "write a path before `=` and a value after `=`";
        return Err(Fault::new(&whole, "", message));
    }
    let node = value_of(path, value.trim(), &span);
    Ok((path.to_owned(), Entry { key, node }))
}

/// A value of TOML; else several at commas, which are an axis with the path's name; else a text.
fn value_of(path: &str, word: &str, span: &Span) -> Node {
    if let Some(node) = toml(word, span) {
        return node;
    }
    let one = |word: &str| toml(word, span).unwrap_or_else(|| text(word, span));
    if !word.contains(',') {
        return text(word, span);
    }
    let values = word.split(',').map(|word| one(word.trim())).collect();
    let parts = [
        ("axis", Value::List(values)),
        ("name", Value::Text(path.to_owned())),
    ];
    Entry::at(span, Table::of(span, parts)).node
}

fn text(word: &str, span: &Span) -> Node {
    Entry::at(span, Value::Text(word.to_owned())).node
}

fn toml(word: &str, span: &Span) -> Option<Node> {
    // A line break would begin another key.
    let is_line = !word.contains(['\n', '\r']);
    let mut table = tree::read(&format!("v = {word}"))
        .ok()
        .filter(|_| is_line)?;
    let mut node = table.entries.remove("v")?.node;
    place(&mut node, span);
    Some(node)
}

/// Says of a value and all in it that it stands here.
fn place(node: &mut Node, span: &Span) {
    node.span = span.clone();
    match &mut node.value {
        Value::List(nodes) | Value::Axis(_, nodes) => nodes.iter_mut().for_each(|n| place(n, span)),
        Value::Table(table) => {
            for entry in table.entries.values_mut() {
                entry.key = span.clone();
                place(&mut entry.node, span);
            }
        }
        Value::Text(_) | Value::Integer(_) | Value::Float(_) | Value::Flag(_) | Value::Date => {}
    }
}
