//! Round-trip time and retransmission timeout (RFC 6298; Linux `tcp_rtt_estimator()`, `tcp_set_rto()`,
//! `tcp_ack_update_rtt()`, `tcp_update_rtt_min()`, lib/win_minmax.c).

use tcplab_base::Seq;
use tcplab_plan::profile::{Profile, RtoEstimator, RtoFloor};

use crate::cx::Cx;
use crate::endpoint::Snd;
use crate::host::HostConfig;
use crate::jiffies::Clock;
use crate::options::Negotiated;
use crate::pack::packed;
use crate::recovery::Flag;

/// RFC 6298 2.1: the timeout before any sample, in seconds (`TCP_TIMEOUT_INIT`).
const INITIAL_S: u32 = 1;
/// The timeout before any sample, in jiffies (`TCP_TIMEOUT_INIT`).
#[inline]
pub(crate) const fn timeout_init(clock: &Clock) -> u32 {
    INITIAL_S * clock.hz
}

/// What the timeout does not fall under, in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Floor {
    /// Four times the deviation, before SRTT is added.
    Deviation(u32),
    /// The timeout itself.
    Timeout(u32),
}

/// An estimator with its floor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rule {
    pub(crate) averaging: RtoEstimator,
    pub(crate) floor: Floor,
}

impl Rule {
    /// A profile's; the floor is the host's `rto_min_us` unless the profile has its own.
    #[inline]
    fn of(profile: &Profile, rto_min_us: u32) -> Self {
        let least = match profile.rto_floor_ms {
            0 => rto_min_us,
            ms => ms.saturating_mul(1000),
        };
        Self {
            averaging: profile.rto_estimator,
            floor: match profile.rto_floor {
                RtoFloor::Deviation => Floor::Deviation(least),
                RtoFloor::Timeout => Floor::Timeout(least),
            },
        }
    }

    /// The floor of the deviation, where it is one.
    fn least_deviation(&self) -> u32 {
        match self.floor {
            Floor::Deviation(us) => us,
            Floor::Timeout(_) => 0,
        }
    }
}

/// Estimator state in Linux's scales: `srtt_us` holds 8 SRTT, the deviations 4 times their value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rtt {
    pub(crate) srtt_us: u32,
    pub(crate) mdev_us: u32,
    pub(crate) mdev_max_us: u32,
    pub(crate) rttvar_us: u32,
    pub(crate) rtt_seq: Seq,
    /// `icsk_rto` in jiffies.
    pub(crate) rto: u32,
    /// `icsk_backoff`.
    pub(crate) backoff: u8,
    /// TCP_RTO_MIN_US in jiffies (`icsk_rto_min`); 0: the host's.
    pub(crate) own_min: u8,
    /// Windowed minimum (lib/win_minmax.c): three samples of (jiffies, us).
    pub(crate) min: [(u32, u32); 3],
}

packed!(Rtt {
    srtt_us,
    mdev_us,
    mdev_max_us,
    rttvar_us,
    rtt_seq,
    rto,
    backoff,
    own_min,
    min,
});

impl Rtt {
    /// Of a new connection (`tcp_init_sock()`).
    pub(crate) fn new(clock: &Clock, jiffies32: u32) -> Self {
        Self {
            rto: timeout_init(clock),
            mdev_us: INITIAL_S * 1_000_000,
            min: [(jiffies32, u32::MAX); 3],
            ..Self::default()
        }
    }

    /// `tcp_rtt_estimator()`: a sample of `us` microseconds; a round trip ends when `snd_una` has passed `rtt_seq`.
    pub(crate) fn sample(&mut self, us: u32, snd_una: Seq, snd_nxt: Seq, rule: &Rule) {
        let floor = rule.least_deviation();
        if self.srtt_us == 0 {
            return self.first_sample(us, snd_nxt, floor);
        }
        let error = i64::from(us) - i64::from(self.srtt_us >> 3);
        self.srtt_us = (i64::from(self.srtt_us) + error).max(1) as u32;
        let mut step = error.abs() - i64::from(self.mdev_us >> 2);
        if rule.averaging == RtoEstimator::Linux && error < 0 && step > 0 {
            // A falling RTT does not raise the deviation at the full gain.
            step >>= 3;
        }
        self.mdev_us = (i64::from(self.mdev_us) + step).max(0) as u32;
        if rule.averaging == RtoEstimator::Rfc6298 {
            self.rttvar_us = self.mdev_us.max(floor);
            return;
        }
        if self.mdev_us > self.mdev_max_us {
            self.mdev_max_us = self.mdev_us;
            self.rttvar_us = self.rttvar_us.max(self.mdev_max_us);
        }
        if snd_una.after(self.rtt_seq) {
            if self.mdev_max_us < self.rttvar_us {
                self.rttvar_us -= (self.rttvar_us - self.mdev_max_us) >> 2;
            }
            self.rtt_seq = snd_nxt;
            self.mdev_max_us = floor;
        }
    }

