//! A connection that a listener was asked for and that does not stand yet: SYN-RECEIVED in a small record (RFC 9293
//! 3.10.7.2, 3.10.7.4; Linux `struct tcp_request_sock`, `tcp_conn_request()`, `tcp_check_req()`,
//! `reqsk_timer_handler()`).

use tcplab_base::{Instant, Seq};
use tcplab_wire::{FastOpen, TcpFlags, TcpOptions};

use super::listener::Listener;
use super::reset::{SmallAck, limited, oow_limited, reply_ack, reply_reset};
use crate::cc::caqm::negotiate;
use crate::cx::Cx;
use crate::endpoint::{
    Endpoint, Path, TIMEOUT_INIT_MS, TSTAMP_ALIGNED, mss_clamp_default, window_of,
};
use crate::fastopen::put_option;
use crate::input::{in_window, paws_reject};
use crate::mib::Counter;
use crate::options::Ecn;
use crate::segment::{Addr, Segment};

/// A request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    /// The listener's number.
    pub(crate) listener: u32,
    pub(crate) local: Addr,
    pub(crate) remote: Addr,
    pub(crate) rcv_isn: Seq,
    pub(crate) snt_isn: Seq,
    /// What the SYN-ACK acknowledges: data in the SYN too, when there is a child that has them.
    pub(crate) rcv_nxt: Seq,
    pub(crate) ts_off: u32,
    pub(crate) ts_recent: u32,
    /// The peer's MSS option, bounded by TCP_MAXSEG.
    pub(crate) mss: u16,
    /// MSS option of the SYN-ACK.
    pub(crate) advmss: u16,
    pub(crate) window_clamp: u32,
    pub(crate) rcv_wnd: u32,
    pub(crate) snd_wscale: u8,
    pub(crate) rcv_wscale: u8,
    pub(crate) tstamp_ok: bool,
    pub(crate) sack_ok: bool,
    pub(crate) wscale_ok: bool,
    pub(crate) ecn_ok: bool,
    /// Bits of [`Negotiated`]: which ends speak CAQM.
    pub(crate) caqm: Ecn,
    /// The ACK came, and waits: for data (TCP_DEFER_ACCEPT) or for room in the accept queue.
    pub(crate) acked: bool,
    /// For a child of Fast Open: accept(2) has given it out (`req->sk` is NULL).
    pub(crate) taken: bool,
    pub(crate) num_retrans: u8,
    pub(crate) num_timeout: u8,
    pub(crate) last_oow_ack_time: u32,
    /// Microsecond of the first SYN-ACK; 0: none was sent.
    pub(crate) snt_synack_us: u64,
    /// Time stamps of the first and the last SYN-ACK; 0: none was sent.
    pub(crate) tsvals: (u32, u32),
    /// The traffic class of the SYN-ACK.
    pub(crate) tos: u8,
    /// When its timer fires.
    pub(crate) fires: Instant,
    /// Its place among timers of that tick.
    pub(crate) order: u32,
}

/// What [`Request::check_open`] decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Open {
    /// Go on with the segment.
    On,
    /// All is done.
    Done,
    /// The segment goes to the listener, which resets it.
    ToListener,
    /// A reset that counts.
    Reset,
    /// A SYN that has no place here: it was answered with a reset.
    Syn,
}

/// What [`Request::check`] decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// All is done.
    Done,
    /// The segment goes to the listener, which resets it.
    ToListener,
    /// The handshake is over: make the connection.
    Stands,
    /// The request is dropped.
    Drop,
}

impl Request {
    /// The sample of the SYN-ACK's round trip (`tcp_synack_rtt_meas()`); none: it was sent again (Karn).
    pub(crate) fn synack_rtt(&self, cx: &Cx<'_>) -> Option<u32> {
        if self.num_retrans > 0 || self.snt_synack_us == 0 {
            return None;
        }
        let us = cx.now_us().saturating_sub(self.snt_synack_us);
        Some(us.min(u64::from(u32::MAX)) as u32)
    }

