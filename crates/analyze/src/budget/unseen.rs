//! Long gaps in which the capture itself lacks packets: nobody knows what the connection did then.
//!
//! An ACK of data that the capture lacks proves it. A hole in the data may be a loss before the capture, until its ACK
//! comes without a repetition.

use super::Class;
use super::ledger::Ledger;
use super::sending::Side;
use super::tracker::Event;
use crate::conn::Dir;

/// Most gaps that can still turn out to be the capture's.
const GAPS: usize = 512;

/// Gaps before data that goes on behind a hole: from, to, class, and whose data it is.
#[derive(Debug, Default)]
pub(crate) struct Unseen(Vec<(u64, u64, Class, u8)>);

impl Unseen {
    /// A gap of this side, and what it was given to.
    #[cold]
    pub(super) fn note(&mut self, dir: usize, (from, to, class): (u64, u64, Class)) {
        // The congestion window's time may still be given to the sender.
        if from < to && class != Class::CongestionWindow && self.0.len() < GAPS {
            self.0.push((from, to, class, dir as u8));
        }
    }

    /// Of a side whose data was ACKed and never seen, these gaps are unknown.
    pub(super) fn judge(&self, dirs: &[Dir; 2], ledger: &mut Ledger) {
        for &(from, to, class, dir) in &self.0 {
            let known = matches!(class, Class::Unknown | Class::Handshake | Class::Closing);
            if !known && missed(&dirs[usize::from(dir)]).is_some() {
                ledger.turn((from, to), class, Class::Unknown);
            }
        }
    }

    /// Bytes behind it, about.
    pub(super) fn weight(&self) -> usize {
        self.0.capacity() * size_of::<(u64, u64, Class, u8)>()
    }
}

/// When the newest ACK of data passed that the capture lacks.
fn missed(side: &Dir) -> Option<tcplab_base::Instant> {
    let missed = side.rare.as_deref().map(|r| r.missed)?;
    (missed.bytes > 1).then_some(missed.at)
}

/// Whether the capture lacks packets of the time since the last data, which passed at `since`; `Some(false)`: perhaps.
#[inline]
pub(super) fn misses(e: &Event<'_>, since: u64, side: &Side) -> Option<bool> {
    let place = |at: tcplab_base::Instant| at.since(e.start).as_micros().max(0) as u64;
    let told = e.dirs.iter().filter_map(missed);
    if told.map(place).any(|at| at > since) {
        return Some(true);
    }
    side.leaves_out(e).then_some(false)
}
