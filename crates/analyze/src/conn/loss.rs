//! Retransmissions and recovery episodes of one sender.
//!
//! The cause of a retransmission follows from what the sender had seen by then: SACK blocks or duplicate ACKs (RFC
//! 5681 3.2, RFC 6675, RFC 8985: fast), silence of at least a retransmission timeout (RFC 6298: rto), a repeated last
//! segment after a shorter silence (RFC 8985 7: tlp). DSACK (RFC 2883), time stamps (RFC 3522) and ACKs that come too
//! soon show that it was not needed. An episode runs from the first transmission of the first unACKed packet to the
//! ACK that covers the highest sequence number sent when recovery began.

use std::collections::VecDeque;

use tcplab_base::{Duration, Instant, Seq};
use tcplab_wire::TcpPacket;

use super::data::NEAR_IDS;
use super::episode::{Episodes, Open, Record};
use super::flight::Taken;
use super::load::{Queued, Reordered};
use super::lone::{Lone, Sends};
use super::moment::Moment;
use crate::report::{EpisodeKind, SpuriousEvidence};
use crate::trace::SegmentKind;

/// No retransmission timer in use fires earlier after a round trip: 200 ms on Linux, less what the
/// clocks and the estimate of the round trip blur.
const RTO_FLOOR: Duration = Duration::from_millis(150);
/// No probe comes sooner: Linux waits for two round trips and two ticks of its clock at least (RFC 8985 7.2).
const PROBE_FLOOR: Duration = Duration::from_millis(1);
/// So close to the receiver every answer comes at once, and none is too soon.
pub(super) const CLOSE: Duration = Duration::from_millis(2);
/// Retransmissions that a later DSACK can still be matched with.
const REMEMBERED: usize = 512;

/// What one sender lost and repaired.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loss {
    /// Duplicate ACKs since the last advance.
    pub dupacks: u32,
    /// Highest sequence number that a SACK block reported.
    pub sacked_high: Option<Seq>,
    pub fast: u32,
    pub rto: u32,
    pub tlp: u32,
    pub other: u32,
    pub spurious: u32,
    pub unneeded: u32,
    pub episodes: Episodes,
    /// SYNs sent again, with the first frame of them.
    pub syn: u32,
    pub syn_packets: Vec<u64>,
    /// When SACK or a duplicate ACK last told of a hole.
    pub told: Moment,
    /// When they first told of the oldest hole that is still open, or of one before it.
    pub asked: Moment,
    /// When the first and the last came of retransmissions without a pause between them: from the ACK of one on RACK
    /// (RFC 8985 6.2) takes all for lost that left before it, although no hole shows.
    repaired: [Moment; 2],
    /// What was seen when the oldest open hole showed to a capture behind the loss.
    pub hole: Option<Box<Hole>>,
    /// Segments that came late though nobody asked for them.
    pub reordered: Option<Box<Reordered>>,
    /// End of the last probe; until an ACK goes beyond it Linux sends no other (`tlp_high_seq`).
    probed: Option<Seq>,
    /// The first repair of this sender, if it sent a lone segment again.
    lone: Option<Box<Lone>>,
    sent: VecDeque<Sent>,
    /// Corrections to rows of the trace that were already written, each with its frame number.
    pub fixes: Vec<Fix>,
}

/// The moment in which a hole showed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hole {
    pub queued: Option<Queued>,
    /// A timeout had just ended a silence of this length.
    pub timed_out: Option<Duration>,
}

/// A correction to a row of the trace.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fix {
    Kind(u64, SegmentKind),
    Spurious(u64),
}

/// A retransmission that may turn out spurious.
#[derive(Clone, Copy, Debug)]
struct Sent {
    seq: Seq,
    end: Seq,
    /// Frame number: what tells it from the others, whether rows are kept or not.
    number: u64,
    episode: u32,
    spurious: bool,
    /// Time stamp and IP identification.
    stamp: Stamp,
    /// The capture lacks the original, which was lost before it.
    fresh: bool,
    /// It passed twice, as the same packet.
    doubled: bool,
}

/// What tells two packets with the same data apart: the time stamp and the IP identification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    tsval: Option<u32>,
    id: u16,
}

impl Stamp {
    pub(super) fn of(p: &TcpPacket) -> Self {
        Self {
            tsval: p.options.timestamps.map(|t| t.0),
            id: p.ip_id.unwrap_or(0),
        }
    }