    /// What a SYN asks for (`tcp_openreq_init()`, `tcp_openreq_init_rwin()`); the sequence number is the caller's.
    pub(crate) fn of(cx: &Cx<'_>, number: u32, listener: &Listener, seg: &Segment) -> Self {
        let sysctl = &cx.host.sysctl;
        let o = &seg.options;
        let own = own_mss(listener);
        // TCP_MAXSEG bounds what the peer says, not what it does not say (`tcp_parse_options()`).
        let peer = o.mss.filter(|&mss| mss != 0).map(|mss| mss.min(own));
        let peer = peer.unwrap_or_else(|| mss_clamp_default(cx));
        let stamps = o.timestamps.filter(|_| sysctl.tcp_timestamps != 0);
        let scale = o.window_scale.filter(|_| sysctl.tcp_window_scaling);
        Self {
            listener: number,
            local: seg.dst,
            remote: seg.src,
            rcv_isn: seg.seq,
            rcv_nxt: seg.seq + 1,
            ts_recent: stamps.map_or(0, |(tsval, _)| tsval),
            mss: peer,
            advmss: Path::of(cx, seg.src.host, listener.mtu).advmss.min(own),
            snd_wscale: scale.unwrap_or(0).min(14),
            tstamp_ok: stamps.is_some(),
            sack_ok: o.sack_permitted && sysctl.tcp_sack,
            wscale_ok: scale.is_some(),
            tos: match sysctl.tcp_reflect_tos {
                true => seg.tos & !3,
                false => match &listener.socket {
                    Some(own) => own.options.tos & !3,
                    None => listener.options.tos.unwrap_or(0) & !3,
                },
            },
            fires: Instant::from_nanos(i64::MAX),
            ..Self::default()
        }
    }

    /// `tcp_ecn_create_request()`. `needs`: the listener's congestion control wants ECN.
    pub(crate) fn negotiate_ecn(&mut self, cx: &Cx<'_>, seg: &Segment, needs: bool) {
        let asks = seg.flags.has(TcpFlags::ECE) && seg.flags.has(TcpFlags::CWR);
        let marked = seg.ecn() != Segment::NOT_ECT;
        let accurate = seg.flags.has(TcpFlags::AE);
        let may = cx.host.sysctl.tcp_ecn != 0;
        self.ecn_ok = asks && (((!marked || accurate) && may) || needs);
        if needs {
            self.tos |= Segment::ECT_0;
        }
    }

    /// Whether both ends speak CAQM, for this request only, independent of other clients.
    pub(crate) fn negotiate_caqm(&mut self, cx: &Cx<'_>, seg: &Segment, listener: &mut Listener) {
        if !listener.speaks_caqm {
            return;
        }
        let profile = &cx.host.profile;
        let mut asks = negotiate::asks(cx, seg);
        listener.caqm_asked |= asks;
        asks |= listener.caqm_asked && profile.caqm_listener_flags;
        if asks {
            self.caqm = Ecn::CAQM_CLI | Ecn::CAQM_SRV;
        } else if profile.caqm_unasked_srv {
            self.caqm = Ecn::CAQM_SRV;
        }
    }

    /// `tcp_openreq_init_rwin()`: the window that the SYN-ACK offers.
    pub(crate) fn init_window(&mut self, cx: &Cx<'_>, listener: &Listener) {
        let stamps = u16::from(self.tstamp_ok) * TSTAMP_ALIGNED;
        self.select_window(cx, listener, self.advmss.saturating_sub(stamps));
    }

    /// The window that is offered first, in whole segments of `mss` bytes.
    pub(super) fn select_window(&mut self, cx: &Cx<'_>, listener: &Listener, mss: u16) {
        let ep = ListenerBuffer::of(cx, listener);
        let init = cx.host.route.initrwnd.unwrap_or(0);
        let full = ep.full_space;
        self.window_clamp = ep.window_clamp;
        if ep.locked && (self.window_clamp > full || self.window_clamp == 0) {
            self.window_clamp = full;
        }
        let (wnd, clamp, scale) = Endpoint::select_initial_window(
            cx,
            full,
            u32::from(mss),
            self.window_clamp,
            self.wscale_ok,
            init,
        );
        self.rcv_wnd = wnd;
        self.window_clamp = clamp;
        self.rcv_wscale = scale;
    }

