//! Colours (ANSI) and line breaking.

use std::borrow::Cow;

use tcplab_analyze::findings::Severity;
pub use tcplab_base::safe;
use tcplab_base::{REPLACEMENT, is_hidden};

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
    const ALL: [Self; 6] = [
        Self::Bold,
        Self::Dim,
        Self::Red,
        Self::Yellow,
        Self::Green,
        Self::Cyan,
    ];

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

    /// A text in lines of at most `width` characters, each behind `indent`, painted.
    pub fn lines(&self, text: &str, width: usize, indent: &str, ink: Option<Ink>) -> String {
        let mut out = String::new();
        for line in wrap(text, width) {
            let line = ink.map_or_else(|| line.clone(), |ink| self.paint(ink, &line));
            out += &format!("{indent}{line}\n");
        }
        out
    }

    /// An item of a list.
    pub(super) fn item(&self, text: &str) -> String {
        let lines = self.lines(text, self.width.saturating_sub(4).min(100), "    ", None);
        lines.replacen("    ", "  - ", 1)
    }
}

/// A whole text for a terminal: hidden characters made visible, line ends and tabs kept, and, when it is `painted`,
/// the colours of [`Theme::paint`].
pub fn screen(text: &str, painted: bool) -> Cow<'_, str> {
    let is_kept = |c: char| matches!(c, '\n' | '\t') || !is_hidden(c);
    if text.chars().all(is_kept) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let paint = if painted { paint_at(rest) } else { 0 };
        let (shown, after) = rest.split_at(paint.max(c.len_utf8()));
        match paint > 0 || is_kept(c) {
            true => out.push_str(shown),
            false => out.push(REPLACEMENT),
        }
        rest = after;
    }
    Cow::Owned(out)
}

/// The length of the colour that the text begins with; 0: it begins with no colour of ours.
fn paint_at(text: &str) -> usize {
    let Some(after) = text.strip_prefix("\x1b[") else {
        return 0;
    };
    let codes = Ink::ALL.iter().map(|ink| ink.code()).chain(["0"]);
    codes
        .filter(|code| {
            after
                .strip_prefix(code)
                .is_some_and(|end| end.starts_with('m'))
        })
        .map(|code| "\x1b[m".len() + code.len())
        .next()
        .unwrap_or(0)
}

/// A text for a terminal without Unicode: each sign that our reports draw with becomes one of ASCII.
pub fn ascii(text: &str) -> String {
    let sign = |c: char| match c {
        '█' => '#',
        '▓' => '%',
        '▒' => '=',
        '░' => '-',
        '▚' => 'x',
        '▄' => '_',
        '▀' => '"',
        '▌' => '[',
        '▐' => ']',
        '▞' => '/',
        '■' => '@',
        '□' => 'o',
        '▪' => '+',
        '▫' => ':',
        '◆' => '&',
        '◇' => '~',
        '→' => '>',
        '·' => '.',
        '≤' => '<',
        c => c,
    };
    text.chars().map(sign).collect()
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
    fn only_our_own_colours_reach_a_screen() {
        let theme = Theme {
            color: true,
            ..Theme::default()
        };
        for ink in Ink::ALL {
            let text = format!("{}\n", theme.paint(ink, "a\tb"));
            assert_eq!(screen(&text, true), text);
            assert_eq!(screen(&text, false).matches('\u{fffd}').count(), 2);
        }
        for hostile in [
            "\x1b[2J",
            "\x1b[8m",
            "\x1b]0;x\x07",
            "\x1b[1",
            "\u{9b}1m",
            "\r",
            "\u{202e}",
        ] {
            let shown = screen(hostile, true);
            assert!(!shown.chars().any(is_hidden), "{shown:?}");
        }
        assert_eq!(screen("a\x1b[2Jb\n", true), "a\u{fffd}[2Jb\n");
    }
}
