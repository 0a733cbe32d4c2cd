//! What `flows`, `dual-srchost` and the other modes hash and count.

use super::settings::FlowMode;

use super::hosts::End;
use crate::packet::FlowKeys;

/// A mode, as questions about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Isolation(FlowMode);

/// The hashes of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hashes {
    pub flow: u32,
    pub source: u32,
    pub destination: u32,
}

impl Isolation {
    pub fn new(mode: FlowMode) -> Self {
        Self(mode)
    }

    /// Whether flows are counted by their hosts at this end.
    #[inline]
    pub fn counts(self, end: End) -> bool {
        match end {
            End::Source => matches!(self.0, FlowMode::DualSrchost | FlowMode::TripleIsolate),
            End::Destination => matches!(self.0, FlowMode::DualDsthost | FlowMode::TripleIsolate),
        }
    }

    /// Everything in one queue.
    pub fn is_blind(self) -> bool {
        self.0 == FlowMode::Flowblind
    }

    pub fn hashes(self, keys: &FlowKeys, key: u64) -> Hashes {
        let source = || FlowKeys::hash_address(key, keys.src);
        // Another key, or an address would have one hash at both ends and pairs would cancel out.
        let destination = || FlowKeys::hash_address(!key, keys.dst);
        let none = Hashes::default();
        match self.0 {
            FlowMode::Flowblind => none,
            FlowMode::Srchost => Hashes {
                flow: source(),
                ..none
            },
            FlowMode::Dsthost => Hashes {
                flow: destination(),
                ..none
            },
            FlowMode::Hosts => Hashes {
                flow: source() ^ destination(),
                ..none
            },
            FlowMode::Flows => Hashes {
                flow: keys.hash(key),
                ..none
            },
            FlowMode::DualSrchost | FlowMode::DualDsthost | FlowMode::TripleIsolate => Hashes {
                flow: keys.hash(key),
                source: source(),
                destination: destination(),
            },
        }
    }
}
