//! A congestion control of somebody else: plain data goes out to it, a window comes back (Linux
//! `tcp_register_congestion_control()`).
//!
//! An owner of a host puts a [`Maker`] into [`HostConfig::external`](crate::HostConfig::external). Sockets, routes and
//! the sysctl then choose it by its name. Each connection gets an [`Algorithm`] of its own when its handshake is over;
//! before that it acts as Reno. Left out: `in_ack_event()`, `min_tso_segs()` and `sndbuf_expand()` of `struct
//! tcp_congestion_ops`, and the ECN feedback of RFC 8257 3.2; receivers echo marks as in RFC 3168.
//!
//! An algorithm may hold anything, so a connection that has one is never packed ([`crate::pack`]) nor copied.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use tcplab_base::Instant;

pub use super::ops::CaEvent;
use super::{Congestion, CongestionControl, Control, Echo, RateSample, reno};
use crate::options::Ecn;
pub use crate::recovery::CaState;
use crate::segment::Addr;

/// The largest window that an algorithm can set, in packets.
pub const MAX_CWND: u32 = 1 << 30;

/// A congestion control: the calls of Linux's `struct tcp_congestion_ops`. What it leaves out is Reno's, or nothing.
pub trait Algorithm: Debug + Send {
    /// `init()`: the handshake is over.
    fn init(&mut self, _: &View) -> Change {
        Change::default()
    }

    /// `cong_avoid()`: packets were delivered in order, and no reduction of the window goes on. Of an algorithm that
    /// [`controls_cwnd`](Maker::controls_cwnd), `cong_control()`: each ACK of data.
    fn on_ack(&mut self, view: &View, ack: &Ack) -> Change;

    /// `ssthresh()`: the threshold after a loss or a mark, in packets.
    fn ssthresh(&mut self, view: &View) -> u32;

    /// `undo_cwnd()`: the loss was spurious; returns the window to restore, in packets.
    fn undo_cwnd(&mut self, view: &View) -> u32 {
        view.snd_cwnd.max(view.prior_cwnd)
    }

    /// `set_state()`: the state changes from [`View::ca_state`] to `next`.
    fn set_state(&mut self, _: &View, _next: CaState) -> Change {
        Change::default()
    }

    /// `cwnd_event()`.
    fn cwnd_event(&mut self, _: &View, _: CaEvent) -> Change {
        Change::default()
    }

    /// `pkts_acked()`: an ACK was processed, also while the window is reduced. Its RTT in microseconds; none: it
    /// has no sample.
    fn pkts_acked(&mut self, _: &View, _rtt_us: Option<u32>) {}
}

/// The changes of an algorithm; `None`: the value stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// `snd_cwnd` in packets: from 1 to [`MAX_CWND`].
    pub snd_cwnd: Option<u32>,
    /// `snd_ssthresh` in packets.
    pub snd_ssthresh: Option<u32>,
    /// `sk_pacing_rate` in bytes a second. It holds for an algorithm that [`controls_cwnd`](Maker::controls_cwnd); of
    /// others each ACK sets it anew from the window (`tcp_update_pacing_rate()`).
    pub pacing_rate: Option<u64>,
}

/// A connection as its algorithm sees it. Windows and counts are in packets, with the names of Linux's `struct tcp_sock`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The time.
    pub now: Instant,
    /// The congestion window.
    pub snd_cwnd: u32,
    /// The slow start threshold; 2^31 - 1: no loss was seen yet.
    pub snd_ssthresh: u32,
    /// The window never exceeds this.
    pub snd_cwnd_clamp: u32,
    /// The window before the last reduction.
    pub prior_cwnd: u32,
    /// `tcp_is_cwnd_limited()`: the window was full, or half of it in slow start: it may grow.
    pub is_cwnd_limited: bool,
    /// Payload of a full segment in bytes (`mss_cache`).
    pub mss: u32,
    /// The smoothed RTT in microseconds; 0: no sample yet.
    pub srtt_us: u32,
    /// The smallest recent RTT, in microseconds (`tcp_min_rtt()`); 2^32 - 1: no sample yet.
    pub min_rtt_us: u32,
    /// Sent and not ACKed.
    pub packets_out: u32,
    /// Of these SACKed.
    pub sacked_out: u32,
    /// Of these marked lost.
    pub lost_out: u32,
    /// Retransmissions in flight.
    pub retrans_out: u32,
    /// `tcp_packets_in_flight()`.
    pub in_flight: u32,
    /// Ever delivered.
    pub delivered: u32,
    /// Of these with a mark.
    pub delivered_ce: u32,
    /// Ever marked lost.
    pub lost: u32,
    /// The state of recovery.
    pub ca_state: CaState,
    /// The application sends less than the window allows (`app_limited`).
    pub is_app_limited: bool,
    /// Both ends speak ECN (RFC 3168).
    pub has_ecn: bool,
    /// Bytes a second; 2^64 - 1: not set.
    pub pacing_rate: u64,
}

