//! A connection's beginning: a new socket, the SYN, what is set when the handshake is over (Linux `tcp_init_sock()`,
//! `tcp_connect_init()`, `tcp_connect()`, `tcp_finish_connect()`, `tcp_init_transfer()`).

use tcplab_base::Seq;
use tcplab_plan::profile::WindowShare;
use tcplab_wire::{FastOpen, TcpFlags, TcpOptions};

use super::{Endpoint, State};
use crate::cc::caqm;
use crate::cc::{CongestionControl, INFINITE_SSTHRESH};
use crate::cx::Cx;
use crate::fastopen::put_option;
use crate::host::DeviceQueue;
use crate::mib::Counter;
use crate::options::{Ecn, FastOpenState, Nagle, Negotiated, OpenOptions, SocketState};
use crate::queue::{Id, Skb, SkbFlags};
use crate::recovery::Loss;
use crate::rtt::Rtt;
use crate::segment::{Addr, Segment};
use crate::timers::Pending;

/// `TCP_TIMEOUT_INIT` in milliseconds (RFC 6298 2.1).
pub(crate) const TIMEOUT_INIT_MS: u64 = 1_000;
/// `TCP_MSS_DEFAULT`: without an MSS option (RFC 9293 3.7.1).
pub(crate) const MSS_DEFAULT: u16 = 536;

/// What a peer without an MSS option takes: 536 bytes, over IPv6 what its smallest MTU of 1,280 leaves. Linux
/// `tcp_v4_connect()`, `tcp_v6_connect()`, `tcp_request_sock_ipv6_ops`.
pub(crate) fn mss_clamp_default(cx: &Cx<'_>) -> u16 {
    match cx.host.ip_header {
        40 => 1280 - 40 - 20,
        _ => MSS_DEFAULT,
    }
}
/// `TCP_MIN_MSS`.
const MIN_MSS: u32 = 88;
/// `TCPOLEN_TSTAMP_ALIGNED`.
pub(crate) const TSTAMP_ALIGNED: u16 = 12;
/// `SOCK_MIN_RCVBUF`: one frame's memory; the least send buffer is twice that.
pub(super) const MIN_RCVBUF: u32 = 2304;
/// Memory of a segment without payload.
const EMPTY_TRUESIZE: u32 = 1280;

/// Metrics of the route to the peer that the handshake uses (`struct dst_entry`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// `dst_mtu()`.
    pub(crate) mtu: u32,
    /// `dst_metric_advmss()`.
    pub(crate) advmss: u16,
}

/// Socket buffers of a new socket, in bytes of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffers {
    pub(crate) sndbuf: u32,
    pub(crate) sndbuf_locked: bool,
    pub(crate) rcvbuf: u32,
    pub(crate) rcvbuf_locked: bool,
    pub(crate) window_clamp: u32,
    pub(crate) rcvlowat: u32,
}

impl Path {
    /// Of the path to a host with this MTU at its first link.
    pub(crate) fn of(cx: &Cx<'_>, to: u16, mtu: u32) -> Self {
        // ip_rt_min_advmss, ip6_rt_min_advmss.
        let header = cx.host.ip_header;
        let least = if header == 40 { 1_220 } else { 256 };
        let route = &cx.host.route;
        let configured = route.mtu.map_or(mtu, |own| own.min(mtu));
        let mtu = cx.host.paths.of(to, cx.now).unwrap_or(configured);
        let base = match cx.host.profile.advmss_ignores_path {
            true => configured,
            false => mtu,
        };
        let most = (base.saturating_sub(header + 20)).clamp(least, 65_515 - header);
        let advmss = route.advmss.unwrap_or(most).clamp(1, 65_495) as u16;
        Self { mtu, advmss }
    }
}

