//! Sending a segment again (RFC 6298 5.4, RFC 6675; Linux `tcp_retransmit_skb()`, `tcp_retrans_try_collapse()`).

use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::mib::Counter;
use crate::queue::{Id, Sacked, Skb, SkbFlags};

impl Endpoint {
    /// `tcp_retransmit_skb()`: sends the segment again and counts it in flight; false: it could not be sent now.
    pub(crate) fn retransmit_skb(&mut self, cx: &mut Cx<'_>, id: Id, segs: u32) -> bool {
        let sent = self.resend(cx, id, segs);
        let Some(skb) = self.queue.get_mut(id) else {
            return false;
        };
        let pcount = u32::from(skb.pcount);
        if sent {
            // DEVIATION: after an undo a retransmission may be in flight that is no longer marked lost; a timeout
            // that sends it again counts it twice on Linux, for the rest of the connection. Here it counts once.
            if !skb.sacked.intersects(Sacked::RETRANS) {
                self.loss.retrans_out += pcount;
            }
            skb.sacked |= Sacked::RETRANS;
        }
        // Also of a retransmission that failed: the time of the first one that was tried.
        if self.loss.retrans_stamp == 0 {
            let ms = (skb.xmit_ns / 1_000_000) as u32;
            self.loss.retrans_stamp = ms;
        }
        self.loss.undo_retrans = self.loss.undo_retrans.max(0) + pcount as i32;
        sent
    }

    /// `__tcp_retransmit_skb()`: the same without the count of retransmissions in flight, for a loss probe.
    pub(crate) fn resend(&mut self, cx: &mut Cx<'_>, id: Id, segs: u32) -> bool {
        let Some(len) = self.prepare_resend(cx, id, segs) else {
            return false;
        };
        let Some(skb) = self.queue.get_mut(id) else {
            return false;
        };
        let syn = skb.flags.intersects(SkbFlags::SYN);
        if syn && skb.flags.contains(SkbFlags::ECN_SETUP) && cx.host.sysctl.tcp_ecn_fallback {
            // RFC 3168 6.1.1.1: the second SYN asks for no ECN.
            skb.flags &= !SkbFlags::ECN_SETUP;
        }
        let pcount = u32::from(skb.pcount);
        cx.mib.add(Counter::RetransSegs, u64::from(pcount));
        if syn {
            cx.count(Counter::SynRetrans);
        }
        self.stats.total_retrans = self.stats.total_retrans.wrapping_add(pcount);
        self.stats.bytes_retrans += u64::from(len);
        self.remember_first(id);
        let sent = self.transmit(cx, id);
        // Also of one that was dropped here: no RTT is taken from it.
        if let Some(skb) = self.queue.get_mut(id) {
            skb.sacked |= Sacked::EVER_RETRANS;
        }
        if !sent {
            cx.mib.add(Counter::RetransFail, u64::from(pcount));
        }
        sent
    }

    /// Trims what is ACKed, cuts to what the window and `segs` allow or joins small ones; the length that goes.
    fn prepare_resend(&mut self, cx: &mut Cx<'_>, id: Id, segs: u32) -> Option<u32> {
        if self.mtup.is_some() {
            self.mtu_probe_forgotten();
        }
        self.trim_acked(id)?;
        let mss = self.current_mss();
        let (seq, skb_len) = self.queue.get(id).map(|skb| (skb.seq, skb.len))?;
        let mut window = self.snd.wnd_end().distance(seq);
        if window <= 0 {
            // The peer has shut its window: the first segment serves as the probe.
            if seq != self.snd.snd_una {
                return None;
            }
            window = mss as i32;
        }
        let window = window as u32;
        let segs = if self.snd.in_urg_mode() { 1 } else { segs };
        let mut len = mss.saturating_mul(segs);
        if len > window {
            len = window - window % mss;
            if len == 0 {
                len = window;
            }
        }
        if skb_len > len {
            self.fragment(cx, id, len, mss)?;
        } else {
            self.recount(id, mss);
            let room = window.min(mss);
            if skb_len < room {
                self.try_collapse(cx, id, room);
            }
        }
        self.queue.get(id).map(|skb| skb.len)
    }

    /// Takes off what is ACKed: a SYN, the first bytes. `None` if all of it is ACKed.
    fn trim_acked(&mut self, id: Id) -> Option<()> {
        let una = self.snd.snd_una;
        let skb = self.queue.get_mut(id)?;
        if skb.seq.before(una) && skb.flags.intersects(SkbFlags::SYN) {
            skb.flags &= !SkbFlags::SYN;
            skb.seq = skb.seq + 1;
        }
        if !skb.seq.before(una) {
            return Some(());
        }
        if skb.end_seq().before(una) {
            return None;
        }
        let acked = una - skb.seq;
        self.queue
            .trim_head(&mut self.snd, &mut self.rcv, id, acked);
        Some(())
    }

    fn recount(&mut self, id: Id, mss: u32) {
        let Some(skb) = self.queue.get_mut(id) else {
            return;
        };
        let old = i32::from(skb.pcount);
        skb.set_segs(mss);
        let less = old - i32::from(skb.pcount);
        self.adjust_pcount(id, less);
    }

    /// `tcp_retrans_try_collapse()`: small segments behind this one go with it, up to `space` bytes.
    fn try_collapse(&mut self, cx: &Cx<'_>, id: Id, space: u32) {
        let can = |skb: &Skb| skb.pcount <= 1 && !skb.is(Sacked::ACKED);
        let Some(first) = self.queue.get(id) else {
            return;
        };
        if !cx.host.sysctl.tcp_retrans_collapse
            || first.flags.intersects(SkbFlags::SYN)
            || !can(first)
        {
            return;
        }
        let mut space = i64::from(space) - i64::from(first.len);
        loop {
            let eor = self.queue.get(id).is_none_or(|skb| skb.eor);
            let Some(next) = self.queue.next_sent(id).and_then(|n| self.queue.get(n)) else {
                return;
            };
            space -= i64::from(next.len);
            if eor || !can(next) || space < 0 || next.end_seq().after(self.snd.wnd_end()) {
                return;
            }
            self.collapse(id);
        }
    }

    /// `tcp_collapse_retrans()`: the next segment's bytes and flags go to this one.
    fn collapse(&mut self, id: Id) {
        let Some(next) = self.queue.next_sent(id) else {
            return;
        };
        // The counts fall by the packet that is no more.
        let gone = self.queue.get(next).map_or(0, |skb| i32::from(skb.pcount));
        self.adjust_pcount(next, gone);
        for hint in [&mut self.loss.highest_sack, &mut self.loss.retransmit_hint] {
            *hint = self.queue.after_removal(*hint, id);
        }
        self.loss.lost_hint = Id::NONE;
        let Some(next) = self.queue.remove_behind(id) else {
            return;
        };
        self.snd
            .wmem_free(&mut self.rcv, next.truesize.saturating_sub(next.len));
        if let Some(skb) = self.queue.get_mut(id) {
            skb.len += next.len;
            skb.truesize += next.len;
            skb.flags |= next.flags;
            skb.sacked |= next.sacked & Sacked::EVER_RETRANS;
            skb.eor = next.eor;
        }
    }
}