/// An ACK's rate sample (`struct rate_sample`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// Packets that this ACK delivered, SACKed ones too (`acked_sacked`).
    pub acked: u32,
    /// Packets that were marked lost at this ACK.
    pub losses: u32,
    /// The RTT in microseconds; none: no sample.
    pub rtt_us: Option<u32>,
    /// Packets delivered over [`interval_us`](Self::interval_us); none: no sample.
    pub delivered: Option<u32>,
    /// Of these with a mark.
    pub delivered_ce: u32,
    /// The longer of the times in which they were sent and ACKed, in microseconds; none: no sample.
    pub interval_us: Option<u32>,
    /// [`View::delivered`] when the last of them left.
    pub prior_delivered: u32,
    /// Packets in flight before this ACK.
    pub prior_in_flight: u32,
    /// The sample is of a time in which the application sent less than the window allowed.
    pub is_app_limited: bool,
    /// The sample is of a retransmission.
    pub is_retrans: bool,
}

/// Makes the algorithm of a connection between its own end and the peer's.
pub type Make = dyn Fn(Addr, Addr) -> Box<dyn Algorithm> + Send + Sync;

/// `struct tcp_congestion_ops`: the name of an algorithm, its flags, and who makes one for a connection.
#[derive(Clone)]
pub struct Maker {
    /// As getsockopt(TCP_CONGESTION) gives it; not one of [`congestion_controls`](crate::congestion_controls).
    pub name: Arc<str>,
    /// `TCP_CONG_NEEDS_ECN`: ECN is asked for, and data leaves as ECT(0).
    pub needs_ecn: bool,
    /// It has `cong_control()`: it sets the window at each ACK, without PRR or a restart after idle.
    pub controls_cwnd: bool,
    /// Makes one.
    pub make: Arc<Make>,
}

impl Debug for Maker {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Maker({})", self.name)
    }
}

/// The state of a connection that has one.
#[derive(Debug)]
pub(crate) struct External {
    maker: Maker,
    /// None: the handshake is not over.
    algorithm: Option<Box<dyn Algorithm>>,
}

impl Clone for External {
    fn clone(&self) -> Self {
        // A copy would share the state or lose it.
        assert!(
            self.algorithm.is_none(),
            "a connection with the external congestion control {} cannot be copied",
            self.maker.name
        );
        Self::new(&self.maker)
    }
}

impl Congestion {
    /// The owner's, when it is wanted by its name.
    #[cold]
    #[inline(never)]
    pub(super) fn own_or_named(own: &Maker, name: &str) -> Self {
        match *own.name == *name {
            true => Self::External(Box::new(External::new(own))),
            false => Self::named(name).unwrap_or_default(),
        }
    }

    /// The handshake between these two ends is over: one from outside is made.
    #[cold]
    #[inline(never)]
    pub(super) fn begin(&mut self, local: Addr, remote: Addr) {
        if let Self::External(own) = self {
            own.algorithm = Some((own.maker.make)(local, remote));
        }
    }
}

impl External {
    fn new(maker: &Maker) -> Self {
        Self {
            maker: maker.clone(),
            algorithm: None,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.maker.name
    }

    /// Asks the algorithm for a change, and makes it.
    fn change(
        &mut self,
        c: &mut Control<'_, '_>,
        call: impl FnOnce(&mut dyn Algorithm, &View) -> Change,
    ) {
        let Some(algorithm) = &mut self.algorithm else {
            return;
        };
        let change = call(&mut **algorithm, &View::of(c));
        if let Some(packets) = change.snd_ssthresh {
            c.snd.set_ssthresh(packets);
        }
        if let Some(packets) = change.snd_cwnd {
            c.snd
                .set_cwnd(packets.min(MAX_CWND).min(c.snd.snd_cwnd_clamp));
        }
        if let Some(rate) = change.pacing_rate {
            // SK_PACING_NEEDED, as BBR's init() asks for it.
            c.tune.pacing_needed = true;
            c.tune.set_pacing_rate(rate, 0);
        }
    }
}

/// Cold, each of them: the calls of other algorithms stay inline, and what these do takes longer anyway.
impl CongestionControl for Box<External> {
    #[cold]
    #[inline(never)]
    fn init(&mut self, c: &mut Control<'_, '_>) -> Option<Congestion> {
        self.change(c, |algorithm, view| algorithm.init(view));
        None
    }

