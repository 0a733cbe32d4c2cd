//! The DS field of IP packets, as `IP_TOS` sets it, and its words.
//!
//! RFC 2474 3 (the field), RFC 2474 4.2.2.2 (class selectors), RFC 2597 6 (assured forwarding), RFC 3246 (EF),
//! RFC 5865 (voice-admit), RFC 8622 (LE). `BE` and `BK` are flent's words for CS0 and CS1. A word sets the six bits of
//! the code point; ECN's two bits below it are 0.

/// Words and the byte that each stands for.
pub const WORDS: [(&str, u8); 26] = [
    ("BE", 0x00),
    ("BK", 0x20),
    ("CS0", 0x00),
    ("CS1", 0x20),
    ("CS2", 0x40),
    ("CS3", 0x60),
    ("CS4", 0x80),
    ("CS5", 0xa0),
    ("CS6", 0xc0),
    ("CS7", 0xe0),
    ("AF11", 0x28),
    ("AF12", 0x30),
    ("AF13", 0x38),
    ("AF21", 0x48),
    ("AF22", 0x50),
    ("AF23", 0x58),
    ("AF31", 0x68),
    ("AF32", 0x70),
    ("AF33", 0x78),
    ("AF41", 0x88),
    ("AF42", 0x90),
    ("AF43", 0x98),
    ("EF", 0xb8),
    ("VA", 0xb0),
    ("LE", 0x04),
    ("DF", 0x00),
];

/// The byte of a word, or of a number from 0 to 255 (`0x` and two digits as well).
pub fn parse(text: &str) -> Option<u8> {
    let word = WORDS.iter().find(|(word, _)| *word == text);
    match (word, text.strip_prefix("0x")) {
        (Some((_, byte)), _) => Some(*byte),
        (None, Some(hex)) => u8::from_str_radix(hex, 16).ok(),
        (None, None) => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers() {
        let cases = [
            ("EF", Some(184)),
            ("CS5", Some(160)),
            ("BK", Some(32)),
            ("AF41", Some(136)),
            ("0xb8", Some(184)),
            ("184", Some(184)),
            ("256", None),
            ("0x100", None),
            ("ef", None),
            ("", None),
        ];
        for (text, byte) in cases {
            assert_eq!(parse(text), byte, "{text}");
        }
    }

    /// RFC 2597 6: the code point of AFxy is 8x + 2y; RFC 2474: that of CSx is 8x.
    #[test]
    fn bytes_are_the_code_points_of_the_documents() {
        for (word, byte) in WORDS {
            let digit = |at: usize| word.as_bytes().get(at).map_or(0, |b| b.wrapping_sub(b'0'));
            let point = match &word[..2] {
                "AF" => 8 * digit(2) + 2 * digit(3),
                "CS" => 8 * digit(2),
                _ => continue,
            };
            assert_eq!(byte, point << 2, "{word}");
        }
    }
}
