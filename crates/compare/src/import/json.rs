//! JSON, for the importers.

use serde_json::Value;

use super::{ImportError, Input};

/// Whether a text can be JSON with an object or a list.
pub(super) fn looks(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// The first document of a text: what it is, is seen in it.
pub(super) fn first(text: &str) -> Option<Value> {
    if !looks(text) {
        return None;
    }
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    documents.next()?.ok()
}

/// All documents of a text, one after another.
pub(super) fn documents(input: &Input) -> Result<Vec<Value>, ImportError> {
    let documents = serde_json::Deserializer::from_str(input.text).into_iter::<Value>();
    documents
        .collect::<Result<_, _>>()
        .map_err(|e| damaged(input, &e))
}

/// The only document of a text.
pub(super) fn one(input: &Input) -> Result<Value, ImportError> {
    serde_json::from_str(input.text).map_err(|e| damaged(input, &e))
}

/// What serde_json says of a damaged document.
pub(super) fn damaged(input: &Input, e: &serde_json::Error) -> ImportError {
    let text = e.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    ImportError::new(
        input,
        format!("line {} column {}", e.line(), e.column()),
        format!("unexpected JSON: {what}"),
        "the file was cut, or other output was mixed in: write it again",
    )
}

/// A number by its path (`end`, `sum_sent`, `bits_per_second`); also one that is written as text.
pub(super) fn number(value: &Value, path: &[&str]) -> Option<f64> {
    let found = at(value, path)?;
    let number = found
        .as_f64()
        .or_else(|| found.as_str()?.trim().parse().ok());
    number.filter(|n| n.is_finite())
}

/// A text by its path.
pub(super) fn text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path)?.as_str()
}

/// A member by its path.
pub(super) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}
