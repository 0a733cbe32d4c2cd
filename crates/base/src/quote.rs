//! Words of a command that a person is to copy into a shell.

use crate::visible::is_hidden;

/// A word quoted for a shell: in single quotes if necessary. Hidden characters become escaped bytes in `$'...'` (bash,
/// zsh, ksh, POSIX.1-2024), so the visible text is what runs.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@=:%".contains(c);
    if !word.is_empty() && !word.starts_with('=') && word.chars().all(plain) {
        return word.to_owned();
    }
    if !word.chars().any(is_hidden) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    let mut out = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            c if is_hidden(c) => {
                let mut bytes = [0; 4];
                // Always three octal digits: a digit may follow.
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    out += &format!("\\{byte:03o}");
                }
            }
            c => out.push(c),
        }
    }
    out + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell() {
        for (word, shown) in [
            ("out/rto-p0", "out/rto-p0"),
            ("uml:6.1+x", "uml:6.1+x"),
            ("my results", "'my results'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
            ("a;reboot", "'a;reboot'"),
            ("$(x)", "'$(x)'"),
            ("~", "'~'"),
            ("=ls", "'=ls'"),
            ("a\x1b[2J'b\n", "$'a\\033[2J\\'b\\012'"),
            ("\u{202e}", "$'\\342\\200\\256'"),
        ] {
            assert_eq!(quoted(word), shown, "{word:?}");
        }
    }
}
