//! `[[variant]]`: a name, and values that replace those of the file.

use super::error::Fault;
use super::fields::{Fields, name_of};
use super::keys::{Key, VARIANT, file, links as link, run};
use super::tree::{Entry, Node, Table, Value};

/// What variants of a file may change.
#[derive(Debug)]
pub(crate) struct Scope {
    /// The table of `TABLE.KEY`.
    pub table: &'static str,
    /// Those of its keys that hold for the whole file.
    pub whole: &'static [&'static str],
    /// The lists of tables of `LIST.NAME.KEY`.
    pub lists: &'static [&'static str],
    /// The keys of one variant.
    pub keys: &'static [Key],
}

/// An experiment of points.
pub(super) const EXPERIMENT: Scope = Scope {
    table: "run",
    whole: &[run::STACKS.name, run::REPEAT.name],
    lists: &["host", "link", "app"],
    keys: VARIANT,
};

/// One variant.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub name: String,
    /// How messages call the place: `variant.NAME.set`.
    pub place: String,
    /// Path and value.
    pub sets: Vec<(String, Entry)>,
}

pub(crate) fn variants(tables: &[Fields<'_>], scope: &Scope) -> Result<Vec<Variant>, Fault> {
    let mut out: Vec<Variant> = Vec::new();
    for fields in tables {
        fields.check(&[scope.keys])?;
        let name = fields
            .name(&file::VARIANT_NAME)?
            .ok_or_else(|| fields.missing(&file::VARIANT_NAME))?;
        if out.iter().any(|known| known.name == name) {
            let message = format!("duplicate variant `{name}`");
            return Err(super::host::at_name(fields, message));
        }
        let sets = match fields.table(&file::SET)? {
            Some(set) => set
                .table
                .entries
                .iter()
                .map(|(path, entry)| (path.clone(), entry.clone()))
                .collect(),
            None => Vec::new(),
        };
        let place = format!("variant.{name}.set");
        out.push(Variant { name, place, sets });
    }
    Ok(out)
}

impl Variant {
    /// Puts its values into the tree.
    pub fn apply(&self, tree: &mut Table, scope: &Scope) -> Result<(), Fault> {
        for (path, entry) in &self.sets {
            self.set(tree, path, entry, scope)?;
        }
        Ok(())
    }

    fn set(&self, tree: &mut Table, path: &str, entry: &Entry, scope: &Scope) -> Result<(), Fault> {
        let fault = |message: String| Fault::new(&entry.key, self.place.as_str(), message);
        // Each step makes a table within a table, and walks over tables recurse.
        if path.len() > 256 {
            return Err(fault("the path has more than 256 bytes".to_owned()));
        }
        let last = scope.lists.last().copied().unwrap_or_default();
        let (section, rest) = path.split_once('.').ok_or_else(|| {
            fault(format!(
                "write the path of a key, such as \"{last}.NAME.KEY\""
            ))
        })?;
        if section == scope.table {
            if let Some(key) = scope.whole.iter().find(|key| **key == rest) {
                return Err(fault(format!(
                    "`{section}.{key}` applies to the whole experiment, so variants cannot set it"
                ))
                .help(match *key == run::REPEAT.name {
                    true => "`--repeat N` changes it",
                    false => "`--on STACK` changes it",
                }));
            }
            return put(tree, path, entry).map_err(fault);
        }
        if !scope.lists.contains(&section) {
            let known: Vec<&str> = [&[scope.table], scope.lists].concat();
            let short: String = section.chars().take(40).collect();
            return Err(fault(format!(
                "a path begins with {}, not `{short}`",
                either(&known)
            ))
            .suggest(section, known));
        }
        let (name, rest) = rest
            .split_once('.')
            .ok_or_else(|| fault(format!("a key must follow: \"{section}.NAME.KEY\"")))?;
        let names = names(tree, section);
        let Some(table) = named(tree, section, name) else {
            let short: String = name.chars().take(40).collect();
            return Err(fault(format!("no `[[{section}]]` is named `{short}`"))
                .suggest(name, names.iter().map(String::as_str)));
        };
        if rest == file::VARIANT_NAME.name {
            return Err(fault("a name cannot change".to_owned()));
        }
        put(table, rest, entry).map_err(fault)
    }
}

/// `a, b or c`.
fn either(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}

/// The name by which a path finds a table: its own, or the one it gets without.
fn called(section: &str, table: &Table) -> Option<String> {
    let text = |node: &Node| match &node.value {
        Value::Text(text) if text.len() <= 64 => Some(text.clone()),
        _ => None,
    };
    if let Some(name) = name_of(table) {
        return Some(name.to_owned());
    }
    match section {
        "app" => text(&table.entries.get("kind")?.node),
        "link" => match &table.entries.get("between")?.node.value {
            Value::List(ends) => match ends.as_slice() {
                [a, b] => Some(format!("{}-{}", text(a)?, text(b)?)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn names(tree: &Table, section: &str) -> Vec<String> {
    tree.tables(section)
        .filter_map(|table| called(section, table))
        .collect()
}

fn named<'a>(tree: &'a mut Table, section: &str, name: &str) -> Option<&'a mut Table> {
    tree.tables_mut(section)
        .find(|table| called(section, table).as_deref() == Some(name))
}

/// A way in tc's words becomes the table that says the same, so that keys can stand beside them.
fn words_as_key(way: &mut Node) {
    if !matches!(way.value, Value::Text(_)) {
        return;
    }
    way.value = Table::of(&way.span, [(link::QDISC.name, way.value.clone())]);
}

/// Puts a value at a path below a table, with the tables on the way. A sysctl's name is one key, in
/// spite of its dots.
fn put(table: &mut Table, path: &str, entry: &Entry) -> Result<(), String> {
    let (first, rest) = match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let Some(rest) = rest else {
        table.entries.insert(first.to_owned(), entry.clone());
        return Ok(());
    };
    let next = table
        .entries
        .entry(first.to_owned())
        .or_insert_with(|| Entry::at(&entry.key, Table::of(&entry.key, [])));
    if [link::A_TO_B.name, link::B_TO_A.name].contains(&first) {
        words_as_key(&mut next.node);
    }
    let Value::Table(inner) = &mut next.node.value else {
        return Err(format!("`{first}` is not a table: set it as a whole"));
    };
    match first {
        "sysctl" => {
            inner.entries.insert(rest.to_owned(), entry.clone());
            Ok(())
        }
        _ => put(inner, rest, entry),
    }
}
