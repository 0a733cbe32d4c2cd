//! The word that somebody may have meant.

/// `; did you mean ...?`, or nothing when no candidate is near.
pub fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    // One letter is near to everything.
    let candidates = candidates.into_iter().filter(|known| known.len() > 1);
    match tcplab_plan::experiment::nearest(word, candidates) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    }
}