    /// RFC 6298 2.2: SRTT = R, RTTVAR = R/2, so RTO = 3 R.
    #[cold]
    #[inline(never)]
    fn first_sample(&mut self, us: u32, snd_nxt: Seq, floor: u32) {
        self.srtt_us = (us << 3).max(1);
        self.mdev_us = us << 1;
        self.rttvar_us = self.mdev_us.max(floor);
        self.mdev_max_us = self.rttvar_us;
        self.rtt_seq = snd_nxt;
    }

    /// The timeout in microseconds without backoff (`__tcp_set_rto()` before it counts jiffies).
    #[inline]
    pub(crate) fn rto_us(&self, rule: &Rule) -> u32 {
        let sum = (self.srtt_us >> 3).saturating_add(self.rttvar_us);
        match rule.floor {
            Floor::Deviation(_) => sum,
            Floor::Timeout(least) => sum.max(least),
        }
    }

    /// `tcp_set_rto()`.
    #[inline]
    pub(crate) fn set_rto(&mut self, clock: &Clock, rule: &Rule, most: u32) {
        self.rto = clock.from_micros(u64::from(self.rto_us(rule))).min(most);
    }

    /// `tcp_min_rtt()` in microseconds; `u32::MAX` without a sample.
    #[inline]
    pub(crate) fn min_rtt(&self) -> u32 {
        self.min[0].1
    }

    /// `minmax_running_min()`: the smallest of the last `window` jiffies, by three samples.
    pub(crate) fn update_min(&mut self, window: u32, now: u32, us: u32) {
        let value = (now, us);
        let m = &mut self.min;
        if us <= m[0].1 || now.wrapping_sub(m[2].0) > window {
            *m = [value; 3];
            return;
        }
        if us <= m[1].1 {
            m[1] = value;
            m[2] = value;
        } else if us <= m[2].1 {
            m[2] = value;
        }
        let age = now.wrapping_sub(m[0].0);
        if age > window {
            // The best one is too old: the next ones move up.
            *m = [m[1], m[2], value];
            if now.wrapping_sub(m[0].0) > window {
                *m = [m[1], m[2], value];
            }
        } else if m[1].0 == m[0].0 && age > window / 4 {
            m[1] = value;
            m[2] = value;
        } else if m[2].0 == m[1].0 && age > window / 2 {
            m[2] = value;
        }
    }

    /// `tcp_rtt_estimator()`, `tcp_set_rto()`: a sample in microseconds.
    pub(crate) fn add_sample(&mut self, cx: &mut Cx<'_>, snd: &Snd, us: u32) {
        let rule = self.rule(cx.host);
        self.sample(us, snd.snd_una, snd.snd_nxt, &rule);
        self.set_rto(&cx.host.clock, &rule, cx.host.rto_max());
    }

    /// `tcp_synack_rtt_meas()`: the sample of a handshake; none: its SYN-ACK was sent again.
    pub(crate) fn handshake(
        &mut self,
        cx: &mut Cx<'_>,
        neg: &Negotiated,
        snd: &Snd,
        us: Option<u32>,
    ) {
        let samples = RttSamples {
            seq: us,
            sack: None,
            cc: us,
        };
        self.ack_update(cx, neg, snd, Flag::SYN_ACKED, samples);
    }

    /// `tcp_ack_update_rtt()`: chooses the sample and keeps it; gives the one for congestion control, and
    /// whether there was one for the timeout.
    pub(crate) fn ack_update(
        &mut self,
        cx: &mut Cx<'_>,
        neg: &Negotiated,
        snd: &Snd,
        flag: Flag,
        samples: RttSamples,
    ) -> (Option<u32>, bool) {
        let mut cc = samples.cc;
        let mut chosen = samples.seq.or(samples.sack);
        if chosen.is_none() && flag.intersects(Flag::ACKED) {
            // RFC 7323 4.1: an echo counts only when the left edge of the window moves.
            chosen = neg.echoed_rtt(cx);
            if chosen.is_some() {
                cc = chosen;
            }
        }
        let Some(us) = chosen else {
            return (cc, false);
        };
        if let Some(us) = cc {
            self.min_sample(cx, us, flag);
        }
        self.add_sample(cx, snd, us);
        // RFC 6298 5.7, Linux: only a valid sample ends the backoff.
        self.backoff = 0;
        (cc, true)
    }

