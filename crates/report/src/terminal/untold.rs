//! Time that no finding explains: waits of TCP, and time in which one of the two ends gave it nothing to do.

use tcplab_analyze::budget::Class;
use tcplab_analyze::findings::Id;
use tcplab_analyze::report::{Effect, Stream, Unexplained};

use super::collect::which_streams;
use super::units;

/// Classes of time that a finding can explain, and `Unknown`, which none explains.
pub(super) const CLASSES: [Class; 8] = [
    Class::FastRecovery,
    Class::Tlp,
    Class::Rto,
    Class::Spurious,
    Class::DelayedAck,
    Class::Nagle,
    Class::ZeroWindow,
    Class::Unknown,
];

/// What may help, where no finding says it.
pub(super) fn hint(class: Class) -> &'static str {
    match class {
        // Without a delayed ACK it is no finding: a program that writes once per round trip looks the same.
        Class::Nagle => {
            ": small segments left only when the ACK of the one before came, a round trip later. If they are parts of a \
             message, write it with one call, or set TCP_NODELAY"
        }
        _ => "",
    }
}

/// Shorter than this, or than this part of a stream's time, needs no explanation.
const SHORT_US: u64 = 20_000;
const PART: u64 = 10;
/// Streams that are named.
const NAMED: usize = 8;

/// A stream's time in which one of the two waited for something.
fn waited(s: &Stream) -> u64 {
    let is_none = [Class::ClientThinks, Class::Idle].map(|class| s.budget_us.of(class));
    s.budget_us.total().saturating_sub(is_none.iter().sum())
}

/// The time of each of [`CLASSES`] in a stream; 0 where it is short.
pub(super) fn long(s: &Stream) -> [u64; CLASSES.len()] {
    let waited = waited(s);
    CLASSES.map(|class| {
        let us = s.budget_us.of(class);
        let is_long = us >= SHORT_US && us.saturating_mul(PART) >= waited;
        if is_long { us } else { 0 }
    })
}

/// What some streams have.
#[derive(Clone, Debug, Default)]
pub(super) struct Kind {
    pub count: u64,
    streams: u64,
    first: Vec<u32>,
}

impl Kind {
    /// A stream has so many, or so much.
    pub fn add(&mut self, stream: u32, count: u64) {
        self.count += count;
        self.streams += 1;
        if self.first.len() < NAMED {
            self.first.push(stream);
            // In a large capture streams come in the order in which they end.
            self.first.sort_unstable();
        }
    }

    /// So many events.
    pub fn events(&self, kind: Effect, text: String) -> Unexplained {
        Unexplained {
            kind,
            count: Some(self.count),
            class: None,
            time_us: None,
            streams: self.streams,
            first_streams: self.first.clone(),
            text,
        }
    }

    /// So many microseconds.
    pub fn time(&self, class: Class, text: String) -> Unexplained {
        Unexplained {
            count: None,
            class: Some(class.name()),
            time_us: Some(self.count),
            ..self.events(Effect::Time, text)
        }
    }

    /// Which streams, in words.
    pub fn streams(&self) -> String {
        let first: Vec<u64> = self.first.iter().map(|n| u64::from(*n)).collect();
        match self.streams as usize {
            n if n == first.len() => which_streams(&first),
            _ => format!(
                "{}: {}, ...",
                units::plural(self.streams, "stream"),
                units::some_of(&first, NAMED)
            ),
        }
    }
}

/// What an end did in most of a stream's time, the findings that speak of it, and what it may have been.
const ENDS: [(Class, &[&str], [&str; 2]); 2] = [
    (
        Class::Sender,
        &["slow_server", "slow_client", "send_buffer_limited"],
        [
            "windows had room and nothing was sent",
            "the program wrote nothing, or its send buffer was full; `ss -ti` at the sender tells which",
        ],
    ),
    (
        Class::ReceiveWindow,
        &[
            "receive_window_limited",
            "window_scaling_off",
            "zero_window_stall",
        ],
        [
            "the receive window held the sender back",
            "the receiver's program read slowly, or its buffer is small; `ss -tim` at the receiver tells which",
        ],
    ),
];
/// From here on a stream's time is worth a line.
const LONG_US: u64 = 100_000;

