//! What a host remembers of its peers from one connection to the next: round trip, reordering, slow start threshold
//! (Linux net/ipv4/tcp_metrics.c).
//!
//! The first RTO of a later connection comes from the remembered round trip when that is longer than the handshake's.
//! The congestion window and the deviation that Linux keeps too are not used by it, unless `ip route` locks them.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::cc::INFINITE_SSTHRESH;
use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::fastopen::FastOpenCache;
use crate::recovery::CaState;

/// Of one peer; 0: not known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Metric {
    /// 8 times the round trip in microseconds.
    pub(crate) rtt_us: u32,
    pub(crate) reordering: u32,
    pub(crate) ssthresh: u32,
}

/// Of all peers.
#[derive(Debug)]
pub(crate) struct Metrics {
    peers: HashMap<(u16, u16), Metric, FixedState>,
    pub(crate) fast_open: FastOpenCache,
}

impl Metrics {
    pub(crate) fn new(secret: u64) -> Self {
        Self {
            peers: HashMap::with_hasher(FixedState::with_seed(secret)),
            fast_open: FastOpenCache::new(secret),
        }
    }

    /// What is known of `remote`'s host, from connections of `local`'s.
    pub(crate) fn get(&self, local: u16, remote: u16) -> Metric {
        let known = self.peers.get(&(local, remote));
        known.copied().unwrap_or_default()
    }

    /// `ip tcp_metrics flush`.
    pub(crate) fn clear(&mut self) {
        self.peers.clear();
        self.fast_open.clear();
    }
}

impl Endpoint {
    /// `tcp_update_metrics()`: the connection ends in order.
    pub(crate) fn update_metrics(&self, cx: &mut Cx<'_>) {
        if cx.host.sysctl.tcp_no_metrics_save {
            return;
        }
        let ends = (self.local.host, self.remote.host);
        let srtt = self.rtt.srtt_us;
        if self.rtt.backoff != 0 || srtt == 0 {
            if let Some(metric) = cx.metrics.peers.get_mut(&ends) {
                metric.rtt_us = 0;
            }
            return;
        }
        let default_reordering = cx.host.sysctl.tcp_reordering;
        let keeps_ssthresh = !cx.host.sysctl.tcp_no_ssthresh_metrics_save;
        let metric = cx.metrics.peers.entry(ends).or_default();
        // A longer round trip counts at once, a shorter one by an eighth.
        let below = i64::from(metric.rtt_us) - i64::from(srtt);
        metric.rtt_us = match below {
            ..=0 => srtt,
            _ => metric.rtt_us - (below >> 3) as u32,
        };
        let s = &self.snd;
        let old = metric.ssthresh;
        if s.snd_ssthresh >= INFINITE_SSTHRESH {
            if keeps_ssthresh && old != 0 && s.snd_cwnd >> 1 > old {
                metric.ssthresh = s.snd_cwnd >> 1;
            }
        } else if !s.in_slow_start() && self.loss.ca_state == CaState::Open {
            if keeps_ssthresh {
                metric.ssthresh = (s.snd_cwnd >> 1).max(s.snd_ssthresh);
            }
        } else {
            if keeps_ssthresh && old != 0 && s.snd_ssthresh > old {
                metric.ssthresh = s.snd_ssthresh;
            }
            let reordering = self.loss.reordering;
            if metric.reordering < reordering && reordering != default_reordering {
                metric.reordering = reordering;
            }
        }
    }

    /// `tcp_init_metrics()`: threshold, reordering and first RTO of a connection whose handshake is over.
    pub(crate) fn init_metrics(&mut self, cx: &mut Cx<'_>) {
        self.snd.set_ssthresh(INFINITE_SSTHRESH);
        let known = cx.metrics.get(self.local.host, self.remote.host);
        if known.ssthresh != 0 && !cx.host.sysctl.tcp_no_ssthresh_metrics_save {
            self.snd
                .set_ssthresh(known.ssthresh.min(self.snd.snd_cwnd_clamp));
        }
        if known.reordering != 0 {
            self.loss.reordering = known.reordering;
        }
        let clock = &cx.host.clock;
        if known.rtt_us > self.rtt.srtt_us {
            // As of a first sample, from the remembered one; the estimator itself is left alone.
            let jiffies = known.rtt_us / (8 * 1_000_000 / clock.hz);
            self.rtt.rto = jiffies + (2 * jiffies).max(self.rtt.rto_min(cx.host));
        } else if self.rtt.srtt_us == 0 {
            // RFC 6298 5.7: no sample from the handshake: 3 s.
            let us = 3_000_000;
            self.rtt.rttvar_us = us;
            self.rtt.mdev_us = us;
            self.rtt.mdev_max_us = us;
            self.rtt.rto = clock.from_millis(3_000);
        }
    }
}
