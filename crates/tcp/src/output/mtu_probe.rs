//! Packetization-layer path MTU discovery (RFC 4821; Linux `tcp_mtup_init()`, `tcp_mtu_probe()`, `tcp_mtu_probing()`).
//! The sender sometimes sends a segment longer than the MSS; if it arrives, the MSS grows. `net.ipv4.tcp_mtu_probing`:
//! 1 probes only after a black hole, 2 from the start.

use tcplab_base::Seq;

use crate::cx::Cx;
use crate::endpoint::{Endpoint, Snd, State};
use crate::mib::Counter;
use crate::options::Negotiated;
use crate::queue::{Id, SkbFlags};
use crate::recovery::CaState;

/// A window below this sends no probe.
const LEAST_WINDOW: u32 = 11;

/// `struct inet_connection_sock.icsk_mtup` and `tp->mtu_probe`; it is there where probing is enabled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MtuProbing {
    /// The search goes on between these MTUs, in bytes.
    search_high: u32,
    search_low: u32,
    /// MTU of the probe in flight, in bytes; 0 without a probe.
    probe_size: u32,
    /// Jiffy at which the search began.
    began: u32,
    /// The probe's first byte and the one behind it.
    probe: (Seq, Seq),
}

/// What became of a wish to probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Probe {
    /// Go on without one.
    No,
    /// Send nothing now, so that a probe can be sent.
    Wait,
    /// It was sent.
    Sent,
}

impl Negotiated {
    /// `tcp_mss_to_mtu()`.
    fn mss_to_mtu(&self, cx: &Cx<'_>, mss: u32) -> u32 {
        mss + self.header_len() + cx.host.ip_header
    }
}

impl Snd {
    /// What the peer's MSS option allows, as an MTU.
    fn largest_mtu(&self, cx: &Cx<'_>) -> u32 {
        u32::from(self.mss_clamp) + cx.host.ip_header + 20
    }
}

impl Endpoint {
    /// `tcp_mtup_init()`: at the begin of a connection, and when it stands.
    pub(crate) fn mtup_init(&mut self, cx: &Cx<'_>) {
        if cx.host.sysctl.tcp_mtu_probing > 1 {
            self.mtup_enable(cx);
        }
    }

    #[cold]
    fn mtup_enable(&mut self, cx: &Cx<'_>) {
        let sysctl = &cx.host.sysctl;
        let mut search_low = self.neg.mss_to_mtu(cx, sysctl.tcp_base_mss);
        let opens = matches!(self.state, State::Close | State::SynSent);
        if opens && !self.neg.saw_tstamp && sysctl.tcp_timestamps > 0 {
            // Room for the time stamps that a SYN asks for.
            search_low += 12;
        }
        self.mtup = Some(Box::new(MtuProbing {
            search_high: self.snd.largest_mtu(cx),
            search_low,
            probe_size: 0,
            began: cx.jiffies32(),
            probe: (self.snd.snd_nxt, self.snd.snd_nxt),
        }));
    }

    /// The part of `tcp_sync_mss()` that is about probing: no more than what was probed.
    #[cold]
    pub(super) fn mtup_bound(&mut self, cx: &Cx<'_>, pmtu: u32, mss: u32) -> u32 {
        let Some(m) = &mut self.mtup else {
            return mss;
        };
        m.search_high = m.search_high.min(pmtu);
        let low = m.search_low;
        mss.min(self.mtu_to_mss(cx, low))
    }

    /// `tcp_mtu_probing()`: so many timeouts look like a black hole: smaller segments, and still smaller ones.
    #[cold]
    pub(crate) fn mtu_black_hole(&mut self, cx: &mut Cx<'_>) {
        match self.mtup.as_ref().map(|m| m.search_low) {
            None => {
                self.mtup_enable(cx);
                if let Some(m) = &mut self.mtup {
                    m.search_high = m.search_high.min(self.snd.pmtu);
                }
            }
            Some(low) => {
                let sysctl = &cx.host.sysctl;
                let mss = (self.mtu_to_mss(cx, low) >> 1)
                    .min(sysctl.tcp_base_mss)
                    .max(sysctl.tcp_mtu_probe_floor)
                    .max(sysctl.tcp_min_snd_mss);
                let low = self.neg.mss_to_mtu(cx, mss);
                if let Some(m) = &mut self.mtup {
                    m.search_low = low;
                }
            }
        }
        self.sync_mss(cx, self.snd.pmtu);
    }