/// Streams that waited mostly for one of their ends. That is no trouble by itself: a program may have nothing to say.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    /// Microseconds.
    kinds: [Kind; ENDS.len()],
    /// The last stream, until its findings are known.
    last: Option<(u32, [u64; ENDS.len()])>,
}

impl Ends {
    pub fn stream(&mut self, s: &Stream) {
        let most = |class| {
            let us = s.budget_us.of(class);
            let is_most = us >= LONG_US && us.saturating_mul(2) >= waited(s);
            if is_most { us } else { 0 }
        };
        self.last = Some((s.stream, ENDS.map(|(class, ..)| most(class))));
    }

    /// A finding that speaks of this time.
    pub fn finding(&mut self, id: Id, stream: u32) {
        let last = self.last.as_mut().filter(|last| last.0 == stream);
        let parts = last.into_iter().flat_map(|last| &mut last.1).zip(ENDS);
        let told = parts.filter(|(_, (_, findings, _))| findings.contains(&id.name()));
        told.for_each(|(us, _)| *us = 0);
    }

    /// The findings of the last stream are known.
    pub fn settle(&mut self) {
        let Some((stream, parts)) = self.last.take() else {
            return;
        };
        let kinds = self.kinds.iter_mut().zip(parts);
        kinds
            .filter(|(_, us)| *us > 0)
            .for_each(|(kind, us)| kind.add(stream, us));
    }

    /// What there was of this.
    pub fn told(&self) -> Vec<Unexplained> {
        let kinds = self
            .kinds
            .iter()
            .zip(ENDS)
            .filter(|(kind, _)| kind.count > 0);
        let told = kinds.map(|(kind, (class, _, [was, why]))| {
            let time = units::micros(kind.count);
            let text = format!("{time} in which {was} ({}): {why}", kind.streams());
            kind.time(class, text)
        });
        told.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(number: u32, parts: &[(Class, u64)]) -> Stream {
        let mut s = Stream {
            stream: number,
            ..Stream::default()
        };
        parts
            .iter()
            .for_each(|(class, us)| s.budget_us.add(*class, *us));
        s
    }

    #[test]
    fn long_waits_of_tcp_count_where_they_are_a_tenth() {
        let s = stream(
            0,
            &[
                (Class::Nagle, 30_000),
                (Class::Tlp, 19_000),
                (Class::Path, 200_000),
                (Class::Idle, 9_000_000),
            ],
        );
        let named: Vec<Class> = CLASSES
            .into_iter()
            .zip(long(&s))
            .filter(|(_, us)| *us > 0)
            .map(|(class, _)| class)
            .collect();
        assert_eq!(named, [Class::Nagle]);
    }

    #[test]
    fn an_end_is_named_unless_a_finding_speaks_of_it() {
        let mut ends = Ends::default();
        ends.stream(&stream(
            0,
            &[(Class::Sender, 8_000_000), (Class::Path, 400_000)],
        ));
        ends.settle();
        ends.stream(&stream(
            1,
            &[(Class::ReceiveWindow, 900_000), (Class::Path, 400_000)],
        ));
        ends.finding(Id::of("receive_window_limited").expect("an id"), 1);
        ends.settle();
        ends.stream(&stream(
            2,
            &[(Class::Sender, 90_000), (Class::Path, 90_001)],
        ));
        ends.settle();
        let told = ends.told();
        assert_eq!(told.len(), 1);
        assert!(
            told[0]
                .text
                .starts_with("8 s in which windows had room and nothing was sent (stream 0): "),
            "{told:?}"
        );
    }

    #[test]
    fn findings_that_speak_of_an_end_are_ids() {
        let known = |name: &&str| Id::of(name).is_some();
        assert!(
            ENDS.iter()
                .flat_map(|(_, findings, _)| *findings)
                .all(known)
        );
    }
}
