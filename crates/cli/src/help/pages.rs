//! The pages of the documentation, so that a copied program has them with it.

use tcplab_report::glossary::plain;
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::style::Ink;

use super::paper::{Level, heading, paper};

/// A page: its name, and its Markdown.
struct Page {
    name: &'static str,
    text: &'static str,
}

macro_rules! pages {
    ($($name:literal)*) => {
        &[$(Page { name: $name, text: include_str!(concat!("../../../../docs/", $name, ".md")) }),*]
    };
}

/// Every page of `docs/`.
const PAGES: &[Page] = pages! {
    "README"
    "ack-filter"
    "analyze"
    "bench"
    "campaigns"
    "capture"
    "caqm"
    "cluster"
    "compare"
    "determinism"
    "diff"
    "distributions"
    "drill"
    "exit-codes"
    "experiment"
    "explain"
    "fidelity"
    "findings"
    "first-ab"
    "first-capture"
    "first-experiment"
    "for-home-lines"
    "for-kernel-developers"
    "for-qa"
    "for-researchers"
    "for-sre"
    "for-teachers"
    "gallery"
    "glossary"
    "inject"
    "install"
    "kernels"
    "limits"
    "link"
    "model"
    "notebooks"
    "population-sensitivity"
    "population"
    "probe"
    "python-reference"
    "python"
    "qdisc"
    "releases"
    "replay"
    "reproduce"
    "results"
    "rrul"
    "ssh"
    "statistics"
    "world"
};

/// The names of all.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|page| page.name)
}

/// The Markdown of a page.
pub(super) fn markdown(name: &str) -> Option<&'static str> {
    let page = PAGES.iter().find(|page| page.name == name)?;
    Some(page.text)
}

/// Whether a word is written as the file of a page: `analyze.md`.
pub(super) fn is_file(word: &str) -> bool {
    word.ends_with(".md")
}

/// A line for each page: its name and title.
pub(super) fn list(theme: &Theme) -> String {
    let mut out = format!("{}\n\n", theme.paint(Ink::Bold, "Pages"));
    for page in PAGES {
        let title = page.text.lines().find_map(heading);
        let title = title.map_or("", |(_, title)| title);
        out += &format!("  {:<24}{title}\n", format!("{}.md", page.name));
    }
    out
}

/// The page of this name, or else the sections with this heading.
pub(super) fn of(theme: &Theme, word: &str) -> Option<String> {
    let file = word.rsplit('/').next().unwrap_or(word);
    let name = plain(file.strip_suffix(".md").unwrap_or(file));
    if let Some(page) = PAGES.iter().find(|page| plain(page.name) == name) {
        return Some(paper(theme, page.text));
    }
    let mut found = Vec::new();
    for page in PAGES {
        if let Some(section) = section(page.text, &name) {
            let from = theme.paint(Ink::Dim, &format!("From docs/{}.md:", page.name));
            found.push(format!("{from}\n\n{}", paper(theme, &section)));
        }
    }
    (!found.is_empty()).then(|| found.join("\n"))
}

/// The first section of a page with this plain heading, to the next heading of its level or a higher one.
fn section(text: &str, asked: &str) -> Option<String> {
    let mut level: Option<Level> = None;
    let mut in_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        in_code ^= line.starts_with("```");
        let head = if in_code { None } else { heading(line) };
        match (head, level) {
            (Some((of, _)), Some(own)) if of <= own => break,
            (Some((of, title)), None) if of > 1 && plain(title) == asked => level = Some(of),
            _ => {}
        }
        if level.is_some() {
            lines.push(line);
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}
