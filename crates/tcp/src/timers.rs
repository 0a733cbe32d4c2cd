//! The timers of a connection: what is armed, and when it fires.
//!
//! Linux has one timer for RTO, TLP, RACK's reordering and zero-window probes
//! (`icsk_retransmit_timer`, told apart by `icsk_pending`), one for delayed ACKs, one for keepalive and
//! FIN-WAIT-2, and high-resolution ones for pacing and for compressed SACKs. The first three count
//! jiffies and fire on the timer wheel's ticks.

use tcplab_base::Instant;

use crate::cx::Cx;
use crate::endpoint::NEVER;
use crate::pack::{packed, packed_enum};

/// `icsk_pending`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Pending {
    #[default]
    None,
    Retrans,
    Probe0,
    LossProbe,
    ReoTimeout,
    /// `ICSK_TIME_EARLY_RETRANS` (until 4.10).
    EarlyRetrans,
}

packed_enum!(Pending {
    None,
    Retrans,
    Probe0,
    LossProbe,
    ReoTimeout,
    EarlyRetrans,
});

/// When each one fires; [`NEVER`] when it is off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers {
    pub(crate) pending: Pending,
    /// `icsk_timeout`: the jiffy that was asked for; the wheel fires at `rexmit_at`, not before it.
    pub(crate) timeout: u64,
    pub(crate) rexmit_at: Instant,
    /// Where Linux's timer stands in the wheel, armed or not: clearing it leaves it there, and setting it for the
    /// same jiffy again does not move it.
    wheel_at: Instant,
    /// The jiffy in which a timer of the wheel ran last: the wheel's clock is one ahead for the rest of it.
    ran: u32,
    /// `icsk_ack.timeout`.
    pub(crate) ack_timeout: u64,
    pub(crate) delack_at: Instant,
    /// Keepalive, FIN-WAIT-2 (`sk_timer`).
    pub(crate) keepalive_at: Instant,
    pub(crate) pacing_at: Instant,
    pub(crate) comp_sack_at: Instant,
}

packed!(Timers {
    pending,
    timeout,
    rexmit_at,
    wheel_at,
    ran,
    ack_timeout,
    delack_at,
    keepalive_at,
    pacing_at,
    comp_sack_at,
});

impl Default for Timers {
    fn default() -> Self {
        Self {
            pending: Pending::None,
            timeout: 0,
            rexmit_at: NEVER,
            wheel_at: NEVER,
            ran: 0,
            ack_timeout: 0,
            delack_at: NEVER,
            keepalive_at: NEVER,
            pacing_at: NEVER,
            comp_sack_at: NEVER,
        }
    }
}

impl Timers {
    /// None of them runs but the keepalive timer.
    pub(crate) fn are_off(&self) -> bool {
        let at = self.rexmit_at.min(self.delack_at);
        at.min(self.pacing_at).min(self.comp_sack_at) == NEVER
    }

    /// The first one to fire; none when all are off.
    #[inline]
    pub(crate) fn next(&self) -> Option<Instant> {
        let at = self
            .rexmit_at
            .min(self.delack_at)
            .min(self.keepalive_at)
            .min(self.pacing_at)
            .min(self.comp_sack_at);
        (at != NEVER).then_some(at)
    }

    /// `inet_csk_reset_xmit_timer()`: in `when` jiffies, at most `most`.
    #[inline]
    pub(crate) fn arm(&mut self, cx: &Cx<'_>, what: Pending, when: u32, most: u32) {
        self.pending = what;
        let timeout = cx.jiffies() + u64::from(when.min(most));
        let stands = self.wheel_at > cx.now && self.wheel_at != NEVER;
        if !stands || self.timeout != timeout {
            self.timeout = timeout;
            self.wheel_at = self.fires(cx, timeout);
        }
        self.rexmit_at = self.wheel_at;
    }

    /// When the wheel runs a timer that is set now for the jiffy `timeout`.
    #[inline]
    fn fires(&self, cx: &Cx<'_>, timeout: u64) -> Instant {
        let ran = self.ran == cx.jiffies32();
        cx.host.clock.fires(cx.now, timeout, ran)
    }

    /// A timer of the wheel runs now.
    #[inline]
    pub(crate) fn runs(&mut self, cx: &Cx<'_>) {
        self.ran = cx.jiffies32();
    }

    /// `inet_csk_clear_xmit_timer()`: the wheel's timer may fire for nothing on Linux; here it is off.
    #[inline]
    pub(crate) fn disarm(&mut self) {
        self.pending = Pending::None;
        self.rexmit_at = NEVER;
    }

    /// The delayed-ACK timer expires at the jiffy `timeout` (`sk_reset_timer(icsk_delack_timer)`).
    #[inline]
    pub(crate) fn arm_delack(&mut self, cx: &Cx<'_>, timeout: u64) {
        self.ack_timeout = timeout;
        self.delack_at = self.fires(cx, timeout);
    }

    /// `inet_csk_reset_keepalive_timer()`: in `when` jiffies.
    #[inline]
    pub(crate) fn arm_keepalive(&mut self, cx: &Cx<'_>, when: u32) {
        self.keepalive_at = self.fires(cx, cx.jiffies() + u64::from(when));
    }
}
