//! The interface of a congestion control: the calls of Linux's `struct tcp_congestion_ops`, and the parts of its
//! connection that it may read and change.

use tcplab_base::Seq;

use super::{Congestion, reno};
use crate::cx::Cx;
use crate::endpoint::{Endpoint, Rcv, Snd, Stats, Tune};
use crate::options::Negotiated;
use crate::recovery::{CaState, Loss};
use crate::rtt::Rtt;
use crate::sysctl::Sysctl;

/// A connection as its congestion control sees it. It changes the window and its threshold (`snd`) and the pacing
/// (`tune`), and nothing else.
pub(crate) struct Control<'a, 'b> {
    pub(crate) cx: &'a mut Cx<'b>,
    pub(crate) snd: &'a mut Snd,
    pub(crate) tune: &'a mut Tune,
    pub(crate) rtt: &'a Rtt,
    pub(crate) loss: &'a Loss,
    pub(crate) rcv: &'a Rcv,
    pub(crate) neg: &'a Negotiated,
    pub(crate) stats: &'a Stats,
}

/// `struct tcp_congestion_ops`; what an algorithm leaves out is Reno's, or nothing.
pub(crate) trait CongestionControl {
    /// `init()`: the handshake is over. Another algorithm where this one cannot work on the connection.
    fn init(&mut self, _: &mut Control<'_, '_>) -> Option<Congestion> {
        None
    }

    /// `TCP_CONG_NEEDS_ECN`: ECN is asked for, and data leaves as ECT(0).
    fn needs_ecn(&self) -> bool {
        false
    }

    /// It has `cong_control()`: it sets the window and the pacing rate by itself, without PRR or a restart after idle.
    fn controls_cwnd(&self) -> bool {
        false
    }

    /// `min_tso_segs()`: segments of the smallest super-segment.
    fn min_tso_segs(&self, _: &Tune, sysctl: &Sysctl) -> u32 {
        u32::from(sysctl.tcp_min_tso_segs)
    }

    /// `sndbuf_expand()`: windows that the send buffer shall hold.
    fn sndbuf_factor(&self) -> u32 {
        2
    }

    /// `ssthresh()`: the threshold after a loss, in packets.
    fn ssthresh(&mut self, c: &Control<'_, '_>) -> u32;

    /// `undo_cwnd()`: the window to go back to, in packets.
    fn undo_cwnd(&mut self, c: &mut Control<'_, '_>) -> u32 {
        reno::undo_cwnd(c.snd)
    }

    /// `set_state()`: `c.loss.ca_state` is still the state before.
    fn set_state(&mut self, _: &mut Control<'_, '_>, _: CaState) {}

    /// `cwnd_event()`; what the receiver's ACKs shall tell of marks, none: as they do.
    fn cwnd_event(&mut self, _: &mut Control<'_, '_>, _: CaEvent) -> Option<Echo> {
        None
    }

    /// `in_ack_event()`, before anything of the ACK is worked out.
    fn in_ack_event(&mut self, _: &Snd, _: &Stats) {}

    /// `pkts_acked()`: the ACK's RTT sample in microseconds; negative without a sample.
    fn pkts_acked(&mut self, _: &mut Control<'_, '_>, _rtt_us: i32) {}

    /// `cong_avoid()`: how the window grows when `acked` packets were delivered.
    fn cong_avoid(&mut self, c: &mut Control<'_, '_>, acked: u32, _: &RateSample) {
        reno::cong_avoid(c.snd, acked);
    }

    /// `cong_control()`, of one that [`controls_cwnd`](Self::controls_cwnd).
    fn cong_control(&mut self, _: &mut Control<'_, '_>, _: &RateSample) {}

    /// Bytes of its state that do not lie in the endpoint.
    fn memory(&self) -> usize {
        0
    }
}

/// `enum tcp_ca_event`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CaEvent {
    /// `CA_EVENT_TX_START`: data leaves, and nothing was in flight.
    TxStart,
    /// `CA_EVENT_CWND_RESTART`: the window is cut down after an idle time.
    CwndRestart,
    /// `CA_EVENT_COMPLETE_CWR`: a reduction of the window is over.
    CompleteCwr,
    /// `CA_EVENT_LOSS`: the retransmission timer has fired.
    Loss,
    /// `CA_EVENT_ECN_NO_CE`: a data packet came without a mark.
    EcnNoCe,
    /// `CA_EVENT_ECN_IS_CE`: a data packet came marked (RFC 3168: CE).
    EcnIsCe,
}

/// What the receiver's ACKs tell from now on (RFC 8257 3.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Echo {
    /// ECE is set.
    pub(crate) ce: bool,
    /// Marks begin or end here: what came before this number was the other way.
    pub(crate) turns: Option<Seq>,
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
    /// The algorithm, and what it may see.
    #[inline]
    pub(super) fn control<'a, 'b>(
        &'a mut self,
        cx: &'a mut Cx<'b>,
    ) -> (&'a mut Congestion, Control<'a, 'b>) {
        let control = Control {
            cx,
            snd: &mut self.snd,
            tune: &mut self.tune,
            rtt: &self.rtt,
            loss: &self.loss,
            rcv: &self.rcv,
            neg: &self.neg,
            stats: &self.stats,
        };
        (&mut self.cc, control)
    }
}
