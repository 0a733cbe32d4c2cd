//! What a read sends: the ACK that was not sent before, or a window update.
//!
//! Linux `tcp_cleanup_rbuf()`, setsockopt(TCP_QUICKACK).

use tcplab_plan::profile::AckEngine;

use crate::cx::Cx;
use crate::endpoint::{AckPending, Endpoint, Shutdown, State};

impl Endpoint {
    /// `tcp_cleanup_rbuf()` after a read of `copied` bytes.
    pub(crate) fn cleanup_rbuf(&mut self, cx: &mut Cx<'_>, copied: u64) {
        if self.read_acks(cx, copied) || self.read_opens_window(cx, copied) {
            self.send_ack(cx);
        }
    }

    /// An ACK is due, and more than a segment is unACKed, or the reader has taken a short segment.
    fn read_acks(&self, cx: &Cx<'_>, copied: u64) -> bool {
        if !self.ack_scheduled() || cx.host.profile.ack_engine == AckEngine::EverySecond {
            return false;
        }
        let unacked = self.rcv.rcv_nxt - self.rcv.rcv_wup;
        let pending = self.ack.pending;
        let pushed = pending.intersects(AckPending::PUSHED2)
            || (pending.intersects(AckPending::PUSHED) && !self.in_pingpong(cx));
        unacked > u32::from(self.ack.rcv_mss) || (copied > 0 && pushed && self.rcv.rmem_alloc == 0)
    }

    /// The window became at least twice as large (RFC 9293 3.8.6.2.2).
    fn read_opens_window(&mut self, cx: &Cx<'_>, copied: u64) -> bool {
        if copied == 0 || self.shutdown.intersects(Shutdown::RECEIVE) {
            return false;
        }
        let offered = self.receive_window();
        if u64::from(offered) * 2 > u64::from(self.rcv.window_clamp) {
            return false;
        }
        let new = self.window_to_offer(cx);
        new > 0 && u64::from(new) >= u64::from(offered) * 2
    }

    /// setsockopt(TCP_QUICKACK).
    pub fn set_quickack(&mut self, cx: &mut Cx<'_>, value: i32) {
        if value == 0 {
            self.enter_pingpong(cx);
            return;
        }
        self.exit_pingpong();
        let open = matches!(self.state, State::Established | State::CloseWait);
        if open && self.ack_scheduled() {
            self.ack.pending |= AckPending::PUSHED;
            self.cleanup_rbuf(cx, 1);
            if value & 1 == 0 {
                self.enter_pingpong(cx);
            }
        }
    }

    /// getsockopt(TCP_QUICKACK): not pingpong.
    pub fn quickack(&self, cx: &Cx<'_>) -> bool {
        !self.in_pingpong(cx)
    }
}
