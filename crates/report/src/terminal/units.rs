//! Figures as people read them.

pub use tcplab_base::quantity::{bytes, count, micros};

/// A count with its noun: `1 stream`, `2 streams`.
pub fn plural(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// Numbers in a row, shortened: `1, 2, 3, ... (17 in all)`.
pub fn some_of(numbers: &[u64], shown: usize) -> String {
    let mut text: Vec<String> = numbers.iter().take(shown).map(u64::to_string).collect();
    if numbers.len() > shown {
        text.push("...".into());
    }
    text.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_their_nouns() {
        assert_eq!(plural(1, "stream"), "1 stream");
        assert_eq!(plural(2_000, "stream"), "2,000 streams");
        assert_eq!(some_of(&[1, 2, 3], 2), "1, 2, ...");
    }
}
