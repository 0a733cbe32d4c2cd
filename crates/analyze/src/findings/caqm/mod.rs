//! CAQM: what tags and negotiation show. One file for each mechanism; `docs/findings.md` says when each is said.

pub(super) mod accecn;
pub(super) mod both_bits;
pub(super) mod congestion;
pub(super) mod feedback;
pub(super) mod no_switch;
pub(super) mod one_sided;
pub(super) mod oversize;
pub(super) mod unnegotiated;

use super::{Side, packets};
use crate::conn::{Connection, Tags};
use crate::report::{CaqmTags, Vantage};

/// Fewer requests are too few to judge the path.
const ENOUGH: u64 = 32;
/// Fewer feedback ACKs are too few to judge their sum.
const ENOUGH_FEEDBACK: u64 = 8;

/// Whether anybody spoke of CAQM.
pub(super) fn is_spoken(connection: &Connection) -> bool {
    connection.handshake.caqm.report().is_some()
        || connection.dirs.iter().any(|d| d.caqm().is_some())
}

impl Side<'_> {
    /// The tags of the data's sender, when there are enough requests among them.
    fn requests(&self) -> Option<&Tags> {
        self.sender.caqm().filter(|t| t.seen.requests >= ENOUGH)
    }

    /// What the data's receiver told, when it told enough.
    fn told(&self) -> Option<&CaqmTags> {
        let tags = self.receiver.caqm()?;
        (tags.seen.feedback >= ENOUGH_FEEDBACK).then_some(&tags.seen)
    }

    /// The capture was taken at the data's receiver: no switch comes behind it.
    fn is_at_receiver(&self) -> bool {
        let receiver = usize::from(self.is_a());
        let client = self.connection.client_index();
        match self.connection.vantage() {
            Vantage::Client => receiver == client,
            Vantage::Server => receiver != client,
            Vantage::Between | Vantage::Unknown => false,
        }
    }

    /// Whether the capture shows each packet of the sender as it was on the wire.
    fn is_whole(&self) -> bool {
        let rare = self.sender.rare.as_deref();
        rare.is_none_or(|r| r.joined_segments == 0 && r.missed.bytes == 0)
    }

    /// Retransmissions that the receiver needed.
    fn lost(&self) -> u64 {
        self.sender.loss.as_deref().map_or(0, |l| {
            let in_vain = u64::from(l.spurious.max(l.unneeded));
            l.total().saturating_sub(in_vain)
        })
    }
}

/// The packet that shows it; 0: none does.
fn first(number: u64) -> Vec<u64> {
    packets(Some(number).filter(|n| *n > 0))
}

/// `12 %`, `0.3 %`.
fn percent(part: u64, of: u64) -> String {
    let share = part as f64 * 100.0 / of.max(1) as f64;
    match share {
        s if s >= 9.95 || s == 0.0 => format!("{s:.0} %"),
        s => format!("{s:.1} %"),
    }
}
