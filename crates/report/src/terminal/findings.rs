//! The findings, each read from the top: what happened in a sentence, what to do, why, and which packets show it. The
//! same finding on many streams is told once.

use std::fmt::Write;

use serde::Serialize;
use tcplab_analyze::findings::proof::Outcome;
use tcplab_analyze::findings::{Finding, Severity};
use tcplab_analyze::report::Totals;

use super::collect::{heading, which_streams};
use super::style::{Ink, safe, wrap};
use super::{Theme, units};
use crate::glossary::capital;
use crate::groups;

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

impl Group<'_> {
    /// The streams that have it, by number.
    fn streams(&self) -> Vec<u64> {
        let mut streams: Vec<u64> = self.all.iter().map(|f| u64::from(f.stream)).collect();
        streams.sort_unstable();
        streams.dedup();
        streams
    }
}

/// All findings, the most severe first.
pub(super) fn render(theme: &Theme, findings: &[Finding], totals: &Totals) -> String {
    let groups = fold(findings);
    let n = findings.len() as u64 + totals.findings_not_listed;
    let remark = match (n, groups.len() as u64) {
        _ if findings.iter().all(|f| f.id.is_about_the_capture()) => "about the capture".into(),
        (n, kinds) if n > kinds => {
            format!("{} of {}", units::count(n), units::plural(kinds, "kind"))
        }
        _ => String::new(),
    };
    let mut out = heading(theme, "Findings", &remark);
    for (i, group) in groups.iter().enumerate() {
        out.push('\n');
        title(theme, group, &mut out);
        let f = group.first;
        let before = groups.iter().take(i).map(|g| g.first);
        let mut same = before.filter(|b| b.remedy == f.remedy && !f.remedy.is_empty());
        match same.next() {
            Some(b) if b.cause == f.cause => {
                let _ = writeln!(out, "  {:LABEL$}What to do and why: as above.", "");
                proof(theme, group, &mut out);
            }
            Some(b) => {
                let as_there = [format!("As for {} above.", word(&b.id))];
                advice(theme, group, &as_there, &mut out);
            }
            None => advice(theme, group, &f.remedy, &mut out),
        }
        evidence(theme, group, &mut out);
    }
    if totals.findings_not_listed > 0 {
        let more = units::count(totals.findings_not_listed);
        let text = format!("{more} more findings of these kinds are counted but not listed.");
        let _ = writeln!(out, "\n  {}", theme.paint(Ink::Dim, &text));
    }
    out
}

/// The findings in groups, in the order in which they are told.
fn fold(findings: &[Finding]) -> Vec<Group<'_>> {
    let groups = groups::fold(findings).into_iter();
    let groups = groups.map(|group| {
        let all: Vec<&Finding> = group.into_iter().map(|i| &findings[i]).collect();
        Group { first: all[0], all }
    });
    groups.collect()
}

fn text_width(theme: &Theme) -> usize {
    theme.width.saturating_sub(LABEL + 2).min(TEXT)
}

/// What happened.
fn title(theme: &Theme, group: &Group<'_>, out: &mut String) {
    let f = group.first;
    let width = text_width(theme);
    let text = capital(&safe(&f.title));
    let text = match group.streams().len() {
        1 => text,
        n => format!(
            "{text} (and {} like it)",
            units::plural(n as u64 - 1, "stream")
        ),
    };
    let label = match f.severity {
        Severity::High => "HIGH",
        Severity::Medium => "MEDIUM",
        Severity::Info => "INFO",
    };
    for (i, line) in wrap(&text, width).iter().enumerate() {
        let label = if i == 0 { label } else { "" };
        let pad = " ".repeat(LABEL - label.len());
        let label = theme.paint(Ink::of(f.severity), label);
        let _ = writeln!(out, "  {label}{pad}{}", theme.paint(Ink::Bold, line));
    }
}

/// What to do, what an experiment said about that, and why it happened.
fn advice(theme: &Theme, group: &Group<'_>, remedies: &[String], out: &mut String) {
    for (i, remedy) in remedies.iter().enumerate() {
        let label = if i == 0 { "Do" } else { "" };
        let mark = match remedies.len() {
            1 => String::new(),
            _ => format!("{}. ", i + 1),
        };
        labelled(theme, label, &mark, remedy, out);
    }
    proof(theme, group, out);
    labelled(theme, "Why", "", &group.first.cause, out);
}

/// Which packets show it, its id, how sure it is.
fn evidence(theme: &Theme, group: &Group<'_>, out: &mut String) {
    for (i, line) in wrap(&place(group), text_width(theme)).iter().enumerate() {
        let label = if i == 0 { "Seen" } else { "" };
        let line = format!("{label:LABEL$}{line}");
        let _ = writeln!(out, "  {}", theme.paint(Ink::Dim, &line));
    }
}

/// What the experiments said: the best answer of the group.
fn proof(theme: &Theme, group: &Group<'_>, out: &mut String) {
    let proofs = group.all.iter().filter_map(|f| f.proof.as_deref());
    let best = proofs.min_by_key(|proof| match proof.outcome {
        Outcome::Proved => 0,
        Outcome::Reduced => 1,
        Outcome::NotReproduced => 2,
        Outcome::NotProved => 2,
    });
    if let Some(best) = best {
        let (label, text) = best.words();
        labelled(theme, label, "", &text, out);
    }
}

/// A text with a label before its first line, and after that a mark that the other lines make
/// room for.
pub(super) fn labelled(theme: &Theme, label: &str, mark: &str, text: &str, out: &mut String) {
    let width = text_width(theme);
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
    let streams = group.streams();
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
        parts.push(sure(confidence));
    }
    parts.join(" · ")
}

/// A confidence, rounded down: nothing is 100 % sure.
fn sure(confidence: f64) -> String {
    format!("{} % sure", (confidence * 1000.0).floor() / 10.0)
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
    fn certainty_is_never_rounded_up() {
        assert_eq!(sure(0.9996), "99.9 % sure");
        assert_eq!(sure(0.88), "88 % sure");
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
    fn the_same_remedies_are_told_once() {
        let first = finding(0, id("rto_stall"), Severity::High);
        let mut second = finding(0, id("tail_loss"), Severity::Medium);
        second.cause = "Nothing followed".into();
        let text = render(&Theme::default(), &[first, second], &Totals::default());
        assert_eq!(text.matches("Upgrade").count(), 1, "{text}");
        assert!(text.contains("Do      As for rto_stall above."), "{text}");
        assert!(text.contains("Why     Nothing followed"), "{text}");
    }

    #[test]
    fn commands_are_not_broken_and_text_cannot_steer_the_terminal() {
        let mut f = finding(0, id("rto_stall"), Severity::Info);
        f.title = "a\x1b[2Jb".into();
        let theme = Theme {
            width: 40,
            ..Theme::default()
        };
        let text = render(&theme, &[f], &Totals::default());
        assert!(text.contains("`ip route change default via 10.0.0.1 quickack 1`"));
        assert!(!text.contains('\x1b'));
    }
}
