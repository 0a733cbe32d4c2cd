//! Passed and lost packets, segment by segment, from the first loss on: material for [`super::bucket`].
//!
//! Kept for senders of bulk that lose. A loss behind the capture marks the segment that was sent again; a loss before
//! the capture is a mark of its own, where the hole showed.

use tcplab_base::{Duration, Instant};

/// Most segments that are noted; what comes later is not needed.
const NOTED: usize = 4096;
/// IP and TCP headers without options, which a policer counts as well.
const HEADERS: u32 = 40;

/// A segment, or a hole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted {
    /// Microseconds since the first one.
    pub us: u32,
    /// Length with its headers; 0: this is a hole.
    pub bytes: u16,
    /// Lost bytes of a segment. For a hole: entries since the newest data.
    pub lost: u16,
}

/// The record of one sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passed {
    /// When the first one passed.
    pub start: Instant,
    pub list: Vec<Noted>,
    /// Losses behind the capture, and before it.
    pub behind: u32,
    pub before: u32,
    /// How many had passed with the newest data: what was lost before the next one was lost since then.
    newest: usize,
}

impl Passed {
    pub(crate) fn begin(start: Instant) -> Self {
        Self {
            start,
            ..Self::default()
        }
    }

    /// There is no room: it ended before the connection did.
    pub(crate) fn is_full(&self) -> bool {
        // Its times go up to 71 minutes.
        let late = self.list.last().is_some_and(|n| n.us == u32::MAX);
        late || self.list.len() >= NOTED
    }

    /// A segment passes; `new`: its data is beyond all before.
    pub(crate) fn passes(&mut self, payload: u32, new: bool, now: Instant) {
        let bytes = u16::try_from(payload + HEADERS).unwrap_or(u16::MAX);
        self.note(bytes, 0, now);
        if new {
            self.newest = self.list.len();
        }
    }

    /// Something was lost before the capture: a later segment is about to pass.
    pub(crate) fn hole(&mut self, now: Instant) {
        if !self.is_full() {
            self.before += 1;
            let since = self.list.len() - self.newest;
            self.note(0, u16::try_from(since).unwrap_or(u16::MAX), now);
        }
    }

    fn note(&mut self, bytes: u16, lost: u16, now: Instant) {
        if !self.is_full() {
            let us = self.since(now);
            let us = us.max(self.list.last().map_or(0, |last| last.us));
            self.list.push(Noted { us, bytes, lost });
        }
    }

    /// What passed at `sent` turns out to be lost behind the capture.
    pub(crate) fn lost(&mut self, payload: u32, sent: Instant) {
        let us = self.since(sent);
        let from = self.list.partition_point(|n| n.us < us);
        let then = self.list.iter_mut().skip(from).take_while(|n| n.us == us);
        if let Some(n) = then.into_iter().find(|n| n.bytes > 0 && n.lost == 0) {
            let bytes = u16::try_from(payload + HEADERS).unwrap_or(u16::MAX);
            n.lost = bytes.min(n.bytes);
            self.behind += 1;
        }
    }

    fn since(&self, now: Instant) -> u32 {
        now.since(self.start).as_micros_u32()
    }

    /// When the last one passed.
    pub(crate) fn end(&self) -> Instant {
        let us = self.list.last().map_or(0, |last| last.us);
        self.start + Duration::from_micros(us.into())
    }

    /// How many were noted from then on.
    pub(crate) fn count_from(&self, at: Instant) -> usize {
        let us = self.since(at);
        let before = match at > self.start {
            true => self.list.partition_point(|n| n.us < us),
            false => 0,
        };
        self.list.len() - before
    }

    pub(crate) fn weight(&self) -> usize {
        size_of::<Self>() + self.list.capacity() * size_of::<Noted>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: i64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    #[test]
    fn a_loss_is_marked_where_it_was_sent() {
        let mut passed = Passed::begin(at(100));
        for us in [100, 200, 200, 300] {
            passed.passes(1000, true, at(us));
        }
        passed.lost(1000, at(200));
        passed.lost(400, at(200));
        // There is no third one of that time.
        passed.lost(1000, at(200));
        passed.lost(1000, at(250));
        let lost: Vec<u16> = passed.list.iter().map(|n| n.lost).collect();
        assert_eq!((lost, passed.behind), (vec![0, 1040, 440, 0], 2));
        assert_eq!(passed.end(), at(300));
    }

    #[test]
    fn a_hole_says_how_much_was_sent_again_since_the_newest_data() {
        let mut passed = Passed::begin(at(0));
        for (us, new) in [(0, true), (100, true), (200, false), (300, false)] {
            passed.passes(1000, new, at(us));
        }
        passed.hole(at(400));
        let all = [0, 150, 401].map(|us| passed.count_from(at(us)));
        assert_eq!(all, [5, 3, 0]);
        let hole = passed.list.last().expect("the hole");
        assert_eq!((hole.bytes, hole.lost, passed.before), (0, 2, 1));
    }

    #[test]
    fn the_record_is_bounded() {
        let mut passed = Passed::begin(at(0));
        for us in 0..5000 {
            passed.passes(1000, true, at(us));
            passed.hole(at(us));
        }
        assert!(passed.is_full());
        assert_eq!(passed.list.len(), NOTED);
        assert_eq!(passed.before, NOTED as u32 / 2);
        let mut slow = Passed::begin(at(0));
        for minute in 0..200 {
            slow.passes(1000, true, at(minute * 60_000_000));
        }
        assert!(slow.is_full());
        assert_eq!(slow.list.len(), 73);
    }
}