    /// It left after `other`, for certain.
    fn is_after(self, other: Self) -> bool {
        match (self.tsval, other.tsval) {
            (Some(a), Some(b)) if a != b => Seq(a).after(Seq(b)),
            _ => {
                let step = self.id.wrapping_sub(other.id) as i16;
                self.id != 0 && other.id != 0 && (1..NEAR_IDS).contains(&step)
            }
        }
    }
}

impl Sent {
    /// It is this packet.
    fn is(&self, p: &TcpPacket) -> bool {
        (self.seq, self.end, self.stamp) == (p.seq, p.seq_end(), Stamp::of(p))
    }
}

/// One retransmission, as seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Again {
    pub seq: Seq,
    pub end: Seq,
    pub now: Instant,
    pub number: u64,
    /// Silence before it: since the last data or the last news from the peer.
    pub idle: Duration,
    /// The sender may be that silent without a timeout: until its next news can have come.
    pub wait: Duration,
    /// It begins at the first unACKed byte.
    pub head: bool,
    /// It ends at the highest sequence number sent.
    pub tail: bool,
    pub tsval: Option<u32>,
    pub stamp: Stamp,
    /// The capture lacks the original.
    pub fresh: bool,
    /// First transmission of the first unACKed packet.
    pub start: Instant,
    /// Highest sequence number sent.
    pub nxt: Seq,
    pub sack_permitted: bool,
    pub acks_seen: bool,
    /// Smoothed round trip of the sender.
    pub rtt: Duration,
    /// Its data was ACKed already when it passed.
    pub acked: bool,
    /// How long packets waited before the loss: to their ACKs, and on the way to the capture.
    pub queued: [Option<Queued>; 2],
    /// Bytes in flight.
    pub flight: u32,
    /// Bytes before the first unACKed one.
    pub passed: u64,
    /// The original never came to the capture, though it was sent.
    pub lost: bool,
    /// ICMP named it as too big for the path.
    pub too_big: bool,
    /// One packet that was sent before comes again in smaller ones.
    pub smaller: bool,
}

impl Again {
    /// The silence was long enough for a retransmission timeout.
    pub(crate) fn silent(&self) -> bool {
        self.idle >= self.wait + RTO_FLOOR
    }

    /// Nothing else was in flight, and probe and timeout come after the same silence.
    fn is_lone(&self) -> bool {
        self.head && self.tail && self.silent()
    }
}

impl Loss {
    /// Classifies and counts a retransmission.
    pub(crate) fn again(&mut self, a: &Again) -> SegmentKind {
        if !a.acks_seen
            && self
                .episodes
                .open
                .as_ref()
                .is_some_and(|o| o.record.more_to_send)
        {
            // Without ACKs nobody sees its end; the sender went on.
            self.episodes.close(None);
            self.probed = None;
        }
        let kind = self.kind_of(a);
        let was_tlp = self
            .episodes
            .open
            .as_ref()
            .filter(|o| o.kind == EpisodeKind::Tlp);
        if kind == SegmentKind::Rto
            && let Some(probe) = was_tlp.and_then(|o| o.maybe_rto)
            && a.idle.as_nanos() > (probe.1.as_nanos() / 5).saturating_mul(8)
        {
            // The timer had been backed off: the first one was a timeout, too (RFC 6298 5.5).
            let number = probe.0;
            self.probe_was_timeout(number);
        }
        if !self.has_no_probes() {
            let is_it = kind == SegmentKind::Tlp && a.is_lone() && self.episodes.is_first();
            self.lone = is_it.then(|| Box::new(Lone::new(a.number)));
        }
        match kind {
            SegmentKind::Fast => self.fast += 1,
            SegmentKind::Rto => self.rto += 1,
            SegmentKind::Tlp => {
                self.tlp += 1;
                self.probed = Some(a.nxt);
            }
            _ => self.other += 1,
        }
        let episode = self.episodes.retransmitted(kind, a, self.evidence(a.end));
        if self.sent.len() >= REMEMBERED {
            self.sent.pop_front();
        }
        if self.sent.capacity() == 0 {
            // Mostly there is one, and there may be many connections with one.
            self.sent.reserve_exact(1);
        }
        self.sent.push_back(Sent {
            seq: a.seq,
            end: a.end,
            number: a.number,
            episode,
            spurious: false,
            stamp: a.stamp,
            fresh: a.fresh,
            doubled: false,
        });
        kind
    }

    /// The receiver reported data above `end`, or duplicate ACKs.
    fn evidence(&self, end: Seq) -> bool {
        self.dupacks > 0 || self.sacked_high.is_some_and(|h| h.after(end))
    }

