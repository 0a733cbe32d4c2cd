//! Where the time went: one bar for each stream, and one sentence over the capture.

use std::fmt::Write;

use tcplab_analyze::budget::{Budget, Class};
use tcplab_analyze::report::{Stream, Totals};

use super::collect::heading;
use super::style::{Ink, wrap};
use super::{Theme, units};

/// Streams with a bar unless all are asked for.
const SHOWN: usize = 10;

/// Classes that the sentence names at most, each of 1 % or more; the others are "other reasons".
const NAMED: usize = 3;

/// Columns of a bar at most.
const LONGEST: usize = 100;

/// What the parts of a bar are drawn with, the largest class of the report first.
const GLYPHS: [char; 16] = [
    '█', '▓', '▒', '░', '▚', '▄', '▀', '▌', '▐', '▞', '■', '□', '▪', '▫', '◆', '◇',
];

/// A stream's time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bar {
    pub stream: u32,
    pub budget: Budget,
}

impl Bar {
    /// The bar of a stream; `None` if its time was not counted.
    pub fn of(stream: &Stream) -> Option<Self> {
        let bar = Self {
            stream: stream.stream,
            budget: stream.budget_us,
        };
        (!bar.budget.is_empty()).then_some(bar)
    }
}

/// How long clients waited, and for what, in lines; over captures without a request: what the streams took. Nothing when
/// nobody counted it.
pub(super) fn sentence(theme: &Theme, totals: &Totals, streams: u64) -> String {
    let text = waited(totals, streams).unwrap_or_default();
    let lines = wrap(&text, theme.width.saturating_sub(2).min(LONGEST));
    let lines = lines.iter().filter(|line| !line.is_empty());
    lines.map(|line| format!("  {line}\n")).collect()
}

/// The time that the sentence is about: what clients waited, where they asked for anything.
pub(crate) fn spoken_of(totals: &Totals) -> &Budget {
    let mut asked = totals.waited_us.parts();
    match asked.any(|(class, _)| class != Class::Handshake) {
        true => &totals.waited_us,
        false => &totals.budget_us,
    }
}

/// The same as one sentence.
pub(crate) fn waited(totals: &Totals, streams: u64) -> Option<String> {
    let time = spoken_of(totals);
    let who = match std::ptr::eq(time, &totals.waited_us) {
        true => "Clients waited".to_owned(),
        false => format!("{} took", units::plural(streams, "stream")),
    };
    if time.is_empty() {
        return None;
    }
    let mut parts: Vec<(Class, u64)> = time.parts().collect();
    // Stable: classes of one size keep their order.
    parts.sort_by_key(|part| std::cmp::Reverse(part.1));
    let named = |part: &&(Class, u64)| part.1.saturating_mul(100) >= time.total();
    let named = parts.iter().take(NAMED).take_while(named).count();
    let others: u64 = parts.iter().skip(named).map(|part| part.1).sum();
    let mut texts: Vec<String> = parts
        .iter()
        .take(named)
        .map(|(class, us)| format!("{} {}", units::micros(*us), went_to(*class)))
        .collect();
    if others > 0 {
        texts.push(format!("{} for other reasons", units::micros(others)));
    }
    let total = units::micros(time.total());
    Some(format!("{who} {total}: {}.", texts.join(", ")))
}

/// The bars of these streams and a legend with the times of all. Nothing without a counted time.
pub(super) fn render(
    theme: &Theme,
    bars: &[Bar],
    all: &Budget,
    streams: u64,
    limited: bool,
) -> String {
    if bars.is_empty() {
        return String::new();
    }
    let shown = &bars[..bars.len().min(if limited { SHOWN } else { usize::MAX })];
    let mut out = heading(theme, "Where the time went", "");
    if streams > shown.len() as u64 {
        let streams = units::plural(streams, "stream");
        let remark = format!("{} of {streams}, and the times of all", shown.len());
        let _ = writeln!(out, "  {}", theme.paint(Ink::Dim, &remark));
    }
    out.push('\n');
    let glyphs = glyphs(all);
    let name = |bar: &Bar| bar.stream.to_string();
    let time = |bar: &Bar| units::micros(bar.budget.total());
    let widest = |text: &dyn Fn(&Bar) -> String| {
        let lengths = shown.iter().map(|bar| text(bar).chars().count());
        lengths.max().unwrap_or(0)
    };
    let (names, times) = (widest(&name), widest(&time));
    let width = theme.width.saturating_sub(names + times + 13);
    for bar in shown {
        let drawn = draw(theme, &bar.budget, &glyphs, width.clamp(10, LONGEST));
        let _ = writeln!(
            out,
            "  stream {:>names$}  {drawn}  {:>times$}",
            name(bar),
            time(bar)
        );
    }
    out.push('\n');
    legend(theme, all, &glyphs, &mut out);
    out
}

