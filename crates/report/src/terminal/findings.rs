//! The findings: what happened, why, what to do, which packets. The same finding on many streams
//! is told once.

use std::fmt::Write;

use serde::Serialize;
use tcplab_analyze::findings::{Finding, Severity};
use tcplab_analyze::report::Totals;

use super::collect::{heading, which_streams};
use super::style::{Ink, safe, wrap};
use super::{Theme, units};

/// Width of the column with severity and labels.
const LABEL: usize = 8;

/// Longest line of running text; wider ones are hard to read.
const TEXT: usize = 100;

/// Findings of one kind.
struct Group<'a> {
    /// The one that is told in full.
    first: &'a Finding,
    /// All of them.
    all: Vec<&'a Finding>,
}

/// All findings, the most severe first.
pub(super) fn render(theme: &Theme, findings: &[Finding], totals: &Totals) -> String {
    if findings.is_empty() {
        let text = "No findings: nothing in these packets that TCP should not do.";
        return format!("{}\n", theme.paint(Ink::Green, text));
    }
    let groups = fold(findings);
    let n = findings.len() as u64 + totals.findings_not_listed;
    let remark = match (n, groups.len() as u64) {
        (n, kinds) if n > kinds => {
            format!("{} of {}", units::count(n), units::plural(kinds, "kind"))
        }
        _ => String::new(),
    };
    let mut out = heading(theme, "Findings", &remark);
    for (i, group) in groups.iter().enumerate() {
        out.push('\n');
        title(theme, group, &mut out);
        let before = groups.iter().take(i);
        let f = group.first;
        let same = |g: &Group<'_>| g.first.cause == f.cause && g.first.remedy == f.remedy;
        if before.into_iter().any(same) {
            let _ = writeln!(out, "  {:LABEL$}Why and what to do: as above.", "");
        } else {
            advice(theme, f, &mut out);
        }
    }
    if totals.findings_not_listed > 0 {
        let more = units::count(totals.findings_not_listed);
        let text = format!("{more} more of these kinds were counted, not listed.");
        let _ = writeln!(out, "\n  {}", theme.paint(Ink::Dim, &text));
    }
    out
}

/// Groups by id and severity, in the order in which they are told.
fn fold(findings: &[Finding]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for f in findings {
        let same = |g: &&mut Group<'_>| g.first.id == f.id && g.first.severity == f.severity;
        match groups.iter_mut().find(same) {
            Some(group) => group.all.push(f),
            None => groups.push(Group {
                first: f,
                all: vec![f],
            }),
        }
    }
    for group in &mut groups {
        // The surest one is the best example.
        let surest = |a: &&&Finding, b: &&&Finding| {
            a.confidence
                .unwrap_or(0.0)
                .total_cmp(&b.confidence.unwrap_or(0.0))
        };
        if let Some(best) = group.all.iter().rev().max_by(surest) {
            group.first = best;
        }
    }
    groups.sort_by_key(|g| (g.first.severity, std::cmp::Reverse(g.all.len())));
    groups
}

fn text_width(theme: &Theme) -> usize {
    theme.width.saturating_sub(LABEL + 2).min(TEXT)
}

/// What happened, and where.
fn title(theme: &Theme, group: &Group<'_>, out: &mut String) {
    let f = group.first;
    let width = text_width(theme);
    let label = match f.severity {
        Severity::High => "HIGH",
        Severity::Medium => "MEDIUM",
        Severity::Info => "INFO",
    };
    for (i, line) in wrap(&capital(&safe(&f.title)), width).iter().enumerate() {
        let label = if i == 0 { label } else { "" };
        let pad = " ".repeat(LABEL - label.len());
        let label = theme.paint(Ink::of(f.severity), label);
        let _ = writeln!(out, "  {label}{pad}{}", theme.paint(Ink::Bold, line));
    }
    for line in wrap(&place(group), width) {
        let _ = writeln!(out, "  {:LABEL$}{}", "", theme.paint(Ink::Dim, &line));
    }
}

/// With a capital letter at the start.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// Why it happened and what to do.
fn advice(theme: &Theme, f: &Finding, out: &mut String) {
    let width = text_width(theme);
    labelled(theme, "Why", "", &f.cause, width, out);
    for (i, remedy) in f.remedy.iter().enumerate() {
        let label = if i == 0 { "Do" } else { "" };
        let mark = match f.remedy.len() {
            1 => String::new(),
            _ => format!("{}. ", i + 1),
        };
        labelled(theme, label, &mark, remedy, width, out);
    }
}