/// setsockopt(2) of a new socket.
pub(crate) fn socket_options(cx: &Cx<'_>, open: &OpenOptions) -> SocketState {
    let mut o = SocketState {
        rcvlowat: 1,
        ..SocketState::default()
    };
    if open.nodelay == Some(true) {
        o.nonagle |= Nagle::OFF;
    }
    if let Some(ns) = open.user_timeout_ns {
        o.user_timeout = (ns / 1_000_000).clamp(1, i64::from(i32::MAX)) as u32;
    }
    if let Some(ns) = open.keepalive_ns {
        let seconds = (ns / 1_000_000_000).clamp(1, 32_767) as u32;
        o.keepalive = true;
        o.keepalive_time = seconds * cx.host.clock.hz;
        o.keepalive_intvl = seconds * cx.host.clock.hz;
    }
    if open.cork == Some(true) {
        o.nonagle |= Nagle::CORK;
    }
    o.linger = open.linger;
    o.linger2 = open.linger2_ns.map_or(0, |ns| {
        let seconds = (ns / 1_000_000_000).clamp(1, 120) as i32;
        seconds * cx.host.clock.hz as i32
    });
    o.syn_retries = open.syncnt.map_or(0, |n| n.clamp(1, 127) as u8);
    o.notsent_lowat = open.notsent_lowat.unwrap_or(0);
    o.user_mss = open
        .maxseg
        .map_or(0, |mss| mss.clamp(MIN_MSS, 32_767) as u16);
    // __ip_sock_set_tos(): of a stream socket ECN's bits stay.
    o.tos = open.tos.unwrap_or(0) & !3;
    o
}

/// TCP_RTO_MIN_US and TCP_DELACK_MAX_US in ticks; 0: as usual.
fn own_timers(cx: &Cx<'_>, open: &OpenOptions) -> (u8, u8) {
    let ticks = |ns: i64| cx.host.clock.timer_bound(ns).unwrap_or(0);
    (
        open.rto_min_ns.map_or(0, ticks),
        open.delack_max_ns.map_or(0, ticks),
    )
}

impl Loss {
    /// `tcp_try_undo_spurious_syn()`: the answer was to the first SYN, so its timeout was spurious.
    pub(crate) fn try_undo_spurious_syn(&mut self, neg: &Negotiated) {
        let stamp = self.retrans_stamp;
        let echoes = neg.saw_tstamp && stamp == neg.rcv_tsecr;
        if self.undo_marker.is_some() && stamp != 0 && echoes {
            self.undo_marker = None;
        }
    }
}

impl Endpoint {
    /// `tcp_init_sock()`, and the options that are set before connect(2) or listen(2).
    pub(crate) fn new(cx: &mut Cx<'_>, ends: (Addr, Addr), open: &OpenOptions) -> Self {
        let (local, remote) = ends;
        let timers = own_timers(cx, open);
        let mut ep = Self {
            local,
            remote,
            options: socket_options(cx, open),
            ..Self::default()
        };
        let clock = &cx.host.clock;
        ep.rtt = Rtt::new(clock, cx.jiffies32());
        (ep.rtt.own_min, ep.ack.own_max) = timers;
        ep.snd.set_cwnd(10);
        ep.snd.set_ssthresh(INFINITE_SSTHRESH);
        ep.snd.snd_cwnd_clamp = u32::MAX;
        ep.snd.mss_cache = u32::from(MSS_DEFAULT);
        ep.snd.mss_clamp = mss_clamp_default(cx);
        ep.loss.reordering = cx.host.sysctl.tcp_reordering;
        ep.rack.reo_wnd_steps = 1;
        ep.tune.app_limited = u32::MAX;
        ep.tune.rate_app_limited = true;
        ep.tune.set_pacing_rate(u64::MAX, 0);
        ep.tune.max_pacing_rate = u32::MAX;
        ep.tune.pacing_shift = 10;
        if let Some(bps) = open.max_pacing_rate_bps {
            let bytes = (bps / 8).clamp(1, u64::from(u32::MAX) - 1);
            ep.set_max_pacing_rate(bytes as u32);
        }
        ep.set_buffers(Self::buffers(cx, open));
        ep
    }

    /// Takes these buffers: its own, or those of the listener that it comes from.
    pub(crate) fn set_buffers(&mut self, buffers: Buffers) {
        self.snd.sndbuf = buffers.sndbuf;
        self.snd.sndbuf_locked = buffers.sndbuf_locked;
        self.rcv.rcvbuf = buffers.rcvbuf;
        self.rcv.rcvbuf_locked = buffers.rcvbuf_locked;
        self.rcv.window_clamp = buffers.window_clamp;
        self.options.rcvlowat = buffers.rcvlowat;
    }

