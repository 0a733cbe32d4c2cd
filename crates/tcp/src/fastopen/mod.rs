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

use bitflags::bitflags;
use tcplab_wire::{FastOpen, TcpOptions};

use crate::pack::packed_flags;
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

bitflags! {
    /// What a connection has of Fast Open.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub(crate) struct FastOpenState: u16 {
        /// `syn_data`: the SYN had data.
        const SYN_DATA = 1;
        /// `syn_fastopen`: it had the option; `syn_fastopen_exp`: of the experimental kind.
        const OPTION = 2;
        const EXPERIMENTAL = 4;
        /// `syn_fastopen_ch`: the first try after a black hole.
        const TRIES_AGAIN = 8;
        /// `syn_data_acked`: the SYN-ACK took the data, or ours did.
        const DATA_ACKED = 16;
        /// `defer_connect`: connect(2) has returned, the SYN waits for data.
        const DEFERRED = 32;
        /// TCP_FASTOPEN_NO_COOKIE, TCP_FASTOPEN_CONNECT.
        const NO_COOKIE = 64;
        const CONNECT = 128;
        /// `sk_write_pending`: a writer waits for the connection.
        const WRITER = 256;
        /// A server's connection that was made from a SYN.
        const CHILD = 512;
        /// [`Failure`] (`fastopen_client_fail`).
        const FAILURE = 3 << 14;
    }
}

packed_flags!(FastOpenState);

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

impl FastOpenState {
    /// `tcpi_fastopen_client_fail`.
    pub(crate) fn failure(self) -> u8 {
        (self.bits() >> Self::FAILURE.bits().trailing_zeros()) as u8
    }

    pub(crate) fn set_failure(&mut self, why: Failure) {
        let why = (why as u16) << Self::FAILURE.bits().trailing_zeros();
        *self = self.difference(Self::FAILURE) | Self::from_bits_retain(why);
    }

    /// What `tcp_disconnect()` forgets of it: options of the socket stay.
    pub(crate) fn forget(&mut self) {
        *self &= Self::NO_COOKIE | Self::CONNECT | Self::CHILD;
    }
}
