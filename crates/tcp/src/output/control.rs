//! Segments without data of the application: ACK, FIN, RST, crossed SYN-ACK (RFC 9293 3.10; Linux `tcp_send_ack()`,
//! `tcp_send_fin()`, `tcp_send_active_reset()`).

use tcplab_base::Seq;
use tcplab_wire::TcpFlags;

use crate::cx::Cx;
use crate::endpoint::{Endpoint, Snd, State};
use crate::mib::Counter;
use crate::options::{Nagle, Negotiated};
use crate::queue::{Skb, SkbFlags};

impl Snd {
    /// `tcp_acceptable_seq()`: `snd_nxt`, or the window's edge when the peer has shrunk its window.
    pub(crate) fn acceptable_seq(&self, neg: &Negotiated) -> Seq {
        let (end, nxt) = (self.wnd_end(), self.snd_nxt);
        let scale = 1_u32 << self.rcv_wscale.min(14);
        match !end.before(nxt) || (neg.wscale_ok && nxt - end < scale) {
            true => nxt,
            false => end,
        }
    }
}

impl Endpoint {
    /// `tcp_send_ack()`: a pure ACK now.
    #[inline]
    pub(crate) fn send_ack(&mut self, cx: &mut Cx<'_>) {
        self.send_ack_of(cx, self.rcv.rcv_nxt);
    }

    /// `__tcp_send_ack()`: an ACK of `rcv_nxt`, or of an older one (DCTCP).
    #[inline(never)]
    pub(crate) fn send_ack_of(&mut self, cx: &mut Cx<'_>, rcv_nxt: Seq) {
        if self.state != State::Close {
            let seq = self.snd.acceptable_seq(&self.neg);
            self.transmit_control(cx, seq, TcpFlags::ACK, rcv_nxt);
        }
    }

    /// `tcp_send_fin()`: the FIN goes with the last segment that was not sent, else alone.
    pub(crate) fn send_fin(&mut self, cx: &mut Cx<'_>) {
        let tail = self.queue.unsent_last();
        match tail.and_then(|tail| self.queue.get_mut(tail)) {
            Some(skb) => skb.flags |= SkbFlags::FIN,
            None => {
                let truesize = cx.host.profile.tx_truesize;
                self.queue_skb(cx, Skb::new(self.snd.write_seq, 0, SkbFlags::FIN, truesize));
            }
        }
        self.snd.write_seq = self.snd.write_seq + 1;
        let mss = self.current_mss();
        self.push_frames(cx, mss, Nagle::OFF);
    }

    /// `tcp_send_active_reset()`.
    pub(crate) fn send_active_reset(&mut self, cx: &mut Cx<'_>) {
        cx.count(Counter::OutRsts);
        let seq = self.snd.acceptable_seq(&self.neg);
        self.transmit_control(cx, seq, TcpFlags::ACK | TcpFlags::RST, self.rcv.rcv_nxt);
    }
}
