//! A listening socket: its queues and their limits (Linux `struct request_sock_queue`, `inet_csk_listen_start()`).

use std::collections::VecDeque;

use tcplab_plan::profile::Profile;

use super::fastopen::FastQueue;
use crate::endpoint::{Buffers, Endpoint};
use crate::options::OpenOptions;
use crate::segment::Addr;

/// A listening socket.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub(crate) local: Addr,
    /// Options that accepted sockets inherit.
    pub(crate) options: OpenOptions,
    /// Its buffers, made by the sysctls of listen(2): later ones are for later sockets (`tcp_init_sock()`).
    pub(crate) buffers: Buffers,
    /// The same of `tp->reordering`.
    pub(crate) reordering: u32,
    /// The socket itself, when calls may change its options later: accepted sockets inherit these then.
    pub(crate) socket: Option<Box<Endpoint>>,
    /// `sk_max_ack_backlog`.
    pub(crate) backlog: u32,
    /// MTU of the path to its clients.
    pub(crate) mtu: u32,
    /// Its congestion control wants ECN (DCTCP).
    pub(crate) needs_ecn: bool,
    /// Its congestion control and its host speak CAQM.
    pub(crate) speaks_caqm: bool,
    /// Some client has asked for CAQM.
    pub(crate) caqm_asked: bool,
    /// Connections that wait for accept(2).
    pub(crate) waiting: VecDeque<u32>,
    /// Requests, and those whose SYN-ACK was not yet sent again.
    pub(crate) requests: u32,
    pub(crate) young: u32,
    /// TCP_DEFER_ACCEPT in retransmissions of the SYN-ACK; 0: off.
    pub(crate) defer_accept: u8,
    /// TCP_SYNCNT; 0: the sysctl's.
    pub(crate) syn_retries: u8,
    /// Second of the last SYN that got a cookie (`synq_overflow_ts`), in jiffies; none: never.
    pub(crate) overflowed: Option<u32>,
    /// Children of Fast Open whose handshake is not over.
    pub(crate) fast_open: FastQueue,
}

impl Listener {
    /// `sk_acceptq_is_full()`.
    pub(crate) fn is_accept_queue_full(&self) -> bool {
        self.waiting.len() as u64 > u64::from(self.backlog)
    }

    /// `inet_csk_reqsk_queue_is_full()`.
    pub(crate) fn is_syn_queue_full(&self, profile: &Profile) -> bool {
        match profile.syn_queue_at_backlog {
            true => self.requests >= self.backlog,
            false => self.requests > self.backlog,
        }
    }

    /// A request is gone; `young`: its SYN-ACK was never sent again.
    pub(crate) fn forget(&mut self, young: bool) {
        self.requests = self.requests.saturating_sub(1);
        if young {
            self.young = self.young.saturating_sub(1);
        }
    }
}