/// A text with a label before its first line, and after that a mark that the other lines make
/// room for.
fn labelled(theme: &Theme, label: &str, mark: &str, text: &str, width: usize, out: &mut String) {
    // Line ends in a text separate commands from prose; everything else is made safe.
    let text: Vec<String> = text.lines().map(safe).collect();
    let lines = wrap(&text.join("\n"), width.saturating_sub(mark.len()));
    let indent = mark.len();
    for (i, line) in lines.iter().enumerate() {
        let (label, mark) = if i == 0 { (label, mark) } else { ("", "") };
        let pad = " ".repeat(LABEL - label.len());
        let label = theme.paint(Ink::Cyan, label);
        let line = commands(theme, line);
        let _ = writeln!(out, "  {label}{pad}{mark:indent$}{line}");
    }
}

/// Paints what stands between backticks. Without colours the backticks stay.
fn commands(theme: &Theme, line: &str) -> String {
    if !theme.color {
        return line.to_owned();
    }
    let pieces = line.split('`').enumerate();
    pieces
        .map(|(i, piece)| {
            if i % 2 == 1 {
                theme.paint(Ink::Cyan, piece)
            } else {
                piece.to_owned()
            }
        })
        .collect()
}

/// Where it is: streams, packets of the example, id, how sure.
fn place(group: &Group<'_>) -> String {
    let mut streams: Vec<u64> = group.all.iter().map(|f| u64::from(f.stream)).collect();
    streams.sort_unstable();
    streams.dedup();
    let f = group.first;
    let mut parts = vec![which_streams(&streams)];
    if group.all.len() > streams.len() {
        parts.push(format!("{} times", units::count(group.all.len() as u64)));
    }
    if !f.packets.is_empty() {
        let noun = if f.packets.len() == 1 {
            "packet"
        } else {
            "packets"
        };
        let of = match streams.len() {
            1 => String::new(),
            _ => format!(" of stream {}", f.stream),
        };
        parts.push(format!("{noun} {}{of}", units::some_of(&f.packets, 6)));
    }
    parts.push(word(&f.id));
    if let Some(confidence) = f.confidence {
        parts.push(format!("{:.0} % sure", confidence * 100.0));
    }
    parts.join(" · ")
}

/// The name of a unit variant in the JSON.
pub(super) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcplab_analyze::findings::Id;

    fn id(name: &str) -> Id {
        Id::of(name).expect("the id of a finding")
    }

    fn finding(stream: u32, id: Id, severity: Severity) -> Finding {
        Finding {
            id,
            severity,
            stream,
            packets: vec![37, 39],
            title: "The receiver left quick-ACK mode after 16 segments".into(),
            cause: "Linux up to 6.1.56 ".repeat(12),
            remedy: vec![
                "Upgrade".into(),
                "`ip route change default via 10.0.0.1 quickack 1`".into(),
            ],
            confidence: Some(0.99),
            proof: None,
        }
    }

    #[test]
    fn many_streams_with_one_finding_are_told_once() {
        let mut all: Vec<_> = (0..40)
            .map(|i| finding(i, id("quickack_exhausted"), Severity::High))
            .collect();
        all.push(finding(3, id("syn_retries"), Severity::Medium));
        let text = render(&Theme::default(), &all, &Totals::default());
        assert_eq!(text.matches("left quick-ACK mode").count(), 2, "{text}");
        assert!(
            text.contains("40 streams: 0, 1, 2, 3, 4, 5, 6, 7, ..."),
            "{text}"
        );
        assert!(text.find("HIGH") < text.find("MEDIUM"));
        for line in text.lines().filter(|l| !l.contains('`')) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn commands_are_not_broken_and_text_cannot_steer_the_terminal() {
        let mut f = finding(0, id("rto_stall"), Severity::Info);
        f.title = "a\x1b[2Jb".into();
        let theme = Theme {
            color: false,
            width: 40,
        };
        let text = render(&theme, &[f], &Totals::default());
        assert!(text.contains("`ip route change default via 10.0.0.1 quickack 1`"));
        assert!(!text.contains('\x1b'));
    }
}
