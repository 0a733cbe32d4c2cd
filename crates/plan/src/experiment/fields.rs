//! Typed access to the keys of one table at one point of the matrix.

use super::error::{Fault, Span};
use super::keys::{Absent, Form, Key};
use super::tree::{Choice, Node, Table, Value};
use crate::point::check::{self, Wrong};
use crate::rules::{BAD_CONGESTION, MAX_NAME, MAX_TEXT, bad_text, is_congestion, is_name};
use tcplab_base::quantity::{PERCENT, Quantity, RATE, SIZE, TIME};

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

    pub fn node(&self, key: impl AsRef<str>) -> Option<&'a Node> {
        Some(self.table.entries.get(key.as_ref())?.node.at(self.choice))
    }

    pub fn path_of(&self, key: impl AsRef<str>) -> String {
        let key = key.as_ref();
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }

    pub fn fault(&self, key: impl AsRef<str>, node: &Node, message: impl Into<String>) -> Fault {
        Fault::new(&node.span, self.path_of(key), message)
    }

    /// Something that must be there is not.
    pub fn missing(&self, key: impl AsRef<str>) -> Fault {
        let message = format!("`{}` is missing", key.as_ref());
        Fault::new(&self.span, &self.path, message)
    }

    fn expected(&self, key: impl AsRef<str>, node: &Node, what: &str) -> Fault {
        self.fault(key, node, format!("must be {what}, not {}", node.found()))
    }

    /// A fault at a key, whether it is there or not.
    pub fn at(&self, key: impl AsRef<str>, message: impl Into<String>) -> Fault {
        match self.node(&key) {
            Some(node) => self.fault(&key, node, message),
            None => Fault::new(&self.span, self.path_of(&key), message),
        }
    }

    /// The value of a key, when it is there.
    pub fn find<T: Taken>(&self, key: &Key) -> Result<Option<T>, Fault> {
        self.node(key)
            .map(|node| T::read(self, key, node))
            .transpose()
    }

    /// The value of a key, or what holds without it.
    pub fn get<T: Taken>(&self, key: &Key) -> Result<T, Fault> {
        let value = self.find(key)?.or_else(|| T::absent(key));
        value.ok_or_else(|| self.missing(key))
    }

    fn flag(&self, key: &Key, node: &Node) -> Result<bool, Fault> {
        match node.value {
            Value::Flag(flag) => Ok(flag),
            _ => Err(self.expected(key, node, "true or false")),
        }
    }

    /// A number of any unit, within the range of its key.
    fn number(&self, key: &Key, node: &Node) -> Result<u64, Fault> {
        let n = match key.form {
            Form::Count(_) => return self.count(key, node),
            Form::Tos => return self.tos(key, node),
            Form::Time(_) => self.quantity_of(key, node, &TIME)?,
            Form::Rate => self.quantity_of(key, node, &RATE)?,
            Form::Percent => self.quantity_of(key, node, &PERCENT)?,
            _ => self.quantity_of(key, node, &SIZE)?,
        };
        match key.form {
            Form::Time(bounds) => match bounds.wrong(n.cast_signed()) {
                Some(why) => Err(self.fault(key, node, why)),
                None => Ok(n),
            },
            Form::Size(_) => self.within(key, node, n),
            _ => Ok(n),
        }
    }

    fn count(&self, key: &Key, node: &Node) -> Result<u64, Fault> {
        let Value::Integer(n) = node.value else {
            return Err(self.expected(key, node, "a whole number"));
        };
        let (min, max) = key.range();
        match u64::try_from(n) {
            Ok(n) if (min..=max).contains(&n) => Ok(n),
            _ if min == max => {
                let message = format!("must be {min}, not {n}: {}", key.meaning);
                Err(self.fault(key, node, message))
            }
            _ => Err(self.fault(key, node, format!("must be {min} to {max}, not {n}"))),
        }
    }

    /// A word of the DS field, or its byte.
    fn tos(&self, key: &Key, node: &Node) -> Result<u64, Fault> {
        let parsed = match &node.value {
            Value::Integer(n) => u8::try_from(*n).ok(),
            Value::Text(text) => crate::tos::parse(text),
            _ => None,
        };
        parsed.map(u64::from).ok_or_else(|| {
            let found = node.found();
            let fault = self.fault(key, node, format!("{found} is not a value of IP_TOS"));
            fault.help("known: BE, BK, LE, CS0 to CS7, AF11 to AF43, VA, EF, and the byte itself: 0 to 255 or \"0x..\"")
        })
    }

    fn quantity_of(&self, key: impl AsRef<str>, node: &Node, of: &Quantity) -> Result<u64, Fault> {
        let parsed = match &node.value {
            Value::Text(text) => of.parse(text),
            Value::Integer(n) => of.parse(&n.to_string()),
            Value::Float(n) => of.parse(&n.to_string()),
            _ => return Err(self.expected(key, node, &format!("a {}", of.what))),
        };
        parsed.map_err(|why| self.fault(key, node, why))
    }

    fn within(&self, key: &Key, node: &Node, n: u64) -> Result<u64, Fault> {
        let (min, max) = key.range();
        match (min..=max).contains(&n) {
            true => Ok(n),
            false => Err(self.fault(key, node, format!("must be {min} to {max} bytes, not {n}"))),
        }
    }

    /// A list of sizes or times, or one alone.
    pub fn numbers(&self, key: &Key) -> Result<Option<Vec<u64>>, Fault> {
        let Some(node) = self.node(key) else {
            return Ok(None);
        };
        let items = match &node.value {
            Value::List(items) => items.iter().map(|item| item.at(self.choice)).collect(),
            _ => vec![node],
        };
        let one = |item| match key.form {
            Form::Times => self.quantity_of(key, item, &TIME),
            _ => self.within(key, item, self.quantity_of(key, item, &SIZE)?),
        };
        let numbers = items.into_iter().map(one);
        numbers.collect::<Result<_, _>>().map(Some)
    }

    pub fn text(&self, key: impl AsRef<str>) -> Result<Option<&'a str>, Fault> {
        self.node(&key)
            .map(|node| self.text_of(&key, node))
            .transpose()
    }

    fn text_of<'n>(&self, key: impl AsRef<str>, node: &'n Node) -> Result<&'n str, Fault> {
        match &node.value {
            Value::Text(text) => match bad_text(text, MAX_TEXT) {
                Some(why) => Err(self.fault(key, node, why)),
                None => Ok(text),
            },
            _ => Err(self.expected(key, node, "a text")),
        }
    }

    /// A list of texts, each with its node.
    pub fn texts(&self, key: impl AsRef<str>) -> Result<Option<Vec<(&'a Node, &'a str)>>, Fault> {
        let key = key.as_ref();
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

    /// One of the words of a key, each with its value in their order; without it the value of the word that holds.
    pub fn word<T: Copy>(&self, key: &Key, values: &[T]) -> Result<Option<T>, Fault> {
        let Form::Words(words) = key.form else {
            return Ok(None);
        };
        let value = |text: &str| {
            let mut pairs = words.iter().zip(values);
            pairs
                .find(|(word, _)| **word == text)
                .map(|(_, value)| *value)
        };
        let Some(node) = self.node(key) else {
            let Absent::Word(text) = key.absent else {
                return Ok(None);
            };
            return Ok(value(text));
        };
        let text = self.text_of(key, node)?;
        match value(text) {
            Some(value) => Ok(Some(value)),
            None => Err(self
                .fault(key, node, format!("unknown word `{text}`"))
                .suggest(text, words.iter().copied())),
        }
    }

    /// A name: it becomes part of measures, paths and file names.
    pub fn name(&self, key: impl AsRef<str>) -> Result<Option<String>, Fault> {
        let Some(node) = self.node(&key) else {
            return Ok(None);
        };
        let text = self.text_of(&key, node)?;
        if is_name(text, MAX_NAME) && !text.ends_with('-') {
            return Ok(Some(text.to_owned()));
        }
        Err(self.fault(
            key,
            node,
            "a name begins with a letter and has at most 32 letters, digits, `_` or `-`",
        ))
    }

    /// A table within this one.
    pub fn table(&self, key: impl AsRef<str>) -> Result<Option<Self>, Fault> {
        self.node(&key)
            .map(|node| self.table_of(&key, node, self.path_of(&key)))
            .transpose()
    }

    pub fn table_of(
        &self,
        key: impl AsRef<str>,
        node: &'a Node,
        path: String,
    ) -> Result<Self, Fault> {
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
                Value::Table(table) => name_of(table).map(str::to_owned).or(ends_of(table)),
                _ => None,
            };
            let name = name.unwrap_or_else(|| (i + 1).to_string());
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

/// `A-B` of a link between two hosts, good or bad.
fn ends_of(table: &Table) -> Option<String> {
    match &table.entries.get("between")?.node.value {
        Value::List(ends) => match ends.iter().map(|end| &end.value).collect::<Vec<_>>()[..] {
            [Value::Text(a), Value::Text(b)] if a.len().max(b.len()) <= MAX_NAME => {
                Some(format!("{a}-{b}"))
            }
            _ => None,
        },
        _ => None,
    }
}

/// What the form of a key gives.
pub(crate) trait Taken: Sized {
    fn read(fields: &Fields<'_>, key: &Key, node: &Node) -> Result<Self, Fault>;

    /// What holds when the key is left out, where that is a value.
    fn absent(key: &Key) -> Option<Self>;

    /// Whether a file could have said it; `path`: where it stands in the point.
    fn check(&self, _path: &str, _key: &Key) -> Result<(), Wrong> {
        Ok(())
    }
}

/// The kernel's where it is left out.
impl<T: Taken> Taken for Option<T> {
    fn read(fields: &Fields<'_>, key: &Key, node: &Node) -> Result<Self, Fault> {
        T::read(fields, key, node).map(Some)
    }

    fn absent(_: &Key) -> Option<Self> {
        Some(None)
    }

    fn check(&self, path: &str, key: &Key) -> Result<(), Wrong> {
        self.as_ref().map_or(Ok(()), |value| value.check(path, key))
    }
}

impl Taken for bool {
    fn read(fields: &Fields<'_>, key: &Key, node: &Node) -> Result<Self, Fault> {
        fields.flag(key, node)
    }

    fn absent(key: &Key) -> Option<Self> {
        match key.absent {
            Absent::Flag(flag) => Some(flag),
            _ => None,
        }
    }
}

impl Taken for String {
    fn read(fields: &Fields<'_>, key: &Key, node: &Node) -> Result<Self, Fault> {
        let text = fields.text_of(key, node)?;
        match key.form {
            Form::Congestion if !is_congestion(text) => {
                Err(fields.fault(key, node, BAD_CONGESTION))
            }
            _ => Ok(text.to_owned()),
        }
    }

    fn absent(key: &Key) -> Option<Self> {
        match key.absent {
            Absent::Word(word) => Some(word.to_owned()),
            _ => None,
        }
    }

    fn check(&self, path: &str, key: &Key) -> Result<(), Wrong> {
        match key.form {
            Form::Congestion if !is_congestion(self) => Err(Wrong::at(path, BAD_CONGESTION)),
            _ => Ok(()),
        }
    }
}

/// The range of a key keeps its numbers within their type.
macro_rules! numbers {
    ($($kind:ty),+) => {
        $(impl Taken for $kind {
            fn read(fields: &Fields<'_>, key: &Key, node: &Node) -> Result<Self, Fault> {
                Ok(fields.number(key, node)?.try_into().unwrap_or(<$kind>::MAX))
            }

            fn absent(key: &Key) -> Option<Self> {
                match key.absent {
                    Absent::Number(n) => Some(n.try_into().unwrap_or(<$kind>::MAX)),
                    _ => None,
                }
            }

            fn check(&self, path: &str, key: &Key) -> Result<(), Wrong> {
                check::number_of(path, i128::from(*self), key)
            }
        })+
    };
}
numbers!(u8, u16, u32, u64, i64);
