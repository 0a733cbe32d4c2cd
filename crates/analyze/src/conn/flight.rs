//! The segments of one sender that its peer is yet to ACK, as the capture shows them.
//!
//! Sorted by sequence number, without overlaps. Bounded: when the ACKs are not in the capture the
//! oldest segments are forgotten.

use std::collections::VecDeque;

use tcplab_base::{Instant, Seq};

/// Most segments kept when ACKs are seen.
const LIMIT: usize = 65_536;
/// Most segments kept when no ACK was ever seen (one direction captured).
const LIMIT_WITHOUT_ACKS: usize = 64;

/// So many segments above a hole are looked at: the next one may have been late itself.
const LOOK: usize = 64;

/// An empty flight with room for at most so many gives its memory back.
const SMALL: usize = 8;

/// A segment in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub seq: Seq,
    /// Sequence space: payload, SYN and FIN.
    pub len: u32,
    /// First time seen.
    pub first: Instant,
    /// Last time seen (sent again).
    pub last: Instant,
    /// Frame number of the last time seen.
    pub number: u64,
    /// Which first-transmitted data segment of the sender this is, from 1; 0 for SYN and FIN alone.
    pub ordinal: u32,
    /// How often it was seen, at most 255.
    pub times: u8,
    /// It filled a hole: sent before, or delayed, on the way to the capture.
    pub filled_hole: bool,
    /// A SACK block covered it.
    pub sacked: bool,
    /// Payload bytes; SYN and FIN take more of `len`.
    pub payload: u32,
    /// Pushed by the application (PSH).
    pub psh: bool,
    /// What stood before it was forgotten, not missed.
    pub after_forgotten: bool,
}

impl Segment {
    pub(crate) fn end(&self) -> Seq {
        self.seq + self.len
    }

    /// A FIN that came with payload, which was ACKed without it.
    pub(crate) fn lacks_its_payload(&self) -> bool {
        self.ordinal > 0 && self.payload == 0
    }
}

/// What an ACK took out of the flight.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taken {
    /// Data segments.
    pub segments: u32,
    /// Payload bytes.
    pub bytes: u32,
    /// When the first unACKed in-order data packet passed.
    pub first: Instant,
    /// When the last of them passed.
    pub last: Instant,
    /// Frame number of that last one: the likely trigger.
    pub trigger: u64,
    /// When a SYN or FIN without payload passed.
    pub bare: Option<Instant>,
    /// Newest ordinal.
    pub newest: u32,
    /// Payload of the newest segment, and of the largest.
    pub newest_len: u32,
    pub largest: u32,
    /// The newest one was pushed.
    pub newest_psh: bool,
    /// First and only transmission of the segment that ends at the ACK, when Karn's rule allows a sample.
    pub sample: Option<Instant>,
    /// Some segment was sent again or filled a hole.
    pub repaired: bool,
    /// Sequence space that was ACKed and never seen, and the last stretch of it.
    pub hole: u32,
    pub unseen: (Seq, Seq),
}

/// The flight.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flight {
    segments: Segments,
}

/// A list whose only segment takes no memory of its own: most flights of requests and answers never hold more than one.
#[derive(Clone, Debug, Default)]
struct Segments {
    /// The only one, while there is no list.
    only: Option<Segment>,
    #[expect(
        clippy::box_collection,
        reason = "mostly there is no list; the list itself takes 32 bytes"
    )]
    list: Option<Box<VecDeque<Segment>>>,
}

