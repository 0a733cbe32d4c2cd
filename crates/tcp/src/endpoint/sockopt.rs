//! Options of a socket whenever they are set: before it is connected, on a listener, on a connection (Linux
//! `sock_setsockopt()`, `do_tcp_setsockopt()` and their counterparts).

use tcplab_base::Seq;
use tcplab_plan::profile::WindowShare;

use super::open::{MIN_RCVBUF, window_of};
use super::{Endpoint, ReadOutcome, Shutdown, SocketError, State, Urgent};
use crate::cc::congestion_controls;
use crate::cx::Cx;
use crate::options::Nagle;
use crate::timers::NEVER;

/// `SOCK_MIN_SNDBUF`: two of the smallest segments.
const MIN_SNDBUF: u32 = 2 * MIN_RCVBUF;

impl Endpoint {
    /// `sk_sndbuf` in bytes of memory.
    pub fn sndbuf(&self) -> u32 {
        self.snd.sndbuf
    }

    /// SO_SNDBUF (at most net.core.wmem_max) or, with `force`, SO_SNDBUFFORCE.
    pub fn set_sndbuf(&mut self, cx: &mut Cx<'_>, bytes: u32, force: bool) {
        let most = match force {
            true => u32::MAX,
            false => cx.host.sysctl.wmem_max,
        };
        let bytes = bytes.min(most).min(i32::MAX as u32 / 2);
        self.snd.sndbuf_locked = true;
        self.snd.sndbuf = (bytes * 2).max(MIN_SNDBUF);
        self.write_space(cx);
    }

    /// `sk_write_space()`: who waits for room is told when there is some.
    fn write_space(&mut self, cx: &Cx<'_>) {
        if self.is_writable(cx) {
            self.snd.nospace = false;
            self.snd.space_event = true;
        }
    }

    /// `sk_rcvbuf` in bytes of memory.
    pub fn rcvbuf(&self) -> u32 {
        self.rcv.rcvbuf
    }

    /// SO_RCVBUF (at most net.core.rmem_max) or, with `force`, SO_RCVBUFFORCE.
    pub fn set_rcvbuf(&mut self, cx: &mut Cx<'_>, bytes: u32, force: bool) {
        let most = match force {
            true => u32::MAX,
            false => cx.host.sysctl.rmem_max,
        };
        let bytes = bytes.min(most).min(i32::MAX as u32 / 2);
        self.rcv.rcvbuf_locked = true;
        self.rcv.rcvbuf = (bytes * 2).max(MIN_RCVBUF);
        if cx.host.profile.rcvbuf_sets_clamp {
            let window = self.rcv.full_space(cx);
            self.set_window_clamp(cx, window.max(MIN_RCVBUF / 2));
        }
    }

    /// SO_RCVLOWAT as it counts.
    pub fn rcvlowat(&self) -> u32 {
        self.options.rcvlowat
    }

    /// SO_RCVLOWAT (`tcp_set_rcvlowat()`): a buffer that is not locked grows with it. True: what came is enough now.
    pub fn set_rcvlowat(&mut self, cx: &mut Cx<'_>, bytes: u32) -> bool {
        let most = match self.rcv.rcvbuf_locked {
            true => self.rcv.rcvbuf >> 1,
            false => cx.host.sysctl.tcp_rmem[2] >> 1,
        };
        let bytes = bytes.min(most);
        self.options.rcvlowat = bytes.max(1);
        let ready = self.state != State::Close && self.is_readable();
        if !self.rcv.rcvbuf_locked {
            self.buffer_for_lowat(cx, bytes);
        }
        ready
    }

    /// The buffer must hold what a reader waits for.
    fn buffer_for_lowat(&mut self, cx: &Cx<'_>, bytes: u32) {
        let rcv = &mut self.rcv;
        match cx.host.profile.window_share {
            WindowShare::Sysctl => {
                let need = bytes.saturating_mul(2);
                if need > rcv.rcvbuf {
                    rcv.rcvbuf = need;
                    rcv.window_clamp = window_of(cx, need);
                }
            }
            WindowShare::Measured => {
                let need = rcv.space_from_win(bytes);
                if need > rcv.rcvbuf {
                    rcv.rcvbuf = need;
                    if rcv.window_clamp != 0 {
                        rcv.window_clamp = rcv.window_clamp.max(bytes);
                    }
                }
            }
        }
    }

