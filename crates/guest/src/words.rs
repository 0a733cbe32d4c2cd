//! Words of names: of kernels, edits and versions.

/// Whether this can be the name of an edit or of a kernel: `[A-Za-z][A-Za-z0-9._-]*`.
pub(crate) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_name_char)
}

/// Whether this is a version: `6.1`, `6.12.0-rc3`.
pub(crate) fn is_version(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.contains('.')
        && text.chars().all(is_name_char)
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// ` (did you mean ...?)` behind a name that is wrong.
pub(crate) fn did_you_mean(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map_or(String::new(), |n| format!(" (did you mean `{n}`?)"))
}

/// The most similar of some words, when one is similar.
pub(crate) fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let scored = words
        .into_iter()
        .map(|w| (strsim::damerau_levenshtein(word, w), w));
    let (distance, best) = scored.min()?;
    (distance <= 1 + word.len() / 4).then(|| best.to_owned())
}
