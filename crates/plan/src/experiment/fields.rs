//! Typed access to the keys of one table at one point of the matrix.

use super::error::{Fault, Span};
use super::keys::Key;
use super::tree::{Choice, Node, Table, Value};
use crate::rules::{MAX_NAME, MAX_TEXT, bad_text, is_name};
use tcplab_base::quantity::{Quantity, TIME};

/// A table, where it stands, and the point's choice at each axis.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    pub table: &'a Table,
    /// Place of the table, for what is missing in it.
    pub span: Span,
    /// Its keys from the root.
    pub path: String,
    pub choice: &'a Choice,
}

impl<'a> Fields<'a> {
    /// Refuses keys that are in none of the lists.
    pub fn check(&self, lists: &[&[Key]]) -> Result<(), Fault> {
        let known = || lists.iter().copied().flatten().map(|key| key.name);
        for (name, entry) in &self.table.entries {
            if known().all(|k| k != name) {
                let short: String = name.chars().take(60).collect();
                let message = format!("unknown key `{short}`");
                return Err(Fault::new(&entry.key, &self.path, message).suggest(name, known()));
            }
        }
        Ok(())
    }

    /// Refuses axes at these keys, which name things or hold for all points.
    pub fn check_fixed(&self, keys: &[Key]) -> Result<(), Fault> {
        for key in keys.iter().filter(|key| !key.axis) {
            if let Some(entry) = self.table.entries.get(key.name)
                && let Value::Axis(..) = entry.node.value
            {
                return Err(self.fault(key.name, &entry.node, "cannot be an axis"));
            }
        }
        Ok(())
    }