    /// SO_SNDBUF, SO_RCVBUF, SO_RCVLOWAT, or the sysctls' defaults.
    pub(crate) fn buffers(cx: &Cx<'_>, open: &OpenOptions) -> Buffers {
        let sysctl = &cx.host.sysctl;
        let mut b = Buffers {
            sndbuf: sysctl.tcp_wmem[1],
            sndbuf_locked: open.sndbuf.is_some(),
            rcvbuf: sysctl.tcp_rmem[1],
            rcvbuf_locked: open.rcvbuf.is_some(),
            window_clamp: 0,
            rcvlowat: 1,
        };
        if let Some(bytes) = open.sndbuf {
            let doubled = bytes.min(sysctl.wmem_max).saturating_mul(2);
            b.sndbuf = doubled.max(2 * MIN_RCVBUF);
        }
        if let Some(bytes) = open.rcvbuf {
            let doubled = bytes.min(sysctl.rmem_max).saturating_mul(2);
            b.rcvbuf = doubled.max(MIN_RCVBUF);
        }
        if let Some(bytes) = open.window_clamp {
            b.window_clamp = bytes.max(MIN_RCVBUF / 2);
        }
        if let Some(bytes) = open.rcvlowat {
            // tcp_set_rcvlowat(): the buffer must hold twice as much.
            let most = match b.rcvbuf_locked {
                true => b.rcvbuf / 2,
                false => sysctl.tcp_rmem[2] / 2,
            };
            b.rcvlowat = bytes.min(most).max(1);
            let need = bytes.min(most).saturating_mul(2);
            if !b.rcvbuf_locked && need > b.rcvbuf {
                b.rcvbuf = need;
                if cx.host.profile.window_share == WindowShare::Sysctl {
                    b.window_clamp = window_of(cx, need);
                }
            }
        }
        b
    }

