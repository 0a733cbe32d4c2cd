//! MSG_ZEROCOPY: sends are numbered, and complete when the peer has ACKed them (Linux `msg_zerocopy_alloc()`,
//! `__msg_zerocopy_callback()`).
//!
//! The device is a TUN, which copies packets for its reader. Each completion reports that its data was copied.

use std::collections::VecDeque;

use tcplab_base::Seq;

/// Sends that are not complete.
#[derive(Debug, Default)]
pub(super) struct ZeroCopy {
    /// SO_ZEROCOPY.
    enabled: bool,
    /// `sk_zckey`.
    next: u32,
    /// Number and end.
    open: VecDeque<(u32, Seq)>,
}

impl ZeroCopy {
    pub(super) fn enabled(enabled: bool) -> Self {
        Self {
            enabled,
            ..Self::default()
        }
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.enabled
    }

    pub(super) fn enable(&mut self, on: bool) {
        self.enabled = on;
    }

    /// A send took bytes up to `end`.
    pub(super) fn sent(&mut self, end: Seq) {
        if !self.enabled {
            return;
        }
        self.open.push_back((self.next, end));
        self.next = self.next.wrapping_add(1);
    }

    /// The same send goes on: it ends later.
    pub(super) fn goes_on(&mut self, end: Seq) {
        if let Some(last) = self.open.back_mut() {
            last.1 = end;
        }
    }

    /// The next send that is complete when all before `una` is ACKed.
    pub(super) fn complete(&mut self, una: Seq) -> Option<u32> {
        let &(number, end) = self.open.front()?;
        if end.after(una) {
            return None;
        }
        self.open.pop_front();
        Some(number)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }
}