    /// Sends the SYN-ACK (`tcp_make_synack()`). `tsval`: the time stamp of a SYN cookie; `cookie`: one of Fast Open.
    pub(crate) fn send_synack(
        &mut self,
        cx: &mut Cx<'_>,
        tsval: Option<u32>,
        cookie: Option<FastOpen>,
    ) {
        let stamp = tsval.unwrap_or_else(|| cx.host.clock.millis(cx.now));
        if self.snt_synack_us == 0 {
            self.snt_synack_us = cx.now_us();
        }
        let silent = cx.host.profile.synack_ece_ends && self.num_timeout > 0;
        let ecn = u16::from(self.ecn_ok && !silent) * TcpFlags::ECE;
        let caqm = match self.caqm.intersects(Ecn::CAQM_SRV) {
            true => negotiate::SRV,
            false => 0,
        };
        let stamps = (self.synack_stamp(cx, stamp), self.ts_recent);
        let mut options = TcpOptions {
            mss: Some(self.advmss),
            timestamps: self.tstamp_ok.then_some(stamps),
            window_scale: self.wscale_ok.then_some(self.rcv_wscale),
            sack_permitted: self.sack_ok,
            ..TcpOptions::default()
        };
        if let Some(cookie) = cookie {
            put_option(&mut options, cookie);
        }
        cx.out.push(Segment {
            src: self.local,
            dst: self.remote,
            seq: self.snt_isn,
            ack: self.rcv_nxt,
            window: self.rcv_wnd.min(65_535) as u16,
            flags: TcpFlags(TcpFlags::SYN | TcpFlags::ACK | ecn | caqm),
            tos: self.tos,
            options,
            ..Segment::default()
        });
        cx.count(Counter::OutSegs);
    }

    /// The time stamp of a SYN-ACK; the ACK of it may have to echo it.
    fn synack_stamp(&mut self, cx: &Cx<'_>, stamp: u32) -> u32 {
        let mut tsval = stamp.wrapping_add(self.ts_off);
        if cx.host.profile.checks_synack_echo {
            if self.tsvals.0 == 0 {
                tsval = if tsval == 0 { u32::MAX } else { tsval };
                self.tsvals.0 = tsval;
            }
            self.tsvals.1 = tsval;
        }
        tsval
    }

    /// The ACK of a SYN-ACK echoes none of its time stamps. 0 is no echo.
    fn is_echo_wrong(&self, cx: &Cx<'_>, tsecr: u32) -> bool {
        let (first, last) = self.tsvals;
        cx.host.profile.checks_synack_echo
            && self.tstamp_ok
            && tsecr != 0
            && last.wrapping_sub(first) < tsecr.wrapping_sub(first)
    }

    /// `inet_rtx_syn_ack()`.
    pub(crate) fn resend_synack(&mut self, cx: &mut Cx<'_>) {
        self.send_synack(cx, None, None);
        cx.count(Counter::RetransSegs);
        cx.count(Counter::SynRetrans);
        self.num_retrans = self.num_retrans.saturating_add(1);
    }

    /// `reqsk_timeout()`, from now.
    pub(crate) fn arm(&mut self, cx: &Cx<'_>) {
        let clock = &cx.host.clock;
        let first = u64::from(clock.from_millis(TIMEOUT_INIT_MS));
        let most = u64::from(cx.host.rto_max());
        let wait = (first << self.num_timeout.min(16)).min(most);
        let place = cx.wheel.place_new(cx, cx.jiffies() + wait);
        (self.fires, self.order) = (place.at, place.order);
    }

