//! Facts about a capture that qualify its figures: where it was taken, what it cannot show, what
//! was left out.

use tcplab_analyze::report::{Artefact, EpisodeKind, Stream, Totals, Vantage};

use super::collect::heading;
use super::{Theme, units};
use crate::scope;

/// Counts over the streams of a capture.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    streams: u64,
    client: u64,
    server: u64,
    between: u64,
    artefacts: Vec<(Artefact, u64)>,
    /// Tail loss probes that were not needed.
    probes: u64,
}

/// Packets that a tail loss probe sent again though they had arrived: the ACK came later than its timer, or was lost.
pub(super) fn needless_probes(stream: &Stream) -> u64 {
    let sides = [&stream.client_to_server, &stream.server_to_client];
    let episodes = sides.into_iter().flat_map(|d| &d.episodes);
    let probes = episodes.filter(|e| e.kind == EpisodeKind::Tlp && e.spurious.is_some());
    probes.map(|e| u64::from(e.retransmissions)).sum()
}

impl Notes {
    pub fn stream(&mut self, stream: &Stream) {
        self.streams += 1;
        self.probes += needless_probes(stream);
        match stream.vantage {
            Vantage::Client => self.client += 1,
            Vantage::Server => self.server += 1,
            Vantage::Between => self.between += 1,
            Vantage::Unknown => {}
        }
        for artefact in &stream.artefacts {
            match self.artefacts.iter_mut().find(|(a, _)| a == artefact) {
                Some((_, n)) => *n += 1,
                None => self.artefacts.push((*artefact, 1)),
            }
        }
    }

    /// The section "About this capture".
    pub(super) fn render(&self, theme: &Theme, totals: &Totals) -> String {
        let notes = self.sentences(totals);
        if notes.is_empty() {
            return String::new();
        }
        let mut out = format!("\n{}\n", heading(theme, "About this capture", ""));
        for note in notes {
            out += &theme.item(&note);
        }
        out
    }

    /// Its sentences.
    pub fn sentences(&self, totals: &Totals) -> Vec<String> {
        let mut notes = Vec::new();
        self.vantage(&mut notes);
        for (artefact, n) in &self.artefacts {
            notes.push(format!("{} ({})", meaning(*artefact), self.share(*n)));
        }
        if self.probes > 0 {
            notes.push(format!(
                "{} not needed: what it repeated had arrived, but no ACK came before the sender's timer fired",
                match self.probes {
                    1 => "1 tail loss probe, or timeout of a single segment, was".to_owned(),
                    n => format!("{} tail loss probes, or timeouts of single segments, were", units::count(n)),
                }
            ));
        }
        left_out(totals, &mut notes);
        notes
    }

    fn share(&self, n: u64) -> String {
        if n == self.streams && n == 1 {
            "the only stream".into()
        } else if n == self.streams {
            "all streams".into()
        } else {
            format!(
                "{} of {} streams",
                units::count(n),
                units::count(self.streams)
            )
        }
    }

    fn vantage(&self, notes: &mut Vec<String>) {
        let places = [
            (
                self.client,
                "at the client: the delay of the client's ACKs is its own; the delay of the server's ACKs includes the path",
            ),
            (
                self.server,
                "at the server: the delay of the server's ACKs is its own; the delay of the client's ACKs includes the path; \
                 what clients waited lacks the way to them and back",
            ),
            (
                self.between,
                "between client and server: ACK waits of both sides include a part of the path; what clients waited lacks \
                 the client's part",
            ),
        ];
        for (n, place) in places.into_iter().filter(|(n, _)| *n > 0) {
            notes.push(format!("Taken {place} ({}, estimated)", self.share(n)));
        }
    }
}

