//! Markdown on a terminal: paragraphs wrapped, rows of tables as entries, marks and comments taken out.

use tcplab_report::glossary::width;
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::style::{Ink, wrap};

/// How deep a heading is: 1 for `#`.
pub(super) type Level = usize;

/// The level and text of a heading.
pub(super) fn heading(line: &str) -> Option<(Level, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    (level > 0 && text.starts_with(' ')).then(|| (level, text.trim()))
}

/// Markdown as text for a terminal.
pub fn paper(theme: &Theme, markdown: &str) -> String {
    let mut out = Paper {
        theme,
        out: String::new(),
        paragraph: String::new(),
    };
    let mut in_code = false;
    for line in without_comments(markdown).lines() {
        if line.starts_with("```") {
            out.end();
            in_code = !in_code;
        } else if in_code {
            out.line("  ", line);
        } else if let Some((_, title)) = heading(line) {
            out.end();
            out.line("", &theme.paint(Ink::Bold, &prose(title)));
        } else if line.starts_with('|') {
            out.end();
            out.row(line);
        } else if line.trim().is_empty() {
            out.end();
            out.blank();
        } else {
            let begins = line.starts_with("- ") || line.starts_with(|c: char| c.is_ascii_digit());
            if begins {
                out.end();
            }
            out.paragraph += &prose(line.trim());
            out.paragraph.push(' ');
        }
    }
    out.end();
    out.out
}

struct Paper<'a> {
    theme: &'a Theme,
    out: String,
    /// Lines that are not out yet.
    paragraph: String,
}

impl Paper<'_> {
    fn line(&mut self, indent: &str, text: &str) {
        self.out += format!("{indent}{text}").trim_end();
        self.out.push('\n');
    }

    /// One blank line between two parts.
    fn blank(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// The paragraph goes out.
    fn end(&mut self) {
        let text = std::mem::take(&mut self.paragraph);
        for (n, line) in wrap(text.trim(), width(self.theme).saturating_sub(2))
            .iter()
            .enumerate()
        {
            let hangs = n > 0 && text.starts_with("- ");
            self.line(if hangs { "    " } else { "  " }, line);
        }
    }

    /// A row of a table: its first cell, then the others further in.
    fn row(&mut self, line: &str) {
        let cells = cells(line);
        let is_rule = |cell: &String| cell.chars().all(|c| matches!(c, '-' | ':'));
        let [first, rest @ ..] = cells.as_slice() else {
            return;
        };
        if cells.iter().all(is_rule) {
            return;
        }
        self.line("  ", &self.theme.paint(Ink::Cyan, first));
        let rest: Vec<&str> = rest
            .iter()
            .map(String::as_str)
            .filter(|c| !c.is_empty())
            .collect();
        for line in wrap(&rest.join(" · "), width(self.theme).saturating_sub(6)) {
            self.line("      ", &line);
        }
    }
}

/// The cells of a row of a table; `\|` is a bar in a cell.
pub(super) fn cells(line: &str) -> Vec<String> {
    let line = line.trim().replace("\\|", "\u{0}");
    let inner = line.strip_prefix('|').unwrap_or(&line);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let cell = |text: &str| prose(text.trim()).replace('\u{0}', "|");
    inner.split('|').map(cell).collect()
}

/// Running text: the text of links, without marks for bold letters.
fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let link = after.split_once("](").and_then(|(label, tail)| {
            let (_, tail) = tail.split_once(')')?;
            (!label.contains('[')).then_some((label, tail))
        });
        match link {
            Some((label, tail)) => {
                out += before.strip_suffix('!').unwrap_or(before);
                out += label;
                rest = tail;
            }
            None => {
                out += before;
                out.push('[');
                rest = after;
            }
        }
    }
    (out + rest).replace("**", "")
}

/// Without what stands between `<!--` and `-->`.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        out += before;
        rest = after.split_once("-->").map_or("", |(_, tail)| tail);
    }
    out + rest
}
