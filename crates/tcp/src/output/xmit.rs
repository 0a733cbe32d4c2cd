//! What may leave now: congestion window, peer's window, Nagle, TSO, pacing (RFC 9293 3.8.6, RFC 5681; Linux
//! `tcp_write_xmit()`, `tcp_event_new_data_sent()`, `tcp_push_pending_frames()`).

use super::mtu_probe::Probe;
use super::tso::Limited;
use crate::cx::Cx;
use crate::endpoint::{Busy, Endpoint, Snd, State};
use crate::mib::Counter;
use crate::options::Nagle;
use crate::queue::{Id, Skb, SkbFlags};
use crate::recovery::Loss;
use crate::timers::Pending;

/// How much is sent at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Push {
    /// What windows and rules allow.
    All,
    One,
    /// One, as a loss probe.
    Probe,
}

/// What the loop of [`Endpoint::write_xmit`] was asked for.
#[derive(Clone, Copy)]
struct Ask {
    mss: u32,
    nonagle: Nagle,
    push: Push,
    max_segs: u32,
}

impl Snd {
    /// `tcp_snd_wnd_test()`: whether the first `mss` bytes of a segment fit into the peer's window.
    #[inline]
    pub(crate) fn wnd_test(&self, skb: &Skb, mss: u32) -> bool {
        !(skb.seq + skb_window(skb, mss)).after(self.wnd_end())
    }
}

impl Loss {
    /// `tcp_cwnd_test()`: segments that the congestion window lets out; in older releases a last FIN always goes.
    #[inline]
    fn cwnd_test(&self, cx: &Cx<'_>, snd: &Snd, skb: &Skb) -> u32 {
        if skb.flags.intersects(SkbFlags::FIN) && skb.pcount == 1 && cx.host.profile.fin_beyond_cwnd
        {
            return 1;
        }
        let (in_flight, cwnd) = (self.in_flight(), snd.snd_cwnd);
        if in_flight >= cwnd {
            return 0;
        }
        (cwnd >> 1).max(1).min(cwnd - in_flight)
    }
}

impl Endpoint {
    /// `tcp_write_xmit()`: sends what windows and rules allow; true when something waits that nothing in flight will
    /// bring out (a zero-window probe must be armed).
    pub(crate) fn write_xmit(
        &mut self,
        cx: &mut Cx<'_>,
        mss: u32,
        nonagle: Nagle,
        push: Push,
    ) -> bool {
        self.ack.note_clock(cx);
        let mut sent = 0;
        if push == Push::All && self.mtup.is_some() {
            match self.mtu_probe(cx) {
                Probe::No => {}
                Probe::Wait => return false,
                Probe::Sent => sent = 1,
            }
        }
        let ask = Ask {
            mss,
            nonagle,
            push,
            max_segs: self.tune.tso_segs(cx, &self.cc, &self.rtt, mss),
        };
        let mut limited = Limited::default();
        while let Some(id) = self.queue.send_head() {
            if !self.may_send(cx, id, ask, &mut limited) {
                break;
            }
            if !self.transmit(cx, id) {
                break;
            }
            sent += self.new_data_sent(cx, id, mss);
            if push != Push::All {
                break;
            }
        }
        match limited.rwnd {
            true => self.stats.chrono.start(cx, Busy::RwndLimited),
            false => self
                .stats
                .chrono
                .stop(cx, self.queue.is_empty(), Busy::RwndLimited),
        }
        let full = limited.cwnd || self.loss.in_flight() >= self.snd.snd_cwnd;
        if sent > 0 || full {
            self.cwnd_validate(cx, full);
        }
        if sent == 0 {
            return self.loss.packets_out == 0 && self.queue.has_unsent();
        }
        if self.loss.in_cwnd_reduction() {
            self.loss.prr_out += sent;
        }
        if push != Push::Probe {
            self.schedule_loss_probe(cx, false);
        }
        false
    }

    /// Whether the first unsent segment may leave now; cuts off what may not.
    #[inline]
    fn may_send(&mut self, cx: &mut Cx<'_>, id: Id, ask: Ask, limited: &mut Limited) -> bool {
        if self.tune.pacing_check(cx, &mut self.timers) {
            return false;
        }
        let Some(skb) = self.queue.get_mut(id) else {
            return false;
        };
        // tcp_init_tso_segs(): a write has changed its length, or the MSS has changed.
        if skb.pcount == 0 || (skb.pcount > 1 && u32::from(skb.gso_size) != ask.mss) {
            skb.set_segs(ask.mss);
        }
        let skb = *skb;
        let quota = match self.loss.cwnd_test(cx, &self.snd, &skb) {
            0 if ask.push == Push::Probe => 1,
            0 => return false,
            quota => quota,
        };
        let skb = match cx.host.profile.grows_segments {
            false => skb,
            true => {
                self.grow(id, quota.min(ask.max_segs).saturating_mul(ask.mss), ask.mss);
                self.queue.get(id).copied().unwrap_or(skb)
            }
        };
        if !self.snd.wnd_test(&skb, ask.mss) {
            limited.rwnd = true;
            return false;
        }
        if skb.pcount > 1 {
            return self.may_send_super(cx, id, ask, (quota, limited));
        }
        // What stands in the middle of the queue gets no more data: there is nothing to wait for.
        let nonagle = match Some(id) == self.queue.last() {
            true => ask.nonagle,
            false => Nagle::PUSH,
        };
        if !self.snd.nagle_test(&self.loss, &skb, ask.mss, nonagle) {
            return false;
        }
        if skb.len > ask.mss && self.fragment(cx, id, ask.mss, ask.mss).is_none() {
            return false;
        }
        // An empty segment belongs to a write that waits for memory.
        skb.end_seq() != skb.seq
    }

