//! Recovery episodes that show one cause: what the detectors of losses share.

use tcplab_base::Duration;

use super::{Finding, Id, Severity, Side, packets};
use crate::conn::Record;

/// The episodes of one side that a detector chose, at least one.
pub(crate) struct Episodes<'a> {
    pub first: &'a Record,
    list: Vec<&'a Record>,
}

impl<'a> Episodes<'a> {
    /// The sender's episodes that `which` accepts; `None` without any.
    pub(crate) fn of(side: &'a Side<'_>, which: impl Fn(&Record) -> bool) -> Option<Self> {
        let list: Vec<_> = side.episodes().iter().filter(|r| which(r)).collect();
        let first = *list.first()?;
        Some(Self { first, list })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a Record> {
        self.list.iter().copied()
    }

    pub(crate) fn as_slice(&self) -> &[&'a Record] {
        &self.list
    }

    pub(crate) fn count(&self) -> u64 {
        self.list.len() as u64
    }

    /// How often the retransmission timer fired in them.
    pub(crate) fn timeouts(&self) -> u64 {
        self.list.iter().map(|r| u64::from(r.timeouts)).sum()
    }

    /// The longest silence before a retransmission.
    pub(crate) fn longest(&self) -> Duration {
        let longest = self.list.iter().map(|r| r.longest_idle).max();
        longest.unwrap_or(Duration::ZERO)
    }

    /// The longest silences of all of them together.
    pub(crate) fn silence(&self) -> Duration {
        let idle = self.list.iter().map(|r| r.longest_idle);
        idle.fold(Duration::ZERO, |sum, idle| sum + idle)
    }

    /// A finding that shows their first retransmissions.
    pub(crate) fn finding(&self, side: &Side<'_>, id: Id, severity: Severity) -> Finding {
        Finding {
            packets: packets(self.list.iter().map(|r| r.packet)),
            ..side.finding(id, severity)
        }
    }
}