    #[cold]
    #[inline(never)]
    fn needs_ecn(&self) -> bool {
        self.maker.needs_ecn
    }

    #[cold]
    #[inline(never)]
    fn controls_cwnd(&self) -> bool {
        self.maker.controls_cwnd
    }

    #[cold]
    #[inline(never)]
    fn ssthresh(&mut self, c: &Control<'_, '_>) -> u32 {
        match &mut self.algorithm {
            Some(algorithm) => algorithm.ssthresh(&View::of(c)),
            None => reno::Reno.ssthresh(c),
        }
    }

    #[cold]
    #[inline(never)]
    fn undo_cwnd(&mut self, c: &mut Control<'_, '_>) -> u32 {
        match &mut self.algorithm {
            Some(algorithm) => algorithm.undo_cwnd(&View::of(c)).min(MAX_CWND),
            None => reno::undo_cwnd(c.snd),
        }
    }

    #[cold]
    #[inline(never)]
    fn set_state(&mut self, c: &mut Control<'_, '_>, state: CaState) {
        self.change(c, |algorithm, view| algorithm.set_state(view, state));
    }

    #[cold]
    #[inline(never)]
    fn cwnd_event(&mut self, c: &mut Control<'_, '_>, event: CaEvent) -> Option<Echo> {
        self.change(c, |algorithm, view| algorithm.cwnd_event(view, event));
        None
    }

    #[cold]
    #[inline(never)]
    fn pkts_acked(&mut self, c: &mut Control<'_, '_>, rtt_us: i32) {
        if let Some(algorithm) = &mut self.algorithm {
            algorithm.pkts_acked(&View::of(c), u32::try_from(rtt_us).ok());
        }
    }

    #[cold]
    #[inline(never)]
    fn cong_avoid(&mut self, c: &mut Control<'_, '_>, acked: u32, rs: &RateSample) {
        if self.algorithm.is_none() {
            return reno::cong_avoid(c.snd, acked);
        }
        self.change(c, |algorithm, view| algorithm.on_ack(view, &Ack::of(rs)));
    }

    #[cold]
    #[inline(never)]
    fn cong_control(&mut self, c: &mut Control<'_, '_>, rs: &RateSample) {
        self.change(c, |algorithm, view| algorithm.on_ack(view, &Ack::of(rs)));
    }

    #[cold]
    #[inline(never)]
    fn memory(&self) -> usize {
        size_of::<External>() + self.algorithm.as_deref().map_or(0, size_of_val)
    }
}

impl View {
    fn of(c: &Control<'_, '_>) -> Self {
        let (snd, loss, stats) = (&*c.snd, c.loss, c.stats);
        Self {
            now: c.cx.now,
            snd_cwnd: snd.snd_cwnd,
            snd_ssthresh: snd.snd_ssthresh,
            snd_cwnd_clamp: snd.snd_cwnd_clamp,
            prior_cwnd: snd.prior_cwnd,
            is_cwnd_limited: snd.may_grow(),
            mss: snd.mss_cache,
            srtt_us: c.rtt.srtt_us >> 3,
            min_rtt_us: c.rtt.min_rtt(),
            packets_out: loss.packets_out,
            sacked_out: loss.sacked_out,
            lost_out: loss.lost_out,
            retrans_out: loss.retrans_out,
            in_flight: loss.in_flight(),
            delivered: stats.delivered,
            delivered_ce: stats.delivered_ce,
            lost: loss.lost,
            ca_state: loss.ca_state,
            is_app_limited: c.tune.app_limited != 0,
            has_ecn: c.neg.ecn_flags.intersects(Ecn::OK),
            pacing_rate: c.tune.pacing_rate(),
        }
    }
}

impl Ack {
    fn of(rs: &RateSample) -> Self {
        Self {
            acked: rs.acked_sacked,
            losses: rs.losses,
            rtt_us: u32::try_from(rs.rtt_us).ok(),
            delivered: u32::try_from(rs.delivered).ok(),
            delivered_ce: rs.delivered_ce.max(0) as u32,
            interval_us: u32::try_from(rs.interval_us).ok(),
            prior_delivered: rs.prior_delivered,
            prior_in_flight: rs.prior_in_flight,
            is_app_limited: rs.is_app_limited,
            is_retrans: rs.is_retrans,
        }
    }
}
