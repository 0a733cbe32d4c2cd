//! Failures while a connection opens.
//!
//! - SYNs that passed the server's end and got no answer.
//! - A last ACK of the handshake that the server ignored: Linux `tcp_v4_syn_recv_sock()` drops it
//!   while the accept queue is full.
//! - Answers from an older connection of the same ports (RFC 9293 3.10.7.3, RFC 5961 4).

use tcplab_base::{Duration, Instant};

use super::data::At;
use super::moment::Moment;

/// Most packets shown.
const SHOWN: usize = 8;

/// What was odd; allocated when it happens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opening {
    /// SYNs beyond the first that had passed when the first SYN-ACK did.
    pub unanswered_syns: u32,
    /// When the first SYN, and the first SYN-ACK, passed that was sent again; and how long it took to the answer.
    pub first: [Moment; 2],
    pub answered: [Option<Duration>; 2],
    /// The first SYN-ACK echoes the time stamp of the first SYN, and others had followed that.
    pub names_first: bool,
    /// SYN-ACKs that came again after the client's answer, and how long after it the last one did.
    pub again: u32,
    pub again_after: Duration,
    /// When the client's last packet of the handshake passed.
    done_at: Moment,
    /// SYN-ACKs that came again though that one must have arrived.
    pub deaf: u32,
    /// The same before the client had sent any data.
    pub deferred: u32,
    /// Segments that the client sent again before the server sent anything but SYN-ACKs.
    pub ignored: u32,
    /// When the server first sent something else than a SYN-ACK after that.
    pub taken: Moment,
    /// ACKs of an older connection that answered the SYN.
    pub older: u32,
    pub packets: Vec<u64>,
}

impl Opening {
    /// A SYN-ACK comes again; the handshake was over at `done_at`, and the path to the server takes `path`.
    pub(crate) fn synack_again(
        &mut self,
        done_at: Instant,
        path: Duration,
        has_data: bool,
        at: At,
    ) {
        self.done_at.set_first(done_at);
        let done = self.done_at.get().unwrap_or(done_at);
        let since = at.now.since(done);
        let late = since > path + path + Duration::from_millis(100);
        (self.again, self.again_after) = (self.again + 1, since);
        if self.taken.is_none() && late && has_data {
            self.deaf += 1;
            self.show(at.number);
        } else if self.taken.is_none() && late {
            self.deferred += 1;
        }
    }

    /// A SYN (`which` 0) or SYN-ACK (1) is answered.
    pub(crate) fn answer(&mut self, which: usize, now: Instant) {
        self.answered[which] = self.first[which].get().map(|first| now.since(first));
    }

    /// The client sends data again, and has seen nothing but SYN-ACKs.
    pub(crate) fn sent_again(&mut self, number: u64) {
        self.ignored += 1;
        self.show(number);
    }

    /// The SYN met an older connection.
    pub(crate) fn older(&mut self, number: u64) {
        self.older += 1;
        self.show(number);
    }

    fn show(&mut self, number: u64) {
        if self.packets.len() < SHOWN {
            self.packets.push(number);
        }
    }
}