    /// A segment for this request (`tcp_check_req()`).
    pub(crate) fn check(&mut self, cx: &mut Cx<'_>, listener: &Listener, seg: &Segment) -> Verdict {
        match self.check_open(cx, seg, None) {
            Open::On => self.may_stand(cx, listener, seg),
            Open::Done => Verdict::Done,
            Open::ToListener => Verdict::ToListener,
            Open::Reset | Open::Syn => {
                cx.count(Counter::EmbryonicRsts);
                Verdict::Drop
            }
        }
    }

    /// The part for a child of Fast Open too, which is at `snd_nxt`: whether the segment is acceptable.
    pub(crate) fn check_open(
        &mut self,
        cx: &mut Cx<'_>,
        seg: &Segment,
        snd_nxt: Option<Seq>,
    ) -> Open {
        let stamps = seg
            .options
            .timestamps
            .filter(|_| cx.host.sysctl.tcp_timestamps != 0);
        let rst = seg.flags.has(TcpFlags::RST);
        let old = stamps.is_some_and(|(tsval, _)| self.paws(cx, tsval, rst));
        let bits = seg.flags.0 & (TcpFlags::RST | TcpFlags::SYN | TcpFlags::ACK);
        if seg.seq == self.rcv_isn && bits == TcpFlags::SYN && !old {
            self.syn_again(cx, seg);
            return Open::Done;
        }
        let ack = seg.flags.has(TcpFlags::ACK);
        // A child knows itself which ACKs are acceptable: it may have sent data.
        if ack && !rst && snd_nxt.is_none() && seg.ack != self.snt_isn + 1 {
            return Open::ToListener;
        }
        let seq = snd_nxt.unwrap_or(self.snt_isn + 1);
        let rcv_nxt = self.rcv_nxt;
        let wrong = snd_nxt.is_none() && stamps.is_some_and(|it| self.is_echo_wrong(cx, it.1));
        let end = rcv_nxt + self.rcv_wnd.min(65_535);
        if old || wrong || !in_window(seg.seq, seg.end_seq(), rcv_nxt, end) {
            let skipped = Counter::ACKSkippedSynRecv;
            if !rst && !oow_limited(cx, seg, skipped, &mut self.last_oow_ack_time) {
                self.send_ack(cx, seg, seq);
            }
            if old {
                cx.count(Counter::PAWSEstab);
            } else if wrong {
                cx.count(Counter::TSEcrRejected);
            }
            return Open::Done;
        }
        // A SYN before the window was cut off.
        let syn = seg.flags.has(TcpFlags::SYN) && seg.seq != self.rcv_isn;
        if rst && seg.seq != rcv_nxt {
            self.challenge(cx, seg, seq);
            return Open::Done;
        }
        if rst || syn {
            cx.count(Counter::AttemptFails);
            reply_reset(cx, seg);
            return if rst { Open::Reset } else { Open::Syn };
        }
        if ack { Open::On } else { Open::Done }
    }

    /// An ACK that ends the handshake.
    fn may_stand(&mut self, cx: &mut Cx<'_>, listener: &Listener, seg: &Segment) -> Verdict {
        if self.num_timeout < listener.defer_accept && seg.end_seq() == self.rcv_isn + 1 {
            self.acked = true;
            cx.count(Counter::DeferAcceptDrop);
            return Verdict::Done;
        }
        if listener.is_accept_queue_full() {
            cx.count(Counter::ListenOverflows);
            cx.count(Counter::ListenDrops);
            if cx.host.sysctl.tcp_abort_on_overflow {
                reply_reset(cx, seg);
                cx.count(Counter::EmbryonicRsts);
                return Verdict::Drop;
            }
            self.acked = true;
            return Verdict::Done;
        }
        Verdict::Stands
    }

    fn paws(&self, cx: &Cx<'_>, tsval: u32, rst: bool) -> bool {
        let age = 1_u32 << self.num_timeout.min(7);
        let stamp = cx.seconds().wrapping_sub(age.min(120));
        paws_reject(self.ts_recent, stamp, tsval, rst, cx.seconds())
    }

