//! How long responses take: from the first byte that the server sends to the ACK of the last one.
//!
//! A server that answers one request after another has nothing in flight when it writes the next response, so its first
//! byte leaves when it is written.

use tcplab_base::{Duration, Instant};

/// A response that was ACKed whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// When its first byte was sent, after the run's start.
    pub begun: Instant,
    /// Bytes of it.
    pub bytes: u64,
    /// Time until its last byte was ACKed.
    pub took: Duration,
}

/// A response on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    /// The server's end.
    pub(crate) end: u32,
    pub(crate) begun: Instant,
    pub(crate) bytes: u64,
    /// What the server's write has still to hand over.
    pub(crate) left: u64,
}

/// The responses of a run.
#[derive(Debug, Default)]
pub(crate) struct Responses {
    pub(crate) open: Vec<Open>,
    pub(crate) done: Vec<Response>,
}

impl Responses {
    pub(crate) fn clear(&mut self) {
        self.open.clear();
        self.done.clear();
    }

    /// A server's end wrote so many bytes, and so many are left.
    pub(crate) fn wrote(&mut self, end: u32, now: Instant, bytes: u64, left: u64) {
        match self.open.iter_mut().find(|open| open.end == end) {
            Some(open) => {
                open.bytes += bytes;
                open.left = left;
            }
            None if bytes == 0 => {}
            None => self.open.push(Open {
                end,
                begun: now,
                bytes,
                left,
            }),
        }
    }

    /// The response at this place of the open ones was ACKed whole.
    pub(crate) fn end(&mut self, place: usize, now: Instant) {
        let open = self.open.swap_remove(place);
        self.done.push(Response {
            begun: open.begun,
            bytes: open.bytes,
            took: now.since(open.begun),
        });
    }
}
