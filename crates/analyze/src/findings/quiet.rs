//! Connections without any finding: most connections in a capture of many short ones.
//!
//! Loss, resets, late ACKs, full windows and slow answers all leave a mark in the state of a connection. Without these
//! marks and without missing packets, the detectors are skipped. With debug assertions they run anyway and must stay
//! silent, which catches a detector that uses a new condition.

use super::{caqm, no_answer, small_mss};
use crate::conn::{Connection, Dir, Waits};

/// Whether there is nothing to look at.
pub(super) fn is_quiet(connection: &Connection) -> bool {
    let [a, b] = &connection.dirs;
    let h = &connection.handshake;
    let opened = h.is_whole() && h.done && h.syns_again == 0 && h.synacks_again == 0;
    let turns = connection.turns.as_deref();
    opened
        && !h.reset
        && connection.opening.is_none()
        && connection.is_steady()
        && is_plain(a)
        && is_plain(b)
        && options(a) == options(b)
        && !a.ecn_offered
        && !connection.dirs.iter().any(small_mss::is_announced)
        && turns.is_none_or(|t| t.sides.iter().all(Waits::are_short))
        && is_answered(connection)
        && !has_silence(connection)
        && !caqm::is_spoken(connection)
}

/// The last data was not followed by a silence.
fn is_answered(connection: &Connection) -> bool {
    let [a, b] = &connection.dirs;
    connection.last.since(a.last_data.max(b.last_data)) < no_answer::SILENT
}

/// A silence that a timer may have ended.
fn has_silence(connection: &Connection) -> bool {
    let tracker = connection.tracker.as_deref();
    tracker.is_some_and(|t| t.has_silence(0) || t.has_silence(1))
}

/// What both sides have to have offered.
fn options(d: &Dir) -> [bool; 4] {
    let scale = d.window_scale.is_some();
    [scale, d.sack_permitted, d.stamps_offered, d.stamps_used]
}

/// Nothing of this side's data and ACKs stands out.
fn is_plain(d: &Dir) -> bool {
    let late = d.acks.as_ref().is_some_and(|a| a.evidence.is_some());
    let rounds = d.rounds.as_deref();
    d.loss.is_none()
        && d.rare.is_none()
        && d.zero.is_none()
        && d.load().is_none()
        && !late
        && rounds.is_none_or(|r| r.is_short())
}
