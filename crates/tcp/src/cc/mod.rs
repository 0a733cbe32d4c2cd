//! Congestion control: one file an algorithm, one line of the enum, one row of the table.
//!
//! The calls are those of Linux's `struct tcp_congestion_ops`. `snd_cwnd` and `snd_ssthresh` have one
//! writer, `window.rs` of this folder; `recovery/` calls it.

mod bbr;
pub(crate) mod caqm;
mod cubic;
mod dctcp;
mod hystart;
mod rate;
mod reno;
mod window;

#[cfg(test)]
mod tests;

use tcplab_base::Seq;

use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::host::DeviceQueue;
use crate::recovery::{CaState, Flag};
use bbr::Bbr;
use caqm::Caqm;
use cubic::Cubic;
use dctcp::Dctcp;
pub(crate) use window::INFINITE_SSTHRESH;

/// Which algorithm, and its state.
#[derive(Clone, Debug, Default)]
pub(crate) enum Congestion {
    /// RFC 5681 (`tcp_cong.c`).
    #[default]
    Reno,
    /// RFC 9438 (`tcp_cubic.c`).
    Cubic(Cubic),
    /// RFC 8257 (`tcp_dctcp.c`).
    Dctcp(Dctcp),
    /// BBR version 1 (`tcp_bbr.c`); its state is large.
    Bbr(Box<Bbr>),
    /// CAQM, for what both ends agreed on it (openEuler `tcp_caqm.c`).
    Caqm(Box<Caqm>),
    /// Reno, where only one end speaks CAQM (`caqm_reno`).
    CaqmReno,
}

/// Makes an algorithm's first state.
type Make = fn() -> Congestion;

/// Every algorithm by its name, as `tcp_available_congestion_control` would list them.
const LIST: &[(&str, Make)] = &[
    ("reno", || Congestion::Reno),
    ("cubic", || Congestion::Cubic(Cubic::default())),
    ("dctcp", || Congestion::Dctcp(Dctcp::default())),
    ("bbr", || Congestion::Bbr(Box::default())),
    ("caqm", || Congestion::Caqm(Box::default())),
];

/// The names of all congestion controls.
pub fn congestion_controls() -> impl Iterator<Item = &'static str> {
    LIST.iter().map(|(name, _)| *name)
}

impl Congestion {
    fn named(name: &str) -> Option<Self> {
        let (_, make) = LIST.iter().find(|(known, _)| *known == name)?;
        Some(make())
    }
}

/// `enum tcp_ca_event`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub(crate) enum CaEvent {
    TxStart,
    CwndRestart,
    CompleteCwr,
    Loss,
    EcnNoCe,
    EcnIsCe,
}

/// One ACK's view of delivery (`struct rate_sample`), filled by `recovery/` and `cc/rate.rs`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateSample {
    pub(crate) prior_mstamp_us: u64,
    pub(crate) prior_delivered: u32,
    pub(crate) prior_delivered_ce: u32,
    pub(crate) delivered: i32,
    pub(crate) delivered_ce: i32,
    pub(crate) interval_us: i64,
    pub(crate) snd_interval_us: u32,
    pub(crate) rcv_interval_us: u32,
    pub(crate) rtt_us: i64,
    pub(crate) losses: u32,
    pub(crate) acked_sacked: u32,
    pub(crate) prior_in_flight: u32,
    pub(crate) last_end_seq: Seq,
    pub(crate) is_app_limited: bool,
    pub(crate) is_retrans: bool,
    pub(crate) is_ack_delayed: bool,
}

impl Endpoint {
    /// `tcp_assign_congestion_control()` with the socket's, route's or sysctl's algorithm. It begins with
    /// [`Endpoint::cc_start`]. A host's owner has refused names that are not in [`congestion_controls`].
    pub(crate) fn cc_init(&mut self, name: &str) {
        self.cc = Congestion::named(name).unwrap_or_default();
    }

    /// `tcp_init_congestion_control()`: the handshake is over, and the algorithm that [`Endpoint::cc_init`] chose
    /// begins.
    pub(crate) fn cc_start(&mut self, cx: &mut Cx<'_>) {
        if cx.host.queue == DeviceQueue::Paces {
            // DEVIATION: fq holds packets back that TCP has sent (SK_PACING_FQ), two super-segments by the rule of small
            // queues; here TCP keeps them itself until the same time of departure (SK_PACING_NEEDED).
            self.tune.pacing_status = 1;
        }
        match &self.cc {
            Congestion::Reno | Congestion::CaqmReno => {}
            Congestion::Cubic(_) => {
                self.cc = Congestion::Cubic(Cubic::start(cx.now_us() as u32, self.snd.snd_nxt));
            }
            Congestion::Dctcp(_) => self.dctcp_init(),
            Congestion::Bbr(_) => self.bbr_init(cx),
            Congestion::Caqm(_) => self.caqm_init(cx),
        }
    }