    /// A probe is in flight.
    pub(crate) fn is_mtu_probe_out(&self) -> bool {
        self.mtup.as_ref().is_some_and(|m| m.probe_size > 0)
    }

    /// Data are retransmitted: later ACKs say nothing about the probe.
    #[cold]
    pub(super) fn mtu_probe_forgotten(&mut self) {
        if let Some(m) = &mut self.mtup {
            m.probe_size = 0;
        }
    }

    /// `tcp_mtu_probe()`.
    #[cold]
    #[inline(never)]
    pub(super) fn mtu_probe(&mut self, cx: &mut Cx<'_>) -> Probe {
        let Some(m) = self.mtup.as_deref().copied() else {
            return Probe::No;
        };
        if m.probe_size > 0
            || self.loss.ca_state != CaState::Open
            || self.snd.snd_cwnd < LEAST_WINDOW
            || self.rcvq.sack_blocks_out(&self.neg) > 0
        {
            return Probe::No;
        }
        let mss = self.current_mss();
        let size = self.mtu_to_mss(cx, (m.search_high + m.search_low) >> 1);
        let interval = i64::from(m.search_high) - i64::from(m.search_low);
        let searched = interval < i64::from(cx.host.sysctl.tcp_probe_threshold);
        if searched || size > self.mtu_to_mss(cx, m.search_high) {
            self.mtu_reprobe(cx, mss);
            return Probe::No;
        }
        match self.mtu_probe_fits(size) {
            Probe::Sent => {}
            other => return other,
        }
        let Some(id) = self.queue.send_head() else {
            return Probe::No;
        };
        self.mtu_probe_build(id, size, mss);
        if !self.transmit(cx, id) {
            return Probe::No;
        }
        // It is in flight as one, and as long as two.
        self.snd.set_cwnd(self.snd.snd_cwnd - 1);
        self.new_data_sent(cx, id, mss);
        let probe_size = self.neg.mss_to_mtu(cx, size);
        if let (Some(m), Some(skb)) = (&mut self.mtup, self.queue.get(id)) {
            m.probe_size = probe_size;
            m.probe = (skb.seq, skb.end_seq());
        }
        Probe::Sent
    }

    /// Whether there are enough data for the probe and for the duplicate ACKs that would show its loss, and enough
    /// window. [`Probe::Sent`]: it may go.
    fn mtu_probe_fits(&self, size: u32) -> Probe {
        let needed =
            u64::from(size) + u64::from(self.loss.reordering + 1) * u64::from(self.snd.mss_cache);
        let s = &self.snd;
        if u64::from(s.write_seq - s.snd_nxt) < needed || u64::from(s.snd_wnd) < needed {
            return Probe::No;
        }
        if (s.snd_nxt + needed as u32).after(s.wnd_end()) {
            return Probe::Wait;
        }
        match self.loss.in_flight() {
            0 if s.snd_cwnd < 2 => return Probe::No,
            out if out + 2 > s.snd_cwnd => return Probe::Wait,
            _ => {}
        }
        let mut left = size;
        for skb in self.queue.iter_unsent() {
            if left <= skb.len {
                return Probe::Sent;
            }
            if skb.eor {
                break;
            }
            left -= skb.len;
        }
        Probe::No
    }

    /// The first unsent segment takes bytes of those behind it until it is as long as the probe.
    fn mtu_probe_build(&mut self, id: Id, size: u32, mss: u32) {
        while let Some(len) = self.queue.get(id).map(|skb| skb.len) {
            let missing = size.saturating_sub(len);
            let before = self.queue.get(id.behind()).map(|next| next.len);
            let bytes = match missing {
                0 => break,
                _ => self.take_of_next(id, missing, mss),
            };
            match before {
                None => break,
                Some(len) if len == bytes => {}
                Some(_) => self.keep_memory(id.behind(), bytes),
            }
        }
        self.mtu_probe_cut(id, size, mss);
        if let Some(skb) = self.queue.get_mut(id) {
            skb.set_segs(size);
        }
    }

