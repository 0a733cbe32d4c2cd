//! What passed and what was lost, segment by segment, from the first loss on: material for [`super::bucket`].
//!
//! Kept for senders of bulk that lose. A loss behind the capture marks the segment that was sent again; a loss before
//! the capture is a mark of its own, where the hole showed.

use tcplab_base::{Duration, Instant};

/// Most segments that are noted; what comes later is not needed.
const NOTED: usize = 2048;
/// IP and TCP headers without options, which a policer counts as well.
const HEADERS: u32 = 40;

/// A segment, or a hole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted {
    /// Microseconds since the first one.
    pub us: u32,
    /// Length with its headers; 0: this is a hole.
    pub bytes: u16,
    /// Bytes that were lost of it. Of a hole: how many have passed since the newest data.
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
        self.list.len() >= NOTED
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

    pub(crate) fn weight(&self) -> usize {
        size_of::<Self>() + self.list.capacity() * size_of::<Noted>()
    }
}