fn meaning(artefact: Artefact) -> &'static str {
    match artefact {
        Artefact::SuperSegments => {
            "Packets larger than the MSS (TSO or GRO): segment counts are those of the capture, not of the wire"
        }
        Artefact::OneDirection => "Only one direction was captured: no round trips, no ACK waits",
        Artefact::MissedPackets => {
            "The receiver acknowledged data that the capture lacks: the capture lost packets, not the network"
        }
        Artefact::Duplicates => {
            "The capture contains packets twice (two interfaces, or a mirror port)"
        }
        Artefact::TimeOutOfOrder => {
            "Time stamps go backwards: times near those packets, and counts of packets sent again, are unreliable"
        }
        Artefact::CutFragments => {
            "The snap length cut IP fragments: what they carried is in no figure"
        }
        Artefact::Snapped => "TCP headers are cut: options (SACK, time stamps) may be missing",
    }
}

fn left_out(totals: &Totals, notes: &mut Vec<String>) {
    let counts = [
        (
            totals.fragments,
            "IP fragment",
            "not put together: a piece is missing, or the snap length cut it",
        ),
        (totals.truncated, "frame", "cut before the TCP header"),
        (
            totals.malformed,
            "frame",
            "with headers that contradict themselves",
        ),
        (totals.unknown_link, "frame", "of an unsupported link type"),
        (
            totals.dropped,
            "frame",
            "dropped by the kernel: they came faster than tcplab read them",
        ),
        (
            totals.time_out_of_order,
            "frame",
            "without time stamp, or with one out of order",
        ),
        (
            totals.late_packets,
            "packet",
            "of connections that were already reported: no figure counts them",
        ),
        (
            totals.evicted_streams,
            "connection",
            "reported before their end, to bound memory (raise --max-streams)",
        ),
        (
            totals.forgotten_streams,
            "ended connection",
            "forgotten, to bound memory: a late packet counts as a new stream (raise --max-streams)",
        ),
        (
            totals.rows_left_out,
            "packet",
            "omitted from --acks, --annotate or --tshark-compat, to bound memory (raise --max-packets)",
        ),
    ];
    for (n, noun, what) in counts.into_iter().filter(|c| c.0 > 0) {
        notes.push(format!("{} {what}", units::plural(n, noun)));
    }
}

/// Size of the capture in one line.
pub(super) fn headline(totals: &Totals, streams: u64) -> String {
    let mut parts = vec![units::plural(totals.packets, "packet")];
    if totals.tcp_packets != totals.packets {
        parts.push(format!("{} TCP", units::count(totals.tcp_packets)));
    }
    parts.push(scope::extent(totals, streams));
    if let Some((first, last)) = totals.time_ns {
        let us = last.saturating_sub(first).max(0) / 1000;
        parts.push(units::micros(us.unsigned_abs()));
    }
    format!("  {}\n", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_where_the_capture_was_taken_and_what_it_cannot_show() {
        let mut notes = Notes::default();
        for vantage in [Vantage::Client, Vantage::Unknown] {
            notes.stream(&Stream {
                vantage,
                artefacts: vec![Artefact::SuperSegments],
                ..Stream::default()
            });
        }
        let totals = Totals {
            malformed: 1,
            ..Totals::default()
        };
        let text = notes.render(&Theme::default(), &totals);
        for part in [
            "at the client",
            "1 of 2 streams",
            "all streams",
            "TSO or GRO",
            "1 frame with",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_probe_that_was_not_needed_is_named() {
        use tcplab_analyze::report::{Episode, SpuriousEvidence};
        let mut notes = Notes::default();
        let mut stream = Stream::default();
        let probe = |spurious| Episode {
            kind: EpisodeKind::Tlp,
            packet: 61,
            start_ns: 0,
            duration_us: Some(33_000),
            retransmissions: 1,
            spurious,
        };
        let dsack = Some(SpuriousEvidence::Dsack);
        stream.server_to_client.episodes = vec![probe(dsack), probe(None)];
        notes.stream(&stream);
        let text = notes.render(&Theme::default(), &Totals::default());
        assert!(
            text.contains("1 tail loss probe, or timeout of a single segment, was not needed"),
            "{text}"
        );
    }

    #[test]
    fn a_capture_without_peculiarities_needs_no_notes() {
        let text = Notes::default().render(&Theme::default(), &Totals::default());
        assert_eq!(text, "");
    }
}
