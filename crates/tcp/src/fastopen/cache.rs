//! What a host remembers for Fast Open: cookies of servers, and whether paths swallow SYNs with data (Linux
//! `tcp_fastopen_cache_get()`, `tcp_fastopen_cache_set()`, `tcp_fastopen_active_should_disable()`).

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use tcplab_wire::FastOpen;

use crate::cx::Cx;

/// What is known of one server.
#[derive(Clone, Copy, Debug, Default)]
struct Server {
    cookie: Option<FastOpen>,
    /// Its MSS; 0: not known.
    mss: u16,
    /// How often in a row a SYN with data was lost.
    syn_loss: u16,
    /// 1: the next request has the experimental kind, 2: that was tried, too.
    try_experimental: u8,
}

/// What the cache says of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// A cookie, or the request for one.
    pub(crate) option: FastOpen,
    /// Its MSS; none: not known.
    pub(crate) mss: Option<u16>,
}

/// What a SYN-ACK has shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) cookie: Option<FastOpen>,
    /// 0: not known.
    pub(crate) mss: u16,
    /// The SYN with data, or its answer, was lost.
    pub(crate) syn_lost: bool,
    /// See [`Server::try_experimental`]; 0: it stays.
    pub(crate) try_experimental: u8,
}

/// A child's request that a listener need not count any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Over {
    pub(crate) listener: u32,
    /// It was reset after it was accepted: it counts until this jiffy.
    pub(crate) until: Option<u64>,
}

/// Of one host.
#[derive(Debug)]
pub(crate) struct FastOpenCache {
    servers: HashMap<(u16, u16), Server, FixedState>,
    /// Black holes that were met, and the jiffy of the last one.
    disabled: u32,
    disabled_at: u64,
    /// Requests that ended since the stack looked.
    pub(crate) over: Vec<Over>,
}

impl FastOpenCache {
    pub(crate) fn new(secret: u64) -> Self {
        Self {
            servers: HashMap::with_hasher(FixedState::with_seed(secret)),
            disabled: 0,
            disabled_at: 0,
            over: Vec::new(),
        }
    }

    /// What is known of a server, by our host's number and its.
    pub(crate) fn get(&self, ends: (u16, u16)) -> Known {
        let Some(server) = self.servers.get(&ends) else {
            return Known {
                option: FastOpen::request(false),
                mss: None,
            };
        };
        let request = FastOpen::request(server.try_experimental == 1);
        Known {
            option: server.cookie.unwrap_or(request),
            mss: (server.mss != 0).then_some(server.mss),
        }
    }

    /// Notes what a SYN-ACK has shown.
    pub(crate) fn set(&mut self, ends: (u16, u16), seen: Seen) {
        let server = self.servers.entry(ends).or_default();
        if seen.mss != 0 {
            server.mss = seen.mss;
        }
        if let Some(cookie) = seen.cookie.filter(|cookie| !cookie.is_request()) {
            server.cookie = Some(cookie);
        } else if seen.try_experimental > server.try_experimental && server.cookie.is_none() {
            server.try_experimental = seen.try_experimental;
        }
        server.syn_loss = match seen.syn_lost {
            true => server.syn_loss.saturating_add(1),
            false => 0,
        };
    }

    /// `ip tcp_metrics flush`.
    pub(crate) fn clear(&mut self) {
        self.servers.clear();
    }

    /// `tcp_fastopen_active_disable()` at a jiffy.
    pub(crate) fn disable(&mut self, jiffies: u64) {
        self.disabled_at = jiffies;
        self.disabled = self.disabled.saturating_add(1);
    }

    /// `tfo_active_disable_times`.
    pub(crate) fn times_disabled(&self) -> u32 {
        self.disabled
    }

    /// Fast Open works again, or the sysctl was written.
    pub(crate) fn enable(&mut self) {
        self.disabled = 0;
    }

    /// Whether a black hole was met so lately that nothing is tried.
    pub(crate) fn is_disabled(&self, cx: &Cx<'_>) -> bool {
        let seconds = cx.host.sysctl.tcp_fastopen_blackhole_timeout_sec;
        if seconds == 0 || self.disabled == 0 {
            return false;
        }
        // One hour, then two, four, up to 64.
        let multiplier = 1_u64 << (self.disabled - 1).min(6);
        let wait = multiplier * u64::from(seconds) * u64::from(cx.host.clock.hz);
        cx.jiffies() < self.disabled_at + wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: (u16, u16) = (0, 1);

    fn seen(cookie: Option<FastOpen>, try_experimental: u8) -> Seen {
        Seen {
            cookie,
            mss: 0,
            syn_lost: false,
            try_experimental,
        }
    }

    #[test]
    fn the_experimental_kind_is_tried_once() {
        let mut cache = FastOpenCache::new(1);
        let kind = |cache: &FastOpenCache| cache.get(ENDS).option.is_experimental();
        assert!(!kind(&cache));
        cache.set(ENDS, seen(None, 1));
        assert!(kind(&cache));
        cache.set(ENDS, seen(None, 2));
        assert!(!kind(&cache));
        cache.set(ENDS, seen(None, 1));
        assert!(!kind(&cache), "once");
    }

    #[test]
    fn cookies_and_sizes_stay_until_others_come() {
        let mut cache = FastOpenCache::new(1);
        let cookie = FastOpen::cookie(&[1, 2, 3, 4], true);
        cache.set(
            ENDS,
            Seen {
                mss: 900,
                ..seen(cookie, 0)
            },
        );
        cache.set(ENDS, seen(Some(FastOpen::request(false)), 1));
        let known = cache.get(ENDS);
        assert_eq!((Some(known.option), known.mss), (cookie, Some(900)));
        assert_eq!(cache.get((0, 2)).mss, None);
        cache.clear();
        assert!(cache.get(ENDS).option.is_request());
    }
}