/// The classes that occur, with their glyphs, the largest first.
fn glyphs(all: &Budget) -> Vec<(Class, char)> {
    let mut parts: Vec<(Class, u64)> = all.parts().collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.1));
    let mut free = GLYPHS.into_iter();
    let glyph = |(class, _): (Class, u64)| {
        let glyph = match class {
            Class::Idle => '·',
            Class::Unknown => '?',
            _ => free.next().unwrap_or('*'),
        };
        (class, glyph)
    };
    parts.into_iter().map(glyph).collect()
}

/// A bar of so many columns, its parts in the order of the classes.
fn draw(theme: &Theme, budget: &Budget, glyphs: &[(Class, char)], width: usize) -> String {
    let parts: Vec<(Class, u64)> = budget.parts().collect();
    let total = u128::from(budget.total().max(1));
    let mut cells: Vec<(Class, usize, u128)> = parts
        .iter()
        .map(|(class, us)| {
            let exact = u128::from(*us) * width as u128;
            (*class, (exact / total) as usize, exact % total)
        })
        .collect();
    // What was rounded off goes to the parts that lost most.
    let mut left = width.saturating_sub(cells.iter().map(|c| c.1).sum());
    let mut order: Vec<usize> = (0..cells.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(cells[*i].2));
    for i in order {
        if left > 0 {
            cells[i].1 += 1;
            left -= 1;
        }
    }
    let glyph = |class: Class| glyphs.iter().find(|g| g.0 == class).map_or('*', |g| g.1);
    cells
        .iter()
        .map(|(class, n, _)| theme.paint(ink(*class), &glyph(*class).to_string().repeat(*n)))
        .collect()
}

/// Each class with its glyph, time and share, several on a line.
fn legend(theme: &Theme, all: &Budget, glyphs: &[(Class, char)], out: &mut String) {
    let total = all.total().max(1);
    let width = theme.width.saturating_sub(2).min(LONGEST);
    let mut line = 0;
    for (class, glyph) in glyphs {
        let us = all.of(*class);
        let share = us as f64 * 100.0 / total as f64;
        let share = match share {
            share if share < 1.0 => "under 1 %".to_owned(),
            share => format!("{share:.0} %"),
        };
        let text = format!("{} {} ({share})", class.words(), units::micros(us));
        let length = text.chars().count() + 2;
        let gap = match line {
            0 => "  ",
            _ if line + 3 + length <= width => "   ",
            _ => {
                line = 0;
                "\n  "
            }
        };
        line += length + if line == 0 { 0 } else { 3 };
        let glyph = theme.paint(ink(*class), &glyph.to_string());
        let _ = write!(out, "{gap}{glyph} {text}");
    }
    out.push('\n');
}

/// Red repairs losses, yellow waits for windows and timers, cyan is a program's.
fn ink(class: Class) -> Ink {
    match class {
        Class::FastRecovery | Class::Tlp | Class::Rto | Class::Spurious | Class::ZeroWindow => {
            Ink::Red
        }
        Class::CongestionWindow
        | Class::Pacing
        | Class::ReceiveWindow
        | Class::Sender
        | Class::DelayedAck
        | Class::Nagle => Ink::Yellow,
        Class::ClientThinks | Class::ServerThinks => Ink::Cyan,
        Class::Handshake | Class::Path | Class::Closing => Ink::Green,
        Class::Idle | Class::Unknown => Ink::Dim,
    }
}

