//! Long gaps in which the capture itself lacks packets: nobody knows what the connection did then.
//!
//! An ACK of data that the capture lacks proves it. A hole in the data may be a loss before the capture, until its ACK
//! comes without a repetition.

use tcplab_base::Instant;

use super::Class;
use super::sending::Side;
use super::tracker::Event;
use crate::conn::Dir;

/// The capture, and no episode of a recovery, may explain this stretch.
pub(super) const NO_EPISODE: u32 = u32::MAX;

/// A gap of this side that was given to `class`, of a side whose data was ACKed and never seen: whether nobody knows.
pub(super) fn is_unknown(class: Class, side: &Dir) -> bool {
    !matches!(class, Class::Unknown | Class::Handshake | Class::Closing) && missed(side).is_some()
}

/// When the newest ACK of data passed that the capture lacks.
fn missed(side: &Dir) -> Option<Instant> {
    let missed = side.rare.as_deref().map(|r| r.missed)?;
    (missed.bytes > 1).then_some(missed.at)
}

/// Whether the capture lacks packets of the time since the last data, which passed at `since`; `Some(false)`: perhaps.
#[inline]
pub(super) fn misses(e: &Event<'_>, since: u64, side: &Side) -> Option<bool> {
    let place = |at: Instant| at.since(e.start).as_micros().max(0) as u64;
    let told = e.dirs.iter().filter_map(missed);
    if told.map(place).any(|at| at > since) {
        return Some(true);
    }
    side.leaves_out(e).then_some(false)
}
