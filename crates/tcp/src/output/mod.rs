//! What leaves: segments are built, held back by Nagle's rule and the windows, paced, sent again, probed.
//!
//! `write.rs` fills the send queue (tcp_sendmsg), `xmit.rs` decides what may go (tcp_write_xmit), `transmit.rs`
//! builds the header (tcp_transmit_skb); the others hold one mechanism each. Autocorking and TSQ never hold a segment
//! back here: a virtual link takes each segment at once, so no segment waits in a qdisc or a card.

mod chrono;
mod control;
mod fragment;
mod mss;
mod mtu_probe;
mod nagle;
mod pacing;
mod probe;
mod retransmit;
mod space;
mod transmit;
mod tso;
mod validate;
mod write;
mod xmit;

pub(crate) use mtu_probe::MtuProbing;
pub(crate) use probe::resource_probe_interval;

pub(crate) use self::xmit::Push;