impl Segments {
    fn len(&self) -> usize {
        match &self.list {
            Some(list) => list.len(),
            None => usize::from(self.only.is_some()),
        }
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn capacity(&self) -> usize {
        self.list.as_ref().map_or(0, |list| list.capacity())
    }

    #[inline]
    fn front(&self) -> Option<&Segment> {
        match &self.list {
            Some(list) => list.front(),
            None => self.only.as_ref(),
        }
    }

    #[inline]
    fn front_mut(&mut self) -> Option<&mut Segment> {
        match &mut self.list {
            Some(list) => list.front_mut(),
            None => self.only.as_mut(),
        }
    }

    #[inline]
    fn back(&self) -> Option<&Segment> {
        match &self.list {
            Some(list) => list.back(),
            None => self.only.as_ref(),
        }
    }

    #[inline]
    fn pop_front(&mut self) {
        match &mut self.list {
            Some(list) => _ = list.pop_front(),
            None => self.only = None,
        }
    }

    /// The list; builds it from the only segment when it does not exist yet.
    #[inline]
    fn list(&mut self) -> &mut VecDeque<Segment> {
        let only = &mut self.only;
        self.list.get_or_insert_with(|| {
            let mut list = Box::new(VecDeque::with_capacity(SMALL));
            list.extend(only.take());
            list
        })
    }

    #[inline]
    fn push_back(&mut self, segment: Segment) {
        if self.list.is_none() && self.only.is_none() {
            self.only = Some(segment);
        } else {
            self.list().push_back(segment);
        }
    }

    fn slices(&self) -> (&[Segment], &[Segment]) {
        match &self.list {
            Some(list) => list.as_slices(),
            None => (self.only.as_slice(), &[]),
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Segment> {
        self.from(0)
    }

    /// Those from an index on.
    fn from(&self, at: usize) -> impl Iterator<Item = &Segment> {
        let (a, b) = self.slices();
        let (in_a, in_b) = (at.min(a.len()), at.saturating_sub(a.len()).min(b.len()));
        a[in_a..].iter().chain(&b[in_b..])
    }

    fn rest_mut(&mut self, at: usize) -> impl Iterator<Item = &mut Segment> {
        let (a, b) = match &mut self.list {
            Some(list) => list.as_mut_slices(),
            None => (self.only.as_mut_slice(), &mut [][..]),
        };
        let (in_a, in_b) = (at.min(a.len()), at.saturating_sub(a.len()).min(b.len()));
        a[in_a..].iter_mut().chain(&mut b[in_b..])
    }

    /// The index of the first one that does not end before or at `seq`.
    fn index_after(&self, seq: Seq) -> usize {
        let before = |s: &Segment| !s.end().after(seq);
        let (a, b) = self.slices();
        match b.first() {
            Some(s) if before(s) => a.len() + b.partition_point(before),
            _ => a.partition_point(before),
        }
    }
}

impl Flight {
    /// Bytes that it takes.
    pub(crate) fn weight(&self) -> usize {
        self.segments.capacity() * size_of::<Segment>()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    pub(crate) fn front(&self) -> Option<&Segment> {
        self.segments.front()
    }

    /// All of them, the first unACKed one first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter()
    }

    /// When the last one was sent, the first time.
    pub(crate) fn newest(&self) -> Option<Instant> {
        self.segments.back().map(|s| s.first)
    }

    pub(crate) fn clear(&mut self) {
        self.segments = Segments::default();
    }

    /// Appends a segment after all others. `acks_seen` chooses the bound.
    pub(crate) fn push(&mut self, segment: Segment, acks_seen: bool) {
        let limit = if acks_seen { LIMIT } else { LIMIT_WITHOUT_ACKS };
        let segments = &mut self.segments;
        if segments.len() >= limit {
            segments.pop_front();
            if let Some(front) = segments.front_mut() {
                front.after_forgotten = true;
            }
        }
        segments.push_back(segment);
    }

    /// Index of the first segment that ends after `seq`.
    fn index_after(&self, seq: Seq) -> usize {
        // Mostly the answer is at one of the ends.
        match self.segments.front() {
            None => return 0,
            Some(s) if s.end().after(seq) => return 0,
            Some(_) => {}
        }
        self.segments.index_after(seq)
    }

    /// Whether some segment covers a part of `[seq, end)`.
    pub(crate) fn covers(&self, seq: Seq, end: Seq) -> bool {
        let at = self.index_after(seq);
        let mut from = self.segments.from(at);
        from.next().is_some_and(|s| s.seq.before(end))
    }

    /// Those that cover a part of `[seq, end)`.
    pub(crate) fn within(&self, seq: Seq, end: Seq) -> impl Iterator<Item = &Segment> {
        let at = self.index_after(seq);
        self.segments
            .from(at)
            .take_while(move |s| s.seq.before(end))
    }

    /// Whether `[seq, end)` is one segment. What is sent again for a smaller MTU has other ends.
    pub(crate) fn holds(&self, seq: Seq, end: Seq) -> bool {
        let at = self.index_after(seq);
        let segment = self.segments.from(at).next();
        segment.is_some_and(|s| s.seq == seq && s.end() == end)
    }

    /// Whether `[seq, end)` is one segment that passed at `since` or later, or a part of one.
    pub(crate) fn passed_since(&self, seq: Seq, end: Seq, since: Instant) -> bool {
        let at = self.index_after(seq);
        let whole = self.segments.from(at).next();
        whole
            .is_some_and(|s| s.seq.at_or_before(seq) && s.end().at_or_after(end) && s.last >= since)
    }

    /// The parts of `[seq, end)` that no segment covers.
    pub(crate) fn uncovered(&self, seq: Seq, end: Seq) -> Vec<(Seq, Seq)> {
        let mut holes = Vec::new();
        let mut from = seq;
        let at = self.index_after(seq);
        for s in self.segments.from(at).take_while(|s| s.seq.before(end)) {
            if from.before(s.seq) {
                holes.push((from, s.seq));
            }
            from = from.max(s.end());
        }
        if from.before(end) {
            holes.push((from, end));
        }
        holes
    }

    /// When something from `seq` on was first seen: since then a hole before it shows.
    pub(crate) fn first_seen_after(&self, seq: Seq) -> Option<Instant> {
        let at = self.index_after(seq);
        let near = self.segments.from(at).take(LOOK);
        near.map(|s| s.first).min()
    }

    /// Notes that `[seq, end)` was sent again.
    pub(crate) fn sent_again(&mut self, seq: Seq, end: Seq, now: Instant, number: u64) {
        let at = self.index_after(seq);
        for s in self.segments.rest_mut(at).take_while(|s| s.seq.before(end)) {
            s.times = s.times.saturating_add(1);
            s.last = now;
            s.number = number;
        }
    }

    /// Puts a segment that arrived late into its place. It must not overlap others.
    pub(crate) fn insert(&mut self, segment: Segment) {
        if self.segments.len() < LIMIT {
            let at = self.index_after(segment.seq);
            self.segments.list().insert(at, segment);
        }
    }

    /// Marks what a SACK block covers. Gives whether anything was new.
    pub(crate) fn sack(&mut self, left: Seq, right: Seq) -> bool {
        if self.is_empty() {
            return false;
        }
        let at = self.index_after(left);
        let mut new = false;
        for s in self
            .segments
            .rest_mut(at)
            .take_while(|s| s.end().at_or_before(right))
        {
            new |= !s.sacked && s.seq.at_or_after(left);
            s.sacked |= s.seq.at_or_after(left);
        }
        new
    }

    /// Takes out everything from `una` to `ack`; a segment that `ack` cuts keeps its rest.
    pub(crate) fn take(&mut self, una: Seq, ack: Seq) -> Taken {
        let mut taken = Taken::default();
        let mut reached = una;
        let segments = &mut self.segments;
        while let Some(s) = segments.front_mut() {
            if s.seq != reached {
                let from = s.seq.min(ack);
                if !s.after_forgotten {
                    taken.unseen(reached, from);
                }
                reached = reached.max(from);
            }
            let end = s.end();
            reached = reached.max(end.min(ack));
            if end.after(ack) {
                if s.seq.before(ack) {
                    let done = ack - s.seq;
                    taken.add(s, done.min(s.payload));
                    (s.seq, s.len) = (ack, s.len - done);
                    s.payload = s.payload.saturating_sub(done);
                }
                break;
            }
            taken.add(s, s.payload);
            if end == ack && s.times == 1 && !s.sacked && !taken.repaired {
                taken.sample = Some(s.first);
            }
            segments.pop_front();
        }
        taken.unseen(reached, ack);
        if segments.is_empty() && (1..=SMALL).contains(&segments.capacity()) {
            self.clear();
        }
        taken
    }

    /// Bytes from the first unACKed segment to the end of the last one.
    pub(crate) fn span(&self) -> u32 {
        match (self.segments.front(), self.segments.back()) {
            (Some(f), Some(b)) => b.end() - f.seq,
            _ => 0,
        }
    }
}

impl Taken {
    /// `[from, to)` is ACKed, and no segment covers it.
    fn unseen(&mut self, from: Seq, to: Seq) {
        if from.before(to) {
            self.hole = self.hole.saturating_add(to - from);
            self.unseen = (from, to);
        }
    }

    fn add(&mut self, s: &Segment, payload: u32) {
        self.repaired |= s.times > 1 || s.filled_hole;
        if payload == 0 {
            self.bare = Some(s.last);
            return;
        }
        if self.segments == 0 {
            self.first = s.last;
        }
        if self.segments == 0 || s.last >= self.last {
            (self.last, self.trigger) = (s.last, s.number);
        }
        self.segments += 1;
        self.bytes = self.bytes.saturating_add(payload);
        self.newest = self.newest.max(s.ordinal);
        (self.newest_len, self.newest_psh) = (payload, s.psh);
        self.largest = self.largest.max(payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(seq: u32, len: u32, us: i64) -> Segment {
        let at = Instant::from_nanos(us * 1000);
        Segment {
            seq: Seq(seq),
            len,
            first: at,
            last: at,
            number: u64::from(seq),
            ordinal: 1,
            times: 1,
            filled_hole: false,
            sacked: false,
            payload: len,
            psh: false,
            after_forgotten: false,
        }
    }

    #[test]
    fn an_ack_takes_whole_segments_and_leaves_the_rest_of_a_cut_one() {
        let mut f = Flight::default();
        for i in 0..3 {
            f.push(segment(100 * i, 100, i64::from(i)), true);
        }
        let t = f.take(Seq(0), Seq(150));
        assert_eq!((t.segments, t.bytes, t.trigger), (2, 150, 100));
        assert_eq!(t.sample, None, "no segment ends at the ACK");
        assert_eq!(f.span(), 150);
        assert_eq!(
            f.take(Seq(150), Seq(300)).sample,
            Some(Instant::from_nanos(2000))
        );
        assert!(f.is_empty());
    }

    #[test]
    fn a_hole_filler_starts_the_wait_and_spoils_the_sample() {
        let mut f = Flight::default();
        f.push(segment(100, 100, 10), true);
        f.insert(Segment {
            filled_hole: true,
            ..segment(0, 100, 50)
        });
        assert!(f.covers(Seq(0), Seq(1)));
        let t = f.take(Seq(0), Seq(200));
        assert_eq!(
            (t.first, t.trigger, t.sample),
            (Instant::from_nanos(50_000), 0, None)
        );
    }

    #[test]
    fn karn_forbids_a_sample_of_repeated_data() {
        let mut f = Flight::default();
        f.push(segment(0, 100, 0), true);
        f.sent_again(Seq(0), Seq(100), Instant::from_nanos(9_000), 7);
        let t = f.take(Seq(0), Seq(100));
        assert!(t.repaired && t.sample.is_none());
        assert_eq!((t.first, t.trigger), (Instant::from_nanos(9_000), 7));
    }

    #[test]
    fn uncovered_parts_lie_between_segments() {
        let mut f = Flight::default();
        f.push(segment(100, 100, 0), true);
        f.push(segment(300, 100, 0), true);
        let parts = [(0, 100), (200, 300), (400, 450)].map(|(a, b)| (Seq(a), Seq(b)));
        assert_eq!(f.uncovered(Seq(0), Seq(450)), parts);
        assert_eq!(f.uncovered(Seq(120), Seq(180)), []);
    }

    #[test]
    fn acked_holes_are_told() {
        let mut f = Flight::default();
        f.push(segment(100, 100, 0), true);
        f.push(segment(300, 100, 0), true);
        assert_eq!(f.take(Seq(0), Seq(350)).hole, 200);
    }

    #[test]
    fn a_hole_that_ends_at_the_ack_is_told() {
        let mut f = Flight::default();
        f.push(segment(0, 100, 0), true);
        f.push(segment(200, 100, 0), true);
        let t = f.take(Seq(0), Seq(200));
        assert_eq!((t.hole, t.unseen), (100, (Seq(100), Seq(200))));
        assert_eq!(f.take(Seq(200), Seq(300)).hole, 0);
        assert_eq!(f.take(Seq(300), Seq(301)).hole, 1, "the flight is empty");
    }

    #[test]
    fn without_acks_the_flight_stays_small() {
        let mut f = Flight::default();
        for i in 0..1000 {
            f.push(segment(i * 10, 10, 0), false);
        }
        assert_eq!(f.span() as usize, LIMIT_WITHOUT_ACKS * 10);
    }
}