    /// `tcp_update_rtt_min()`.
    fn min_sample(&mut self, cx: &Cx<'_>, us: u32, flag: Flag) {
        if flag.intersects(Flag::ACK_MAYBE_DELAYED) && us > self.min_rtt() {
            return;
        }
        let window = cx.host.sysctl.tcp_min_rtt_wlen * cx.host.clock.hz;
        let us = match us {
            0 => cx.host.clock.micros(1),
            us => us,
        };
        self.update_min(window, cx.jiffies32(), us);
    }
}

/// What one ACK says about the round trip, in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RttSamples {
    /// From the first segment that the cumulative ACK covers, when none of them was retransmitted (Karn).
    pub(crate) seq: Option<u32>,
    /// A sample of the first newly SACKed segment that was never retransmitted.
    pub(crate) sack: Option<u32>,
    /// A sample of the last segment that was ACKed or SACKed, for congestion control.
    pub(crate) cc: Option<u32>,
}

/// The timeouts of a host with this profile after each of these round trips, in microseconds and before they count
/// jiffies. Each sample ends a round trip, as with a request and its answer; `rto_min_us` is sysctl tcp_rto_min_us.
pub fn timeouts_us(profile: &Profile, rto_min_us: u32, samples_us: &[u32]) -> Vec<u32> {
    let rule = Rule::of(profile, rto_min_us);
    let mut rtt = Rtt::default();
    let mut sent = Seq(0);
    let after = |us: &u32| {
        let acked = sent + 1;
        sent = sent + 2;
        rtt.sample(*us, acked, sent, &rule);
        rtt.rto_us(&rule)
    };
    samples_us.iter().map(after).collect()
}

impl Rtt {
    /// `tcp_rto_min()` in jiffies: the route's, the socket's, or the host's.
    pub(crate) fn rto_min(&self, host: &HostConfig) -> u32 {
        match (host.route.rto_min_ns, self.own_min) {
            (Some(ns), _) => host
                .clock
                .from_micros(u64::try_from(ns).unwrap_or(0) / 1000),
            (None, 0) => host
                .clock
                .from_micros(u64::from(host.sysctl.tcp_rto_min_us)),
            (None, own) => u32::from(own),
        }
    }

    /// `tcp_rto_min_us()`.
    #[inline]
    pub(crate) fn rto_min_us(&self, host: &HostConfig) -> u32 {
        let own = host.route.rto_min_ns.is_some() | (self.own_min != 0);
        match own | (host.sysctl.tcp_rto_min_us != 200_000) {
            false => host.clock.usual_floor_us(),
            true => host.clock.micros(self.rto_min(host)),
        }
    }

    /// The estimator that this connection uses.
    #[inline]
    pub(crate) fn rule(&self, host: &HostConfig) -> Rule {
        Rule::of(&host.profile, self.rto_min_us(host))
    }
}

impl HostConfig {
    /// RFC 6298 2.5: the largest retransmission timeout in jiffies (`tcp_rto_max()`). DEVIATION: a socket keeps what the
    /// sysctl was when it was made; here a change counts at once.
    #[inline]
    pub(crate) fn rto_max(&self) -> u32 {
        match self.sysctl.tcp_rto_max_ms {
            // The usual one without a division: it is asked for at each sample.
            120_000 => 120 * self.clock.hz,
            ms => self.clock.from_millis(u64::from(ms)),
        }
    }
}

impl Negotiated {
    /// The round trip that the echoed time stamp shows, in whole milliseconds, at least one.
    #[cold]
    #[inline(never)]
    fn echoed_rtt(&self, cx: &Cx<'_>) -> Option<u32> {
        if !self.saw_tstamp || self.rcv_tsecr == 0 {
            return None;
        }
        let ms = cx.host.clock.millis(cx.now).wrapping_sub(self.rcv_tsecr);
        (ms < i32::MAX as u32 / 1000).then(|| ms.max(1) * 1000)
    }
}

#[cfg(test)]
mod tests;