    /// The kernel copies the bytes: the segment from which only a part was taken keeps its memory.
    fn keep_memory(&mut self, id: Id, bytes: u32) {
        if let Some(skb) = self.queue.get_mut(id) {
            skb.truesize += bytes;
        }
        self.snd.wmem_add(&mut self.rcv, bytes);
    }

    /// A super-segment is longer than the probe: the rest stays behind it.
    fn mtu_probe_cut(&mut self, id: Id, size: u32, mss: u32) {
        if self.queue.get(id).is_none_or(|skb| skb.len <= size) {
            return;
        }
        let Some(rest) = self.queue.split(id, size) else {
            return;
        };
        // The kernel's copy leaves the old segment its memory.
        let mut more = 0;
        if let Some(skb) = self.queue.get_mut(rest) {
            skb.set_segs(mss);
            more = skb.truesize;
        }
        self.snd.wmem_add(&mut self.rcv, more);
        if let Some(skb) = self.queue.get_mut(id) {
            skb.flags &= !(SkbFlags::FIN | SkbFlags::PSH);
            skb.eor = false;
        }
    }

    /// `tcp_mtu_check_reprobe()`: long ago the path took no more; it may do so now.
    fn mtu_reprobe(&mut self, cx: &Cx<'_>, mss: u32) {
        let interval = cx
            .host
            .sysctl
            .tcp_probe_interval
            .saturating_mul(cx.host.clock.hz);
        let (now, high, low) = (
            cx.jiffies32(),
            self.snd.largest_mtu(cx),
            self.neg.mss_to_mtu(cx, mss),
        );
        if let Some(m) = &mut self.mtup
            && now.wrapping_sub(m.began) >= interval
        {
            (m.probe_size, m.search_high, m.search_low) = (0, high, low);
            m.began = now;
        }
    }

    /// New data was ACKed: maybe the probe (`tcp_mtup_probe_success()`).
    #[cold]
    #[inline(never)]
    pub(crate) fn mtu_probe_acked(&mut self, cx: &mut Cx<'_>) {
        let Some(m) = self.mtup.as_deref().copied() else {
            return;
        };
        if m.probe_size == 0 || m.probe.1.after(self.snd.snd_una) {
            return;
        }
        self.loss.prior_ssthresh = self.snd.current_ssthresh(&self.loss);
        // As many bytes in larger segments.
        let bytes =
            u64::from(self.snd.snd_cwnd) * u64::from(self.neg.mss_to_mtu(cx, self.snd.mss_cache));
        let cwnd = (bytes / u64::from(m.probe_size)).max(1) as u32;
        self.snd.set_cwnd(cwnd);
        self.snd.snd_cwnd_cnt = 0;
        self.snd.snd_cwnd_stamp = cx.jiffies32();
        let ssthresh = self.snd.current_ssthresh(&self.loss);
        self.snd.set_ssthresh(ssthresh);
        if let Some(m) = &mut self.mtup {
            m.search_low = m.probe_size;
            m.probe_size = 0;
        }
        self.sync_mss(cx, self.snd.pmtu);
        cx.count(Counter::MTUPSuccess);
    }

    /// Before recovery begins: the probe alone was lost, and that is no congestion (`tcp_mtup_probe_failed()`); true:
    /// so it was, and it was sent again in smaller segments.
    #[cold]
    pub(crate) fn mtu_probe_lost(&mut self, cx: &mut Cx<'_>) -> bool {
        let una = self.snd.snd_una;
        let failed = |m: &&mut Box<MtuProbing>| m.probe_size > 0 && m.probe.0 == una;
        let Some(m) = self.mtup.as_mut().filter(failed) else {
            return false;
        };
        m.search_high = m.probe_size - 1;
        m.probe_size = 0;
        cx.count(Counter::MTUPFail);
        self.snd.set_cwnd(self.snd.snd_cwnd + 1);
        self.simple_retransmit(cx);
        true
    }
}
