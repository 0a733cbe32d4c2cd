//! SO_TIMESTAMPING of what is sent: when the last byte of a write was queued, left, and was ACKed (Linux
//! `tcp_tx_timestamp()`, `__skb_tstamp_tx()`, Documentation/networking/timestamping.rst).
//!
//! Time stamps of what arrives are not made.

use tcplab_base::{Instant, Seq};

use super::errqueue::Entry;
use super::numbers::{
    SO_EE_ORIGIN_TIMESTAMPING, TSTAMP_ACK, TSTAMP_SCHED, TSTAMP_SND, errno::ENOMSG, sof,
};
use crate::call::ExtendedError;

/// A byte that is watched.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    /// The last byte of a write (`tskey`).
    key: Seq,
    /// Which stamps are wanted.
    flags: u32,
}

/// What is wanted, and which bytes are watched.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    /// `sk_tsflags`.
    pub(super) flags: u32,
    /// `sk_tskey`: where numbers of bytes begin.
    first: Seq,
    watched: Vec<Stamp>,
}

impl Stamps {
    /// More bytes are not watched.
    const MOST: usize = 10_000;

    /// A connection of a listener has its flags.
    pub(super) fn inherited(&self) -> Self {
        Self {
            flags: self.flags,
            ..Self::default()
        }
    }

    /// SO_TIMESTAMPING: OPT_ID counts from `una`, or with OPT_ID_TCP from what was written.
    pub(super) fn set(&mut self, flags: u32, una: Seq, written: Seq) {
        if flags & sof::OPT_ID != 0 && self.flags & sof::OPT_ID == 0 {
            self.first = match flags & sof::OPT_ID_TCP {
                0 => una,
                _ => written,
            };
        }
        self.flags = flags;
    }

    /// A write ended before `end`, in a segment that begins at `segment`: one segment has one stamp.
    pub(super) fn wrote(&mut self, end: Seq, segment: Seq) {
        let wanted = self.flags & (sof::TX_SCHED | sof::TX_SOFTWARE | sof::TX_ACK);
        if wanted == 0 || self.watched.len() >= Self::MOST {
            return;
        }
        self.watched.retain(|stamp| stamp.key.before(segment));
        self.watched.push(Stamp {
            key: Seq(end.0.wrapping_sub(1)),
            flags: wanted,
        });
    }

    fn entry(&self, now: Instant, stamp: Stamp, which: u32) -> Option<Entry> {
        // Without SOF_TIMESTAMPING_SOFTWARE, the message has no time; without OPT_ID, it has no number.
        let data = match self.flags & sof::OPT_ID {
            0 => 0,
            _ => stamp.key - self.first,
        };
        Some(Entry {
            error: ExtendedError {
                errno: ENOMSG as u32,
                origin: SO_EE_ORIGIN_TIMESTAMPING,
                info: which,
                data,
                ..ExtendedError::default()
            },
            stamp_ns: (self.flags & sof::SOFTWARE != 0).then_some(now.as_nanos()),
            len: u64::from(self.flags & sof::OPT_TSONLY == 0),
        })
    }

    /// A segment `[seq, end)` leaves.
    pub(super) fn left(&self, now: Instant, seq: Seq, end: Seq) -> Vec<Entry> {
        let within = |stamp: &&Stamp| stamp.key.at_or_after(seq) && stamp.key.before(end);
        let mut entries = Vec::new();
        for &stamp in self.watched.iter().filter(within) {
            for (flag, which) in [
                (sof::TX_SCHED, TSTAMP_SCHED),
                (sof::TX_SOFTWARE, TSTAMP_SND),
            ] {
                if stamp.flags & flag != 0 {
                    entries.extend(self.entry(now, stamp, which));
                }
            }
        }
        entries
    }

    /// All before `una` is ACKed.
    pub(super) fn acked(&mut self, now: Instant, una: Seq) -> Vec<Entry> {
        let (done, open) = std::mem::take(&mut self.watched)
            .into_iter()
            .partition(|stamp: &Stamp| stamp.key.before(una));
        self.watched = open;
        let done: Vec<Stamp> = done;
        let wants = |stamp: &&Stamp| stamp.flags & sof::TX_ACK != 0;
        done.iter()
            .filter(wants)
            .filter_map(|&stamp| self.entry(now, stamp, TSTAMP_ACK))
            .collect()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.watched.is_empty()
    }
}
