//! The error queue of a socket (Linux `sk_error_queue`, `ip_recv_error()`, `ipv6_recv_error()`).

use std::collections::VecDeque;

use super::numbers::{SO_EE_ORIGIN_ICMP, SO_EE_ORIGIN_ICMP6, SO_EE_ORIGIN_ZEROCOPY};
use crate::call::ExtendedError;

/// A message of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) error: ExtendedError,
    /// When it was made, for SCM_TIMESTAMPING: nanoseconds since the script's begin.
    pub(super) stamp_ns: Option<i64>,
    /// Bytes of the packet that comes with it.
    pub(super) len: u64,
}

/// The queue.
#[derive(Debug, Default)]
pub(super) struct ErrorQueue {
    entries: VecDeque<Entry>,
}

impl ErrorQueue {
    /// More are dropped (`sk_rcvbuf` counts them on Linux).
    const MOST: usize = 10_000;

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn push(&mut self, entry: Entry) {
        if self.entries.len() < Self::MOST {
            self.entries.push_back(entry);
        }
    }

    /// A completion of `MSG_ZEROCOPY` sends `low..=high`: one with the last entry when that ends before `low`
    /// (`skb_zerocopy_notify_extend()`).
    pub(super) fn complete(&mut self, low: u32, high: u32, code: u8) {
        if let Some(last) = self.entries.back_mut()
            && last.error.origin == SO_EE_ORIGIN_ZEROCOPY
            && low == last.error.data.wrapping_add(1)
        {
            last.error.data = high;
            return;
        }
        self.push(Entry {
            error: ExtendedError {
                origin: SO_EE_ORIGIN_ZEROCOPY,
                code,
                info: low,
                data: high,
                ..ExtendedError::default()
            },
            stamp_ns: None,
            len: 0,
        });
    }

    /// Takes the first entry, and the change of the socket's error (`sock_dequeue_err_skb()`): `None` leaves it, 0
    /// clears it, another value is the errno of the next entry.
    pub(super) fn take(&mut self) -> Option<(Entry, Option<u32>)> {
        let entry = self.entries.pop_front()?;
        let is_icmp = |e: &Entry| matches!(e.error.origin, SO_EE_ORIGIN_ICMP | SO_EE_ORIGIN_ICMP6);
        let next = self.entries.front().filter(|next| is_icmp(next));
        let errno = match next {
            Some(next) => Some(next.error.errno),
            None => is_icmp(&entry).then_some(0),
        };
        Some((entry, errno))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_in_a_row_are_one() {
        let mut queue = ErrorQueue::default();
        queue.complete(0, 0, 1);
        queue.complete(1, 1, 1);
        queue.complete(3, 3, 1);
        let (first, _) = queue.take().unwrap();
        assert_eq!((first.error.info, first.error.data), (0, 1));
        assert_eq!(queue.take().unwrap().0.error.info, 3);
        assert_eq!(queue.take(), None);
    }
}
