//! The recovery episodes of one sender: the open one, and a bounded list of those that ended.

use tcplab_base::{Duration, Instant, Seq};

use super::dir::Dir;
use super::load::Queued;
use super::lone::is_released;
use super::loss::Again;
use crate::report::{EpisodeKind, SpuriousEvidence};
use crate::trace::SegmentKind;

/// Most episodes kept for one direction: what judges losses looks at these. Later ones are counted.
pub(crate) const KEPT: usize = 65_536;

/// An episode of data that was sent again too late begins long before it ends, but not so long.
const LONG: Duration = Duration::from_secs(10);

/// Most records that are looked at: a silence has few beside it.
const MOST_NEAR: usize = 256;

/// All episodes of one sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Episodes {
    pub open: Option<Box<Open>>,
    /// The first [`KEPT`] that ended.
    pub ended: Vec<Record>,
    beyond: Option<Box<Beyond>>,
}

/// Those that ended after the ones that are kept.
#[derive(Clone, Debug)]
struct Beyond {
    last: Record,
    count: u64,
}

/// The episode that is going on.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    pub kind: EpisodeKind,
    /// First transmission of the first unACKed packet.
    pub start: Instant,
    /// Highest sequence number sent when it began.
    pub recover: Seq,
    /// The first retransmission: where it begins, when, its frame number, its TSval.
    pub seq: Seq,
    pub at: Instant,
    pub number: u64,
    pub tsval: Option<u32>,
    /// End of the latest retransmission.
    pub latest: Seq,
    /// The ACK that tells spurious from needed was seen.
    pub judged: bool,
    /// A probe that may have been a timeout: its frame number, and the silence before it.
    pub maybe_rto: Option<(u64, Duration)>,
    pub record: Record,
}

/// What is kept of an episode.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub kind: Option<EpisodeKind>,
    pub packet: u64,
    pub start: Instant,
    /// Start to end; `None` when it did not end.
    pub duration: Option<Duration>,
    pub retransmissions: u32,
    /// Longest silence before any retransmission of it.
    pub longest_idle: Duration,
    /// How often the retransmission timer fired.
    pub timeouts: u32,
    /// SACK or duplicate ACKs were there when it began.
    pub evidence: bool,
    /// The data was ACKed when its retransmission passed: the data was not lost, perhaps its ACK.
    pub acked: bool,
    /// Stretches of data that were sent again: what lies between them had arrived.
    pub runs: u32,
    /// How many of the retransmissions passed after the ACK of their data.
    pub unneeded: u32,
    /// How long packets waited before it: to their ACKs, and on the way to the capture.
    pub queued: [Option<Queued>; 2],
    /// Bytes in flight when it began, and the round trip.
    pub flight: u32,
    /// Bytes before the first lost one.
    pub passed: u64,
    pub rtt: Duration,
    /// The first original was lost before the capture, for certain.
    pub lost: bool,
    /// The capture has the first original.
    pub seen: bool,
    /// Nothing but the first segment was in flight when it was sent again.
    pub lone: bool,
    /// How many of the retransmissions the receiver reported as duplicates.
    pub dsacked: u32,
    /// The first retransmission was not needed, by time stamps or by the time of its ACK.
    pub too_early: Option<SpuriousEvidence>,
    /// When it ended.
    pub end: Option<Instant>,
    /// The same, while it is not known how the sender went on.
    pub ended_at: Option<Instant>,
    /// ICMP named the first segment that was sent again as too big for the path.
    pub too_big: bool,
    /// Data of one packet was sent again in smaller ones: the sender takes the path's MTU for smaller now.
    pub smaller: bool,
    /// New data was sent in it, or at once after it: the sender had more to send.
    pub more_to_send: bool,
    /// A timeout that was taken for a tail loss probe until the window after it showed otherwise.
    pub seemed_probe: bool,
}

impl Record {
    /// It is called a fast retransmission only because no ACK was seen before it.
    pub(crate) fn reason_unknown(&self) -> bool {
        let guessed = matches!(self.kind, Some(EpisodeKind::Fast | EpisodeKind::Other));
        guessed && !self.evidence && !self.acked
    }

    /// The retransmission timer began the episode, or fired in it.
    pub(crate) fn is_timeout(&self) -> bool {
        self.kind == Some(EpisodeKind::Rto) && self.timeouts > 0
    }

    /// One silence led to both episodes.
    pub(crate) fn shares_silence(&self, other: &Self) -> bool {
        self.start <= other.start + other.longest_idle
            && other.start <= self.start + self.longest_idle
    }

