//! `--pair`: two captures of the same connections, as a table for a person.

use std::fmt::Write;

use tcplab_analyze::pair::{Ack, Clock, Defects, End, Packets, Pair, Stream};
use tcplab_analyze::trace::AckClass;

use super::acks::short;
use super::style::{Ink, safe};
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
        let why = no_common_packets(&pair.packets);
        return out + &theme.lines(why, theme.width.saturating_sub(2), "  ", Some(Ink::Yellow));
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

/// Why no packet matches.
fn no_common_packets(p: &Packets) -> &'static str {
    if p.a == 0 || p.b == 0 {
        "No packet can be compared: one of the captures has no TCP packet with a whole header and a time."
    } else if p.ambiguous > 0 {
        "No packet of one capture can be told from the others and found in the other capture. If a capture holds \
         each packet twice (a mirror port, `-i any`), remove the copies: editcap -d."
    } else {
        "The captures have no packet in common. Were they taken at the same time? \
         A NAT in between changes addresses, and offloads join or split data."
    }
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
    if p.resegmented_a + p.resegmented_b > 0 {
        let _ = write!(
            text,
            "; the same bytes in other segments (TSO, GRO): {} of A, {} of B",
            units::count(p.resegmented_a),
            units::count(p.resegmented_b)
        );
    }
    if p.left_out > 0 {
        let _ = write!(
            text,
            "; omitted: {} (raise --max-packets)",
            units::count(p.left_out)
        );
    }
    out.push('\n');
    out.push_str(&theme.lines(&text, theme.width, "", None));
    let remarks = [
        defects(&pair.packets, "A", &p.defects_a),
        defects(&pair.packets, "B", &p.defects_b),
    ];
    for text in remarks.into_iter().flatten() {
        out.push_str(&warning(theme, &text));
    }
    clock(theme, &pair.clock, out);
}

fn warning(theme: &Theme, text: &str) -> String {
    theme.lines(text, theme.width, "", Some(Ink::Yellow))
}

/// What of a capture could not be compared, a sentence each.
fn defects(all: &Packets, letter: &str, d: &Defects) -> Vec<String> {
    let mut texts = Vec::new();
    if d.unreadable > 0 {
        texts.push(format!(
            "{letter}: {} cut before the TCP header: not compared, so losses are unknown. Capture with a larger \
             snap length (tcpdump -s 128)",
            units::plural(d.unreadable, "frame")
        ));
    }
    if d.headers_cut > 0 {
        texts.push(format!(
            "{letter}: TCP header cut in {}: packets are matched without time stamps. Capture with a larger snap \
             length (tcpdump -s 128)",
            units::plural(d.headers_cut, "packet")
        ));
    }
    if d.without_time > 0 {
        texts.push(format!(
            "{letter}: {} without time: not compared, so losses are unknown",
            units::plural(d.without_time, "packet")
        ));
    }
    if d.copies > 0 {
        let often = if d.copies * 3 > all.matched {
            " (a mirror port, `-i any`)"
        } else {
            ""
        };
        let copies = match d.copies {
            1 => "1 further copy".to_owned(),
            n => format!("{} further copies", units::count(n)),
        };
        texts.push(format!(
            "{letter}: {copies} of packets, captured twice{often} or duplicated on the way: each packet counts once"
        ));
    }
    texts
}

fn clock(theme: &Theme, c: &Clock, out: &mut String) {
    if c.steady == Some(false) {
        let text = "The clocks of A and B do not fit together: one was set during the capture, drifts more than \
                    500 ppm, or has coarse time stamps. Times one way and losses are unknown.";
        return out.push_str(&warning(theme, text));
    }
    let (Some(offset), Some(path)) = (c.offset_ns, c.path_ns) else {
        return;
    };
    let ahead = if offset < 0 { "behind" } else { "ahead of" };
    let drift = match c.drift_ppm {
        Some(ppm) if ppm.abs() >= 0.05 => format!(" (drift {ppm:.1} ppm)"),
        _ => String::new(),
    };
    let text = format!(
        "Clock of B: {} {ahead} A's{drift}. Path there and back: {} at least",
        units::micros(offset.unsigned_abs() / 1000),
        units::micros(path.unsigned_abs() / 1000),
    );
    out.push_str(&theme.lines(&text, theme.width, "", None));
}

