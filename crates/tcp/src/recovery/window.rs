//! The send window (RFC 9293 3.10.7.4 "SND.WND"; Linux `tcp_ack_update_window()`, `tcp_ack_probe()`).

use tcplab_base::Seq;
use tcplab_wire::TcpFlags;

use super::Flag;
use crate::cx::Cx;
use crate::endpoint::{Endpoint, Snd, State, Stats};
use crate::segment::Segment;
use crate::timers::Pending;

impl Snd {
    /// `tcp_snd_una_update()`.
    #[inline]
    pub(super) fn una_update(&mut self, stats: &mut Stats, ack: Seq) {
        stats.bytes_acked += u64::from(ack - self.snd_una);
        self.snd_una = ack;
    }
}

impl Snd {
    /// `tcp_may_update_window()`: the segment is newer than the last that set the window, or as new with a larger one, in
    /// later releases also with one of 0.
    #[inline]
    pub(crate) fn may_update_window(&self, cx: &Cx<'_>, seg: &Segment, window: u32) -> bool {
        let counts = window > self.snd_wnd || (window == 0 && cx.host.profile.takes_zero_window);
        seg.ack.after(self.snd_una)
            || seg.seq.after(self.snd_wl1)
            || (seg.seq == self.snd_wl1 && counts)
    }
}

impl Endpoint {
    /// `tcp_ack_update_window()`: takes the window when the segment is newer than the last that set it.
    pub(super) fn ack_update_window(&mut self, cx: &mut Cx<'_>, seg: &Segment) -> Flag {
        let scale = match seg.flags.has(TcpFlags::SYN) {
            true => 0,
            false => u32::from(self.snd.snd_wscale),
        };
        let window = u32::from(seg.window) << scale.min(14);
        let mut flag = Flag::empty();
        if self.snd.may_update_window(cx, seg, window) {
            flag |= Flag::WIN_UPDATE;
            self.snd.snd_wl1 = seg.seq;
            if self.snd.snd_wnd != window {
                self.new_window(cx, window);
            }
        }
        self.snd.una_update(&mut self.stats, seg.ack);
        flag
    }

    #[cold]
    #[inline(never)]
    fn new_window(&mut self, cx: &mut Cx<'_>, window: u32) {
        self.snd.snd_wnd = window;
        self.rcv.pred = false;
        self.rcv.fast_path_check(&self.rcvq);
        if self.queue.has_unsent() {
            self.slow_start_after_idle_check(cx);
        }
        if window > self.snd.max_window {
            self.snd.max_window = window;
            match self.state {
                State::SynSent => self.sync_mss_of_syn(cx, self.snd.pmtu),
                _ => {
                    self.sync_mss(cx, self.snd.pmtu);
                }
            }
        }
    }

    /// `tcp_ack_probe()`: an ACK while nothing is in flight answers a window probe.
    #[cold]
    #[inline(never)]
    pub(super) fn ack_probe(&mut self, cx: &mut Cx<'_>) {
        let Some(end) = self
            .queue
            .send_head()
            .and_then(|head| self.queue.get(head))
            .map(|skb| skb.end_seq())
        else {
            return;
        };
        if !end.after(self.snd.wnd_end()) {
            self.rtt.backoff = 0;
            self.loss.probes_tstamp = 0;
            // What waits now is sent by the caller's tcp_data_snd_check().
            self.timers.disarm();
        } else {
            let when = self.rtt.probe0_when(cx);
            let when = self.clamp_to_user_timeout(cx, when);
            self.timers.arm_paced(cx, &self.tune, Pending::Probe0, when);
        }
    }
}
