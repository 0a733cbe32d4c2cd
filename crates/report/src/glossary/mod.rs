//! Definitions of words: for `tcplab help WORD`, the lines under a report, and the tables of `docs/glossary.md`.
//!
//! `words.rs` has the words of reports, `more.rs` rarer ones, `lab.rs` those of experiments, `classes.rs` the classes
//! of time. The analyser's list of findings has theirs: the conditions of each, and the packets that it needs to see.

mod classes;
mod columns;
mod lab;
mod more;
mod words;

pub(crate) use classes::meaning;
pub(crate) use columns::short;

use std::collections::BTreeSet;
use std::fmt::Write;

use tcplab_analyze::budget::Class;
use tcplab_analyze::findings;

use crate::terminal::Theme;
use crate::terminal::style::{Ink, wrap};

/// Longest line of running text.
const TEXT: usize = 100;

/// Stands for a blank at which no line is broken.
const NO_BREAK: &str = "\u{a0}";

/// Words under a report at most.
const UNDER_A_REPORT: usize = 6;

/// A word of TCP or of the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The word as people write it.
    pub word: &'static str,
    /// Other ways to write or say it.
    pub also: &'static [&'static str],
    /// What it is, in half a line.
    pub short: &'static str,
    /// The rest: how it works, what it costs, where to look.
    pub more: &'static str,
}

/// The words of TCP and of experiments.
fn entries() -> impl Iterator<Item = &'static Entry> {
    words::WORDS.iter().chain(more::MORE).chain(lab::LAB)
}

/// What a word means, as text for a terminal: a term, a finding, a column, a verdict, a class of time.
pub fn explain(theme: &Theme, word: &str) -> Option<String> {
    let asked = plain(word);
    let by_name = findings::ids().find(|id| plain(id.name()) == asked);
    let said = by_name.or_else(|| findings::ids().find(|id| plain(&short(id.name())) == asked));
    let mut pages = Vec::new();
    if let Some(entry) = entries().find(|e| e.is(&asked)) {
        let about = format!("{}.\n{}", capital(entry.short), entry.more);
        pages.push(page(theme, entry.word, &about));
    }
    if let Some(id) = said {
        pages.push(page(theme, id.name(), &finding(id.name())));
    }
    if pages.is_empty()
        && let Some((name, about)) = columns::find(&asked)
    {
        pages.push(page(theme, name, about));
    }
    let is_class = |c: &Class| [c.name(), c.words()].map(plain).contains(&asked);
    if pages.is_empty()
        && let Some(class) = Class::ALL.into_iter().find(is_class)
    {
        let title = format!("{} (where the time went)", class.words());
        pages.push(page(theme, &title, meaning(class)));
    }
    (!pages.is_empty()).then(|| pages.join("\n"))
}

/// The tables of `docs/glossary.md`: a heading, and its words with their meanings.
pub fn tables() -> String {
    let tcp = words::WORDS.iter().chain(more::MORE).collect();
    let parts: [(&str, Vec<&Entry>); 2] = [
        ("TCP, Linux and captures", tcp),
        ("Experiments and results", lab::LAB.iter().collect()),
    ];
    let mut out = String::new();
    for (heading, mut entries) in parts {
        entries.sort_by_key(|e| plain(e.word));
        let _ = write!(out, "\n## {heading}\n\n| word | meaning |\n|---|---|\n");
        for e in entries {
            let also = match e.also {
                [] => String::new(),
                also => format!(" ({})", also.join(", ")),
            };
            let text = format!("{}. {}", capital(e.short), e.more.replace('\n', " "));
            let _ = writeln!(
                out,
                "| **{}**{also} | {} |",
                e.word,
                text.replace('|', "\\|")
            );
        }
    }
    out
}

/// Every word that [`explain`] knows: the terms with their other names, findings, columns and verdicts, classes.
pub fn names() -> Vec<&'static str> {
    entries()
        .flat_map(|e| std::iter::once(e.word).chain(e.also.iter().copied()))
        .chain(findings::ids().map(|id| id.name()))
        .chain(columns::names())
        .chain(Class::ALL.into_iter().map(Class::words))
        .collect()
}