    /// getsockopt(TCP_MAXSEG): the segment's size now, or what was set before there is a connection.
    pub fn maxseg(&self, is_listener: bool) -> u32 {
        match self.options.user_mss {
            own if own != 0 && (is_listener || self.state == State::Close) => u32::from(own),
            _ => self.snd.mss_cache,
        }
    }

    /// TCP_MAXSEG in bytes; 0: no limit. False: the size is invalid.
    pub fn set_maxseg(&mut self, bytes: i64) -> bool {
        // TCP_MIN_MSS, MAX_TCP_WINDOW.
        let good = bytes == 0 || (88..=32_767).contains(&bytes);
        if good {
            self.options.user_mss = bytes as u16;
        }
        good
    }

    /// TCP_NOTSENT_LOWAT as it was set; 0: the sysctl counts.
    pub fn notsent_lowat(&self) -> u32 {
        self.options.notsent_lowat
    }

    /// TCP_NOTSENT_LOWAT.
    pub fn set_notsent_lowat(&mut self, cx: &mut Cx<'_>, bytes: u32) {
        self.options.notsent_lowat = bytes;
        self.write_space(cx);
    }

    /// TCP_NODELAY.
    pub fn nodelay(&self) -> bool {
        self.options.nonagle.intersects(Nagle::OFF)
    }

    /// TCP_CORK.
    pub fn cork(&self) -> bool {
        self.options.nonagle.intersects(Nagle::CORK)
    }

    /// TCP_USER_TIMEOUT in milliseconds.
    pub fn user_timeout(&self) -> u32 {
        self.options.user_timeout
    }

    /// TCP_SYNCNT; 0: the sysctl's.
    pub fn syn_count(&self) -> u8 {
        self.options.syn_retries
    }

    /// IP_TOS, IPV6_TCLASS: the byte of the IP header; the two ECN bits are TCP's own.
    pub fn tos(&self) -> u8 {
        self.options.tos
    }

    /// Sets it.
    pub fn set_tos(&mut self, tos: u8) {
        self.options.tos = tos & !3 | self.options.tos & 3;
    }

    /// TCP_THIN_LINEAR_TIMEOUTS.
    pub fn set_thin_lto(&mut self, on: bool) {
        self.options.thin_lto = on;
    }

    /// TCP_WINDOW_CLAMP in bytes of window.
    pub fn window_clamp(&self) -> u32 {
        self.rcv.window_clamp
    }

    /// Sets it; the window that was offered is not taken back (`tcp_set_window_clamp()`).
    pub fn set_window_clamp(&mut self, cx: &Cx<'_>, bytes: u32) {
        let before = std::mem::replace(&mut self.rcv.window_clamp, bytes);
        if !cx.host.profile.clamp_moves_ssthresh {
            return;
        }
        let ssthresh = self.rcv.rcv_ssthresh;
        self.rcv.rcv_ssthresh = match bytes.cmp(&before) {
            std::cmp::Ordering::Less => ssthresh.min(bytes),
            std::cmp::Ordering::Equal => ssthresh,
            std::cmp::Ordering::Greater => ssthresh.max(self.rcv.rcv_wnd.min(bytes)),
        };
    }

    /// TCP_CONGESTION. False: no algorithm of mainline Linux has this name (CAQM's is openEuler's), nor one of the
    /// host's owner.
    pub fn set_congestion(&mut self, cx: &mut Cx<'_>, name: &str) -> bool {
        let is_own = cx
            .host
            .external
            .as_ref()
            .is_some_and(|own| *own.name == *name);
        let is_linux = name != "caqm" && congestion_controls().any(|known| known == name);
        if !is_own && !is_linux {
            return false;
        }
        if self.cc.name() == name {
            // Linux tcp_set_congestion_control(): what runs goes on.
            return true;
        }
        self.cc_init(cx, name);
        if !matches!(self.state, State::Close | State::SynSent) {
            self.cc_start(cx);
        }
        true
    }

