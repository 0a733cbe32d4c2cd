//! Errors of an experiment file: place, key, what is wrong, the nearest valid word.

use std::fmt;
use std::ops::Range;

use super::aliases;

/// Bytes of the file.
pub(crate) type Span = Range<usize>;

/// What is wrong, before the file's name and lines are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub span: Span,
    pub path: String,
    pub message: String,
    pub help: Option<String>,
}

impl Fault {
    pub fn new(span: &Span, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            span: span.clone(),
            path: path.into(),
            message: message.into(),
            help: None,
        }
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds `did you mean`, by what other tools call it or by its letters, or all the words when none is near and they are few.
    #[must_use]
    pub fn suggest<'a>(mut self, word: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let meant = aliases::of(word, &known);
        if !meant.is_empty() {
            self.help = Some(format!("did you mean `{}`?", meant.join("` or `")));
            return self;
        }
        self.help = match nearest(word, known.iter().copied()) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if known.is_empty() => None,
            None if known.len() > 40 => {
                Some(format!("near are {}", nearer(word, &known).join(", ")))
            }
            None => Some(format!("known: {}", known.join(", "))),
        };
        self
    }
}

/// The three known words that are least unlike a word.
fn nearer<'a>(word: &str, known: &[&'a str]) -> Vec<&'a str> {
    let short: String = word.chars().take(60).collect();
    let mut order = known.to_vec();
    order.sort_by_key(|k| strsim::damerau_levenshtein(k, &short));
    order.truncate(3);
    order
}

/// The known word that a mistyped one most likely means.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if length > 100 {
        return None;
    }
    let allowed = (length / 3).clamp(1, 4);
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|k| (strsim::damerau_levenshtein(&k.to_lowercase(), &lower), k))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, k)| k)
}

/// An experiment file that cannot be used, and where it is wrong.
///
/// Its text form is `FILE:LINE:COLUMN: KEY: what is wrong`, then the line with a mark under the
/// place, then help where there is any. It may have several lines and does not end with one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    file: String,
    line: usize,
    column: usize,
    path: String,
    message: String,
    help: Option<String>,
    source: String,
    mark: Range<usize>,
}

/// Characters of a line that are shown.
const SHOWN: usize = 120;

impl ParseError {
    pub(crate) fn new(file: &str, text: &str, fault: Fault) -> Self {
        let start = floor(text, fault.span.start);
        let end = floor(text, fault.span.end).max(start);
        let before = text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let rest = text.get(line_start..).unwrap_or_default();
        let whole = rest.lines().next().unwrap_or_default();
        let column = text.get(line_start..start).map_or(0, |t| t.chars().count());
        let width = text.get(start..end).unwrap_or_default();
        let width = width.lines().next().unwrap_or_default().chars().count();
        // Of a long line, the part around the place.
        let skip = if column > SHOWN * 3 / 4 {
            column - SHOWN / 2
        } else {
            0
        };
        let source: String = whole.chars().skip(skip).take(SHOWN).map(plain).collect();
        let left = SHOWN.saturating_sub(column - skip).max(1);
        Self(Box::new(Details {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: column + 1,
            path: fault.path,
            message: fault.message,
            help: fault.help,
            source: source.trim_end().to_owned(),
            mark: column - skip..column - skip + width.clamp(1, left),
        }))
    }

    /// `FILE:LINE: what is said`, without the line itself.
    pub(crate) fn in_a_line(&self) -> String {
        let d = &self.0;
        format!("{}:{}: {}: {}", d.file, d.line, d.path, d.message)
    }

    /// The file's name, as the caller gave it.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// Line, from 1.
    pub fn line(&self) -> usize {
        self.0.line
    }

    /// Column in characters, from 1.
    pub fn column(&self) -> usize {
        self.0.column
    }

    /// The full path of the key (`app.stream.chunk`); empty when no key is at fault.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// What is wrong, without place and help.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The nearest valid word, or what may be written.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }
}

/// The last boundary of a character at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at)
        .rev()
        .find(|i| text.is_char_boundary(*i))
        .unwrap_or(0)
}

/// Nothing that moves a terminal's cursor.
fn plain(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '?',
        c => c,
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let d = &self.0;
        write!(f, "{}:{}:{}: ", d.file, d.line, d.column)?;
        if !d.path.is_empty() {
            write!(f, "{}: ", d.path)?;
        }
        write!(f, "{}", d.message)?;
        if !d.source.is_empty() {
            let number = d.line.to_string();
            let gutter = " ".repeat(number.len());
            let (space, mark) = (" ".repeat(d.mark.start), "^".repeat(d.mark.len()));
            write!(f, "\n{number} | {}\n{gutter} | {space}{mark}", d.source)?;
        }
        match &d.help {
            Some(help) => write!(f, "\n{help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ParseError {}