    fn kind_of(&self, a: &Again) -> SegmentKind {
        let silent = a.silent();
        let lately = a.rtt + a.rtt + Duration::from_millis(20);
        let hole_was_told = self
            .told
            .get()
            .is_some_and(|t| a.now.since(t) <= lately + RTO_FLOOR);
        if a.acked && !silent && self.episodes.open.is_none() {
            // The recovery it belongs to was over when it passed the capture: the late original
            // had closed the hole, or the ACK overtook it.
            if let Some(kind) = self.episodes.just_ended(a.now, lately) {
                return kind;
            }
            if hole_was_told {
                return SegmentKind::Fast;
            }
        }
        match self.episodes.open.as_ref().map(|o| o.kind) {
            Some(EpisodeKind::Rto) => SegmentKind::Rto,
            Some(_) if silent => SegmentKind::Rto,
            Some(EpisodeKind::Fast) => SegmentKind::Fast,
            Some(EpisodeKind::Tlp | EpisodeKind::Other) if self.evidence(a.end) => {
                SegmentKind::Fast
            }
            Some(_) => SegmentKind::Retransmission,
            None if self.evidence(a.end) && !silent => SegmentKind::Fast,
            None if self.evidence(a.end) => SegmentKind::Rto,
            None => self.kind_without_evidence(a, silent),
        }
    }

    fn kind_without_evidence(&self, a: &Again, silent: bool) -> SegmentKind {
        // A timeout repeats the first unACKed segment, a probe the last one. When both are the
        // same, Linux with SACK sends the probe first: its timer is the earlier, or equal.
        let probe = a.tail && a.sack_permitted && a.idle >= PROBE_FLOOR;
        let never = a.is_lone() && self.has_no_probes();
        if probe && !never && !(silent && self.probed.is_some()) {
            SegmentKind::Tlp
        } else if silent {
            SegmentKind::Rto
        } else if !a.acks_seen {
            SegmentKind::Fast
        } else {
            SegmentKind::Retransmission
        }
    }

    /// A DSACK block: the receiver had `[left, right)` already.
    /// Gives whether it was a retransmission that the capture had shown.
    pub(crate) fn dsack(&mut self, left: Seq, right: Seq) -> bool {
        self.probed = None;
        let hit = |s: &Sent| s.seq.before(right) && left.before(s.end);
        let Some(index) = self.answered_by_dsack(hit) else {
            // Time stamps may have told before.
            return self.sent.iter().any(|s| hit(s) && !s.doubled);
        };
        let Some(s) = self.sent.get_mut(index) else {
            return false;
        };
        s.spurious = true;
        self.spurious += 1;
        self.fixes.push(Fix::Spurious(s.number));
        self.episodes.spurious(s.episode, SpuriousEvidence::Dsack);
        true
    }

    /// Which retransmission a DSACK answers. When the first copy arrived, the receiver did not have the data, so the DSACK reports a
    /// copy that left later, or the same packet, which the network doubled.
    fn answered_by_dsack(&self, hit: impl Fn(&Sent) -> bool) -> Option<usize> {
        let mut hits = self
            .sent
            .iter()
            .enumerate()
            .filter(|(_, s)| !s.spurious && hit(s));
        let (first, s) = hits.next()?;
        if !s.fresh {
            return Some(first);
        }
        let later = hits.find(|(_, other)| other.stamp.is_after(s.stamp));
        later.map(|l| l.0).or((!s.doubled).then_some(first))
    }

    /// Whether `p` is a retransmission that passed before, as the same packet.
    pub(super) fn is_same(&self, p: &TcpPacket) -> bool {
        p.ip_id.is_some_and(|id| id != 0) && self.sent.iter().rev().any(|s| s.is(p))
    }

    /// Whether `p` left before the packet that repaired the hole in its place.
    pub(super) fn has_repaired(&self, p: &TcpPacket) -> bool {
        let place = (p.seq, p.seq_end());
        let repairs =
            |s: &Sent| s.fresh && (s.seq, s.end) == place && s.stamp.is_after(Stamp::of(p));
        self.sent.iter().rev().any(repairs)
    }

    /// The same packet passes once more.
    pub(super) fn passes_again(&mut self, p: &TcpPacket) {
        if let Some(s) = self.sent.iter_mut().rev().find(|s| s.is(p)) {
            s.doubled = true;
        }
    }

    /// A DSACK block that was cut off: the receiver had what was sent again last.
    pub(crate) fn dsack_of_newest(&mut self) {
        if let Some(&Sent { seq, end, .. }) = self.sent.back() {
            self.dsack(seq, end);
        }
    }

