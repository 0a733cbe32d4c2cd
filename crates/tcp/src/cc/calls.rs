//! When a connection calls its congestion control.

use super::{CaEvent, Congestion, CongestionControl, RateSample};
use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::host::DeviceQueue;
use crate::recovery::{CaState, Flag, Loss};

impl Loss {
    /// `tcp_may_raise_cwnd()`: data was ACKed in order; with much reordering any delivery counts.
    fn may_raise_cwnd(&self, cx: &Cx<'_>, flag: Flag) -> bool {
        // FLAG_FORWARD_PROGRESS
        let progress = Flag::ACKED | Flag::DATA_SACKED;
        match self.reordering > cx.host.sysctl.tcp_reordering {
            true => flag.intersects(progress),
            false => flag.intersects(Flag::DATA_ACKED),
        }
    }
}

impl Endpoint {
    /// `tcp_assign_congestion_control()` with the socket's, route's or sysctl's algorithm. It begins with
    /// [`Endpoint::cc_start`]. A host's owner has refused names that are neither in
    /// [`congestion_controls`](super::congestion_controls) nor its own.
    pub(crate) fn cc_init(&mut self, cx: &Cx<'_>, name: &str) {
        self.cc = match &cx.host.external {
            None => Congestion::named(name).unwrap_or_default(),
            Some(own) => Congestion::own_or_named(own, name),
        };
    }

    /// `tcp_init_congestion_control()`: the handshake is over, and the algorithm that [`Endpoint::cc_init`] chose
    /// begins.
    pub(crate) fn cc_start(&mut self, cx: &mut Cx<'_>) {
        if cx.host.queue == DeviceQueue::Paces {
            // DEVIATION: fq holds packets back that TCP has sent (SK_PACING_FQ), two super-segments by the rule of small
            // queues; here TCP keeps them itself until the same time of departure (SK_PACING_NEEDED).
            self.tune.pacing_needed = true;
        }
        if !self.cc.is_packable() {
            self.cc.begin(self.local, self.remote);
        }
        let (cc, mut control) = self.control(cx);
        if let Some(other) = cc.init(&mut control) {
            self.cc = other;
        }
    }

    /// The algorithm's name, as getsockopt(TCP_CONGESTION) gives it.
    pub fn congestion_name(&self) -> &str {
        self.cc.name()
    }

    /// `tcp_set_ca_state()`: tells the algorithm, then the state changes.
    pub(crate) fn cc_set_state(&mut self, cx: &mut Cx<'_>, state: CaState) {
        let (cc, mut control) = self.control(cx);
        cc.set_state(&mut control, state);
        self.loss.ca_state = state;
    }

    /// `cwnd_event()`.
    #[inline]
    pub(crate) fn cc_event(&mut self, cx: &mut Cx<'_>, event: CaEvent) {
        let (cc, mut control) = self.control(cx);
        if let Some(echo) = cc.cwnd_event(&mut control, event) {
            self.ecn_echo(cx, echo);
        }
    }

    /// `pkts_acked()`: the ACK's RTT sample in microseconds; negative without a sample.
    #[inline]
    pub(crate) fn cc_pkts_acked(&mut self, cx: &mut Cx<'_>, rtt_us: i32) {
        let (cc, mut control) = self.control(cx);
        cc.pkts_acked(&mut control, rtt_us);
    }

    /// `ssthresh()`: the threshold after a loss, in packets.
    pub(crate) fn cc_ssthresh(&mut self, cx: &mut Cx<'_>) -> u32 {
        let (cc, control) = self.control(cx);
        cc.ssthresh(&control)
    }

    /// `undo_cwnd()`: the window to go back to.
    pub(crate) fn cc_undo_cwnd(&mut self, cx: &mut Cx<'_>) -> u32 {
        let (cc, mut control) = self.control(cx);
        cc.undo_cwnd(&mut control)
    }

    /// `tcp_cong_control()`: PRR's reduction or the algorithm's growth, then the pacing rate.
    pub(crate) fn cong_control(
        &mut self,
        cx: &mut Cx<'_>,
        acked: u32,
        flag: Flag,
        rs: &RateSample,
    ) {
        if self.cc.controls_cwnd() {
            let (cc, mut control) = self.control(cx);
            cc.cong_control(&mut control, rs);
            return;
        }
        if self.loss.in_cwnd_reduction() {
            self.loss
                .cwnd_reduction(cx, &mut self.snd, acked, rs.losses, flag);
        } else if self.loss.may_raise_cwnd(cx, flag) {
            let (cc, mut control) = self.control(cx);
            cc.cong_avoid(&mut control, acked, rs);
            self.snd.snd_cwnd_stamp = cx.jiffies32();
        }
        self.tune.update_rate(cx, &self.loss, &self.rtt, &self.snd);
    }
}
