//! Text from files and hosts on its way to a terminal: it must neither steer the terminal nor hide from the reader.

/// Stands for a character that is not shown.
pub const REPLACEMENT: char = '\u{fffd}';

/// Whether a terminal obeys this character, reorders text at it, or shows nothing for it: controls (C0, DEL, C1),
/// direction marks, format characters, and letters without a shape. Joiners and the variation selectors of emoji
/// (U+FE00 to U+FE0F) only change the look of the previous character, so they are not hidden.
pub fn is_hidden(c: char) -> bool {
    // Nearly every character is one of these, and each of all outputs is asked.
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200c}'
                | '\u{200e}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Hidden characters made visible, line ends and tabs too: for a name within a line.
pub fn safe(text: &str) -> String {
    let shown = |c: char| if is_hidden(c) { REPLACEMENT } else { c };
    text.chars().map(shown).collect()
}

/// Hidden characters made visible, line ends and tabs kept: for whole messages.
pub fn safe_lines(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        c if is_hidden(c) => REPLACEMENT,
        c => c,
    };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_hidden_chars_are_removed() {
        let hidden = [
            '\0',
            '\x07',
            '\x08',
            '\x1b',
            '\r',
            '\x7f',
            '\u{80}',
            '\u{9b}',
            '\u{9d}',
            '\u{ad}',
            '\u{61c}',
            '\u{200b}',
            '\u{200e}',
            '\u{200f}',
            '\u{202a}',
            '\u{202e}',
            '\u{2028}',
            '\u{2060}',
            '\u{2066}',
            '\u{2069}',
            '\u{3164}',
            '\u{feff}',
            '\u{e0041}',
        ];
        for c in hidden {
            let text = format!("a{c}b");
            assert_eq!(safe(&text), "a\u{fffd}b", "{c:?}");
            assert_eq!(safe_lines(&text), "a\u{fffd}b", "{c:?}");
        }
    }

    #[test]
    fn what_people_write_stays() {
        for text in [
            "naïve café",
            "Ελλάδα",
            "日本語",
            "عربي",
            "a \u{2192} b",
            "\u{26a0}\u{fe0f}",
            "x\u{301}",
        ] {
            assert_eq!(safe(text), text);
        }
        assert_eq!(safe("a\nb\tc"), "a\u{fffd}b\u{fffd}c");
        assert_eq!(safe_lines("a\nb\tc"), "a\nb\tc");
    }
}
