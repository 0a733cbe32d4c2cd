//! A segment for a connection in SYN-SENT (RFC 9293 3.10.7.3; Linux `tcp_rcv_synsent_state_process()`).

use tcplab_base::Seq;
use tcplab_wire::TcpFlags;

use crate::cx::Cx;
use crate::endpoint::{Endpoint, SocketError, State, TSTAMP_ALIGNED};
use crate::mib::Counter;
use crate::options::{Ecn, FastOpenState, Negotiated};
use crate::recovery::Flag;
use crate::segment::Segment;
use crate::stack::reply_reset;
use crate::timers::Pending;

/// `TCP_TIMEOUT_MIN` in jiffies.
const TIMEOUT_MIN: u32 = 2;
/// `TCP_MAX_QUICKACKS`.
const MAX_QUICKACKS: u32 = 16;

impl Negotiated {
    /// A SYN whose time stamp is older than that of the port's last connection.
    fn old_by_paws(&self, cx: &Cx<'_>) -> bool {
        self.ts_recent_stamp != 0
            && self.saw_tstamp
            && paws_reject(
                self.ts_recent,
                self.ts_recent_stamp,
                self.rcv_tsval,
                false,
                cx.seconds(),
            )
    }

    /// `tcp_store_ts_recent()`.
    fn store_syn_tstamp(&mut self, cx: &Cx<'_>) {
        self.ts_recent = self.rcv_tsval;
        self.ts_recent_stamp = cx.seconds();
    }
}

impl Endpoint {
    /// All that a segment does in SYN-SENT, its reset too.
    pub(crate) fn on_segment_syn_sent(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        let clamp = self.snd.mss_clamp;
        self.parse_syn_options(cx, seg);
        if self.neg.saw_tstamp && self.neg.rcv_tsecr != 0 {
            self.neg.rcv_tsecr = self.neg.rcv_tsecr.wrapping_sub(self.neg.tsoffset);
        }
        let flags = seg.flags;
        if flags.has(TcpFlags::ACK) {
            if !self.syn_ack_acceptable(cx, seg) {
                self.forget_syn_options(clamp);
                reply_reset(cx, seg);
            } else if flags.has(TcpFlags::RST) {
                self.fail(cx, SocketError::ConnRefused, false);
            } else if flags.has(TcpFlags::SYN) {
                self.syn_acked(cx, seg);
            } else {
                self.forget_syn_options(clamp);
            }
        } else if flags.has(TcpFlags::SYN) && !flags.has(TcpFlags::RST) && !self.neg.old_by_paws(cx)
        {
            self.crossed_syn(cx, seg);
        } else {
            self.forget_syn_options(clamp);
        }
    }

    /// Whether the ACK is for our SYN, and the echoed time stamp one of ours.
    fn syn_ack_acceptable(&mut self, cx: &mut Cx<'_>, seg: &Segment) -> bool {
        if !seg.ack.after(self.snd.snd_una) || seg.ack.after(self.snd.snd_nxt) {
            // An answer to an older connection: send the SYN again soon.
            if self.loss.retransmits == 0 {
                let most = u32::MAX;
                self.timers.arm(cx, Pending::Retrans, TIMEOUT_MIN, most);
            }
            return false;
        }
        let (first, now) = (self.loss.retrans_stamp, cx.host.clock.millis(cx.now));
        let echo = self.neg.rcv_tsecr;
        if self.neg.saw_tstamp && echo != 0 && echo.wrapping_sub(first) > now.wrapping_sub(first) {
            cx.count(Counter::PAWSActive);
            return false;
        }
        true
    }

    /// `tcp_clear_options()`: the segment did not count.
    fn forget_syn_options(&mut self, clamp: u16) {
        let n = &mut self.neg;
        n.saw_tstamp = false;
        n.sack_ok = false;
        n.wscale_ok = false;
        self.snd.snd_wscale = 0;
        self.snd.mss_clamp = clamp;
    }