    /// A super-segment may wait for more window, and may leave in part.
    #[inline(never)]
    fn may_send_super(
        &mut self,
        cx: &mut Cx<'_>,
        id: Id,
        ask: Ask,
        (quota, limited): (u32, &mut Limited),
    ) -> bool {
        let Some(skb) = self.queue.get(id).copied() else {
            return false;
        };
        if ask.push == Push::All && self.tso_should_defer(cx, id, &skb, limited, ask.max_segs) {
            return false;
        }
        let limit = match self.snd.in_urg_mode() {
            false => self.split_point(id, &skb, ask.mss, quota.min(ask.max_segs), ask.nonagle),
            true => ask.mss,
        };
        if skb.len > limit && self.fragment(cx, id, limit, ask.mss).is_none() {
            return false;
        }
        skb.end_seq() != skb.seq
    }

    /// `tcp_may_send_now()`: new data could leave.
    #[cold]
    pub(crate) fn may_send_now(&mut self, cx: &Cx<'_>) -> bool {
        let mss = self.current_mss();
        let Some(id) = self.queue.send_head() else {
            return false;
        };
        let Some(skb) = self.queue.get_mut(id) else {
            return false;
        };
        if skb.pcount == 0 {
            skb.set_segs(mss);
        }
        let skb = *skb;
        let nonagle = match Some(id) == self.queue.last() {
            true => self.options.nonagle,
            false => Nagle::PUSH,
        };
        self.snd.nagle_test(&self.loss, &skb, mss, nonagle)
            && self.loss.cwnd_test(cx, &self.snd, &skb) > 0
            && self.snd.wnd_test(&skb, mss)
    }

    /// `tcp_event_new_data_sent()` and `tcp_minshall_update()`: the first unsent segment has left; its packets.
    pub(crate) fn new_data_sent(&mut self, cx: &mut Cx<'_>, id: Id, mss: u32) -> u32 {
        let Some(skb) = self.queue.get(id) else {
            return 0;
        };
        let (end, len, pcount) = (skb.end_seq(), skb.len, u32::from(skb.pcount));
        self.snd.snd_nxt = end;
        self.queue.advance_send_head();
        if self.loss.highest_sack == Id::NONE {
            self.loss.highest_sack = id;
        }
        let prior = self.loss.packets_out;
        self.loss.packets_out += pcount;
        let probes = matches!(
            self.timers.pending,
            Pending::LossProbe | Pending::EarlyRetrans
        );
        if prior == 0 || probes {
            self.rearm_rto(cx);
        }
        cx.mib.add(Counter::OrigDataSent, u64::from(pcount));
        self.check_space(cx);
        if len < pcount.saturating_mul(mss) {
            self.snd.snd_sml = end;
        }
        pcount
    }

    /// `__tcp_push_pending_frames()`.
    pub(crate) fn push_frames(&mut self, cx: &mut Cx<'_>, mss: u32, nonagle: Nagle) {
        if self.state != State::Close && self.write_xmit(cx, mss, nonagle, Push::All) {
            self.check_probe_timer(cx);
        }
    }

    /// `tcp_push_pending_frames()`.
    #[inline]
    pub(crate) fn push_pending_frames(&mut self, cx: &mut Cx<'_>) {
        if self.queue.has_unsent() {
            self.push_unsent(cx);
        }
    }

    #[inline(never)]
    fn push_unsent(&mut self, cx: &mut Cx<'_>) {
        let mss = self.current_mss();
        self.push_frames(cx, mss, self.options.nonagle);
    }

    /// `tcp_data_snd_check()`: after an ACK: more data, and room in the buffer.
    #[inline]
    pub(crate) fn data_snd_check(&mut self, cx: &mut Cx<'_>) {
        self.push_pending_frames(cx);
        self.check_space(cx);
    }
}

/// Sequence space of a segment that must fit into the peer's window: at most `mss`.
#[inline]
fn skb_window(skb: &Skb, mss: u32) -> u32 {
    match skb.len > mss {
        true => mss,
        false => skb.end_seq() - skb.seq,
    }
}
