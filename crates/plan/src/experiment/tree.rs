//! The file as a tree of values that know their places, and the choice at each axis.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use super::error::{Fault, Span};

/// A value and the bytes it stands in.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub span: Span,
    pub value: Value,
}

/// What TOML can say, and axes.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Flag(bool),
    /// A date or time, which no key takes.
    Date,
    List(Vec<Node>),
    Table(Table),
    /// One of several values, chosen by the axis's name.
    Axis(String, Vec<Node>),
}

/// Keys and values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub entries: BTreeMap<String, Entry>,
}

/// A value and the place of its key.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: Span,
    pub node: Node,
}

/// For each axis by name: which of its values.
pub(crate) type Choice = BTreeMap<String, usize>;

impl Entry {
    /// A key and its value at one place.
    pub fn at(span: &Span, value: Value) -> Self {
        let span = span.clone();
        Self {
            key: span.clone(),
            node: Node { span, value },
        }
    }
}

impl Node {
    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The value at a point of the matrix.
    pub fn at(&self, choice: &Choice) -> &Self {
        match &self.value {
            Value::Axis(name, values) => {
                let index = choice.get(name).copied().unwrap_or(0);
                values.get(index).or(values.first()).unwrap_or(self)
            }
            _ => self,
        }
    }

    pub(super) fn texts<'a>(&'a self, key: &'a str, found: &mut Vec<(&'a str, &'a Self)>) {
        match &self.value {
            Value::Text(_) => found.push((key, self)),
            Value::List(nodes) | Value::Axis(_, nodes) => {
                nodes.iter().for_each(|node| node.texts(key, found));
            }
            // The values of an axis.
            Value::Table(table) if table.entries.contains_key("axis") => {
                let axis = table.entries.get("axis");
                axis.into_iter()
                    .for_each(|entry| entry.node.texts(key, found));
            }
            Value::Table(table) => found.extend(table.texts()),
            Value::Integer(_) | Value::Float(_) | Value::Flag(_) | Value::Date => {}
        }
    }

    /// What it is, for messages.
    pub fn found(&self) -> String {
        match &self.value {
            Value::Text(text) => {
                format!("the text \"{}\"", text.chars().take(40).collect::<String>())
            }
            Value::Integer(n) => format!("the number {n}"),
            Value::Float(n) => format!("the number {n}"),
            Value::Flag(flag) => format!("{flag}"),
            Value::Date => "a date".to_owned(),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
            Value::Axis(..) => "an axis".to_owned(),
        }
    }

    /// As written, for the axes of a point.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Text(text) => Json::from(text.as_str()),
            Value::Integer(n) => Json::from(*n),
            Value::Float(n) => Json::from(*n),
            Value::Flag(flag) => Json::from(*flag),
            Value::Date => Json::Null,
            Value::List(nodes) | Value::Axis(_, nodes) => {
                Json::Array(nodes.iter().map(Self::to_json).collect())
            }
            Value::Table(table) => Json::Object(
                table
                    .entries
                    .iter()
                    .map(|(key, entry)| (key.clone(), entry.node.to_json()))
                    .collect(),
            ),
        }
    }
}

impl Table {
    /// Values at one place.
    pub fn of<const N: usize>(span: &Span, values: [(&str, Value); N]) -> Value {
        let entry = |(key, value): (&str, Value)| (key.to_owned(), Entry::at(span, value));
        let entries = values.map(entry).into();
        Value::Table(Self { entries })
    }

    pub fn node(&self, key: &str) -> Option<&Node> {
        self.entries.get(key).map(|entry| &entry.node)
    }

    /// The tables of a list; none where it is no list.
    pub fn tables(&self, key: &str) -> impl Iterator<Item = &Self> {
        let items = match self.node(key).map(|node| &node.value) {
            Some(Value::List(items)) => items.as_slice(),
            _ => &[],
        };
        items.iter().filter_map(Node::table)
    }

    pub fn tables_mut(&mut self, key: &str) -> impl Iterator<Item = &mut Self> {
        let list = self.entries.get_mut(key).map(|entry| &mut entry.node.value);
        let items = match list {
            Some(Value::List(items)) => items.as_mut_slice(),
            _ => &mut [],
        };
        items.iter_mut().filter_map(|item| match &mut item.value {
            Value::Table(table) => Some(table),
            _ => None,
        })
    }

    /// All texts, each with the last key that it stands at: of `link.rate` and of `"link.rate" = ...` in a variant that
    /// is `rate`.
    pub fn texts(&self) -> Vec<(&str, &Node)> {
        let mut found = Vec::new();
        for (name, entry) in &self.entries {
            let key = name.rsplit('.').next().unwrap_or_default();
            entry.node.texts(key, &mut found);
        }
        found
    }
}

/// Reads the text. The parser bounds the depth of the tree, so walks over it may recurse.
pub(crate) fn read(text: &str) -> Result<Table, Fault> {
    let parsed = DeTable::parse(text).map_err(|e| {
        let span = e.span().unwrap_or(0..0);
        let fault = Fault::new(&span, "", format!("no TOML: {}", e.message()));
        match twice(text, &span).filter(|_| e.message().contains("duplicate key")) {
            Some(name) => Fault::new(&span, name, format!("`[{name}]` stands twice"))
                .help(format!("write `[[{name}]]` for each of them")),
            None => fault,
        }
    })?;
    table(parsed.get_ref())
}

/// The tables of which a file may have several.
const SEVERAL: [&str; 6] = ["app", "arm", "client", "host", "link", "variant"];

/// The table of that kind whose heading `[name]` is at this place.
fn twice<'a>(text: &'a str, span: &Span) -> Option<&'a str> {
    let name = text.get(span.clone())?.trim();
    let line = text.get(..span.start)?.rsplit('\n').next()?;
    let is_heading = line.trim_start().starts_with('[') && !line.contains("[[");
    (is_heading && SEVERAL.contains(&name)).then_some(name)
}

fn table(from: &DeTable<'_>) -> Result<Table, Fault> {
    let mut entries = BTreeMap::new();
    for (key, value) in from {
        let entry = Entry {
            key: key.span(),
            node: node(value.span(), value.get_ref())?,
        };
        entries.insert(key.get_ref().to_string(), entry);
    }
    Ok(Table { entries })
}

fn node(span: Span, from: &DeValue<'_>) -> Result<Node, Fault> {
    let value = match from {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => Value::Integer(n),
            Err(_) => return Err(Fault::new(&span, "", "the number has more than 64 bits")),
        },
        DeValue::Float(n) => match n.as_str().parse::<f64>() {
            Ok(n) if n.is_finite() => Value::Float(n),
            _ => return Err(Fault::new(&span, "", "inf and nan are not allowed here")),
        },
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(list) => Value::List(
            list.iter()
                .map(|item| node(item.span(), item.get_ref()))
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(inner) => Value::Table(table(inner)?),
    };
    Ok(Node { span, value })
}
