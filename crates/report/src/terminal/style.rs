//! Colours (ANSI) and line breaking.

use tcplab_analyze::findings::Severity;

use super::Theme;

/// What a piece of text is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Headings.
    Bold,
    /// Side remarks.
    Dim,
    /// Something bad.
    Red,
    /// Something to look at.
    Yellow,
    /// All is well.
    Green,
    /// Names and commands.
    Cyan,
}

impl Ink {
    const fn code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Red => "1;31",
            Self::Yellow => "33",
            Self::Green => "32",
            Self::Cyan => "36",
        }
    }

    /// The colour of a severity.
    pub const fn of(severity: Severity) -> Self {
        match severity {
            Severity::High => Self::Red,
            Severity::Medium => Self::Yellow,
            Severity::Info => Self::Cyan,
        }
    }
}

impl Theme {
    /// Paints a text, when colours are on.
    pub fn paint(&self, ink: Ink, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\x1b[{}m{text}\x1b[0m", ink.code())
        } else {
            text.to_owned()
        }
    }
}

/// Control characters made visible, so that text from a file cannot steer the terminal.
pub fn safe(text: &str) -> String {
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(clean).collect()
}

/// Breaks text into lines of at most `width` characters, at spaces; existing line ends are kept.
/// A word that is too long, and a command in `backticks`, stays in one piece: it must survive
/// copy and paste.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in words(paragraph) {
            let fits = line.chars().count() + 1 + word.chars().count() <= width;
            if !line.is_empty() && !fits {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// Words of a line; what stands between backticks is one word.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    line.split(move |c: char| {
        if c == '`' {
            quoted = !quoted;
        }
        c == ' ' && !quoted
    })
    .filter(|w| !w.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_spaces_and_keeps_commands_whole() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("a\nb", 9), ["a", "b"]);
        assert_eq!(
            wrap("use `ip route change default quickack 1` now", 12),
            ["use", "`ip route change default quickack 1`", "now"]
        );
    }

    #[test]
    fn colours_only_when_they_are_on() {
        let mut theme = Theme::default();
        assert_eq!(theme.paint(Ink::Red, "x"), "x");
        theme.color = true;
        assert_eq!(theme.paint(Ink::Red, "x"), "\x1b[1;31mx\x1b[0m");
    }

    #[test]
    fn file_names_cannot_steer_the_terminal() {
        assert_eq!(safe("a\x1b[2Jb\n"), "a\u{fffd}[2Jb\u{fffd}");
    }
}