    /// An ACK of `[una, ack)`, which took `taken` out of the flight, covers the first retransmission of the open
    /// episode: did it come from the original? `path` is the shortest way from the capture to the receiver and back. If its
    /// time stamp says so, it is a sample of the round trip (RFC 7323 4.1): gives when the original passed.
    pub(crate) fn eifel(
        &mut self,
        (una, ack): (Seq, Seq),
        taken: &Taken,
        tsecr: Option<u32>,
        now: Instant,
        path: Duration,
    ) -> Option<Instant> {
        let open = self.episodes.open.as_mut()?;
        if open.judged {
            // RFC 5682: a second ACK for what was sent once, before the timeout. What the receiver had kept behind a
            // hole would have come with the first.
            let original = taken.segments > 0 && !taken.repaired && taken.last < open.at;
            let record = &mut open.record;
            if open.kind == EpisodeKind::Rto && original && record.retransmissions <= 2 {
                record.too_early.get_or_insert(SpuriousEvidence::AckPattern);
            }
            return None;
        }
        if !ack.after(open.seq) {
            return None;
        }
        open.judged = true;
        // RFC 7323 4.3: the echo is of the first segment that the ACK covers.
        let old_echo = match (open.tsval, tsecr) {
            (Some(ours), Some(echo)) if open.seq.at_or_before(una) => {
                Some(Seq(echo).before(Seq(ours)))
            }
            _ => None,
        };
        // The shortest way is four quarters of itself; one is for jitter.
        let too_soon = now.since(open.at).as_nanos() < path.as_nanos() / 4 * 3 && path > CLOSE;
        let evidence = match old_echo {
            Some(true) => SpuriousEvidence::Timestamps,
            None if too_soon => SpuriousEvidence::AckTooSoon,
            _ => return None,
        };
        let original = (evidence == SpuriousEvidence::Timestamps).then_some(open.start);
        let (number, index) = (open.number, self.episodes.index());
        let mut sent = self.sent.iter_mut();
        if let Some(s) = sent.find(|s| s.number == number && !s.spurious) {
            s.spurious = true;
            self.spurious += 1;
            self.fixes.push(Fix::Spurious(number));
        }
        self.episodes.spurious(index, evidence);
        original
    }

    /// A retransmission came; `pause`: who is silent for so long begins anew.
    pub(crate) fn repairs(&mut self, now: Instant, pause: Duration) {
        if self.could_know(now, pause).is_none() {
            self.repaired[0].set(now);
        }
        self.repaired[1].set(now);
    }

    /// Since when the sender, which is repairing, could know of holes that did not show yet.
    pub(crate) fn could_know(&self, now: Instant, pause: Duration) -> Option<Instant> {
        let last = self.repaired[1].get()?;
        self.repaired[0].get().filter(|_| now.since(last) <= pause)
    }

    /// A segment came after `bytes` that were sent later, `late` after the first of them, and nobody had asked for it.
    pub(crate) fn reordered(&mut self, bytes: u32, late: Duration, number: u64) {
        let reordered = self.reordered.get_or_insert_default();
        reordered.add(bytes, late, number);
    }

    /// A segment came so late that it was sent again, and the capture lacks that packet.
    pub(crate) fn repaired_unseen(&mut self) {
        self.reordered.get_or_insert_default().unseen += 1;
    }

    /// The capture lacks packets that repaired a loss.
    pub(crate) fn has_unseen_repairs(&self) -> bool {
        self.reordered.as_deref().is_some_and(|r| r.unseen > 0)
    }

    /// A segment came late, or was sent again.
    pub(crate) fn perhaps_reordered(&mut self) {
        self.reordered.get_or_insert_default().perhaps += 1;
    }

    /// A duplicate ACK that nothing in flight can have caused: it answers the retransmission of what had arrived.
    /// (With SACK it would be a DSACK.)
    pub(crate) fn answered_twice(&mut self, now: Instant, rtt: Duration) {
        let Some(last) = self.episodes.last_mut() else {
            return;
        };
        let near = last
            .end
            .is_some_and(|e| now.since(e) <= rtt + rtt + RTO_FLOOR);
        // After fast recovery it may answer what was sent before.
        let by_timer = last.kind != Some(EpisodeKind::Fast);
        if near && by_timer && last.retransmissions == 1 && last.duration.is_some() {
            last.too_early.get_or_insert(SpuriousEvidence::AckPattern);
        }
    }

    /// SACK or a duplicate ACK tells of a hole.
    pub(crate) fn tell(&mut self, now: Instant) {
        self.told.set(now);
        self.asked.set_first(now);
    }

