//! Two runs side by side, for a person.

use std::fmt::Write as _;

use tcplab_lab::agree::compare::{Comparison, flags};
use tcplab_lab::agree::packets::Packet;

use crate::Judged;
use crate::verdict::Verdict;

/// Lines before and after a difference.
const AROUND: usize = 12;

/// A host by its place in the experiment.
fn host(place: usize) -> &'static str {
    ["A", "B", "C", "D"].get(place).copied().unwrap_or("?")
}

/// One packet in one line.
fn line(p: &Packet) -> String {
    let mut out = format!(
        "{:>12.6} {}{} {} {}:{}",
        p.time_ns as f64 / 1e9,
        host(p.host),
        p.flow,
        flags(p),
        p.seq,
        p.seq + i64::from(p.len),
    );
    // Writing to a String cannot fail.
    if let Some(ack) = p.ack {
        let _ = write!(out, " a{ack}");
    }
    let _ = write!(out, " w{}", p.window);
    if let Some(mss) = p.mss {
        let _ = write!(out, " mss{mss}");
    }
    if let Some(scale) = p.wscale {
        let _ = write!(out, " ws{scale}");
    }
    if p.sack_permitted {
        out.push_str(" sackOK");
    }
    for (left, right) in &p.sack {
        let _ = write!(out, " [{left}:{right}]");
    }
    if let Some(value) = p.tsval {
        let echo = p.tsecr.map_or("-".into(), |e| e.to_string());
        let _ = write!(out, " ts{value}/{echo}");
    }
    if p.ecn != 0 {
        let _ = write!(out, " ecn{}", p.ecn);
    }
    out
}

/// A scenario side by side: its packets around the first difference (all with `whole`), then counters and tcp_info.
pub fn show(j: &Judged, whole: bool) -> String {
    let mut out = format!("== {}: {}\n", j.scenario.name, j.verdict.class());
    let (a, b) = match (&j.pair.a, &j.pair.b) {
        (Ok(a), Ok(b)) => (a, b),
        _ => return out,
    };
    for warning in a.result.warnings.iter().chain(&b.result.warnings) {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "warning: {warning}");
    }
    let (a, b) = (&a.sent.packets, &b.sent.packets);
    out + &side_by_side(a, b, &j.verdict.packets, whole) + &others(&j.verdict)
}

/// What a comparison found, with the packets around the first difference (all with `whole`).
fn side_by_side(a: &[Packet], b: &[Packet], c: &Comparison, whole: bool) -> String {
    let mut out = String::new();
    let Some(first) = &c.first else {
        return side(a, b, 0, if whole { usize::MAX } else { 0 });
    };
    let _ = writeln!(
        out,
        "first difference: {} of packet {} of host {} ({}): {} | {}",
        first.field,
        first.number + 1,
        host(first.host),
        first.kind,
        first.values.0,
        first.values.1
    );
    let before = |packets: &[Packet]| packets.iter().filter(|p| p.time_ns < first.time_ns).count();
    let at = before(a).min(before(b));
    let (from, lines) = match whole {
        true => (0, usize::MAX),
        false => (at.saturating_sub(AROUND), 2 * AROUND),
    };
    out.push_str(&side(a, b, from, lines));
    out
}

fn side(a: &[Packet], b: &[Packet], from: usize, lines: usize) -> String {
    let to = from.saturating_add(lines).min(a.len().max(b.len()));
    let mut out = String::new();
    for n in from..to {
        let (x, y) = (a.get(n), b.get(n));
        let same = match (x, y) {
            (Some(x), Some(y)) => {
                Packet {
                    time_ns: y.time_ns,
                    place: y.place,
                    ..x.clone()
                } == *y
            }
            _ => false,
        };
        let text = |p: Option<&Packet>| p.map(line).unwrap_or_default();
        let mark = if same { ' ' } else { '|' };
        let _ = writeln!(out, "{:<78} {mark} {}", text(x), text(y));
    }
    out
}

/// Counters and tcp_info that differ, a line each.
fn others(v: &Verdict) -> String {
    let mut out = String::new();
    for (what, list) in [("counter", &v.counters), ("tcp_info", &v.tcp_info)] {
        for other in list {
            let _ = writeln!(out, "{what} {}: {} | {}", other.name, other.a, other.b);
        }
    }
    out
}