    /// TCP_KEEPIDLE, TCP_KEEPINTVL in seconds and TCP_KEEPCNT, as set; 0: the sysctl's.
    pub fn keepalive_times(&self, cx: &Cx<'_>) -> (u32, u32, u8) {
        let (o, hz) = (&self.options, cx.host.clock.hz.max(1));
        let seconds = |jiffies: u32| jiffies / hz;
        (
            seconds(o.keepalive_time),
            seconds(o.keepalive_intvl),
            o.keepalive_probes,
        )
    }

    /// Sets them; the timer of SO_KEEPALIVE follows TCP_KEEPIDLE.
    pub fn set_keepalive_times(
        &mut self,
        cx: &mut Cx<'_>,
        (idle, interval, probes): (u32, u32, u8),
    ) {
        if self.options.keepalive {
            self.set_keepalive(cx, idle, interval, probes);
            return;
        }
        let hz = cx.host.clock.hz;
        self.options.keepalive_time = idle.saturating_mul(hz);
        self.options.keepalive_intvl = interval.saturating_mul(hz);
        self.options.keepalive_probes = probes;
    }

    /// TCP_RTO_MIN_US as it counts, in microseconds.
    pub fn rto_min_us(&self, cx: &Cx<'_>) -> u32 {
        match self.rtt.own_min {
            0 => cx.host.sysctl.tcp_rto_min_us,
            own => cx.host.clock.micros(u32::from(own)),
        }
    }

    /// Sets it, in nanoseconds. False, and nothing set, when it is below 2 ticks or above 200 ms.
    pub fn set_rto_min(&mut self, cx: &Cx<'_>, ns: i64) -> bool {
        let ticks = cx.host.clock.timer_bound(ns);
        self.rtt.own_min = ticks.unwrap_or(self.rtt.own_min);
        ticks.is_some()
    }

    /// TCP_DELACK_MAX_US as it counts, in microseconds.
    pub fn delack_max_us(&self, cx: &Cx<'_>) -> u32 {
        match self.ack.own_max {
            0 => 200_000,
            own => cx.host.clock.micros(u32::from(own)),
        }
    }

    /// Sets it, in nanoseconds. False, and nothing set, when it is below 2 ticks or above 200 ms.
    pub fn set_delack_max(&mut self, cx: &Cx<'_>, ns: i64) -> bool {
        let ticks = cx.host.clock.timer_bound(ns);
        self.ack.own_max = ticks.unwrap_or(self.ack.own_max);
        ticks.is_some()
    }

    /// SO_KEEPALIVE.
    pub fn keepalive(&self) -> bool {
        self.options.keepalive
    }

    /// Sets it (`tcp_set_keepalive()`).
    pub fn enable_keepalive(&mut self, cx: &mut Cx<'_>, on: bool) {
        let (idle, interval, probes) = self.keepalive_times(cx);
        if on && !self.options.keepalive {
            self.set_keepalive(cx, idle, interval, probes);
        } else if !on {
            self.options.keepalive = false;
            self.timers.keepalive_at = NEVER;
        }
    }

    /// A socket that was used has its options still (`tcp_disconnect()`).
    pub fn keep_options(&mut self, cx: &mut Cx<'_>, from: &Self) {
        self.inherit(from);
        self.set_congestion(cx, from.congestion_name());
    }

    /// A connection of a listener has the listener's options (`sk_clone_lock()`).
    pub(crate) fn inherit(&mut self, from: &Self) {
        self.options = from.options;
        self.snd.sndbuf = from.snd.sndbuf;
        self.snd.sndbuf_locked = from.snd.sndbuf_locked;
        self.rcv.rcvbuf = from.rcv.rcvbuf;
        self.rcv.rcvbuf_locked = from.rcv.rcvbuf_locked;
    }

    /// `snd_una`, `snd_nxt`, `write_seq`: what is ACKed, sent, written.
    pub fn send_space(&self) -> (Seq, Seq, Seq) {
        (self.snd.snd_una, self.snd.snd_nxt, self.snd.write_seq)
    }