/// All words that can be explained, by kind.
pub fn list(theme: &Theme) -> String {
    let tcp = words::WORDS.iter().chain(more::MORE);
    let kinds = [
        ("TCP, Linux and captures", tcp.map(|e| e.word).collect()),
        (
            "Experiments and results",
            lab::LAB.iter().map(|e| e.word).collect(),
        ),
        ("Findings", findings::ids().map(|id| id.name()).collect()),
        ("Sections, columns and verdicts", columns::names()),
        (
            "Where the time went",
            Class::ALL.into_iter().map(Class::words).collect::<Vec<_>>(),
        ),
    ];
    let mut out = String::new();
    for (i, (kind, list)) in kinds.into_iter().enumerate() {
        let gap = if i == 0 { "" } else { "\n" };
        let _ = writeln!(out, "{gap}{}\n", theme.paint(Ink::Bold, kind));
        // A word of several parts stays on one line.
        let joined = list.iter().map(|word| word.replace(' ', NO_BREAK));
        let joined = joined.collect::<Vec<_>>().join(", ");
        out += &(theme.lines(&joined, width(theme), "  ", None)).replace(NO_BREAK, " ");
    }
    out
}

/// The words that occur in a text, in the order of the glossary.
pub fn occurring(text: &str) -> Vec<&'static Entry> {
    // Commands stand between backticks; their words are no prose.
    let prose: String = text.split('`').step_by(2).collect();
    let mut text = format!(" {} ", plain(&prose));
    let mut names: Vec<(String, usize)> = Vec::new();
    for (i, entry) in words::WORDS.iter().enumerate() {
        names.extend(entry.names().map(|name| (name, i)));
    }
    // The long ones first: `rcv_mss` is no MSS.
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let mut found = BTreeSet::new();
    for (name, i) in names {
        for form in [format!(" {name} "), format!(" {name}s ")] {
            if text.contains(&form) {
                text = text.replace(&form, " | ");
                found.insert(i);
            }
        }
    }
    found.into_iter().map(|i| &words::WORDS[i]).collect()
}

/// One line for each word that occurs; nothing where none does. Words of `said` come before those that only stand in the
/// `rest`, where there is no room for all.
pub fn under_a_report(theme: &Theme, said: &str, rest: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for entry in occurring(said).into_iter().chain(occurring(rest)) {
        if !names.contains(&entry.word) && names.len() < UNDER_A_REPORT {
            names.push(entry.word);
        }
    }
    if names.is_empty() {
        return String::new();
    }
    let entries = words::WORDS.iter().filter(|e| names.contains(&e.word));
    let entries: Vec<&Entry> = entries.collect();
    let widest = entries.iter().map(|e| e.word.chars().count()).max();
    let widest = widest.unwrap_or(0);
    let mut out = format!("\n{}\n\n", theme.paint(Ink::Bold, "Words"));
    for e in entries {
        let lines = wrap(e.short, width(theme).saturating_sub(widest + 2));
        for (i, line) in lines.iter().enumerate() {
            let word = if i == 0 { e.word } else { "" };
            let pad = " ".repeat(widest - word.chars().count());
            let _ = writeln!(out, "  {}{pad}  {line}", theme.paint(Ink::Cyan, word));
        }
    }
    let more = "`tcplab help WORD` says more, also of the names of findings.";
    out + &theme.lines(more, width(theme), "  ", Some(Ink::Dim))
}

impl Entry {
    /// The word and its other forms, plain.
    fn names(&self) -> impl Iterator<Item = String> {
        std::iter::once(&self.word)
            .chain(self.also)
            .map(|name| plain(name))
    }

    fn is(&self, asked: &str) -> bool {
        self.names()
            .any(|name| name == asked || format!("{name}s") == asked)
    }
}

/// When a finding is said, what it needs to see, which releases have it.
fn finding(id: &str) -> String {
    let (severity, said_when) = findings::about(id).unwrap_or_default();
    let mut about = format!("A finding. Severity: {severity}.\nSaid when: {said_when}.\n");
    let needs: Vec<&str> = findings::needs(id).iter().map(|n| n.what()).collect();
    let _ = match needs.as_slice() {
        [] => writeln!(about, "It is looked for in every capture."),
        needs => writeln!(
            about,
            "tcplab looks for it where the capture has {}.",
            and(needs)
        ),
    };
    about.push_str(&findings::releases(id).unwrap_or_default());
    about
}