    /// The first unACKed byte moved.
    pub(crate) fn advanced(&mut self, una: Seq, now: Instant) {
        self.dupacks = 0;
        if self.probed.is_some_and(|p| una.after(p)) {
            self.probed = None;
        }
        if self.sacked_high.is_some_and(|h| h.at_or_before(una)) {
            self.sacked_high = None;
        }
        if self.sacked_high.is_none() {
            self.asked.clear();
            self.hole = None;
        }
        self.episodes.advanced(una, now);
        let repaired = self.episodes.open.is_none();
        if let Some(lone) = &mut self.lone {
            lone.acked(now, repaired);
        }
    }

    /// New data is sent.
    pub(crate) fn new_data(&mut self, sends: &Sends) {
        self.episodes.new_data(sends.now, sends.near);
        let Some(lone) = &mut self.lone else { return };
        match lone.sends(sends) {
            Some(true) if self.episodes.probe_was_timeout() => {
                lone.settle_as_timeout();
                let number = lone.number;
                self.probe_was_timeout(number);
                self.probed = None;
            }
            Some(_) => self.lone = None,
            None => {}
        }
    }

    /// What this frame sent again was counted as a probe, and was a timeout.
    fn probe_was_timeout(&mut self, number: u64) {
        self.tlp -= 1;
        self.rto += 1;
        self.fixes.push(Fix::Kind(number, SegmentKind::Rto));
    }

    /// The window after such a repair showed that this sender repairs lone segments by timeouts.
    pub(crate) fn has_no_probes(&self) -> bool {
        self.lone.as_deref().is_some_and(Lone::was_timeout)
    }

    /// Bytes that it takes, about.
    pub(crate) fn weight(&self) -> usize {
        let episodes = self.episodes.ended.capacity() * size_of::<Record>();
        let reordered = self.reordered.as_deref().map_or(0, size_of_val);
        let hole = self.hole.as_deref().map_or(0, size_of_val);
        let sent = self.sent.capacity() * size_of::<Sent>();
        let lone = self.lone.as_deref().map_or(0, size_of_val);
        size_of::<Self>() + episodes + reordered + hole + lone + sent
    }

    /// Retransmissions of all kinds.
    pub(crate) fn total(&self) -> u64 {
        [self.fast, self.rto, self.tlp, self.other]
            .into_iter()
            .map(u64::from)
            .sum()
    }

    /// ACKs told of a hole, or data was sent again.
    pub(crate) fn told_of_holes(&self) -> bool {
        self.told.get().is_some() || self.total() > u64::from(self.syn)
    }

    /// A tail loss probe was all that was sent again so far.
    pub(crate) fn probing(&self) -> bool {
        let open = self.episodes.open.as_ref();
        open.is_some_and(|o| o.kind == EpisodeKind::Tlp)
    }

    /// Whether recovery is going on.
    pub(crate) fn recovering(&self) -> bool {
        self.episodes.open.is_some()
    }
}

impl Open {
    /// A new episode, begun by this retransmission.
    pub(crate) fn begin(kind: EpisodeKind, a: &Again, evidence: bool) -> Self {
        let unsure = kind == EpisodeKind::Tlp && a.head;
        Self {
            kind,
            start: a.start,
            recover: a.nxt,
            seq: a.seq,
            at: a.now,
            number: a.number,
            tsval: a.tsval,
            latest: a.end,
            judged: false,
            maybe_rto: unsure.then_some((a.number, a.idle)),
            record: Record {
                packet: a.number,
                evidence,
                acked: a.acked,
                lost: a.lost,
                seen: !a.fresh && !a.lost,
                lone: a.head && a.tail,
                too_big: a.too_big,
                smaller: a.smaller,
                longest_idle: a.idle,
                timeouts: u32::from(kind == EpisodeKind::Rto),
                retransmissions: 1,
                unneeded: u32::from(a.acked),
                runs: 1,
                queued: a.queued,
                flight: a.flight,
                passed: a.passed,
                rtt: a.rtt,
                ..Record::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_behind_a_retransmission_may_be_known_before_it_shows() {
        let at = |ms: i64| Instant::from_nanos(ms * 1_000_000);
        let pause = Duration::from_millis(20);
        let mut loss = Loss::default();
        assert_eq!(loss.could_know(at(10), pause), None);
        [10, 25, 40]
            .map(at)
            .into_iter()
            .for_each(|now| loss.repairs(now, pause));
        assert_eq!(loss.could_know(at(55), pause), Some(at(10)));
        assert_eq!(loss.could_know(at(61), pause), None);
        loss.repairs(at(70), pause);
        assert_eq!(loss.could_know(at(70), pause), Some(at(70)));
    }
}
