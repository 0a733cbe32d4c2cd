//! The timers of a connection: what is armed, and when it fires.
//!
//! Linux has one timer for RTO, TLP, RACK's reordering and zero-window probes
//! (`icsk_retransmit_timer`, told apart by `icsk_pending`), one for delayed ACKs, one for keepalive and
//! FIN-WAIT-2, and high-resolution ones for pacing and for compressed SACKs. The first three count
//! jiffies and fire on the timer wheel's ticks.

use std::cell::Cell;

use tcplab_base::Instant;

use crate::cx::Cx;
use crate::pack::{packed, packed_enum};

/// A time that never comes.
pub(crate) const NEVER: Instant = Instant::from_nanos(i64::MAX);

/// A host's timer wheel, as far as it shows.
///
/// What expires at one tick runs in this order (Linux `__run_timers()`, `expire_timers()`): timers of coarse levels
/// first, and in a level those that were put there last first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wheel {
    /// Timers that were put into it.
    placed: Cell<u32>,
    /// The jiffy in which timers ran last: the wheel's clock is one ahead for the rest of it.
    ran: Cell<u32>,
}

/// Where a timer stands in the wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// When it fires.
    pub(crate) at: Instant,
    /// Of those that fire then, the one with the greatest order is the first.
    pub(crate) order: u32,
}

/// Bits of an order below those of the level.
const COUNT_BITS: u32 = 28;

impl Wheel {
    /// Where a timer stands that is set for the jiffy `expires` and stood at `before`: it is not moved within its place.
    #[inline(never)]
    fn place(&self, cx: &Cx<'_>, expires: u64, before: Place) -> Place {
        let ran = self.ran.get() == cx.jiffies32();
        let (at, level) = cx.host.clock.fires(cx.jiffies(), expires, ran);
        if before.at == at && before.order >> COUNT_BITS == level {
            return before;
        }
        Place {
            at,
            order: level << COUNT_BITS | self.next(),
        }
    }

    /// Where a timer stands that did not before.
    #[inline]
    pub(crate) fn place_new(&self, cx: &Cx<'_>, expires: u64) -> Place {
        let nowhere = Place {
            at: NEVER,
            order: 0,
        };
        self.place(cx, expires, nowhere)
    }

    /// The next number; after 2^28 the order of few timers is wrong once.
    #[inline]
    fn next(&self) -> u32 {
        let next = (self.placed.get() + 1) & ((1 << COUNT_BITS) - 1);
        self.placed.set(next);
        next
    }

    /// Timers of the wheel run now.
    #[inline]
    pub(crate) fn runs(&self, jiffies: u32) {
        self.ran.set(jiffies);
    }
}

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
    /// `ICSK_TIME_RETRANS` of a child of Fast Open that waits for the ACK of its SYN-ACK: nothing else uses the timer.
    SynAck,
}

packed_enum!(Pending {
    None,
    Retrans,
    Probe0,
    LossProbe,
    ReoTimeout,
    EarlyRetrans,
    SynAck,
});

/// One of a connection's timers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Which {
    Retransmit,
    DelAck,
    Keepalive,
    CompSack,
    Pacing,
}

/// When each one fires; [`NEVER`] when it is off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers {
    pub(crate) pending: Pending,
    /// `icsk_timeout`: the jiffy that was asked for; the wheel fires at `rexmit_at`, not before it.
    pub(crate) timeout: u64,
    pub(crate) rexmit_at: Instant,
    /// The position of Linux's timer in the wheel, armed or not: clearing the timer leaves it in the wheel, and
    /// setting it to the same jiffy again does not move it.
    wheel_at: Instant,
    /// Their places among those that fire at the same tick ([`Place::order`]).
    wheel_order: u32,
    delack_order: u32,
    keepalive_order: u32,
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
    wheel_order,
    delack_order,
    keepalive_order,
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
            wheel_order: 0,
            delack_order: 0,
            keepalive_order: 0,
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
            let before = Place {
                at: self.wheel_at,
                order: self.wheel_order,
            };
            let place = cx.wheel.place(cx, timeout, before);
            (self.wheel_at, self.wheel_order) = (place.at, place.order);
        }
        self.rexmit_at = self.wheel_at;
    }

    /// Which of the timers that fire at `at` is the first, and its order.
    pub(crate) fn first_at(&self, at: Instant) -> Option<(Which, u32)> {
        let all = [
            (Which::Retransmit, self.rexmit_at, self.wheel_order),
            (Which::DelAck, self.delack_at, self.delack_order),
            (Which::Keepalive, self.keepalive_at, self.keepalive_order),
            // Not of the wheel: those run after it.
            (Which::CompSack, self.comp_sack_at, 0),
            (Which::Pacing, self.pacing_at, 0),
        ];
        let due = all.into_iter().filter(|&(_, when, _)| when == at);
        let first = due.reduce(|a, b| if b.2 > a.2 { b } else { a });
        first.map(|(which, _, order)| (which, order))
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
        let before = Place {
            at: self.delack_at,
            order: self.delack_order,
        };
        let place = cx.wheel.place(cx, timeout, before);
        (self.delack_at, self.delack_order) = (place.at, place.order);
    }

    /// `inet_csk_reset_keepalive_timer()`: in `when` jiffies.
    #[inline]
    pub(crate) fn arm_keepalive(&mut self, cx: &Cx<'_>, when: u32) {
        let before = Place {
            at: self.keepalive_at,
            order: self.keepalive_order,
        };
        let place = cx.wheel.place(cx, cx.jiffies() + u64::from(when), before);
        (self.keepalive_at, self.keepalive_order) = (place.at, place.order);
    }
}
