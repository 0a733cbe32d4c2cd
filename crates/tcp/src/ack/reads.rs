//! What a read sends: the ACK that was not sent before, or a window update.
//!
//! Linux `tcp_cleanup_rbuf()`, setsockopt(TCP_QUICKACK).

use tcplab_plan::profile::AckEngine;

use crate::cx::Cx;
use crate::endpoint::{AckPending, AckState, Endpoint, Rcv, Shutdown, State};

impl AckState {
    /// `tcp_mstamp_refresh()`, where it shows.
    #[inline]
    pub(crate) fn note_clock(&mut self, cx: &Cx<'_>) {
        if cx.host.profile.read_keeps_clock {
            self.stamp = cx.now;
        }
    }

    /// An ACK is due, and more than a segment is unACKed, or the reader has taken a short segment.
    fn read_acks(&self, cx: &Cx<'_>, rcv: &Rcv, copied: u64) -> bool {
        if !self.is_scheduled() || cx.host.profile.ack_engine == AckEngine::EverySecond {
            return false;
        }
        let unacked = rcv.rcv_nxt - rcv.rcv_wup;
        let pending = self.pending;
        let pushed = pending.intersects(AckPending::PUSHED2)
            || (pending.intersects(AckPending::PUSHED) && !self.in_pingpong(cx));
        unacked > u32::from(self.rcv_mss) || (copied > 0 && pushed && rcv.rmem_alloc == 0)
    }
}

impl Endpoint {
    /// `tcp_cleanup_rbuf()` after a read of `copied` bytes.
    pub(crate) fn cleanup_rbuf(&mut self, cx: &mut Cx<'_>, copied: u64) {
        if self.ack.read_acks(cx, &self.rcv, copied) || self.read_opens_window(cx, copied) {
            self.ack.note_clock(cx);
            self.send_ack(cx);
        }
    }

    /// The window became at least twice as large (RFC 9293 3.8.6.2.2).
    fn read_opens_window(&mut self, cx: &Cx<'_>, copied: u64) -> bool {
        if copied == 0 || self.shutdown.intersects(Shutdown::RECEIVE) {
            return false;
        }
        let offered = self.rcv.receive_window();
        if u64::from(offered) * 2 > u64::from(self.rcv.window_clamp) {
            return false;
        }
        let new = self.rcv.window_to_offer(cx, &mut self.ack, &self.snd);
        new > 0 && u64::from(new) >= u64::from(offered) * 2
    }

    /// setsockopt(TCP_QUICKACK).
    pub fn set_quickack(&mut self, cx: &mut Cx<'_>, value: i32) {
        if value == 0 {
            self.ack.enter_pingpong(cx);
            return;
        }
        self.ack.exit_pingpong();
        let open = matches!(self.state, State::Established | State::CloseWait);
        if open && self.ack.is_scheduled() {
            self.ack.pending |= AckPending::PUSHED;
            match cx.host.profile.read_keeps_clock {
                true => self.cleanup_rbuf(cx, 1),
                // No packet came: the ACK has the time stamp of the last one.
                false => cx.at_mstamp(self.last_stamp(cx), |cx| self.cleanup_rbuf(cx, 1)),
            }
            if value & 1 == 0 {
                self.ack.enter_pingpong(cx);
            }
        }
    }

    /// getsockopt(TCP_QUICKACK): not pingpong.
    pub fn quickack(&self, cx: &Cx<'_>) -> bool {
        !self.ack.in_pingpong(cx)
    }
}
