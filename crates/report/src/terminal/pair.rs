//! `--pair`: two captures of the same connections, as a table for a person.

use std::fmt::Write;

use tcplab_analyze::pair::{Ack, End, OneWay, Pair, Stream};
use tcplab_analyze::trace::AckClass;

use super::acks::short;
use super::style::{Ink, safe, wrap};
use super::table::{Align, Cell, Table};
use super::{Theme, units};

/// ACKs of a stream that are shown unless all are asked for: those with the longest waits.
const SHOWN: usize = 20;

/// Streams that are shown unless all are asked for.
const STREAMS: usize = 10;

/// The whole report.
pub fn render(theme: &Theme, pair: &Pair, all: bool) -> String {
    let mut out = String::new();
    head(theme, pair, &mut out);
    if pair.streams.is_empty() {
        let text = "The captures have no packet in common. Were they taken at the same time? \
                    A NAT in between changes addresses, and offloads join or split data.";
        for line in wrap(text, theme.width.saturating_sub(2)) {
            let _ = writeln!(out, "  {}", theme.paint(Ink::Yellow, &line));
        }
        return out;
    }
    let limit = if all { usize::MAX } else { STREAMS };
    let mut streams: Vec<&Stream> = pair.streams.iter().collect();
    streams.sort_by_key(|s| std::cmp::Reverse(s.acks.len()));
    for stream in streams.iter().take(limit) {
        one(theme, stream, all, &mut out);
    }
    if streams.len() > limit {
        let more = units::count((streams.len() - limit) as u64);
        let _ = writeln!(out, "\n{more} more streams; --all shows them");
    }
    out
}

fn head(theme: &Theme, pair: &Pair, out: &mut String) {
    let p = &pair.packets;
    for (letter, file, n) in [("A", &pair.a, p.a), ("B", &pair.b, p.b)] {
        let file = theme.paint(Ink::Bold, &safe(file));
        let _ = writeln!(out, "{letter}  {file}  {}", units::plural(n, "TCP packet"));
    }
    let mut text = format!(
        "In both: {}; in A only: {}; in B only: {}",
        units::count(p.matched),
        units::count(p.only_a),
        units::count(p.only_b)
    );
    if p.ambiguous > 0 {
        let _ = write!(
            text,
            "; equal and not told apart: {}",
            units::count(p.ambiguous)
        );
    }
    if p.left_out > 0 {
        let _ = write!(
            text,
            "; omitted: {} (raise --max-packets)",
            units::count(p.left_out)
        );
    }
    let _ = writeln!(out, "\n{text}");
    let c = &pair.clock;
    let Some(path) = c.path_ns else { return };
    let ahead = if c.offset_ns < 0 {
        "behind"
    } else {
        "ahead of"
    };
    let drift = match c.drift_ppm {
        ppm if ppm.abs() < 0.05 => String::new(),
        ppm => format!(" (drift {ppm:.1} ppm)"),
    };
    let text = format!(
        "Clock of B: {} {ahead} A's{drift}. Path there and back: {} at least",
        units::micros(c.offset_ns.unsigned_abs() / 1000),
        units::micros(path.max(0).unsigned_abs() / 1000),
    );
    for line in wrap(&text, theme.width) {
        let _ = writeln!(out, "{line}");
    }
}

fn one(theme: &Theme, s: &Stream, all: bool, out: &mut String) {
    let title = format!(
        "Stream {} in A, {} in B: client {}, server {}",
        s.stream_a, s.stream_b, s.client, s.server
    );
    out.push('\n');
    for line in wrap(&title, theme.width) {
        let _ = writeln!(out, "{}", theme.paint(Ink::Bold, &line));
    }
    let side = match s.client_side {
        Some(End::A) => "A was taken at the client's end, B at the server's.",
        Some(End::B) => "B was taken at the client's end, A at the server's.",
        None => "Only one direction is in both captures: the ends of A and B are unknown.",
    };
    let _ = writeln!(out, "{side}\n");
    let mut table = Table::new(&[
        ("one way", Align::Left),
        ("packets", Align::Right),
        ("lost", Align::Right),
        ("min", Align::Right),
        ("median", Align::Right),
        ("p95", Align::Right),
        ("max", Align::Right),
    ]);
    table.row(way("client → server", &s.client_to_server));
    table.row(way("server → client", &s.server_to_client));
    out.push_str(&table.render(theme));
    changed(theme, s, out);
    for (from_client, who) in [(true, "client"), (false, "server")] {
        let acks: Vec<&Ack> = s
            .acks
            .iter()
            .filter(|a| a.from_client == from_client)
            .collect();
        if !acks.is_empty() {
            let _ = writeln!(
                out,
                "\nACKs of the {who}: own wait, wait as the data's sender saw it, path"
            );
            rows(theme, &acks, all, out);
        }
    }
}

