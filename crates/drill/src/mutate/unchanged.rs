//! Expected numbers that no mutant changes: those that are not compared, and those that only bound a value.

use super::compared_numbers;
use crate::options::Settings;
use crate::script::{Action, Body, Direction, PacketSpec, Script, TcpOption, Time};

/// Expected numbers that no mutant changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unchanged {
    /// Numbers in code beside `<`, `>`, `<=`, `>=`, `!=`, or left of `==`.
    pub bounds: usize,
    /// Ends of time ranges: a mutant moves both at once.
    pub range_ends: usize,
    /// Time stamps in options of packets that leave: `val` counts with `--tcp_ts_tick_usecs` only, `ecr` never.
    pub time_stamps: usize,
}

impl Unchanged {
    /// Those of a script.
    pub fn of(script: &Script, settings: &Settings) -> Self {
        let mut all = Self::default();
        for event in &script.events {
            match &event.action {
                Action::Packet(spec) if spec.direction == Direction::Out => {
                    let is_range = matches!(
                        event.time,
                        Time::AbsoluteRange(..) | Time::RelativeRange(..)
                    );
                    all.range_ends += 2 * usize::from(is_range);
                    all.time_stamps += time_stamps(spec, settings);
                }
                Action::Code(code) => all.bounds += bounds(&code.value),
                _ => {}
            }
        }
        all
    }
}

fn time_stamps(spec: &PacketSpec, settings: &Settings) -> usize {
    let Body::Tcp(tcp) = &spec.body else {
        return 0;
    };
    let options = tcp.options.iter().flatten();
    let stamps = options.filter(|option| matches!(option, TcpOption::Timestamps { .. }));
    stamps.count() * if settings.ts_tick_us > 0 { 1 } else { 2 }
}

/// Decimal numbers beside a comparison that [`compared_numbers`] leaves out.
fn bounds(code: &str) -> usize {
    let compared = compared_numbers(code);
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut count = 0;
    let mut at = 0;
    while let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) {
        let word = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let before = code[..at].trim_end_matches([' ', '-']);
        let after = rest[word..].trim_start_matches(' ');
        let is_number = word > 0 && rest.as_bytes()[..word].iter().all(u8::is_ascii_digit);
        let is_beside =
            is_comparison(before, str::ends_with) || is_comparison(after, str::starts_with);
        if is_number && is_beside && !compared.contains(&(at, at + word)) {
            count += 1;
        }
        at += match word {
            0 => rest.chars().next().map_or(1, char::len_utf8),
            _ => word,
        };
    }
    count
}

/// Whether a comparison stands at this side; `<<` and `>>` are not comparisons.
fn is_comparison(text: &str, at: fn(&str, &'static str) -> bool) -> bool {
    let is_shift = at(text, "<<") || at(text, ">>");
    !is_shift
        && ["<", ">", "<=", ">=", "==", "!="]
            .iter()
            .any(|sign| at(text, sign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::IpMode;
    use crate::{Defines, parse};

    #[test]
    fn bounds_are_counted_and_compared_numbers_are_not() {
        for (code, expected) in [
            ("assert tcpi_rto >= 5", 1),
            ("assert 0 < tcpi_rto < 99999999", 2),
            ("assert tcpi_rto == 5, 'rto7 < x'", 0),
            ("assert 5 == tcpi_rto", 1),
            ("assert x1 != -1", 1),
            ("assert 1 << x == 8", 0),
        ] {
            assert_eq!(bounds(code), expected, "{code}");
        }
    }

    #[test]
    fn time_stamps_and_ranges_are_counted() {
        let text = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
                    +0~+5 > . 1:1(0) ack 1 <nop,nop,TS val 5 ecr 6>\n";
        let script = parse(text, &Defines::new()).unwrap();
        let mut settings = Settings::new(IpMode::Ipv4);
        let expected = Unchanged {
            bounds: 0,
            range_ends: 2,
            time_stamps: 2,
        };
        assert_eq!(Unchanged::of(&script, &settings), expected);
        settings.ts_tick_us = 1_000;
        assert_eq!(Unchanged::of(&script, &settings).time_stamps, 1);
    }
}
