//! What the terminal can do: colours and width.

use std::io::{self, IsTerminal};

use tcplab_report::terminal::Theme;

use crate::args::Color;

/// How to draw what goes to standard output, or to a file.
pub fn theme(when: Color, to_file: bool) -> Theme {
    Theme {
        color: colors(when, to_file),
        width: width(to_file),
        ascii: is_ascii(),
    }
}

/// Whether the locale names a character set other than UTF-8. No locale says nothing: most terminals show UTF-8.
fn is_ascii() -> bool {
    let set = |name| std::env::var(name).ok().filter(|v| !v.is_empty());
    let Some(locale) = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set) else {
        return false;
    };
    let locale = locale.to_lowercase();
    let is_utf8 = locale.contains("utf-8") || locale.contains("utf8");
    !is_utf8
}

/// Whether to colour the result: `--color`, then NO_COLOR (<https://no-color.org>), then
/// CLICOLOR_FORCE, then whether it goes to a terminal (and not to a dumb one).
fn colors(when: Color, to_file: bool) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty() && v != "0");
    match when {
        Color::Always => true,
        Color::Never => false,
        // Any value counts, `0` too.
        Color::Auto if std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()) => false,
        Color::Auto if to_file => false,
        Color::Auto if set("CLICOLOR_FORCE") => true,
        Color::Auto => {
            io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
        }
    }
}

/// Columns to fit into: of the terminal, else COLUMNS, else 80.
fn width(to_file: bool) -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let measured = (!to_file && io::stdout().is_terminal())
        .then(|| console::Term::stdout().size_checked())
        .flatten()
        .map(|(_, columns)| usize::from(columns));
    measured.or(columns).unwrap_or(80).clamp(40, 200)
}
