//! The cells of a column, as Arrow lays them out: values one after the other, and which of them are missing.

use crate::field::Kind;

/// Values, some of which may be missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nullable<T> {
    /// A value for each row; the default where it is missing.
    pub values: Vec<T>,
    /// Whether the value of a row is missing; empty: none is.
    pub missing: Vec<bool>,
}

impl<T: Default + Copy> Nullable<T> {
    #[inline]
    fn push(&mut self, value: Option<T>) {
        mark(&mut self.missing, self.values.len(), value.is_none());
        self.values.push(value.unwrap_or_default());
    }

    /// The value of a row; none: it is missing.
    pub fn get(&self, row: usize) -> Option<T> {
        let is_missing = self.missing.get(row).copied().unwrap_or(false);
        self.values.get(row).copied().filter(|_| !is_missing)
    }

    /// A value for each of several rows, or none.
    fn extend_maybe(&mut self, values: impl Iterator<Item = Option<T>> + Clone) {
        let before = self.values.len();
        self.values
            .extend(values.clone().map(Option::unwrap_or_default));
        if !self.missing.is_empty() || values.clone().any(|value| value.is_none()) {
            self.missing.resize(before, false);
            self.missing.extend(values.map(|value| value.is_none()));
        }
    }

    /// A value for each of several rows.
    fn extend(&mut self, values: impl Iterator<Item = T>) {
        self.values.extend(values);
        if !self.missing.is_empty() {
            self.missing.resize(self.values.len(), false);
        }
    }
}

/// Texts one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Texts {
    /// Where each begins; one more: where the last one ends.
    pub offsets: Vec<i32>,
    /// UTF-8 of all of them.
    pub bytes: Vec<u8>,
    /// Whether the text of a row is missing; empty: none is.
    pub missing: Vec<bool>,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            offsets: vec![0],
            bytes: Vec::new(),
            missing: Vec::new(),
        }
    }
}

impl Texts {
    fn push(&mut self, text: Option<&str>) {
        mark(&mut self.missing, self.offsets.len() - 1, text.is_none());
        self.bytes
            .extend_from_slice(text.unwrap_or_default().as_bytes());
        // A batch has few rows, and texts are cut: see `Row::text`.
        let end = i32::try_from(self.bytes.len()).unwrap_or(i32::MAX);
        self.offsets.push(end);
    }

    /// Appends to the last text.
    pub(crate) fn lengthen(&mut self, by: &str) {
        self.bytes.extend_from_slice(by.as_bytes());
        if let (Some(end), Ok(len)) = (self.offsets.last_mut(), i32::try_from(self.bytes.len())) {
            *end = len;
        }
    }

    /// The text of a row; none: it is missing.
    pub fn get(&self, row: usize) -> Option<&str> {
        if self.missing.get(row).copied().unwrap_or(false) {
            return None;
        }
        let at = |n: usize| Some(*self.offsets.get(n)? as usize);
        std::str::from_utf8(self.bytes.get(at(row)?..at(row + 1)?)?).ok()
    }
}

/// Texts of which there are few: each once, and for each row which one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    /// The number of the word of each row.
    pub codes: Nullable<i32>,
    /// The words, in the order in which they came.
    pub words: Vec<String>,
}

impl Words {
    #[inline]
    fn push(&mut self, word: Option<&str>) {
        let code = word.map(|word| {
            let last = self.codes.values.last().copied().unwrap_or_default();
            // Mostly the one of the row before.
            match self.words.get(last as usize) {
                Some(known) if known == word => last,
                _ => self.code(word),
            }
        });
        self.codes.push(code);
    }

    /// A word for each of several rows. A word is looked for once for each key, not once for each row.
    fn extend<'a>(&mut self, words: impl Iterator<Item = Option<(u8, &'a str)>>) {
        let mut codes = [None; 256];
        for word in words {
            let code = word.map(|(key, word)| {
                let slot = &mut codes[usize::from(key)];
                *slot.get_or_insert_with(|| self.code(word))
            });
            self.codes.push(code);
        }
    }

    fn code(&mut self, word: &str) -> i32 {
        let known = self.words.iter().position(|known| known == word);
        let at = known.unwrap_or_else(|| {
            self.words.push(word.to_owned());
            self.words.len() - 1
        });
        at as i32
    }

    /// The word of a row; none: it is missing.
    pub fn get(&self, row: usize) -> Option<&str> {
        let code = self.codes.get(row)?;
        self.words.get(code as usize).map(String::as_str)
    }
}

