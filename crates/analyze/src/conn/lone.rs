//! A lone segment is sent again after a long silence: by a tail loss probe or by a timeout?
//!
//! Linux arms both timers for nearly the same moment then (tcp_schedule_loss_probe() takes two round trips and 200 ms,
//! at most the timeout), so time cannot tell. The window can. After a probe it is at least half of its size before (RFC
//! 8985 7.4). After a timeout it is one segment, and two with the ACK of the retransmission (RFC 5681 3.1). A sender
//! that had many segments in flight, sends two, and sends more as soon as they are ACKed, had a timeout.

use tcplab_base::{Duration, Instant};

/// Segments that a sender must have had in flight before: half of them is more than [`COLLAPSED`].
const WIDE: u32 = 6;
/// The window after the ACK of what a timeout sent again.
const COLLAPSED: u32 = 2;
/// So late after an ACK a sender may send what the ACK released, as seen next to it.
const RELEASED: Duration = Duration::from_millis(2);

/// An ACK released what its sender sent `after` it. `near` is the time from the capture to the sender and back.
pub(super) fn is_released(after: Duration, near: Duration) -> bool {
    let jitter = Duration::from_nanos(near.as_nanos() / 4);
    after <= near + jitter + RELEASED
}

/// What is seen of a sender after such a repair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lone {
    /// Frame number of the segment that was sent again.
    pub number: u64,
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Not ACKed yet.
    Repairing,
    /// ACKed; so many bytes of new data followed. `heard`: what its peer had sent when they began.
    Sends { bytes: u32, heard: u32 },
    /// An ACK of them came.
    Answered { bytes: u32, heard: u32, at: Instant },
    /// It was a timeout.
    Timeout,
}

/// A sender and its peer when new data passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sends {
    pub now: Instant,
    pub payload: u32,
    /// Payload of a full segment.
    pub full: u32,
    /// The most that was in flight so far, bytes.
    pub most: u32,
    /// The receiver's window, bytes.
    pub window: u32,
    /// Highest sequence number of the peer.
    pub heard: u32,
    /// From the capture to the sender and back.
    pub near: Duration,
}

impl Lone {
    /// The segment with this frame number was sent again.
    pub(crate) fn new(number: u64) -> Self {
        let stage = Stage::Repairing;
        Self { number, stage }
    }

    /// An ACK of new data came. `repaired`: nothing is being repaired any more.
    pub(crate) fn acked(&mut self, now: Instant, repaired: bool) {
        match self.stage {
            Stage::Repairing if repaired => self.stage = Stage::Sends { bytes: 0, heard: 0 },
            Stage::Sends { bytes, heard } if bytes > 0 => {
                self.stage = Stage::Answered {
                    bytes,
                    heard,
                    at: now,
                };
            }
            _ => {}
        }
    }

    /// It is known to be a timeout from now on.
    pub(crate) fn settle_as_timeout(&mut self) {
        self.stage = Stage::Timeout;
    }

    /// Whether it was a timeout, for certain.
    pub(crate) fn was_timeout(&self) -> bool {
        matches!(self.stage, Stage::Timeout)
    }

    /// The sender sends new data: `Some(true)` when that shows a timeout, `Some(false)` when nothing will.
    pub(crate) fn sends(&mut self, s: &Sends) -> Option<bool> {
        match self.stage {
            Stage::Repairing => Some(false),
            Stage::Timeout => None,
            Stage::Sends { bytes, heard } => {
                let heard = if bytes == 0 { s.heard } else { heard };
                let bytes = bytes.saturating_add(s.payload);
                self.stage = Stage::Sends { bytes, heard };
                (bytes > COLLAPSED * s.full).then_some(false)
            }
            Stage::Answered { bytes, heard, at } => {
                let released = is_released(s.now.since(at), s.near);
                // A peer that spoke asked for the data; a small window held it back.
                let held_by_peer = heard != s.heard || s.window <= WIDE * s.full;
                let full = bytes == COLLAPSED * s.full;
                Some(released && full && !held_by_peer && s.most >= WIDE * s.full)
            }
        }
    }
}