    /// Packets of one of the sides were lost in the silence that led to this episode: an outage made its timer necessary,
    /// though what it sent again had arrived.
    pub(crate) fn is_of_outage(&self, dirs: &[Dir; 2]) -> bool {
        let losses = dirs.iter().filter_map(|side| side.loss.as_deref());
        let mut near = losses.flat_map(|loss| self.near(&loss.episodes.ended));
        let by_timer = |r: &Record| r.is_timeout() || r.kind == Some(EpisodeKind::Tlp);
        near.any(|r| by_timer(r) && r.spurious().is_none() && r.shares_silence(self))
    }

    /// The records of one sender, in the order in which they ended, that can share this one's silence: those that ended
    /// before it began cannot, nor those that ended long after its silence, but for the first of them.
    pub(crate) fn near<'a>(&self, all: &'a [Self]) -> &'a [Self] {
        let silence = self.start + self.longest_idle;
        let ended_by = |r: &Self, at: Instant| r.end.is_some_and(|end| end < at);
        let from = all.partition_point(|r| ended_by(r, self.start));
        let to = all.partition_point(|r| ended_by(r, silence + LONG));
        all.get(from..all.len().min(to + 1).min(from + MOST_NEAR))
            .unwrap_or_default()
    }

    /// Whether the whole episode was spurious: all it sent was reported as duplicate, or the first
    /// retransmission was too early and hardly anything else was sent that was needed.
    pub(crate) fn spurious(&self) -> Option<SpuriousEvidence> {
        if self.dsacked > 0 && self.dsacked >= self.retransmissions {
            return Some(SpuriousEvidence::Dsack);
        }
        // The original never reached the capture, so the retransmission was needed, even if ACKs suggest otherwise.
        if self.lost {
            return None;
        }
        if self.unneeded > 0 && self.unneeded >= self.retransmissions {
            return Some(SpuriousEvidence::Acked);
        }
        let rest = self.retransmissions.saturating_sub(self.dsacked);
        self.too_early.filter(|_| rest <= 2)
    }
}

impl Episodes {
    /// Index that the open (or next) episode has, or will have, in `ended`.
    pub(crate) fn index(&self) -> u32 {
        self.ended.len() as u32
    }

    /// A retransmission: begins an episode, or belongs to the open one. Gives the episode's index.
    pub(crate) fn retransmitted(&mut self, kind: SegmentKind, a: &Again, evidence: bool) -> u32 {
        let kind = match kind {
            SegmentKind::Fast => EpisodeKind::Fast,
            SegmentKind::Rto => EpisodeKind::Rto,
            SegmentKind::Tlp => EpisodeKind::Tlp,
            _ => EpisodeKind::Other,
        };
        match &mut self.open {
            None if a.acked => return self.too_late(kind, a, evidence),
            None => self.open = Some(Box::new(Open::begin(kind, a, evidence))),
            Some(open) => {
                open.record.retransmissions += 1;
                open.record.unneeded += u32::from(a.acked);
                open.record.smaller |= a.smaller;
                open.record.runs += u32::from(a.seq != open.latest);
                open.latest = a.end;
                if a.head && a.seq.before(open.seq) && !open.judged {
                    // A probe of the end came first: an ACK's echo tells of the first one.
                    (open.seq, open.at, open.number, open.tsval) =
                        (a.seq, a.now, a.number, a.tsval);
                }
                if kind == EpisodeKind::Rto && a.silent() {
                    open.record.timeouts += 1;
                }
                // A timeout ends fast recovery; a probe that SACK follows becomes fast recovery.
                let turns = matches!(
                    (open.kind, kind),
                    (
                        EpisodeKind::Fast | EpisodeKind::Tlp | EpisodeKind::Other,
                        EpisodeKind::Rto
                    ) | (EpisodeKind::Tlp | EpisodeKind::Other, EpisodeKind::Fast)
                );
                if turns {
                    open.kind = kind;
                    open.maybe_rto = None;
                    open.recover = a.nxt.max(open.recover);
                }
            }
        }
        if let Some(open) = &mut self.open {
            open.record.longest_idle = open.record.longest_idle.max(a.idle);
        }
        self.index()
    }

    /// A retransmission of what was ACKed: it belongs to the recovery before, or stands alone.
    fn too_late(&mut self, kind: EpisodeKind, a: &Again, evidence: bool) -> u32 {
        if let Some(last) = self.last_mut()
            && last.kind == Some(kind)
            && last
                .end
                .is_some_and(|e| a.now.since(e) <= a.rtt + a.rtt + Duration::from_millis(20))
        {
            last.retransmissions += 1;
            last.unneeded += 1;
            return self.index() - u32::from(self.beyond.is_none());
        }
        self.open = Some(Box::new(Open::begin(kind, a, evidence)));
        self.close(Some(a.now));
        self.index().saturating_sub(1)
    }

