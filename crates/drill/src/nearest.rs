//! The word that somebody may have meant.

/// `; did you mean ...?`, or nothing when no candidate is near.
pub fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(word, candidates) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    }
}

/// The nearest candidate; the first of those that are equally near.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer words are no slips of the pen, and the comparison is quadratic.
    if word.len() > 64 {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = strsim::damerau_levenshtein(
            &word.to_ascii_lowercase(),
            &candidate.to_ascii_lowercase(),
        );
        let most = (candidate.len().min(word.len()) / 3).clamp(1, 3);
        // One letter is near to everything.
        if candidate.len() > 1 && distance <= most && best.is_none_or(|(least, _)| distance < least)
        {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}
