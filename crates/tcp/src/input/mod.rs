//! What arrives: dispatch by state, validation, data, window and buffer of the receiver.

mod syn_sent;

pub(crate) use syn_sent::{in_window, paws_reject};

use tcplab_base::Seq;

use crate::cx::Cx;
use crate::endpoint::{Endpoint, ReadOutcome};
use crate::segment::Segment;

impl Endpoint {
    /// A segment for this connection (`tcp_v4_do_rcv()`, `tcp_rcv_established()`, `tcp_rcv_state_process()`).
    pub fn on_segment(&mut self, _cx: &mut Cx<'_>, _seg: &Segment) {}

    /// One read of at most `most` bytes (`tcp_recvmsg()`): TCP_QUICKACK and window updates follow from it.
    pub fn read(&mut self, _cx: &mut Cx<'_>, _most: u64) -> ReadOutcome {
        ReadOutcome::Again
    }

    /// Bytes that a read would give now (SIOCINQ).
    pub fn readable_bytes(&self) -> u64 {
        0
    }

    /// Whether poll(2) says POLLIN: enough bytes for SO_RCVLOWAT, a FIN, an error.
    pub fn is_readable(&self) -> bool {
        false
    }

    /// `tcp_init_buffer_space()`: receive buffer, window clamp and threshold when the handshake is over.
    pub(crate) fn init_buffer_space(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_initialize_rcv_mss()`.
    pub(crate) fn initialize_rcv_mss(&mut self) {}

    /// `tcp_select_initial_window()`: (rcv_wnd, window_clamp, rcv_wscale).
    pub(crate) fn select_initial_window(
        _cx: &Cx<'_>,
        _space: u32,
        _mss: u32,
        _clamp: u32,
        _wscale_ok: bool,
        _init_rcv_wnd: u32,
    ) -> (u32, u32, u8) {
        (0, 0, 0)
    }

    /// `tcp_select_window()`: the window field of a segment that leaves now, and moves `rcv_wnd`, `rcv_wup`.
    pub(crate) fn select_window(&mut self, _cx: &mut Cx<'_>) -> u16 {
        0
    }

    /// `tcp_receive_window()`: what is left of the offered window.
    pub(crate) fn receive_window(&self) -> u32 {
        0
    }

    /// `tcp_fin()`: the peer's FIN is in order.
    pub(crate) fn fin(&mut self, _cx: &mut Cx<'_>) {}

    /// `tcp_data_queue()`: payload and FIN of a segment whose ACK was handled.
    pub(crate) fn data_queue(&mut self, _cx: &mut Cx<'_>, _seg: &Segment) {}

    /// `tcp_validate_incoming()`: PAWS, RST, SYN, window (RFC 5961); false: drop it, all is done.
    pub(crate) fn validate(&mut self, _cx: &mut Cx<'_>, _seg: &Segment) -> bool {
        true
    }

    /// `tcp_store_ts_recent()` when the segment's time stamp may replace it (`tcp_replace_ts_recent()`).
    pub(crate) fn replace_ts_recent(&mut self, _cx: &mut Cx<'_>, _seq: Seq) {}

    /// `tcp_send_challenge_ack()` (RFC 5961 7), rate-limited.
    pub(crate) fn send_challenge_ack(&mut self, _cx: &mut Cx<'_>) {}
}