    /// No episode began before.
    pub(crate) fn is_first(&self) -> bool {
        self.open.is_none() && self.ended.is_empty()
    }

    /// How many ended.
    pub(crate) fn count(&self) -> u64 {
        self.ended.len() as u64 + self.not_kept()
    }

    /// How many ended after those that are kept.
    pub(crate) fn not_kept(&self) -> u64 {
        self.beyond.as_deref().map_or(0, |beyond| beyond.count)
    }

    /// The one that ended last.
    pub(crate) fn last(&self) -> Option<&Record> {
        match self.beyond.as_deref() {
            Some(beyond) => Some(&beyond.last),
            None => self.ended.last(),
        }
    }

    pub(crate) fn last_mut(&mut self) -> Option<&mut Record> {
        match self.beyond.as_deref_mut() {
            Some(beyond) => Some(&mut beyond.last),
            None => self.ended.last_mut(),
        }
    }

    /// The only episode so far, taken for a probe's, was a timeout's. Gives whether there is such a one.
    pub(crate) fn probe_was_timeout(&mut self) -> bool {
        let [only] = &mut self.ended[..] else {
            return false;
        };
        let is_it = only.kind == Some(EpisodeKind::Tlp) && only.retransmissions == 1;
        if is_it {
            only.kind = Some(EpisodeKind::Rto);
            only.timeouts = 1;
            only.seemed_probe = true;
        }
        is_it
    }

    /// What the recovery that ended within `lately` was, as a kind of segment.
    pub(crate) fn just_ended(&self, now: Instant, lately: Duration) -> Option<SegmentKind> {
        let last = self.last()?;
        last.end.filter(|e| now.since(*e) <= lately)?;
        match last.kind? {
            EpisodeKind::Fast => Some(SegmentKind::Fast),
            EpisodeKind::Rto => Some(SegmentKind::Rto),
            EpisodeKind::Tlp | EpisodeKind::Other => None,
        }
    }

    /// The first unACKed byte is `una` now.
    pub(crate) fn advanced(&mut self, una: Seq, now: Instant) {
        if self
            .open
            .as_ref()
            .is_some_and(|o| una.at_or_after(o.recover))
        {
            self.close(Some(now));
        }
    }

    /// What is repaired now was lost with the data of the timeout that ended last, not before `since`: that episode goes on
    /// to `recover`. `una` is the first unACKed byte. Gives whether it does.
    pub(crate) fn resume(&mut self, una: Seq, recover: Seq, since: Instant) -> bool {
        let is_it = |r: &Record| {
            r.kind == Some(EpisodeKind::Rto) && r.lost && r.end.is_some_and(|end| end >= since)
        };
        if self.open.is_some() || self.beyond.is_some() || !self.ended.last().is_some_and(is_it) {
            return false;
        }
        let Some(record) = self.ended.pop() else {
            return false;
        };
        self.open = Some(Box::new(Open {
            kind: EpisodeKind::Rto,
            start: record.start,
            recover,
            seq: una,
            at: since,
            number: record.packet,
            tsval: None,
            latest: una,
            judged: true,
            maybe_rto: None,
            record: Record {
                duration: None,
                end: None,
                ended_at: None,
                ..record
            },
        }));
        true
    }

    /// New data is sent.
    /// `near` is the time from the capture to the sender and back.
    pub(crate) fn new_data(&mut self, now: Instant, near: Duration) {
        if let Some(open) = &mut self.open {
            open.record.more_to_send = true;
        } else if let Some(last) = self.last_mut()
            && let Some(at) = last.ended_at.take()
        {
            last.more_to_send |= is_released(now.since(at), near);
        }
    }

    /// Ends the open episode; `None` when the connection or the capture ended first.
    pub(crate) fn close(&mut self, now: Option<Instant>) {
        let Some(open) = self.open.take() else { return };
        let record = Record {
            kind: Some(open.kind),
            start: open.start,
            duration: now.map(|n| n.since(open.start)),
            end: now,
            ended_at: now,
            ..open.record
        };
        if self.ended.len() < KEPT {
            self.ended.push(record);
        } else {
            let count = self.not_kept() + 1;
            let last = record;
            self.beyond = Some(Box::new(Beyond { last, count }));
        }
    }

    /// Evidence that a retransmission of the episode with this index was spurious.
    pub(crate) fn spurious(&mut self, index: u32, evidence: SpuriousEvidence) {
        let current = index == self.index();
        let record = match (self.ended.get_mut(index as usize), &mut self.open) {
            (Some(record), _) => record,
            (None, Some(open)) if current => &mut open.record,
            _ => return,
        };
        if evidence == SpuriousEvidence::Dsack {
            record.dsacked += 1;
        } else {
            record.too_early = Some(evidence);
        }
    }
}