/// What time went to, for the sentence.
pub(super) fn went_to(class: Class) -> &'static str {
    match class {
        Class::Handshake => "for the handshake",
        Class::ClientThinks => "for clients themselves",
        Class::ServerThinks => "for servers",
        Class::Path => "for the path",
        Class::CongestionWindow => "for the congestion window",
        Class::Pacing => "for pacing",
        Class::ReceiveWindow => "for the receive window",
        Class::Sender => "for the sending program, or for room in its send buffer",
        Class::DelayedAck => "for delayed ACKs",
        Class::Nagle => "for Nagle's algorithm",
        Class::FastRecovery => "for fast recovery",
        Class::Tlp => "for tail loss probes or timeouts of single segments",
        Class::Rto => "for the retransmission timer",
        Class::Spurious => "for needless retransmissions",
        Class::ZeroWindow => "for receivers that do not read",
        Class::Closing => "for the close",
        Class::Idle => "idle",
        Class::Unknown => "for reasons that the packets do not show",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(parts: &[(Class, u64)]) -> Budget {
        let mut budget = Budget::default();
        parts.iter().for_each(|(class, us)| budget.add(*class, *us));
        budget
    }

    fn plain(width: usize) -> Theme {
        Theme {
            width,
            ..Theme::default()
        }
    }

    #[test]
    fn the_sentence_names_the_largest_parts_and_sums_the_rest() {
        let mut totals = Totals::default();
        assert_eq!(sentence(&plain(80), &totals, 1), "");
        // A download that nobody asked for: the handshake alone is no wait worth a line.
        totals.waited_us = budget(&[(Class::Handshake, 40_000)]);
        totals.budget_us = budget(&[(Class::Handshake, 40_000), (Class::Rto, 1_940_000)]);
        assert_eq!(
            sentence(&plain(100), &totals, 1),
            "  1 stream took 1.98 s: 1.94 s for the retransmission timer, 40.0 ms for the handshake.\n"
        );
        totals.waited_us = budget(&[
            (Class::ServerThinks, 22_000_000),
            (Class::Rto, 7_000_000),
            (Class::Path, 1_500_000),
            (Class::DelayedAck, 400_000),
            (Class::Nagle, 60_000),
            (Class::Unknown, 40_000),
            (Class::Pacing, 0),
        ]);
        assert_eq!(
            sentence(&plain(120), &totals, 1),
            "  Clients waited 31 s: 22 s for servers, 7 s for the retransmission timer, 1.50 s for the path, 500 ms\n  \
             for other reasons.\n"
        );
    }

    #[test]
    fn a_bar_has_its_width_and_its_parts_their_shares() {
        let b = budget(&[
            (Class::Handshake, 1),
            (Class::ServerThinks, 500_000),
            (Class::Rto, 250_000),
            (Class::Idle, 249_999),
        ]);
        let drawn = draw(&plain(80), &b, &glyphs(&b), 40);
        let of = |glyph: char| drawn.chars().filter(|c| *c == glyph).count();
        assert_eq!(drawn.chars().count(), 40, "{drawn}");
        assert_eq!((of('█'), of('▓'), of('·')), (20, 10, 10), "{drawn}");
        // The order of the classes, not of their sizes.
        assert!(drawn.starts_with('█') && drawn.ends_with('·'), "{drawn}");
    }

    #[test]
    fn bars_fit_and_the_legend_has_every_class_with_its_time() {
        let mut all = Budget::default();
        let bars: Vec<Bar> = (0..12)
            .map(|n| {
                let parts: Vec<(Class, u64)> = Class::ALL
                    .into_iter()
                    .enumerate()
                    .map(|(i, class)| (class, 1_000 * (i as u64 + n + 1)))
                    .collect();
                let budget = budget(&parts);
                all.add_all(&budget);
                Bar {
                    stream: n as u32,
                    budget,
                }
            })
            .collect();
        for width in [48, 80, 120, 200] {
            let text = render(&plain(width), &bars, &all, 12, true);
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
            assert_eq!(text.matches("  stream ").count(), 10, "{text}");
            assert!(text.contains("10 of 12 streams"), "{text}");
            for class in Class::ALL {
                assert!(text.contains(class.words()), "{class:?}: {text}");
            }
        }
        let text = render(&plain(80), &bars, &all, 12, false);
        assert_eq!(text.matches("  stream ").count(), 12, "{text}");
        assert!(!text.contains("of 12 streams"), "{text}");
    }

    #[test]
    fn without_a_counted_time_nothing_is_drawn() {
        assert!(Bar::of(&Stream::default()).is_none());
        assert_eq!(render(&plain(80), &[], &Budget::default(), 3, true), "");
    }
}
