//! What the terminal can do: colours and width.

use std::io::{self, IsTerminal};

use crate::args::Color;

/// Whether to colour standard output: `--color`, then NO_COLOR (<https://no-color.org>), then
/// CLICOLOR_FORCE, then whether it is a terminal (and not a dumb one).
pub fn colors(when: Color) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    match when {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR") => false,
        Color::Auto
            if std::env::var_os("CLICOLOR_FORCE").is_some_and(|v| !v.is_empty() && v != "0") =>
        {
            true
        }
        Color::Auto => {
            io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
        }
    }
}

/// Columns of standard output: of the terminal, else COLUMNS, else 80.
pub fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let measured = io::stdout()
        .is_terminal()
        .then(|| console::Term::stdout().size_checked())
        .flatten()
        .map(|(_, columns)| usize::from(columns));
    measured.or(columns).unwrap_or(80).clamp(40, 200)
}
