//! What leaves: building segments, Nagle, TSO, pacing, retransmissions, probes, control segments.

use crate::cx::Cx;
use crate::endpoint::{Endpoint, SocketError};
use crate::queue::Id;

impl Endpoint {
    /// One write (`tcp_sendmsg()`): takes what fits into the send buffer; [`SocketError::Again`]: nothing fitted.
    /// `more`: MSG_MORE.
    pub fn write(
        &mut self,
        _cx: &mut Cx<'_>,
        _bytes: u64,
        _more: bool,
    ) -> Result<u64, SocketError> {
        Err(SocketError::Again)
    }

    /// Whether poll(2) says POLLOUT (`sk_stream_is_writeable()`, TCP_NOTSENT_LOWAT).
    pub fn is_writable(&self, _cx: &Cx<'_>) -> bool {
        false
    }

    /// Takes the wish of the owner to hear when there is room again (`SOCK_NOSPACE`); true when it should be told now.
    pub fn take_write_space(&mut self) -> bool {
        false
    }

    /// `tcp_sync_mss()`: MSS and what follows from a path MTU.
    pub(crate) fn sync_mss(&mut self, _cx: &mut Cx<'_>, _pmtu: u32) -> u32 {
        0
    }

    /// `tcp_current_mss()`: payload of a full segment with the options that would be sent now.
    pub(crate) fn current_mss(&mut self, _cx: &mut Cx<'_>) -> u32 {
        0
    }

    /// `tcp_send_ack()`: a pure ACK now.
    pub(crate) fn send_ack(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_push_pending_frames()`.
    pub(crate) fn push_pending_frames(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_write_xmit()`: sends what windows and rules allow; true when something waits that nothing in flight will
    /// bring out (a zero-window probe must be armed). `push_one`: 0 no limit, 1 one segment, 2 one as a loss probe.
    pub(crate) fn write_xmit(
        &mut self,
        _cx: &mut Cx<'_>,
        _mss: u32,
        _nonagle: u8,
        _push_one: u8,
    ) -> bool {
        false
    }

    /// `tcp_retransmit_skb()`: sends the segment again; false: it could not be sent now.
    pub(crate) fn retransmit_skb(&mut self, _cx: &mut Cx<'_>, _id: Id, _segs: u32) -> bool {
        false
    }

    /// `tcp_fragment()`: cuts a sent or unsent segment at `len`; counters of the scoreboard follow.
    pub(crate) fn fragment(
        &mut self,
        _cx: &mut Cx<'_>,
        _id: Id,
        _len: u32,
        _mss: u32,
    ) -> Option<Id> {
        None
    }

    /// `tcp_data_snd_check()`: after an ACK: more data, and room in the buffer.
    pub(crate) fn data_snd_check(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_send_fin()`.
    pub(crate) fn send_fin(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_send_active_reset()`.
    pub(crate) fn send_active_reset(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_send_probe0()` and `tcp_probe_timer()`: the zero-window probe's timer is due.
    pub(crate) fn on_probe_timer(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_check_probe_timer()`: arms the probe timer when nothing is in flight and something waits.
    pub(crate) fn check_probe_timer(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_write_wakeup()`: a probe or one segment of data.
    pub(crate) fn write_wakeup(&mut self, _cx: &mut Cx<'_>) -> bool {
        false
    }

    /// The pacing timer is due (`tcp_pace_kick()`).
    pub(crate) fn on_pacing_timer(&mut self, _cx: &mut Cx<'_>) {}
}
