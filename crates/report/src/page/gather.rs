//! The streams of one capture as far as the page shows them, chosen while they come: a capture may have millions.

use std::cmp::Reverse;

use tcplab_analyze::findings::Finding;
use tcplab_analyze::report::{Direction, Stream};

use super::{Options, requests};
use crate::terminal::coverage::Coverage;
use crate::terminal::notes::Notes;

/// A stream and what it is ranked by: findings, trouble, packets. More matters more.
#[derive(Debug)]
struct Kept {
    findings: usize,
    stream: Stream,
}

impl Kept {
    fn rank(&self) -> (Reverse<(usize, u64, u64)>, u32) {
        let s = &self.stream;
        (Reverse((self.findings, trouble(s), packets(s))), s.stream)
    }
}

/// Packets of both directions.
pub(super) fn packets(s: &Stream) -> u64 {
    let (a, b) = (&s.client_to_server, &s.server_to_client);
    a.packets.saturating_add(b.packets)
}

/// Retransmissions and delayed ACKs of both directions.
fn trouble(s: &Stream) -> u64 {
    let of = |d: &Direction| d.retransmissions.total.saturating_add(d.acks_sent.delayed);
    of(&s.client_to_server).saturating_add(of(&s.server_to_client))
}

/// The streams of a capture in the making.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    kept: Vec<Kept>,
    dropped: usize,
    /// Streams among them that hold requests, at least.
    with_requests: usize,
    /// What the packets show and no finding names.
    pub coverage: Coverage,
    /// What qualifies the figures.
    pub notes: Notes,
}

impl Gathered {
    /// Takes a stream; `has_chart` says which streams have charts so far: those stay.
    pub(super) fn stream(
        &mut self,
        mut stream: Stream,
        options: &Options,
        has_chart: impl Fn(u32) -> bool,
    ) {
        // Before the new one: the findings of the last one have come by now.
        if self.kept.len() >= options.streams.saturating_mul(2).max(1) {
            self.shrink(options, &has_chart);
        }
        self.coverage.stream(&stream);
        self.notes.stream(&stream);
        if !stream.requests.is_empty() {
            let detailed = options.details.saturating_add(options.charts);
            if self.with_requests >= detailed.saturating_mul(2).max(1) {
                self.drop_requests(detailed, &has_chart);
            }
            requests::choose(&mut stream, options.requests);
            self.with_requests += 1;
        }
        self.kept.push(Kept {
            findings: stream.unlisted.len(),
            stream,
        });
    }

    /// Takes a finding on the newest stream, or on one before it.
    pub(super) fn finding(&mut self, finding: &Finding) {
        self.coverage.finding(finding);
        let mut newest = self.kept.iter_mut().rev();
        if let Some(kept) = newest.find(|k| k.stream.stream == finding.stream) {
            kept.findings += 1;
        }
    }

    /// What will not be on the page goes: a stream that has no chart now gets none later, and its rank stays.
    fn shrink(&mut self, options: &Options, has_chart: &impl Fn(u32) -> bool) {
        self.kept.sort_by_cached_key(Kept::rank);
        let before = self.kept.len();
        let mut place = 0;
        self.kept.retain_mut(|kept| {
            place += 1;
            let charted = has_chart(kept.stream.stream);
            if !charted && place > options.details.saturating_add(options.charts) {
                // Only its line is shown.
                for d in [
                    &mut kept.stream.client_to_server,
                    &mut kept.stream.server_to_client,
                ] {
                    d.episodes = Vec::new();
                    d.acks_sent.modes = Vec::new();
                }
            }
            charted || place <= options.streams
        });
        self.dropped += before - self.kept.len();
    }

    /// Requests go from all streams but those with charts and the `detailed` ones that matter most.
    fn drop_requests(&mut self, detailed: usize, has_chart: &impl Fn(u32) -> bool) {
        let holds = self
            .kept
            .iter_mut()
            .filter(|k| !k.stream.requests.is_empty());
        let mut holds: Vec<&mut Kept> = holds.collect();
        holds.sort_by_cached_key(|k| k.rank());
        let mut left = holds.len().min(detailed);
        for kept in holds.into_iter().skip(detailed) {
            if has_chart(kept.stream.stream) {
                left += 1;
            } else {
                kept.stream.requests = Vec::new();
            }
        }
        self.with_requests = left;
    }

    /// The streams that may be on the page, each with its number of findings.
    pub(super) fn streams(&self) -> impl Iterator<Item = (&Stream, usize)> {
        self.kept.iter().map(|k| (&k.stream, k.findings))
    }

    /// How many streams came.
    pub(super) fn count(&self) -> u64 {
        (self.kept.len() + self.dropped) as u64
    }

    /// Streams that were dropped already.
    pub(super) fn dropped(&self) -> usize {
        self.dropped
    }
}
