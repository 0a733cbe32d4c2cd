//! TCP Fast Open (RFC 7413; Linux net/ipv4/tcp_fastopen.c): data with the SYN.
//!
//! `key.rs` makes cookies, `cache.rs` is what a client remembers of servers and of paths that swallow such SYNs,
//! `client.rs` sends SYNs with data or the request for a cookie and judges the answer, `child.rs` is a server's
//! connection before its handshake is over, `blackhole.rs` notices that Fast Open does harm. Queues and cookies of
//! listeners stand in `stack/fastopen.rs`.

mod blackhole;
mod cache;
mod child;
mod client;
mod key;

pub(crate) use cache::{FastOpenCache, Over, Seen};
pub use key::{FastOpenKey, FastOpenKeys};

use tcplab_wire::{FastOpen, TcpOptions};

use crate::endpoint::Endpoint;
use crate::segment::Segment;

/// Bits of `net.ipv4.tcp_fastopen`.
pub(crate) struct Bits;

impl Bits {
    /// Data may be sent with a SYN.
    pub(crate) const CLIENT: u32 = 1;
    /// Data that come with a SYN may be taken.
    pub(crate) const SERVER: u32 = 2;
    /// They are sent without a cookie.
    pub(crate) const CLIENT_NO_COOKIE: u32 = 4;
    /// They are taken without a cookie.
    pub(crate) const SERVER_NO_COOKIE: u32 = 0x200;
    /// Every listener takes them, also those without TCP_FASTOPEN.
    pub(crate) const EVERY_LISTENER: u32 = 0x400;
}

/// Bits of [`Negotiated::fast_open`](crate::options::Negotiated).
pub(crate) struct FastOpenState;

impl FastOpenState {
    /// `syn_data`: the SYN had data.
    pub(crate) const SYN_DATA: u16 = 1;
    /// `syn_fastopen`: it had the option; `syn_fastopen_exp`: of the experimental kind.
    pub(crate) const OPTION: u16 = 2;
    pub(crate) const EXPERIMENTAL: u16 = 4;
    /// `syn_fastopen_ch`: the first try after a black hole.
    pub(crate) const TRIES_AGAIN: u16 = 8;
    /// `syn_data_acked`: the SYN-ACK took the data, or ours did.
    pub(crate) const DATA_ACKED: u16 = 16;
    /// `defer_connect`: connect(2) has returned, the SYN waits for data.
    pub(crate) const DEFERRED: u16 = 32;
    /// TCP_FASTOPEN_NO_COOKIE, TCP_FASTOPEN_CONNECT.
    pub(crate) const NO_COOKIE: u16 = 64;
    pub(crate) const CONNECT: u16 = 128;
    /// `sk_write_pending`: a writer waits for the connection.
    pub(crate) const WRITER: u16 = 256;
    /// A server's connection that was made from a SYN.
    pub(crate) const CHILD: u16 = 512;
    /// `fastopen_client_fail` (`enum tcp_fastopen_client_fail`): two bits.
    pub(crate) const FAILURE_SHIFT: u32 = 14;
}

/// Why Fast Open was not used, or did not work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    CookieUnavailable = 1,
    DataNotAcked = 2,
    SynRetransmitted = 3,
}

/// Puts the option into a SYN's or SYN-ACK's header when its 40 bytes of options have room for it.
pub(crate) fn put_option(options: &mut TcpOptions, option: FastOpen) -> bool {
    let segment = Segment {
        options: *options,
        ..Segment::default()
    };
    let fits = segment.header_len() + option.wire_len() <= 60;
    if fits {
        options.set_fast_open(Some(option));
    }
    fits
}

impl Endpoint {
    pub(crate) fn fast_open_is(&self, bit: u16) -> bool {
        self.neg.fast_open & bit != 0
    }

    pub(crate) fn set_fast_open_bit(&mut self, bit: u16, on: bool) {
        match on {
            true => self.neg.fast_open |= bit,
            false => self.neg.fast_open &= !bit,
        }
    }

    /// `tcpi_fastopen_client_fail`.
    pub(crate) fn fast_open_failure(&self) -> u8 {
        (self.neg.fast_open >> FastOpenState::FAILURE_SHIFT) as u8
    }

    pub(crate) fn set_fast_open_failure(&mut self, why: Failure) {
        let shift = FastOpenState::FAILURE_SHIFT;
        self.neg.fast_open = (self.neg.fast_open & !(3 << shift)) | (why as u16) << shift;
    }

    /// `TCPI_OPT_SYN_DATA`: data of a SYN were taken.
    pub(crate) fn syn_data_acked(&self) -> bool {
        self.fast_open_is(FastOpenState::DATA_ACKED)
    }

    /// What `tcp_disconnect()` forgets of it: options of the socket stay.
    pub(crate) fn forget_fast_open(&mut self) {
        self.neg.fast_open &=
            FastOpenState::NO_COOKIE | FastOpenState::CONNECT | FastOpenState::CHILD;
    }
}
