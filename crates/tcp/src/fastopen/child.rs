//! A server's connection that a SYN with a cookie made: in SYN-RECEIVED, and yet accepted, read and written (Linux
//! `tcp_fastopen_create_child()`, `tcp_fastopen_add_skb()`, `tcp_fastopen_synack_timer()`, `reqsk_fastopen_remove()`).

use tcplab_wire::{FastOpen, TcpFlags};

use super::Over;
use crate::cx::Cx;
use crate::endpoint::{Endpoint, TIMEOUT_INIT_MS};
use crate::mib::Counter;
use crate::options::FastOpenState;
use crate::segment::Segment;
use crate::stack::{Open, Request};
use crate::timers::{Pending, Timers};

/// How long a child that was reset still counts for its listener, in seconds.
const RESET_COUNTS_S: u32 = 60;

impl Timers {
    fn arm_synack(&mut self, cx: &Cx<'_>, backoff: u8) {
        let clock = &cx.host.clock;
        let first = clock.from_millis(TIMEOUT_INIT_MS);
        let when = first.saturating_mul(1 << backoff.min(16));
        let most = cx.host.rto_max();
        self.arm(cx, Pending::SynAck, when, most);
    }
}

impl Endpoint {
    /// The rest of a child that was made of its SYN: data of the SYN, timer, SYN-ACK.
    pub(crate) fn begin_fast_child(
        &mut self,
        cx: &mut Cx<'_>,
        mut req: Box<Request>,
        seg: &Segment,
        cookie: Option<FastOpen>,
    ) {
        self.neg.fast_open.set(FastOpenState::CHILD, true);
        // RFC 7323 2.2: the window of a SYN is never scaled.
        self.snd.snd_wnd = u32::from(seg.window);
        self.snd.max_window = self.snd.snd_wnd;
        self.timers.arm_synack(cx, 0);
        self.init_transfer(cx);
        self.rcv.rcv_nxt = seg.seq + 1;
        self.take_syn_payload(cx, seg);
        self.rcv.rcv_wup = self.rcv.rcv_nxt;
        req.rcv_nxt = self.rcv.rcv_nxt;
        req.send_synack(cx, None, cookie);
        self.request = Some(req);
    }

    /// `tcp_fastopen_add_skb()`: data and FIN of a SYN or SYN-ACK, `rcv_nxt` being behind its SYN.
    pub(super) fn take_syn_payload(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        let end = seg.end_seq();
        if end == self.rcv.rcv_nxt {
            return;
        }
        // The SYN was counted already, and its data count for themselves.
        self.stats.segs_in = 1;
        if seg.len > 0 {
            self.stats.data_segs_in = self.stats.data_segs_in.wrapping_add(1);
        }
        self.queue_syn_payload(cx, seg);
        self.rcv.rcv_nxt = end;
        self.neg.fast_open.set(FastOpenState::DATA_ACKED, true);
        self.stats.bytes_received = u64::from(seg.len);
        if seg.flags.has(TcpFlags::FIN) {
            self.fin(cx);
        }
    }

    /// Whether it is a child of Fast Open.
    pub(crate) fn is_fast_child(&self) -> bool {
        self.neg.fast_open.intersects(FastOpenState::CHILD)
    }

    /// `tcp_passive_fastopen()`: a child of Fast Open whose handshake is not over; poll(2) treats it as connected.
    pub fn is_passive_fast_open(&self) -> bool {
        self.request.is_some() && self.state == crate::State::SynRecv
    }

    /// In SYN-SENT, or in SYN-RECEIVED after crossed SYNs: poll(2) treats it as not connected.
    pub fn is_connecting(&self) -> bool {
        match self.state {
            crate::State::SynSent => true,
            crate::State::SynRecv => !self.is_passive_fast_open(),
            _ => false,
        }
    }

    /// Such a child, given out by accept(2).
    pub(crate) fn is_taken_child(&self) -> bool {
        self.request.as_ref().is_some_and(|req| req.taken)
    }

    /// The request's part in what arrives (`tcp_check_req()`); false: all is done.
    #[cold]
    pub(crate) fn fast_child_takes(&mut self, cx: &mut Cx<'_>, seg: &Segment) -> bool {
        let snd_nxt = self.snd.snd_nxt;
        let Some(req) = &mut self.request else {
            return true;
        };
        let before = req.num_retrans;
        let verdict = req.check_open(cx, seg, Some(snd_nxt));
        if req.num_retrans != before {
            self.stats.total_retrans = self.stats.total_retrans.wrapping_add(1);
        }
        if verdict == Open::Reset {
            self.forget_request(cx, true);
            self.reset(cx);
        }
        verdict == Open::On
    }

    /// The SYN-ACK is ACKed (`tcp_rcv_synrecv_state_fastopen()`).
    #[cold]
    pub(crate) fn fast_child_stands(&mut self, cx: &mut Cx<'_>) {
        self.undo_synack_loss(cx);
        self.loss.retrans_stamp = 0;
        self.loss.retransmits = 0;
        self.forget_request(cx, false);
        // What was sent meanwhile is watched from now on.
        self.rearm_rto(cx);
    }

    /// `reqsk_fastopen_remove()`. `reset`: by a RST, which the listener shall remember for a while.
    pub(crate) fn forget_request(&mut self, cx: &mut Cx<'_>, reset: bool) {
        let Some(req) = self.request.take() else {
            return;
        };
        if self.timers.pending == Pending::SynAck {
            self.timers.pending = Pending::Retrans;
        }
        let counts = u64::from(RESET_COUNTS_S * cx.host.clock.hz);
        let until = (reset && req.taken).then(|| cx.jiffies() + counts);
        let listener = req.listener;
        cx.metrics.fast_open.over.push(Over { listener, until });
    }

    /// The SYN-ACK was not ACKed in time; only it is sent again (`tcp_fastopen_synack_timer()`).
    #[cold]
    pub(crate) fn fast_synack_timer(&mut self, cx: &mut Cx<'_>) {
        let own = self.options.syn_retries;
        let Some(req) = &mut self.request else {
            return;
        };
        cx.count(Counter::Timeouts);
        let most = match own {
            0 => cx.host.sysctl.tcp_synack_retries.saturating_add(1),
            own => own,
        };
        if req.num_timeout >= most {
            self.write_error(cx);
            return;
        }
        if self.loss.retransmits == 1 {
            self.enter_loss(cx);
        }
        let Some(req) = &mut self.request else {
            return;
        };
        req.resend_synack(cx);
        req.num_timeout += 1;
        let backoff = req.num_timeout;
        self.stats.total_retrans = self.stats.total_retrans.wrapping_add(1);
        self.loss.retransmits = self.loss.retransmits.saturating_add(1);
        if self.loss.retrans_stamp == 0 {
            self.loss.retrans_stamp = cx.host.clock.millis(cx.now);
        }
        self.timers.arm_synack(cx, backoff);
    }
}
