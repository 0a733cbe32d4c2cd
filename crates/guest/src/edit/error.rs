//! Why an edit cannot be read or applied.

use tcplab_os::text::TextError;

use super::Edit;
use crate::words::did_you_mean;

/// Why an edit cannot be read or applied.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// Neither a shipped edit nor a file.
    #[error("no edit `{name}`{}; use one of {}, or name a file", did_you_mean(nearest), Edit::shipped_names().join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The shipped edit with the most similar name.
        nearest: Option<String>,
    },
    /// The file cannot be read.
    #[error("cannot read an edit: {0}")]
    Unreadable(TextError),
    /// It is not in the form of an edit.
    #[error("edit {file}: {message}")]
    Form {
        /// The file, or the name of a shipped edit.
        file: String,
        /// What is wrong, with line and column.
        message: String,
    },
    /// The source lacks the file.
    #[error("edit {edit}: the source has no file {file}")]
    NoFile {
        /// The edit.
        edit: String,
        /// The file it wants to change.
        file: String,
    },
    /// The file lacks the function.
    #[error("edit {edit}: {file} has no function {function}()")]
    NoFunction {
        /// The edit.
        edit: String,
        /// The file.
        file: String,
        /// The function.
        function: String,
    },
    /// The words are not there.
    #[error(
        "edit {edit}: {file}{} does not contain `{find}`; is this another kernel version?",
        inside(function)
    )]
    NoAnchor {
        /// The edit.
        edit: String,
        /// The file.
        file: String,
        /// The function, when the edit names one.
        function: Option<String>,
        /// The words.
        find: String,
    },
    /// The words are there more than once.
    #[error("edit {edit}: `{find}` is in {file}{} {} times, lines {}; add words or `function` to select one place", inside(function), lines.len(), join(lines))]
    Several {
        /// The edit.
        edit: String,
        /// The file.
        file: String,
        /// The function, when the edit names one.
        function: Option<String>,
        /// The words.
        find: String,
        /// Where they are, from 1, in the file as the edits before this one leave it.
        lines: Vec<usize>,
    },
    /// The edit has variants, and the source is like none of them.
    #[error("edit {edit}: it does not fit this source. {}", failures.join(". "))]
    NoVariant {
        /// The edit.
        edit: String,
        /// Each variant with what it did not find.
        failures: Vec<String>,
    },
    /// The edit has variants, and the source is like two of them.
    #[error("edit {edit}: two variants fit this source, `{first}` and `{second}`; only one may")]
    TwoVariants {
        /// The edit.
        edit: String,
        /// Which releases the first is for.
        first: String,
        /// Which releases the second is for.
        second: String,
    },
}

impl EditError {
    /// The message, where the edit was named before.
    pub(super) fn without_name(&self, edit: &str) -> String {
        let text = self.to_string();
        let rest = text.strip_prefix(&format!("edit {edit}: "));
        rest.unwrap_or(&text).to_owned()
    }
}

fn inside(function: &Option<String>) -> String {
    function
        .as_ref()
        .map_or(String::new(), |f| format!(", function {f}(),"))
}

fn join(lines: &[usize]) -> String {
    let texts: Vec<String> = lines.iter().map(ToString::to_string).collect();
    texts.join(", ")
}
