//! TCP Fast Open (RFC 7413; Linux net/ipv4/tcp_fastopen.c): data with the SYN.
//!
//! - `key.rs`: makes cookies.
//! - `cache.rs`: the client's memory of servers, and of paths that swallow such SYNs.
//! - `client.rs`: sends SYNs with data or a request for a cookie, and judges the answer.
//! - `child.rs`: a server's connection before its handshake is over.
//! - `blackhole.rs`: notices when Fast Open does harm.
//! - `stack/fastopen.rs`: queues and cookies of listeners.

mod blackhole;
mod cache;
mod child;
mod client;
mod key;

pub(crate) use cache::{FastOpenCache, Over, Seen};
pub use key::{FastOpenKey, FastOpenKeys};

use tcplab_wire::{FastOpen, TcpOptions};

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
