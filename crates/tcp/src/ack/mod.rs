//! The receiver's ACKs: quick, delayed, compressed (RFC 5681 4.2; Linux `icsk_ack`).

use crate::cx::Cx;
use crate::endpoint::Endpoint;

impl Endpoint {
    /// `tcp_event_ack_sent()`: an ACK left with a segment of `packets` wire packets.
    pub(crate) fn event_ack_sent(&mut self, _cx: &mut Cx<'_>, _packets: u32) {}

    /// The receiver's part of `tcp_event_data_sent()`: answering within ato enters pingpong.
    pub(crate) fn ack_event_data_sent(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_cleanup_rbuf()` after a read of `copied` bytes.
    pub(crate) fn cleanup_rbuf(&mut self, _cx: &mut Cx<'_>, _copied: u64) {}

    /// `tcp_ack_snd_check()`: ACK now, later, or compressed.
    pub(crate) fn ack_snd_check(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_enter_quickack_mode()`.
    pub(crate) fn enter_quickack_mode(&mut self, _cx: &mut Cx<'_>, _max: u32) {}

    /// `tcp_delack_timer_handler()`.
    pub(crate) fn on_delack_timer(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_compressed_ack_kick()`.
    pub(crate) fn on_comp_sack_timer(&mut self, _cx: &mut Cx<'_>) {}

    /// setsockopt(TCP_QUICKACK).
    pub fn set_quickack(&mut self, _cx: &mut Cx<'_>, _value: i32) {}

    /// getsockopt(TCP_QUICKACK): not pingpong.
    pub fn quickack(&self) -> bool {
        true
    }

    /// The credits of immediate ACKs that are left, as /proc/net/tcp shows them.
    pub fn quick_credits(&self) -> u32 {
        u32::from(self.ack.quick)
    }

    /// `inet_csk_clear_xmit_timer(ICSK_TIME_DACK)`.
    pub(crate) fn clear_delack(&mut self) {}
}