/// What a device between the captures changed, a sentence each.
fn changed(theme: &Theme, s: &Stream, out: &mut String) {
    let mut say = |text: &str| {
        for line in wrap(text, theme.width) {
            let _ = writeln!(out, "{}", theme.paint(Ink::Yellow, &line));
        }
    };
    for c in &s.changed {
        let syn = if c.from_client {
            "the client's SYN"
        } else {
            "the server's SYN-ACK"
        };
        let value = |says: Option<u32>| says.map_or("none".to_owned(), |n| n.to_string());
        let name = c.offer.name();
        let what = match (c.in_a, c.in_b) {
            (Some(_), None) => format!("has {name} in A and none in B"),
            (None, Some(_)) => format!("has {name} in B and none in A"),
            (a, b) => format!("has {name} {} in A and {} in B", value(a), value(b)),
        };
        say(&format!(
            "Changed on the way: {syn} {what} (packet {} in A, {} in B)",
            c.packet_a, c.packet_b
        ));
    }
    for (who, w) in [
        ("client", s.client_to_server),
        ("server", s.server_to_client),
    ] {
        if w.ecn_cleared > 0 {
            let n = units::plural(w.ecn_cleared, "packet");
            say(&format!(
                "Changed on the way: {n} of the {who} lost their ECN mark"
            ));
        }
    }
}

fn way(name: &str, w: &OneWay) -> Vec<Cell> {
    let t = &w.one_way_us;
    let mut cells: Vec<Cell> = vec![
        name.into(),
        units::count(w.matched).into(),
        units::count(w.only_at_sender).into(),
    ];
    let times = [t.min, t.p50, t.p95, t.max];
    cells.extend(times.map(|us| Cell::from(units::micros(us.into()))));
    cells
}

fn rows(theme: &Theme, acks: &[&Ack], all: bool, out: &mut String) {
    let mut table = Table::new(&[
        ("in A", Align::Right),
        ("in B", Align::Right),
        ("bytes", Align::Right),
        ("class", Align::Left),
        ("at receiver", Align::Right),
        ("at sender", Align::Right),
        ("path", Align::Right),
        ("one way", Align::Right),
    ]);
    let mut shown = acks.to_vec();
    if !all && acks.len() > SHOWN {
        shown.sort_by_key(|a| std::cmp::Reverse(a.wait_at_receiver_us));
        shown.truncate(SHOWN);
        shown.sort_by_key(|a| a.packet_a);
    }
    for a in &shown {
        let class = match a.class {
            AckClass::Delayed => Cell::inked(short(a.class), Ink::Yellow),
            class => short(class).into(),
        };
        let us = |us: Option<u32>| us.map_or_else(|| "-".to_owned(), |us| units::micros(us.into()));
        let path = a
            .wait_at_sender_us
            .map(|s| s.saturating_sub(a.wait_at_receiver_us));
        table.row(vec![
            a.packet_a.to_string().into(),
            a.packet_b.to_string().into(),
            units::count(a.bytes.into()).into(),
            class,
            us(Some(a.wait_at_receiver_us)).into(),
            us(a.wait_at_sender_us).into(),
            us(path).into(),
            us(Some(a.one_way_us)).into(),
        ]);
    }
    out.push_str(&table.render(theme));
    let hidden = acks.len() - shown.len();
    if hidden > 0 {
        let more = units::count(hidden as u64);
        let _ = writeln!(out, "  {more} with shorter waits; --all shows them");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcplab_analyze::pair::{Capture, compare};

    #[test]
    fn captures_without_a_common_packet_are_told_so() {
        let pair = compare(Capture::default(), Capture::default());
        let text = render(&Theme::default(), &pair, false);
        assert!(text.contains("have no packet in common"), "{text}");
    }

    #[test]
    fn fits_80_columns() {
        let ack = Ack {
            packet_a: 1_234_567,
            packet_b: 1_234_568,
            from_client: true,
            bytes: 1448,
            class: AckClass::Delayed,
            class_at_sender: None,
            wait_at_receiver_us: 40_912,
            wait_at_sender_us: Some(41_212),
            one_way_us: 151,
        };
        let mut pair = compare(Capture::default(), Capture::default());
        pair.streams.push(Stream {
            client: "[2001:db8:1234:5678:abcd:ef01:2345:6789]:65535".into(),
            server: "[2001:db8:1234:5678:abcd:ef01:2345:6780]:65535".into(),
            acks: vec![ack; 30],
            ..Stream::default()
        });
        let text = render(&Theme::default(), &pair, false);
        assert!(text.contains("10 with shorter waits; --all"), "{text}");
        assert!(text.contains("300 us"), "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
