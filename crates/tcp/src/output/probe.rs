//! Zero-window probes (RFC 9293 3.8.6.1; Linux `tcp_probe_timer()`, `tcp_send_probe0()`, `tcp_write_wakeup()`).

use tcplab_wire::TcpFlags;

use crate::cx::Cx;
use crate::endpoint::{Endpoint, State};
use crate::mib::Counter;
use crate::queue::{Id, SkbFlags};
use crate::rtt::Rtt;
use crate::timers::Pending;

impl Rtt {
    /// `tcp_probe0_base()` in jiffies: the RTO, at least 200 ms.
    pub(crate) fn probe0_base(&self, cx: &Cx<'_>) -> u32 {
        self.rto.max(cx.host.clock.hz / 5)
    }

    /// `tcp_probe0_when()`: the time to the next probe, in jiffies.
    pub(crate) fn probe0_when(&self, cx: &Cx<'_>) -> u32 {
        // 120 s are 200 ms doubled ten times.
        let backoff = self.backoff.min(10);
        let when = u64::from(self.probe0_base(cx)) << backoff;
        when.min(u64::from(cx.host.rto_max())) as u32
    }
}

impl Endpoint {
    /// `tcp_check_probe_timer()`: arms the probe timer when nothing is in flight and something waits.
    #[cold]
    #[inline(never)]
    pub(crate) fn check_probe_timer(&mut self, cx: &mut Cx<'_>) {
        if self.loss.packets_out == 0 && self.timers.pending == Pending::None {
            let when = self.rtt.probe0_base(cx);
            self.timers.arm_paced(cx, &self.tune, Pending::Probe0, when);
        }
    }

    /// `tcp_probe_timer()`: the zero-window probe's timer is due.
    pub(crate) fn on_probe_timer(&mut self, cx: &mut Cx<'_>) {
        if self.loss.packets_out > 0 || !self.queue.has_unsent() {
            self.loss.probes_out = 0;
            self.loss.probes_tstamp = 0;
            return;
        }
        let now = cx.jiffies32();
        let user_timeout = cx
            .host
            .clock
            .from_millis(u64::from(self.options.user_timeout));
        if self.loss.probes_tstamp == 0 {
            self.loss.probes_tstamp = now;
        } else if user_timeout > 0
            && now.wrapping_sub(self.loss.probes_tstamp) as i32 >= user_timeout as i32
        {
            self.write_error(cx);
            return;
        }
        let mut most = u32::from(cx.host.sysctl.tcp_retries2);
        if self.is_orphan() {
            let backed_off = u64::from(self.rtt.rto) << self.rtt.backoff.min(32);
            let alive = backed_off < u64::from(cx.host.rto_max());
            most = self.orphan_retries(cx, alive);
            if !alive && u32::from(self.rtt.backoff) >= most {
                self.write_error(cx);
                return;
            }
        }
        match u32::from(self.loss.probes_out) >= most {
            true => self.write_error(cx),
            false => self.send_probe0(cx),
        }
    }

    /// `tcp_orphan_retries()`: how often a closed socket tries, when the peer seems to be there or not.
    pub(crate) fn orphan_retries(&self, cx: &Cx<'_>, alive: bool) -> u32 {
        let set = match self.error_soft.is_some() && !alive {
            true => 0,
            false => u32::from(cx.host.sysctl.tcp_orphan_retries),
        };
        // Eight are about 100 s at the smallest RTO.
        if set == 0 && alive { 8 } else { set }
    }

    /// `tcp_send_probe0()`: a probe, or a piece of data when the window is not quite shut.
    pub(crate) fn send_probe0(&mut self, cx: &mut Cx<'_>) {
        let taken = self.write_wakeup(cx, Counter::WinProbe);
        if self.loss.packets_out > 0 || !self.queue.has_unsent() {
            self.loss.probes_out = 0;
            self.rtt.backoff = 0;
            self.loss.probes_tstamp = 0;
            return;
        }
        self.loss.probes_out = self.loss.probes_out.saturating_add(1);
        if taken && self.rtt.backoff < cx.host.sysctl.tcp_retries2 {
            self.rtt.backoff += 1;
        }
        let when = match taken {
            true => self.rtt.probe0_when(cx),
            false => resource_probe_interval(cx),
        };
        let when = self.clamp_to_user_timeout(cx, when);
        self.timers.arm_paced(cx, &self.tune, Pending::Probe0, when);
    }