    /// `rcv_nxt`, and how many bytes from there on it takes (`tcp_receive_window()`).
    pub fn receive_space(&self) -> (Seq, u32) {
        (self.rcv.rcv_nxt, self.rcv.receive_window())
    }

    /// `sk_shutdown`.
    pub fn shutdown_bits(&self) -> Shutdown {
        self.shutdown
    }

    /// shutdown(2) with SHUT_RD: RCV_SHUTDOWN.
    pub fn shutdown_read(&mut self) {
        self.shutdown |= Shutdown::RECEIVE;
    }

    /// Whether poll(2) says POLLIN by what is queued alone (`tcp_stream_is_readable()`).
    pub fn has_enough(&self) -> bool {
        self.rcv.is_enough(&self.ack, &self.options)
    }

    /// Whether poll(2) says POLLPRI: an urgent byte is there.
    pub fn has_urgent(&self) -> bool {
        self.rcv.urg_data == Urgent::Valid
    }

    /// POLLOUT as tcp_poll() asks for it: if the answer is no, a later event tells it.
    pub fn poll_writable(&mut self, cx: &Cx<'_>) -> bool {
        let yes = self.is_writable(cx);
        if !yes {
            self.snd.nospace = true;
        }
        yes
    }

    /// Ends the connection, with a reset where the peer must be told (`tcp_disconnect()`).
    pub fn abort(&mut self, cx: &mut Cx<'_>) {
        self.disconnect(cx);
    }

    /// SO_MAX_PACING_RATE in bytes a second; `u32::MAX` is no limit, a smaller one makes TCP pace itself.
    pub fn set_max_pacing_rate(&mut self, rate: u32) {
        if rate != u32::MAX {
            self.tune.pacing_needed = true;
        }
        self.tune.max_pacing_rate = rate;
    }

    /// SO_MAX_PACING_RATE.
    pub fn max_pacing_rate(&self) -> u32 {
        self.tune.max_pacing_rate
    }

    /// Another `sk_err`, or none.
    pub fn set_error(&mut self, error: Option<SocketError>) {
        self.error = error;
    }

    /// A read with MSG_PEEK: nothing moves, no error is taken.
    pub fn peek(&mut self, most: u64) -> ReadOutcome {
        let queued = self.readable_bytes();
        let ahead = match self.rcv.urg_data {
            Urgent::None => queued,
            _ => match self.rcv.urg_seq.distance(self.rcv.copied_seq) {
                // The urgent byte itself is stepped over.
                0 => queued.saturating_sub(1),
                ahead @ 1.. => queued.min(ahead as u64),
                _ => queued,
            },
        };
        match ahead.min(most) {
            0 if self.rcv.fin_seq.is_some() && queued == 0 => ReadOutcome::End,
            0 if self.error.is_some() => {
                ReadOutcome::Failed(self.error.take().unwrap_or(SocketError::Again))
            }
            0 if self.shutdown.intersects(Shutdown::RECEIVE) => ReadOutcome::End,
            0 if self.state == State::Close => ReadOutcome::Failed(SocketError::NotConnected),
            0 => ReadOutcome::Again,
            bytes => ReadOutcome::Got(bytes),
        }
    }

    /// The next byte is the urgent one.
    pub fn at_mark(&self) -> bool {
        self.rcv.urg_data != Urgent::None && self.rcv.urg_seq == self.rcv.copied_seq
    }

    /// TCP_CM_INQ (`tcp_inq_hint()`): bytes that can be read; 1 when only the end is left.
    pub fn inq(&self) -> u32 {
        let queued = self.rcv.rcv_nxt.distance(self.rcv.copied_seq).max(0) as u32;
        match queued {
            0 if self.rcv.fin_seq.is_some() => 1,
            queued => queued,
        }
    }

    /// Where the last segment of the send queue begins.
    pub fn last_segment(&self) -> Option<Seq> {
        let id = self.queue.last()?;
        self.queue.get(id).map(|skb| skb.seq)
    }

    /// The path's MTU in bytes.
    pub fn path_mtu(&self) -> u32 {
        self.snd.pmtu
    }
}
