//! The sender's window: grants and refusals, loss, idle times.

use super::super::reno::{self, Reno};
use super::super::{Congestion, CongestionControl, Control, RateSample};
use super::Caqm;
use crate::cx::Cx;
use crate::endpoint::{Endpoint, State};
use crate::recovery::CaState;

/// Round trips without sending after which a connection starts again.
const IDLE: u64 = 10;

impl Caqm {
    /// Bytes that an ACK brings, as whole packets of `unit` bytes; the rest is kept.
    pub(super) fn packets(&mut self, bytes: i64, unit: u32) -> i64 {
        let unit = i64::from(unit.max(1));
        self.granted += bytes;
        let packets = self.granted / unit;
        self.granted -= packets * unit;
        packets
    }
}

impl Endpoint {
    /// An ACK tells what was granted. `is_new`: it acknowledges data that were not acknowledged before.
    pub(super) fn caqm_verdict(&mut self, cx: &Cx<'_>, bytes: i64, is_new: bool) {
        let profile = &cx.host.profile;
        let sysctl = &cx.host.sysctl;
        let limited = self.caqm_is_limited();
        let may_end = self.state == State::Established || !profile.caqm_start_after_close;
        let Congestion::Caqm(caqm) = &mut self.cc else {
            return;
        };
        if bytes <= 0 && may_end && (is_new || profile.caqm_empty_ack_ends_start) {
            caqm.avoids = true;
        }
        let packets = caqm.packets(bytes, sysctl.sysctl_caqm_mtu_unit);
        // A window that is not used does not grow, but it shrinks.
        if packets < 0 || limited {
            let cwnd = i64::from(self.snd.snd_cwnd).saturating_add(packets);
            let least = i64::from(sysctl.sysctl_caqm_min_cwnd);
            let cwnd = cwnd.max(least).min(i64::from(self.snd.snd_cwnd_clamp));
            self.snd.set_cwnd(cwnd as u32);
            self.snd.snd_cwnd_stamp = cx.jiffies32();
        }
    }

    /// The window was full, or half of it in slow start.
    fn caqm_is_limited(&self) -> bool {
        let s = &self.snd;
        let starts = matches!(&self.cc, Congestion::Caqm(caqm) if !caqm.avoids);
        s.is_cwnd_limited || (starts && s.snd_cwnd < s.max_packets_out.saturating_mul(2))
    }

    /// Data are about to leave and nothing is in flight (`CA_EVENT_TX_START`, which comes when the tag is made already):
    /// after a long time without sending the path may be another one.
    pub(super) fn caqm_tx_start(&mut self, cx: &Cx<'_>) {
        let round_trip = u64::from(self.rtt.srtt_us >> 3);
        let Congestion::Caqm(caqm) = &mut self.cc else {
            return;
        };
        let idle = cx.now_us().saturating_sub(caqm.sent_us);
        if idle >= IDLE * round_trip && !cx.host.profile.caqm_never_restarts {
            caqm.avoids = false;
        }
    }
}

impl CongestionControl for Caqm {
    /// `tcp_caqm_init()`: without the peer's consent it is Reno (`caqm_reno`).
    fn init(&mut self, c: &mut Control<'_, '_>) -> Option<Congestion> {
        if !c.neg.speaks_caqm() {
            return Some(Congestion::CaqmReno(Reno));
        }
        *self = Self {
            told_us: c.cx.now_us(),
            sent_us: c.cx.now_us(),
            ..Self::default()
        };
        None
    }

    /// The window stays, and is remembered.
    fn ssthresh(&mut self, c: &Control<'_, '_>) -> u32 {
        self.loss_cwnd = c.snd.snd_cwnd;
        c.snd.snd_cwnd
    }

    fn undo_cwnd(&mut self, c: &mut Control<'_, '_>) -> u32 {
        c.snd.snd_cwnd.max(self.loss_cwnd)
    }

    /// Recovery ends at half of the window; a timeout begins anew with slow start.
    fn set_state(&mut self, c: &mut Control<'_, '_>, state: CaState) {
        let profile = &c.cx.host.profile;
        let begins = state != c.loss.ca_state;
        match state {
            CaState::Recovery if begins => {
                self.avoids |= !profile.caqm_start_after_loss;
                c.snd.set_ssthresh((c.snd.snd_cwnd / 2).max(2));
            }
            CaState::Loss if begins && !profile.caqm_never_restarts => {
                self.avoids = false;
                self.granted = 0;
            }
            _ => {}
        }
    }

    /// Reno's until a tag has come; then the switches say how the window grows.
    fn cong_avoid(&mut self, c: &mut Control<'_, '_>, acked: u32, _: &RateSample) {
        if !self.heard {
            reno::cong_avoid(c.snd, acked);
        }
    }

    fn memory(&self) -> usize {
        size_of::<Self>()
    }
}