/// Notes whether row `at` is missing.
#[inline]
fn mark(missing: &mut Vec<bool>, at: usize, is: bool) {
    if is && missing.is_empty() {
        missing.resize(at, false);
    }
    if is || !missing.is_empty() {
        missing.push(is);
    }
}

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Whole numbers.
    Int(Nullable<i64>),
    /// Whole numbers of 64 bits without a sign.
    Unsigned(Nullable<u64>),
    /// Numbers.
    Float(Nullable<f64>),
    /// Texts.
    Text(Texts),
    /// Texts that repeat.
    Word(Words),
    /// Yes or no.
    Flag(Nullable<bool>),
}

impl Cells {
    /// None yet.
    pub(crate) fn of(kind: Kind) -> Self {
        match kind {
            Kind::Int => Self::Int(Nullable::default()),
            Kind::Unsigned => Self::Unsigned(Nullable::default()),
            Kind::Float => Self::Float(Nullable::default()),
            Kind::Text => Self::Text(Texts::default()),
            Kind::Word => Self::Word(Words::default()),
            Kind::Flag => Self::Flag(Nullable::default()),
        }
    }

    #[inline]
    pub(crate) fn int(&mut self, n: Option<i64>) {
        match self {
            Self::Int(cells) => cells.push(n),
            _ => unlike(),
        }
    }

    pub(crate) fn unsigned(&mut self, n: Option<u64>) {
        match self {
            Self::Unsigned(cells) => cells.push(n),
            _ => unlike(),
        }
    }

    pub(crate) fn float(&mut self, n: Option<f64>) {
        match self {
            Self::Float(cells) => cells.push(n),
            _ => unlike(),
        }
    }

    #[inline]
    pub(crate) fn text(&mut self, text: Option<&str>) {
        match self {
            Self::Text(cells) => cells.push(text),
            Self::Word(cells) => cells.push(text),
            _ => unlike(),
        }
    }

    #[inline]
    pub(crate) fn flag(&mut self, is: Option<bool>) {
        match self {
            Self::Flag(cells) => cells.push(is),
            _ => unlike(),
        }
    }

    /// Room for so many rows, so that a long column is not moved while it grows.
    pub(crate) fn reserve(&mut self, rows: usize) {
        match self {
            Self::Int(cells) => cells.values.reserve_exact(rows),
            Self::Unsigned(cells) => cells.values.reserve_exact(rows),
            Self::Float(cells) => cells.values.reserve_exact(rows),
            Self::Text(cells) => cells.offsets.reserve_exact(rows),
            Self::Word(cells) => cells.codes.values.reserve_exact(rows),
            Self::Flag(cells) => cells.values.reserve_exact(rows),
        }
    }

    /// Whole numbers of several rows.
    pub(crate) fn ints(&mut self, values: impl Iterator<Item = i64>) {
        match self {
            Self::Int(cells) => cells.extend(values),
            _ => unlike(),
        }
    }

    /// Whole numbers of several rows, some of them missing.
    pub(crate) fn maybe_ints(&mut self, values: impl Iterator<Item = Option<i64>> + Clone) {
        match self {
            Self::Int(cells) => cells.extend_maybe(values),
            _ => unlike(),
        }
    }

    /// Words of several rows, each with a key below 256 that stands for it; `None` where it is missing.
    pub(crate) fn words<'a>(&mut self, words: impl Iterator<Item = Option<(u8, &'a str)>>) {
        match self {
            Self::Word(cells) => cells.extend(words),
            _ => unlike(),
        }
    }

    /// Yes or no of several rows.
    pub(crate) fn flags(&mut self, values: impl Iterator<Item = bool>) {
        match self {
            Self::Flag(cells) => cells.extend(values),
            _ => unlike(),
        }
    }

    /// A cell as CSV writes it: a plain number, a text, `true`; nothing where it is missing.
    pub fn plain(&self, row: usize) -> String {
        match self {
            Self::Int(cells) => cells.get(row).map_or(String::new(), |n| n.to_string()),
            Self::Unsigned(cells) => cells.get(row).map_or(String::new(), |n| n.to_string()),
            Self::Float(cells) => cells.get(row).map_or(String::new(), |n| n.to_string()),
            Self::Text(cells) => cells.get(row).unwrap_or_default().to_owned(),
            Self::Word(cells) => cells.get(row).unwrap_or_default().to_owned(),
            Self::Flag(cells) => cells.get(row).map_or(String::new(), |is| is.to_string()),
        }
    }
}

/// A table whose rows do not fit its columns: its own tests find that.
#[cold]
fn unlike() {
    debug_assert!(false, "a cell of another kind than its column");
}