    /// The SYN-ACK: the connection stands.
    fn syn_acked(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        // tcp_ecn_rcv_synack(): ECE alone says yes.
        let ecn = seg.flags.has(TcpFlags::ECE) && !seg.flags.has(TcpFlags::CWR);
        if !ecn {
            self.neg.ecn_flags &= !Ecn::OK;
        }
        self.neg.caqm_answered(seg);
        self.snd.snd_wl1 = seg.seq;
        self.loss.try_undo_spurious_syn(&self.neg);
        self.ack(cx, seg, Flag::SLOWPATH);
        self.rcv.rcv_nxt = seg.seq + 1;
        self.rcv.rcv_wup = self.rcv.rcv_nxt;
        // RFC 7323 2.2: the window of a SYN is never scaled.
        self.snd.snd_wnd = u32::from(seg.window);
        if !self.neg.wscale_ok {
            self.snd.snd_wscale = 0;
            self.snd.rcv_wscale = 0;
            self.rcv.window_clamp = self.rcv.window_clamp.min(65_535);
        }
        if self.neg.saw_tstamp {
            self.neg.tstamp_ok = true;
            self.rcv.advmss = self.rcv.advmss.saturating_sub(TSTAMP_ALIGNED);
            self.neg.store_syn_tstamp(cx);
        }
        let pmtu = self.snd.pmtu;
        self.sync_mss(cx, pmtu);
        self.ack.initialize_rcv_mss(&self.rcv, &self.snd);
        self.rcv.copied_seq = self.rcv.rcv_nxt;
        self.finish_connect(cx);
        cx.tells();
        let used = FastOpenState::OPTION | FastOpenState::SYN_DATA;
        if self.neg.fast_open.intersects(used) && self.fast_open_answered(cx, seg) {
            self.data_snd_check(cx);
            return;
        }
        if self.neg.fast_open.intersects(FastOpenState::WRITER) || self.ack.in_pingpong(cx) {
            // The first data will carry the ACK.
            self.ack.pending |= crate::endpoint::AckPending::SCHED;
            self.ack.enter_quickack_mode(cx, &self.rcv, MAX_QUICKACKS);
            let delay = cx.host.clock.hz / 5;
            let at = cx.jiffies() + u64::from(delay);
            self.ack.pending |= crate::endpoint::AckPending::TIMER;
            self.timers.arm_delack(cx, at);
            return;
        }
        self.send_ack(cx);
        self.data_snd_check(cx);
    }

    /// A SYN without ACK: both ends open at once (RFC 9293 3.5, figure 8).
    fn crossed_syn(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        self.set_state(cx, State::SynRecv);
        if self.neg.saw_tstamp {
            self.neg.tstamp_ok = true;
            self.neg.store_syn_tstamp(cx);
        }
        self.rcv.rcv_nxt = seg.seq + 1;
        self.rcv.copied_seq = self.rcv.rcv_nxt;
        self.rcv.rcv_wup = self.rcv.rcv_nxt;
        self.snd.snd_wnd = u32::from(seg.window);
        self.snd.snd_wl1 = seg.seq;
        self.snd.max_window = self.snd.snd_wnd;
        // tcp_ecn_rcv_syn(): both bits ask for ECN.
        let asks = seg.flags.has(TcpFlags::ECE) && seg.flags.has(TcpFlags::CWR);
        if !asks {
            self.neg.ecn_flags &= !Ecn::OK;
        }
        // Crossed SYNs: nobody is the server that could agree.
        self.neg.ecn_flags &= !Ecn::CAQM_CLI;
        self.mtup_init(cx);
        let pmtu = self.snd.pmtu;
        self.sync_mss(cx, pmtu);
        self.ack.initialize_rcv_mss(&self.rcv, &self.snd);
        // tcp_send_synack(): the queued SYN goes out again, with an ACK.
        if let Some(id) = self.queue.first_sent() {
            self.transmit_syn(cx, id);
        }
    }
}

/// `tcp_paws_reject()` (RFC 7323 5): the time stamp is older than what came last. `seconds` is the host's clock.
pub(crate) fn paws_reject(recent: u32, stamp: u32, tsval: u32, rst: bool, seconds: u32) -> bool {
    const DAYS_24: u32 = 24 * 24 * 3600;
    const MSL: u32 = 60;
    let over = |age: u32| (seconds.wrapping_sub(stamp.wrapping_add(age)) as i32) >= 0;
    if (recent.wrapping_sub(tsval) as i32) <= 0 || over(DAYS_24) || recent == 0 {
        return false;
    }
    !(rst && over(MSL))
}

/// `tcp_in_window()`.
pub(crate) fn in_window(seq: Seq, end_seq: Seq, left: Seq, right: Seq) -> bool {
    seq == left || (end_seq.after(left) && seq.before(right)) || (seq == right && seq == end_seq)
}