    /// `tcp_clamp_probe0_to_user_timeout()`; `when` in jiffies.
    pub(crate) fn clamp_to_user_timeout(&self, cx: &Cx<'_>, when: u32) -> u32 {
        if self.options.user_timeout == 0 || self.loss.probes_tstamp == 0 {
            return when;
        }
        let elapsed = cx.jiffies32().wrapping_sub(self.loss.probes_tstamp) as i32;
        let timeout = cx
            .host
            .clock
            .from_millis(u64::from(self.options.user_timeout));
        // The kernel subtracts modulo 2^32: a timeout that is over leaves a very long rest.
        let remaining = timeout.wrapping_sub(elapsed.max(0) as u32);
        remaining.max(2).min(when)
    }

    /// `tcp_write_wakeup()`: a piece of data when the window takes some, else a segment that the peer must answer.
    /// `mib`: what a probe is counted as. False: the device's queue dropped it.
    pub(crate) fn write_wakeup(&mut self, cx: &mut Cx<'_>, mib: Counter) -> bool {
        if self.state == State::Close {
            return true;
        }
        let head = self.queue.send_head().filter(|&id| {
            self.queue
                .get(id)
                .is_some_and(|skb| skb.seq.before(self.snd.wnd_end()))
        });
        if let Some(id) = head {
            return self.send_piece(cx, id);
        }
        // In urgent mode one more, with the pointer.
        if (1..=0xffff).contains(&(self.snd.snd_up - self.snd.snd_una)) {
            self.xmit_probe(cx, true, mib);
        }
        self.xmit_probe(cx, false, mib)
    }

    /// `tcp_write_wakeup()` for keepalive (counter TCPKeepAlive): a segment that the peer has; false: the device's
    /// queue dropped it.
    pub(crate) fn send_keepalive_probe(&mut self, cx: &mut Cx<'_>) -> bool {
        self.write_wakeup(cx, Counter::KeepAlive)
    }

    /// Sends what fits into the window of the first unsent segment. False: the device's queue dropped it.
    fn send_piece(&mut self, cx: &mut Cx<'_>, id: Id) -> bool {
        let mss = self.current_mss();
        let window_end = self.snd.wnd_end();
        let Some(skb) = self.queue.get_mut(id) else {
            return true;
        };
        let (seq, end, len) = (skb.seq, skb.end_seq(), skb.len);
        skb.flags |= SkbFlags::PSH;
        if skb.pcount == 0 {
            skb.set_segs(mss);
        }
        if self.snd.pushed_seq.before(end) {
            self.snd.pushed_seq = end;
        }
        let room = window_end - seq;
        if room < end - seq || len > mss {
            let piece = room.min(mss);
            // A lone FIN behind the window's edge is not cut off.
            if piece < len && self.fragment(cx, id, piece, mss).is_none() {
                return true;
            }
            // The cut took the mark off the first part.
            if let Some(skb) = self.queue.get_mut(id) {
                skb.flags |= SkbFlags::PSH;
            }
        }
        if !self.transmit(cx, id) {
            return false;
        }
        // tcp_write_wakeup() leaves Minshall's mark alone.
        let sml = self.snd.snd_sml;
        self.new_data_sent(cx, id, mss);
        self.snd.snd_sml = sml;
        true
    }

    /// `tcp_xmit_probe_skb()`: an ACK with an old sequence number, which the peer must answer.
    fn xmit_probe(&mut self, cx: &mut Cx<'_>, urgent: bool, mib: Counter) -> bool {
        cx.count(mib);
        let seq = match urgent {
            true => self.snd.snd_una,
            false => self.snd.snd_una - 1_u32,
        };
        self.transmit_control(cx, seq, TcpFlags::ACK, self.rcv.rcv_nxt)
    }
}

/// `TCP_RESOURCE_PROBE_INTERVAL` in jiffies: half a second until the device's queue is tried again.
pub(crate) const fn resource_probe_interval(cx: &Cx<'_>) -> u32 {
    cx.host.clock.hz / 2
}
