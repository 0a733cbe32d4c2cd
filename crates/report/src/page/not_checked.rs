//! What could not be looked for in a capture, in words.

use std::collections::BTreeMap;

use serde::Serialize;
use tcplab_analyze::findings::{Id, Need, about};
use tcplab_analyze::report::{Stream, Totals};

/// Evidence that a capture lacks, and the findings that need it.
#[derive(Serialize)]
pub(super) struct Missing {
    lacks: Need,
    /// `the handshake`.
    missing: &'static str,
    /// How to capture it.
    how_to_get: &'static str,
    findings: Vec<Unseen>,
}

/// A finding that could not be looked for.
#[derive(Serialize)]
struct Unseen {
    finding: Id,
    /// When it is said.
    said_when: &'static str,
    /// In how many streams.
    streams: u64,
    /// The first of them.
    stream: u32,
}

/// Over the whole capture, what most streams lack first.
pub(super) fn of(totals: &Totals) -> Vec<Missing> {
    let mut all: Vec<Missing> = Vec::new();
    // Frames of no stream are named apart.
    for n in totals.not_checked.iter().filter(|n| n.streams > 0) {
        let unseen = Unseen {
            finding: n.finding,
            said_when: about(n.finding.name()).map_or("", |a| a.1),
            streams: n.streams,
            stream: n.stream,
        };
        match all.iter_mut().find(|m| m.lacks == n.lacks) {
            Some(m) => m.findings.push(unseen),
            None => all.push(Missing {
                lacks: n.lacks,
                missing: n.lacks.missing(),
                how_to_get: n.lacks.how_to_get(),
                findings: vec![unseen],
            }),
        }
    }
    let most = |m: &Missing| m.findings.iter().map(|f| f.streams).max();
    all.sort_by_key(|m| std::cmp::Reverse(most(m)));
    all
}

/// The words for what streams lack, by the name in JSON.
pub(super) fn words<'a>(streams: impl Iterator<Item = &'a Stream>) -> BTreeMap<Need, &'static str> {
    let lacks = streams.flat_map(|s| &s.not_checked);
    lacks.map(|l| (l.lacks, l.lacks.missing())).collect()
}