    /// The SYN came again: the SYN-ACK goes out again, and its timer starts anew.
    fn syn_again(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        let skipped = Counter::ACKSkippedSynRecv;
        if oow_limited(cx, seg, skipped, &mut self.last_oow_ack_time) {
            return;
        }
        self.resend_synack(cx);
        self.arm(cx);
    }

    /// `tcp_reqsk_send_challenge_ack()` (RFC 5961 3.2).
    fn challenge(&mut self, cx: &mut Cx<'_>, seg: &Segment, seq: Seq) {
        if limited(
            cx,
            Counter::ACKSkippedChallenge,
            &mut self.last_oow_ack_time,
        ) {
            return;
        }
        cx.count(Counter::ChallengeACK);
        self.send_ack(cx, seg, seq);
    }

    /// `tcp_v4_reqsk_send_ack()`.
    fn send_ack(&self, cx: &mut Cx<'_>, seg: &Segment, seq: Seq) {
        let small = SmallAck {
            seq,
            ack: self.rcv_nxt,
            window: self.rcv_wnd.min(65_535) >> self.rcv_wscale.min(14),
            tsval: cx.host.clock.millis(cx.now).wrapping_add(self.ts_off),
            tsecr: self.ts_recent,
            tos: seg.tos & !3,
        };
        reply_ack(cx, seg, &small);
    }

    /// Its timer fired (`reqsk_timer_handler()`); false: the request is given up.
    pub(crate) fn on_timer(&mut self, cx: &mut Cx<'_>, listener: &mut Listener) -> bool {
        let retries = self.retries(cx, listener);
        let defer = listener.defer_accept;
        let n = self.num_timeout;
        let (expired, resend) = match defer {
            0 => (n >= retries, true),
            // With TCP_DEFER_ACCEPT an ACKed request waits for data, and is asked once more at the end.
            _ => (
                n >= retries && (!self.acked || n >= defer),
                !self.acked || n >= defer - 1,
            ),
        };
        cx.count(Counter::Timeouts);
        if expired {
            return false;
        }
        if resend {
            self.resend_synack(cx);
        }
        if self.num_timeout == 0 {
            listener.young = listener.young.saturating_sub(1);
        }
        self.num_timeout = self.num_timeout.saturating_add(1);
        self.arm(cx);
        true
    }

    /// How often the SYN-ACK is sent again: less often when old requests fill more than half of the queue.
    fn retries(&self, cx: &Cx<'_>, listener: &Listener) -> u8 {
        let own = listener
            .socket
            .as_ref()
            .map_or(0, |s| s.options.syn_retries);
        let mut retries = match own.max(listener.syn_retries) {
            0 => cx.host.sysctl.tcp_synack_retries,
            own => own,
        };
        if listener.requests << 1 > listener.backlog.max(8) {
            let mut young = listener.young << 1;
            while retries > 2 && listener.requests >= young {
                retries -= 1;
                young <<= 1;
            }
        }
        retries
    }
}

/// TCP_MAXSEG of the listener, or the most.
pub(crate) fn own_mss(listener: &Listener) -> u16 {
    let own = match &listener.socket {
        Some(socket) => socket.options.user_mss,
        None => (listener.options.maxseg).map_or(0, |mss| mss.clamp(88, 32_767) as u16),
    };
    match own {
        0 => u16::MAX,
        mss => mss,
    }
}

/// The listener's receive buffer.
struct ListenerBuffer {
    full_space: u32,
    window_clamp: u32,
    locked: bool,
}

impl ListenerBuffer {
    fn of(cx: &Cx<'_>, listener: &Listener) -> Self {
        if let Some(socket) = &listener.socket {
            return Self {
                full_space: window_of(cx, socket.rcv.rcvbuf),
                window_clamp: socket.rcv.window_clamp,
                locked: socket.rcv.rcvbuf_locked,
            };
        }
        let buffer = listener.buffers;
        Self {
            full_space: window_of(cx, buffer.rcvbuf),
            window_clamp: buffer.window_clamp,
            locked: buffer.rcvbuf_locked,
        }
    }
}
