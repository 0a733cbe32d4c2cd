//! The size of a full segment (RFC 9293 3.7.1, RFC 6691; Linux `tcp_sync_mss()`, `tcp_current_mss()`).

use crate::cx::Cx;
use crate::endpoint::{Endpoint, Path, Snd, TSTAMP_ALIGNED};
use crate::options::Negotiated;

impl Snd {
    /// `tcp_bound_to_half_wnd()`: a peer with a tiny window gets segments of half of it.
    pub(crate) fn bound_to_half_wnd(&self, neg: &Negotiated, size: u32) -> u32 {
        let max = self.max_window;
        let cutoff = if max > 536 { max >> 1 } else { max };
        match cutoff != 0 && size > cutoff {
            true => cutoff.max(68 - neg.header_len()),
            false => size,
        }
    }
}

impl Endpoint {
    /// `tcp_mtu_to_mss()`: what fits into a path's MTU, time stamps taken off.
    pub(crate) fn mtu_to_mss(&self, cx: &Cx<'_>, pmtu: u32) -> u32 {
        pmtu.saturating_sub(cx.host.ip_header + 20 + self.caqm_room(cx))
            .min(u32::from(self.snd.mss_clamp))
            .max(cx.host.sysctl.tcp_min_snd_mss)
            .saturating_sub(self.neg.header_len() - 20)
    }

    /// `tcp_sync_mss()`: MSS and what follows from a path MTU.
    pub(crate) fn sync_mss(&mut self, cx: &mut Cx<'_>, pmtu: u32) -> u32 {
        let mut mss = self
            .snd
            .bound_to_half_wnd(&self.neg, self.mtu_to_mss(cx, pmtu))
            .max(1);
        if self.mtup.is_some() {
            mss = self.mtup_bound(cx, pmtu, mss);
        }
        self.snd.pmtu = pmtu;
        self.snd.mss_cache = mss;
        mss
    }

    /// The same before a SYN-ACK has come: `tcp_header_len` counts with time stamps until one comes without.
    pub(crate) fn sync_mss_of_syn(&mut self, cx: &mut Cx<'_>, pmtu: u32) {
        self.sync_mss(cx, pmtu);
        if cx.host.sysctl.tcp_timestamps != 0 {
            let mss = self.snd.mss_cache;
            self.snd.mss_cache = mss.saturating_sub(u32::from(TSTAMP_ALIGNED)).max(1);
        }
    }

    /// The route has another MTU. Where probing is on the MSS follows only when a probe was answered: the route is looked up
    /// again when a packet leaves, and that one is the probe.
    #[cold]
    pub(crate) fn path_changes(&mut self, cx: &mut Cx<'_>, mtu: u32) {
        let mtu = Path::of(cx, self.remote.host, mtu).mtu;
        if self.snd.pmtu == mtu || !self.state.is_synchronized() {
            return;
        }
        match self.mtup.is_some() {
            true => self.snd.pmtu = mtu,
            false => {
                self.sync_mss(cx, mtu);
            }
        }
    }

    /// `tcp_current_mss()`: payload of a full segment with the options that would be sent now.
    #[inline]
    pub(crate) fn current_mss(&mut self) -> u32 {
        let mss = self.snd.mss_cache;
        match self.rcvq.sack_blocks_out(&self.neg) {
            0 => mss,
            blocks => mss.saturating_sub(4 + 8 * blocks).max(1),
        }
    }
}
