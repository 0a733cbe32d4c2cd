//! `analyze --stream`: how many of a capture's streams a report is about. A report on a part says so, and silence about
//! streams that the capture does not have is no all-clear.

use tcplab_analyze::report::Totals;

use crate::terminal::units;

/// Stream numbers that one sentence lists.
const NAMED: usize = 8;

/// The numbers that were asked for, each once: those that the capture has, and the others.
fn asked(totals: &Totals) -> (Vec<u64>, Vec<u64>) {
    let mut numbers: Vec<u64> = totals.only_streams.iter().map(|n| u64::from(*n)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let is_there = |n: &u64| *n < totals.tcp_streams;
    numbers.into_iter().partition(is_there)
}

/// `stream 5` or `streams 1, 5`.
fn named(numbers: &[u64]) -> String {
    let noun = if numbers.len() == 1 {
        "stream"
    } else {
        "streams"
    };
    format!("{noun} {}", units::some_of(numbers, NAMED))
}

/// The streams that the report is about: `7 TCP streams`, or `only stream 5 of 7 TCP streams`. `streams`: how many were
/// reported.
pub(crate) fn extent(totals: &Totals, streams: u64) -> String {
    let all = units::plural(totals.tcp_streams.max(streams), "TCP stream");
    match asked(totals).0.as_slice() {
        [] => all,
        there => format!("only {} of {all}", named(there)),
    }
}

/// The streams that were asked for and are not in the capture, as a sentence.
pub(crate) fn absent(totals: &Totals) -> Option<String> {
    let (there, lacking) = asked(totals);
    if lacking.is_empty() {
        return None;
    }
    let verb = if lacking.len() == 1 { "is" } else { "are" };
    let place = match totals.error {
        None => "this capture",
        Some(_) => "the part of this capture that was read",
    };
    let mut text = format!("{} {verb} not in {place}", named(&lacking));
    if there.is_empty() {
        text += ": nothing was checked";
    }
    Some(format!("{}.", crate::glossary::capital(&text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(tcp_streams: u64, only: &[u32]) -> Totals {
        Totals {
            tcp_streams,
            only_streams: only.to_vec(),
            ..Totals::default()
        }
    }

    #[test]
    fn report_on_a_part_of_a_capture_says_so() {
        assert_eq!(extent(&totals(7, &[]), 7), "7 TCP streams");
        assert_eq!(
            extent(&totals(7, &[5]), 1),
            "only stream 5 of 7 TCP streams"
        );
        assert_eq!(
            extent(&totals(7, &[5, 1, 5, 9]), 2),
            "only streams 1, 5 of 7 TCP streams"
        );
        assert_eq!(extent(&totals(1, &[5]), 0), "1 TCP stream");
    }

    #[test]
    fn streams_that_a_capture_lacks_are_named() {
        assert_eq!(absent(&totals(7, &[5])), None);
        let said = |only: &[u32]| absent(&totals(7, only)).unwrap_or_default();
        assert_eq!(
            said(&[7]),
            "Stream 7 is not in this capture: nothing was checked."
        );
        assert_eq!(said(&[5, 8, 9]), "Streams 8, 9 are not in this capture.");
    }
}