/// `a, b and c`.
fn and(parts: &[&str]) -> String {
    match parts {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// An entry: its title, and indented lines.
pub fn page(theme: &Theme, title: &str, about: &str) -> String {
    let title = theme.paint(Ink::Bold, title);
    format!(
        "{title}\n\n{}",
        theme.lines(about, width(theme), "  ", None)
    )
}

/// Columns for the lines of an entry.
pub fn width(theme: &Theme) -> usize {
    theme.width.saturating_sub(2).min(TEXT)
}

/// Words in small letters, with one blank between two: `Quick-ACK` and `quick_ack` are the same.
pub fn plain(text: &str) -> String {
    let letters = text.chars().map(|c| match c {
        c if c.is_alphanumeric() => c.to_ascii_lowercase(),
        _ => ' ',
    });
    let letters: String = letters.collect();
    letters.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// With a capital letter at the start.
pub(crate) fn capital(text: &str) -> String {
    // An address stays as it is.
    let first = text.split_whitespace().next().unwrap_or_default();
    if first.contains([':', '.']) {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_finding_and_class_is_explained() {
        let theme = Theme::default();
        for word in names() {
            let text = explain(&theme, word).unwrap_or_else(|| panic!("{word}"));
            assert!(text.lines().count() >= 3, "{text}");
            for line in text.lines().filter(|l| !l.contains('`')) {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
    }

    #[test]
    fn a_finding_is_explained_beside_its_word_and_by_its_short_name() {
        let theme = Theme::default();
        let both = explain(&theme, "policer").unwrap();
        assert!(
            both.contains("Said when: ") && both.starts_with("policer"),
            "{both}"
        );
        let short = explain(&theme, "left quick-ACK mode").unwrap();
        assert_eq!(short, explain(&theme, "quickack_exhausted").unwrap());
        assert!(explain(&theme, "ACK now").unwrap().contains("at once"));
    }

    #[test]
    fn no_word_stands_twice_in_the_glossary() {
        let mut names: Vec<String> = entries().flat_map(Entry::names).collect();
        names.sort();
        let all = names.clone();
        names.dedup();
        assert_eq!(names, all);
    }

    #[test]
    fn a_word_is_found_however_it_is_written() {
        let theme = Theme::default();
        let same = explain(&theme, "quick-ACK").unwrap();
        for word in ["Quick ACK", "quick_acks", "quickack", "QUICK-ACK MODE"] {
            assert_eq!(explain(&theme, word).unwrap(), same, "{word}");
        }
        assert_eq!(explain(&theme, "xyzzy"), None);
    }

    #[test]
    fn every_verdict_of_a_row_is_explained() {
        let theme = Theme::default();
        let verdict = explain(&theme, "verdict").unwrap();
        for word in [
            "lower",
            "higher",
            "too noisy",
            "too-noisy",
            "noisy",
            "few runs",
        ] {
            assert_eq!(explain(&theme, word).unwrap(), verdict, "{word}");
        }
        for word in ["lower:", "runs:", "noisy:"] {
            assert!(verdict.contains(word), "{verdict}");
        }
    }

    #[test]
    fn whole_words_only_are_found_in_a_text() {
        let found = |text: &str| -> Vec<&str> { occurring(text).iter().map(|e| e.word).collect() };
        assert_eq!(found("two DSACKs"), ["DSACK"]);
        assert_eq!(found("a backpack"), [""; 0]);
        assert_eq!(
            found("its delayed-ACK timer (rcv_mss)"),
            ["delayed ACK", "rcv_mss"]
        );
        assert_eq!(found("the ACKs of an MSS"), ["ACK", "MSS"]);
        assert_eq!(found("run `sysctl net.ipv4.tcp_sack SACK` now"), [""; 0]);
    }

    #[test]
    fn words_of_what_happened_come_before_words_of_remedies() {
        let said = "RTO, TLP, SACK, TSO and a duplicate ACK; pacing 3 ms";
        let text = under_a_report(&Theme::default(), said, "delayed ACK");
        assert!(text.contains("  pacing"), "{text}");
        assert!(!text.contains("delayed ACK"), "{text}");
        let text = under_a_report(&Theme::default(), "an RTO", "delayed ACK");
        assert!(text.find("delayed ACK") < text.find("RTO"), "{text}");
    }
}