    pub fn node(&self, key: &str) -> Option<&'a Node> {
        Some(self.table.entries.get(key)?.node.at(self.choice))
    }

    pub fn path_of(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }

    pub fn fault(&self, key: &str, node: &Node, message: impl Into<String>) -> Fault {
        Fault::new(&node.span, self.path_of(key), message)
    }

    /// Something that must be there is not.
    pub fn missing(&self, key: &str) -> Fault {
        Fault::new(&self.span, &self.path, format!("`{key}` is missing"))
    }

    fn expected(&self, key: &str, node: &Node, what: &str) -> Fault {
        self.fault(key, node, format!("must be {what}, not {}", node.found()))
    }

    pub fn flag(&self, key: &str) -> Result<Option<bool>, Fault> {
        self.node(key)
            .map(|node| match node.value {
                Value::Flag(flag) => Ok(flag),
                _ => Err(self.expected(key, node, "true or false")),
            })
            .transpose()
    }

    /// A whole number within the range.
    pub fn count(&self, key: &str, min: u64, max: u64) -> Result<Option<u64>, Fault> {
        let Some(node) = self.node(key) else {
            return Ok(None);
        };
        let Value::Integer(n) = node.value else {
            return Err(self.expected(key, node, "a whole number"));
        };
        match u64::try_from(n) {
            Ok(n) if (min..=max).contains(&n) => Ok(Some(n)),
            _ => Err(self.fault(key, node, format!("must be {min} to {max}, not {n}"))),
        }
    }

    /// A quantity of any unit.
    pub fn quantity(&self, key: &str, of: &Quantity) -> Result<Option<u64>, Fault> {
        self.node(key)
            .map(|node| self.quantity_of(key, node, of))
            .transpose()
    }

    fn quantity_of(&self, key: &str, node: &Node, of: &Quantity) -> Result<u64, Fault> {
        let parsed = match &node.value {
            Value::Text(text) => of.parse(text),
            Value::Integer(n) => of.parse(&n.to_string()),
            Value::Float(n) => of.parse(&n.to_string()),
            _ => return Err(self.expected(key, node, &format!("a {}", of.what))),
        };
        parsed.map_err(|why| self.fault(key, node, why))
    }

    /// A time in nanoseconds.
    pub fn time(&self, key: &str) -> Result<Option<i64>, Fault> {
        let ns = self.quantity(key, &TIME)?;
        // The quantity's own bound keeps it far below 2^63.
        Ok(ns.map(|ns| i64::try_from(ns).unwrap_or(i64::MAX)))
    }

    /// A time longer than 0.
    pub fn length(&self, key: &str) -> Result<Option<i64>, Fault> {
        match (self.time(key)?, self.node(key)) {
            (Some(0), Some(node)) => Err(self.fault(
                key,
                node,
                "must be longer than 0; leave it out for the default",
            )),
            (ns, _) => Ok(ns),
        }
    }

    /// A size in bytes within the range.
    pub fn size(&self, key: &str, min: u64, max: u64) -> Result<Option<u64>, Fault> {
        let Some(node) = self.node(key) else {
            return Ok(None);
        };
        let n = self.quantity_of(key, node, &tcplab_base::quantity::SIZE)?;
        self.within(key, node, n, min, max).map(Some)
    }

    fn within(&self, key: &str, node: &Node, n: u64, min: u64, max: u64) -> Result<u64, Fault> {
        match (min..=max).contains(&n) {
            true => Ok(n),
            false => Err(self.fault(key, node, format!("must be {min} to {max} bytes, not {n}"))),
        }
    }

    /// A list of quantities, or one alone.
    pub fn quantities(
        &self,
        key: &str,
        of: &Quantity,
        min: u64,
        max: u64,
    ) -> Result<Option<Vec<u64>>, Fault> {
        let Some(node) = self.node(key) else {
            return Ok(None);
        };
        let items = match &node.value {
            Value::List(items) => items.iter().map(|item| item.at(self.choice)).collect(),
            _ => vec![node],
        };
        let one = |item| {
            let n = self.quantity_of(key, item, of)?;
            self.within(key, item, n, min, max)
        };
        items
            .into_iter()
            .map(one)
            .collect::<Result<_, _>>()
            .map(Some)
    }

    pub fn text(&self, key: &str) -> Result<Option<&'a str>, Fault> {
        self.node(key)
            .map(|node| self.text_of(key, node))
            .transpose()
    }

    fn text_of(&self, key: &str, node: &'a Node) -> Result<&'a str, Fault> {
        match &node.value {
            Value::Text(text) => match bad_text(text, MAX_TEXT) {
                Some(why) => Err(self.fault(key, node, why)),
                None => Ok(text),
            },
            _ => Err(self.expected(key, node, "a text")),
        }
    }

    /// A list of texts, each with its node.
    pub fn texts(&self, key: &str) -> Result<Option<Vec<(&'a Node, &'a str)>>, Fault> {
        let Some(node) = self.node(key) else {
            return Ok(None);
        };
        let Value::List(items) = &node.value else {
            return Err(self.expected(key, node, "a list of texts"));
        };
        let items = items.iter().map(|item| item.at(self.choice));
        items
            .map(|item| Ok((item, self.text_of(key, item)?)))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// One of several words.
    pub fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<T>, Fault> {
        let Some(node) = self.node(key) else {
            return Ok(None);
        };
        let text = self.text_of(key, node)?;
        let known = words.iter().find(|(word, _)| *word == text);
        match known {
            Some((_, value)) => Ok(Some(*value)),
            None => Err(self
                .fault(key, node, format!("`{text}` is none of its words"))
                .suggest(text, words.iter().map(|(word, _)| *word))),
        }
    }

    /// A name: it becomes part of measures, paths and file names.
    pub fn name(&self, key: &str) -> Result<Option<String>, Fault> {
        let Some(node) = self.node(key) else {
            return Ok(None);
        };
        let text = self.text_of(key, node)?;
        if is_name(text, MAX_NAME) && !text.ends_with('-') {
            return Ok(Some(text.to_owned()));
        }
        Err(self.fault(
            key,
            node,
            "a name is at most 32 letters, digits, `_` or `-`, and begins with a letter",
        ))
    }

    /// A table within this one.
    pub fn table(&self, key: &str) -> Result<Option<Self>, Fault> {
        self.node(key)
            .map(|node| self.table_of(key, node, self.path_of(key)))
            .transpose()
    }

    pub fn table_of(&self, key: &str, node: &'a Node, path: String) -> Result<Self, Fault> {
        match &node.value {
            Value::Table(table) => Ok(Self {
                table,
                span: node.span.clone(),
                path,
                choice: self.choice,
            }),
            _ => Err(self.expected(key, node, "a table")),
        }
    }

    /// The tables of `[[key]]`; the path of each has its name, or its number from 1.
    pub fn tables(&self, key: &str, max: usize) -> Result<Vec<Self>, Fault> {
        let Some(entry) = self.table.entries.get(key) else {
            return Ok(Vec::new());
        };
        let Value::List(items) = &entry.node.value else {
            return Err(self.expected(key, &entry.node, &format!("tables, written `[[{key}]]`")));
        };
        if items.len() > max {
            let message = format!("{} of them; at most {max} are allowed", items.len());
            return Err(self.fault(key, &entry.node, message));
        }
        let each = items.iter().enumerate().map(|(i, item)| {
            let name = match &item.value {
                Value::Table(table) => name_of(table),
                _ => None,
            };
            let name = name.map_or_else(|| (i + 1).to_string(), str::to_owned);
            self.table_of(key, item, format!("{key}.{name}"))
        });
        each.collect()
    }
}

/// The text at `name`, good or bad.
pub(crate) fn name_of(table: &Table) -> Option<&str> {
    match &table.entries.get("name")?.node.value {
        Value::Text(text) if text.len() <= MAX_NAME => Some(text),
        _ => None,
    }
}