    /// The name of the congestion control that this socket begins with.
    pub(crate) fn wanted_cc<'a>(cx: &'a Cx<'_>, open: &'a OpenOptions) -> &'a str {
        let own = open.congestion.as_deref();
        let host = cx.host;
        own.or(host.route.congctl.as_deref())
            .unwrap_or(&host.sysctl.tcp_congestion_control)
    }

    /// `tcp_mss_clamp()`: TCP_MAXSEG bounds what we announce.
    pub(crate) fn clamp_advmss(&self, advmss: u16) -> u16 {
        match self.options.user_mss {
            0 => advmss,
            own => advmss.min(own),
        }
    }

    /// `tcp_connect_init()`: windows and sequence numbers of an active open.
    pub(crate) fn connect_init(&mut self, cx: &mut Cx<'_>, mtu: u32) {
        let path = Path::of(cx, self.remote.host, mtu);
        if self.options.user_mss != 0 {
            self.snd.mss_clamp = self.options.user_mss;
        }
        self.snd.max_window = 0;
        self.mtup_init(cx);
        self.sync_mss_of_syn(cx, path.mtu);
        self.rcv.advmss = self.clamp_advmss(path.advmss);
        self.ack.initialize_rcv_mss(&self.rcv, &self.snd);
        let full = self.rcv.full_space(cx);
        if self.rcv.rcvbuf_locked && (self.rcv.window_clamp > full || self.rcv.window_clamp == 0) {
            self.rcv.window_clamp = full;
        }
        let options = match self.neg.ts_recent_stamp {
            0 => 0,
            _ => TSTAMP_ALIGNED,
        };
        let (wnd, clamp, scale) = Self::select_initial_window(
            cx,
            full,
            u32::from(self.rcv.advmss - options.min(self.rcv.advmss)),
            self.rcv.window_clamp,
            cx.host.sysctl.tcp_window_scaling,
            cx.host.route.initrwnd.unwrap_or(0),
        );
        self.rcv.rcv_wnd = wnd;
        self.rcv.window_clamp = clamp;
        self.snd.rcv_wscale = scale;
        self.rcv.rcv_ssthresh = wnd;
        let s = &mut self.snd;
        s.snd_una = s.write_seq;
        s.snd_sml = s.write_seq;
        s.snd_up = s.write_seq;
        s.snd_nxt = s.write_seq;
        self.rtt.rto = cx.host.clock.from_millis(TIMEOUT_INIT_MS);
        self.loss.clear_retrans();
    }

    /// `tcp_connect()`: queues the SYN, sends it, and arms its timer.
    pub(crate) fn send_syn(&mut self, cx: &mut Cx<'_>) {
        let syn = self.queue_syn(cx);
        self.transmit_syn(cx, syn);
        self.syn_is_out(cx);
    }

    /// The first half of `tcp_connect()`: the SYN stands in the queue.
    pub(crate) fn queue_syn(&mut self, cx: &Cx<'_>) -> Id {
        let mut flags = SkbFlags::SYN;
        self.neg.ecn_flags = Ecn::empty();
        // tcp_ecn_send_syn().
        let caqm = self.caqm_asks(cx) && !cx.host.profile.caqm_syn_with_ecn;
        if (cx.host.sysctl.tcp_ecn == 1 && !caqm) || self.cc.needs_ecn() {
            flags |= SkbFlags::ECN_SETUP;
            self.neg.ecn_flags |= Ecn::OK;
        }
        let skb = Skb::new(self.snd.write_seq, 0, flags, EMPTY_TRUESIZE);
        self.snd.write_seq = self.snd.write_seq + 1;
        self.loss.retrans_stamp = cx.host.clock.millis(cx.now);
        self.snd.wmem_add(&mut self.rcv, EMPTY_TRUESIZE);
        self.loss.packets_out += 1;
        self.queue.push(skb);
        self.queue.advance_send_head();
        self.queue.last_sent().unwrap_or(Id::NONE)
    }

    /// The other half: the SYN was sent, its timer runs.
    pub(crate) fn syn_is_out(&mut self, cx: &mut Cx<'_>) {
        cx.count(Counter::OutSegs);
        self.snd.snd_nxt = self.snd.write_seq;
        self.snd.pushed_seq = self.snd.write_seq;
        cx.count(Counter::ActiveOpens);
        let most = cx.host.rto_max();
        let rto = self.rtt.rto;
        self.timers.arm(cx, Pending::Retrans, rto, most);
    }

    /// Sends a queued SYN, or the SYN-ACK of crossed SYNs, once (`tcp_transmit_skb()` with `tcp_syn_options()`). A
    /// retransmission calls it too; the retransmission counters are the caller's.
    pub(crate) fn transmit_syn(&mut self, cx: &mut Cx<'_>, id: Id) -> bool {
        let sent = self.transmit_syn_with(cx, id, 0, None);
        self.queue.list_last(id);
        sent
    }

    /// The same with the first `len` bytes of data and with Fast Open's option.
    pub(crate) fn transmit_syn_with(
        &mut self,
        cx: &mut Cx<'_>,
        id: Id,
        len: u32,
        option: Option<FastOpen>,
    ) -> bool {
        let Some(skb) = self.queue.get_mut(id) else {
            return false;
        };
        if skb.xmit_ns != 0 && cx.host.sysctl.tcp_ecn_fallback {
            // RFC 3168 6.1.1.1: some paths drop SYNs that ask for ECN; Linux tcp_ecn_clear_syn().
            skb.flags &= !SkbFlags::ECN_SETUP;
        }
        skb.xmit_ns = (cx.now.as_nanos() + cx.host.clock.boot_ns) as u64;
        let (seq, mut flags) = (
            skb.seq,
            u16::from((skb.flags & (SkbFlags::SYN | SkbFlags::ECN_SETUP)).bits()),
        );
        let crossed = self.state == State::SynRecv;
        if crossed {
            // tcp_ecn_send_synack(): no CWR, and ECE only when it was agreed on.
            flags = TcpFlags::SYN | TcpFlags::ACK;
            if self.neg.ecn_flags.intersects(Ecn::OK) {
                flags |= TcpFlags::ECE;
            }
        }
        if !crossed && self.neg.ecn_flags.intersects(Ecn::CAQM_CLI) {
            flags |= caqm::negotiate::CLI;
        }
        let options = self.syn_options(cx, option);
        if len > 0 {
            self.syn_data_sent(cx, len);
        }
        let seg = Segment {
            src: self.local,
            dst: self.remote,
            seq,
            ack: if crossed { self.rcv.rcv_nxt } else { Seq(0) },
            len,
            window: self.rcv.rcv_wnd.min(65_535) as u16,
            flags: TcpFlags(flags),
            tos: self.options.tos | (u8::from(self.cc.needs_ecn()) * Segment::ECT_0),
            options,
            ..Segment::default()
        };
        self.stats.segs_out += 1;
        if crossed {
            self.ack.sent(cx, &mut self.timers, 1);
        }
        if cx.host.queue == DeviceQueue::Drops {
            return self.dropped(cx);
        }
        cx.out.push(seg);
        true
    }

    /// The path takes less: a SYN that is sent again announces it (`tcp_advertise_mss()`).
    #[cold]
    pub(crate) fn path_shrinks(&mut self, cx: &Cx<'_>, mtu: u32) {
        if matches!(self.state, State::SynSent | State::SynRecv) {
            self.rcv.advmss = self
                .rcv
                .advmss
                .min(Path::of(cx, self.remote.host, mtu).advmss);
        }
    }

    /// `tcp_syn_options()`.
    fn syn_options(&mut self, cx: &Cx<'_>, option: Option<FastOpen>) -> TcpOptions {
        let sysctl = &cx.host.sysctl;
        let tsval = cx.host.clock.millis(cx.now).wrapping_add(self.neg.tsoffset);
        let mut options = TcpOptions {
            mss: Some(self.rcv.advmss),
            timestamps: (sysctl.tcp_timestamps != 0).then_some((tsval, self.neg.ts_recent)),
            window_scale: sysctl.tcp_window_scaling.then_some(self.snd.rcv_wscale),
            sack_permitted: sysctl.tcp_sack,
            ..TcpOptions::default()
        };
        if let Some(option) = option
            && put_option(&mut options, option)
        {
            self.neg.fast_open.set(FastOpenState::OPTION, true);
            self.neg
                .fast_open
                .set(FastOpenState::EXPERIMENTAL, option.is_experimental());
        }
        options
    }

    /// `tcp_finish_connect()`: the SYN-ACK was good.
    pub(crate) fn finish_connect(&mut self, cx: &mut Cx<'_>) {
        self.set_state(cx, State::Established);
        self.ack.lrcvtime = cx.jiffies32();
        self.init_transfer(cx);
        self.snd.lsndtime = cx.jiffies32();
        // The window of the SYN-ACK is not scaled: it predicts nothing where others are.
        self.rcv.pred = self.snd.snd_wscale == 0;
        if self.options.keepalive {
            let idle = self.keepalive_time(cx);
            self.timers.arm_keepalive(cx, idle);
        }
    }

    /// `tcp_init_transfer()`: windows, timer and buffers when the handshake is over.
    pub(crate) fn init_transfer(&mut self, cx: &mut Cx<'_>) {
        self.mtup_init(cx);
        self.init_metrics(cx);
        // RFC 5681 3.1: after more than one lost SYN or SYN-ACK the window is one segment.
        let lost = self.stats.total_retrans > 1 && self.loss.undo_marker.is_some();
        let window = match lost {
            true => 1,
            false => self.snd.init_cwnd(cx),
        };
        self.snd.set_cwnd(window);
        self.snd.snd_cwnd_stamp = cx.jiffies32();
        self.cc_start(cx);
        self.init_buffer_space(cx);
    }

    /// Reads the options of a SYN or SYN-ACK (`tcp_parse_options()` with `estab` 0).
    pub(crate) fn parse_syn_options(&mut self, cx: &Cx<'_>, seg: &Segment) {
        let sysctl = &cx.host.sysctl;
        let n = &mut self.neg;
        n.saw_tstamp = false;
        if let (Some((tsval, tsecr)), true) = (seg.options.timestamps, sysctl.tcp_timestamps != 0) {
            n.saw_tstamp = true;
            n.rcv_tsval = tsval;
            n.rcv_tsecr = tsecr;
        }
        if !seg.flags.has(TcpFlags::SYN) {
            return;
        }
        if let Some(mss) = seg.options.mss.filter(|&mss| mss != 0) {
            let own = self.options.user_mss;
            self.snd.mss_clamp = if own != 0 { mss.min(own) } else { mss };
        }
        if let (Some(scale), true) = (seg.options.window_scale, sysctl.tcp_window_scaling) {
            n.wscale_ok = true;
            self.snd.snd_wscale = scale.min(14);
        }
        if seg.options.sack_permitted && sysctl.tcp_sack {
            n.sack_ok = true;
        }
    }
}

/// `tcp_win_from_space()`.
pub(crate) fn window_of(cx: &Cx<'_>, space: u32) -> u32 {
    cx.host.window_share(0, i64::from(space)).max(0) as u32
}