fn one(theme: &Theme, s: &Stream, all: bool, out: &mut String) {
    let title = format!(
        "Stream {} in A, {} in B: client {}, server {}",
        s.stream_a, s.stream_b, s.client, s.server
    );
    out.push('\n');
    out.push_str(&theme.lines(&title, theme.width, "", Some(Ink::Bold)));
    let side = match s.client_side {
        Some(End::A) => "A was taken at the client's end, B at the server's.",
        Some(End::B) => "B was taken at the client's end, A at the server's.",
        None if s.client_to_server.matched == 0 || s.server_to_client.matched == 0 => {
            "Only one direction is in both captures: the ends of A and B, losses and times one way are unknown."
        }
        None => {
            "The times in A and B contradict each other: the ends of A and B, losses and times one way are unknown."
        }
    };
    out.push_str(&theme.lines(side, theme.width, "", None));
    out.push('\n');
    ways(theme, s, out);
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
    let mut say = |text: &str| out.push_str(&warning(theme, text));
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
        if w.window_changed > 0 {
            let n = units::plural(w.window_changed, "packet");
            say(&format!(
                "Changed on the way: the receive window in {n} of the {who}; the other end sees another one than the {who} advertised"
            ));
        }
        if w.ecn_cleared > 0 {
            let n = units::plural(w.ecn_cleared, "packet");
            say(&format!(
                "Changed on the way: {n} of the {who} lost their ECN mark"
            ));
        }
    }
}

/// Both directions.
fn ways(theme: &Theme, s: &Stream, out: &mut String) {
    let ways = [
        ("client → server", &s.client_to_server),
        ("server → client", &s.server_to_client),
    ];
    let outside = ways.iter().any(|(_, w)| w.outside_at_sender > 0);
    let mut columns = vec![
        ("one way", Align::Left),
        ("packets", Align::Right),
        ("lost", Align::Right),
    ];
    if outside {
        columns.push(("outside", Align::Right));
    }
    columns.extend(["min", "median", "p95", "max"].map(|name| (name, Align::Right)));
    let mut table = Table::new(&columns);
    let unknown = || Cell::from("-");
    for (name, w) in ways {
        let mut cells: Vec<Cell> = vec![
            name.into(),
            units::count(w.matched).into(),
            w.only_at_sender
                .map_or_else(unknown, |n| units::count(n).into()),
        ];
        if outside {
            cells.push(units::count(w.outside_at_sender).into());
        }
        match &w.one_way_us {
            Some(t) => cells.extend(
                [t.min, t.p50, t.p95, t.max].map(|us| Cell::from(units::micros(us.into()))),
            ),
            None => cells.extend([0; 4].map(|_| unknown())),
        }
        table.row(cells);
    }
    out.push_str(&table.render(theme));
    if outside {
        let text = "outside: from before the other capture's first frame or after its last, so lost or not is unknown";
        out.push_str(&theme.lines(text, theme.width.saturating_sub(2), "  ", None));
    }
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
            us(a.one_way_us).into(),
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
        let mut pair = compare(Capture::default(), Capture::default());
        (pair.packets.a, pair.packets.b) = (3, 2);
        let text = render(&Theme::default(), &pair, false);
        assert!(text.contains("have no packet in common"), "{text}");
    }

    /// What is unknown is neither 0 nor a wrong cause.
    #[test]
    fn skipped_comparisons_are_told() {
        let mut pair = compare(Capture::default(), Capture::default());
        pair.packets.a = 3;
        pair.packets.b = 6;
        pair.packets.defects_b.copies = 3;
        pair.packets.defects_b.headers_cut = 6;
        pair.clock.steady = Some(false);
        let mut stream = Stream::default();
        stream.client_to_server.matched = 3;
        stream.client_to_server.outside_at_sender = 277;
        pair.streams.push(stream);
        let text = render(&Theme::default(), &pair, false);
        for want in [
            "B: 3 further copies of packets",
            "B: TCP header cut in 6 packets",
            "do not fit together",
            "Only one direction",
            "outside: from before",
        ] {
            assert!(text.contains(want), "{want}: {text}");
        }
        let row = text.lines().find(|l| l.contains("client → server"));
        let words: Vec<&str> = row.unwrap().split_whitespace().collect();
        assert_eq!(words[3..], ["3", "-", "277", "-", "-", "-", "-"], "{text}");
        assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
        pair.streams.clear();
        pair.packets.ambiguous = 4;
        assert!(render(&Theme::default(), &pair, false).contains("editcap -d"));
        pair.packets.b = 0;
        assert!(render(&Theme::default(), &pair, false).contains("No packet can be compared"));
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
            one_way_us: Some(151),
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
