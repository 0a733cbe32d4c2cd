//! What can go on at this instant, in the order in which it became so.
//!
//! The applications of a kernel run wait in one epoll. This is its list: an entry joins at the tail
//! when something happens to it, and is looked at when its turn comes (`ep_send_events()`).

use std::collections::VecDeque;

/// Something that may be able to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A host has packets to send.
    Host(u32),
    /// The socket of an end has what the end waits for.
    End(u32),
    /// Connections wait at the listener of this application.
    Listener(u32),
}

/// The list.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    list: VecDeque<Source>,
}

impl Ready {
    /// What one epoll_wait(2) of a kernel run takes at most.
    pub(crate) const BATCH: usize = 64;

    /// The caller keeps each source in it at most once.
    #[inline]
    pub(crate) fn push(&mut self, source: Source) {
        self.list.push_back(source);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Source> {
        self.list.pop_front()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.list.clear();
    }
}