    /// The algorithm's name, as getsockopt(TCP_CONGESTION) gives it.
    pub fn congestion_name(&self) -> &'static str {
        match &self.cc {
            Congestion::Reno => "reno",
            Congestion::Cubic(_) => "cubic",
            Congestion::Dctcp(_) => "dctcp",
            Congestion::Bbr(_) => "bbr",
            Congestion::Caqm(_) => "caqm",
            Congestion::CaqmReno => "caqm_reno",
        }
    }

    /// The algorithm wants ECN negotiated (DCTCP).
    #[inline]
    pub(crate) fn cc_needs_ecn(&self) -> bool {
        matches!(self.cc, Congestion::Dctcp(_))
    }

    /// It sets the window by itself (`ca_ops->cong_control`): no PRR, no restart after idle.
    #[inline]
    pub(crate) fn cc_controls_cwnd(&self) -> bool {
        matches!(self.cc, Congestion::Bbr(_))
    }

    /// `min_tso_segs()`: the smallest super-segment, in segments.
    pub(crate) fn cc_min_tso_segs(&self, cx: &Cx<'_>) -> u32 {
        match &self.cc {
            Congestion::Bbr(_) => self.bbr_min_tso_segs(),
            _ => u32::from(cx.host.sysctl.tcp_min_tso_segs),
        }
    }

    /// `sndbuf_expand()`: windows that the send buffer shall hold.
    pub(crate) fn cc_sndbuf_factor(&self) -> u32 {
        match &self.cc {
            Congestion::Bbr(_) => 3,
            _ => 2,
        }
    }

    /// `ssthresh()`: the threshold after a loss, in packets.
    pub(crate) fn cc_ssthresh(&mut self) -> u32 {
        let cwnd = self.snd.snd_cwnd;
        match &mut self.cc {
            Congestion::Reno | Congestion::CaqmReno => self.reno_ssthresh(),
            Congestion::Caqm(caqm) => caqm.ssthresh(cwnd),
            Congestion::Cubic(cubic) => cubic.ssthresh(cwnd),
            Congestion::Dctcp(d) => d.ssthresh(cwnd),
            Congestion::Bbr(_) => self.bbr_ssthresh(),
        }
    }

    /// `undo_cwnd()`: the window to go back to.
    pub(crate) fn cc_undo_cwnd(&mut self, cx: &mut Cx<'_>) -> u32 {
        match &self.cc {
            Congestion::Reno | Congestion::CaqmReno | Congestion::Cubic(_) => self.reno_undo_cwnd(),
            Congestion::Caqm(caqm) => caqm.undo_cwnd(self.snd.snd_cwnd),
            Congestion::Dctcp(d) => d.undo_cwnd(self.snd.snd_cwnd),
            Congestion::Bbr(_) => self.bbr_undo_cwnd(cx),
        }
    }

    /// `tcp_set_ca_state()`: tells the algorithm, then the state changes.
    pub(crate) fn cc_set_state(&mut self, cx: &mut Cx<'_>, state: CaState) {
        let snd_nxt = self.snd.snd_nxt;
        match &mut self.cc {
            Congestion::Reno | Congestion::CaqmReno => {}
            Congestion::Caqm(_) => self.caqm_set_state(cx, state),
            Congestion::Cubic(cubic) if state == CaState::Loss => {
                cubic.on_loss_state(cx.now_us() as u32, snd_nxt);
            }
            Congestion::Cubic(_) => {}
            Congestion::Dctcp(_) => {
                if state == CaState::Recovery && self.loss.ca_state != CaState::Recovery {
                    self.dctcp_on_loss();
                }
            }
            Congestion::Bbr(_) => self.bbr_set_state(cx, state),
        }
        self.loss.ca_state = state;
    }

    /// `cwnd_event()`.
    #[inline]
    pub(crate) fn cc_event(&mut self, cx: &mut Cx<'_>, event: CaEvent) {
        match (&mut self.cc, event) {
            (Congestion::Cubic(cubic), CaEvent::TxStart) => {
                cubic.tx_start(cx.jiffies32(), self.snd.lsndtime);
            }
            (Congestion::Dctcp(_), CaEvent::EcnIsCe | CaEvent::EcnNoCe) => {
                self.dctcp_ece(cx, event);
            }
            (Congestion::Dctcp(_), CaEvent::Loss) => self.dctcp_on_loss(),
            (Congestion::Bbr(_), CaEvent::TxStart) => self.bbr_tx_start(cx),
            _ => {}
        }
    }

    /// `in_ack_event()`.
    #[inline]
    pub(crate) fn cc_in_ack_event(&mut self) {
        if self.cc_needs_ecn() {
            self.dctcp_in_ack();
        }
    }

    /// `pkts_acked()`: the ACK's RTT sample; negative: it has none.
    #[inline]
    pub(crate) fn cc_pkts_acked(&mut self, cx: &mut Cx<'_>, rtt_us: i32) {
        if let Congestion::Cubic(_) = self.cc {
            self.cubic_acked(cx, rtt_us);
        }
    }

    /// `tcp_cong_control()`: PRR's reduction or the algorithm's growth, then the pacing rate.
    pub(crate) fn cong_control(
        &mut self,
        cx: &mut Cx<'_>,
        acked: u32,
        flag: Flag,
        rs: &RateSample,
    ) {
        if self.cc_controls_cwnd() {
            self.bbr_main(cx, rs);
            return;
        }
        if self.in_cwnd_reduction() {
            self.cwnd_reduction(acked, rs.losses, flag);
        } else if self.may_raise_cwnd(cx, flag) {
            match &self.cc {
                Congestion::Cubic(_) => self.cubic_cong_avoid(cx, acked),
                // The switches say how it grows.
                Congestion::Caqm(caqm) if caqm.is_heard() => {}
                _ => self.reno_cong_avoid(acked),
            }
            self.snd.snd_cwnd_stamp = cx.jiffies32();
        }
        self.update_pacing_rate(cx);
    }

    /// `tcp_may_raise_cwnd()`: data was ACKed in order; with much reordering any delivery counts.
    fn may_raise_cwnd(&self, cx: &Cx<'_>, flag: Flag) -> bool {
        // FLAG_FORWARD_PROGRESS
        let progress = Flag::ACKED | Flag::DATA_SACKED;
        match self.loss.reordering > cx.host.sysctl.tcp_reordering {
            true => flag.intersects(progress),
            false => flag.intersects(Flag::DATA_ACKED),
        }
    }
}
