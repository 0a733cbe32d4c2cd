//! A client's SYN with data, or with the request for a cookie, and what its answer says (RFC 7413 4.2; Linux
//! `tcp_send_syn_data()`, `tcp_fastopen_cookie_check()`, `tcp_rcv_fastopen_synack()`).

use tcplab_wire::FastOpen;

use super::{Bits, Seen};
use crate::cx::Cx;
use crate::endpoint::{Busy, Endpoint, State};
use crate::mib::Counter;
use crate::options::{Failure, FastOpenState};
use crate::queue::{Id, Skb, SkbFlags};
use crate::segment::Segment;

/// Room that is left for options, ours and those of middle boxes.
const OPTION_SPACE: u32 = 40;
/// `SKB_MAX_HEAD(MAX_TCP_HEADER)`: what one page holds.
const ONE_PAGE: u32 = 3_520;

/// What the cookie's check decided.
struct Plan {
    /// Data may go with the SYN.
    data: bool,
    option: Option<FastOpen>,
    mss: Option<u16>,
}

impl Endpoint {
    /// TCP_FASTOPEN_CONNECT: connect(2) returns at once when there is a cookie, and the first write sends the SYN.
    pub fn set_fast_open_connect(&mut self, on: bool) {
        self.neg.fast_open.set(FastOpenState::CONNECT, on);
    }

    /// Whether TCP_FASTOPEN_CONNECT is set.
    pub fn fast_open_connect(&self) -> bool {
        self.neg.fast_open.intersects(FastOpenState::CONNECT)
    }

    /// TCP_FASTOPEN_NO_COOKIE: data go with the SYN without a cookie; of a listener: they are taken without one.
    pub fn set_fast_open_no_cookie(&mut self, on: bool) {
        self.neg.fast_open.set(FastOpenState::NO_COOKIE, on);
    }

    /// Whether TCP_FASTOPEN_NO_COOKIE is set.
    pub fn fast_open_no_cookie(&self) -> bool {
        self.neg.fast_open.intersects(FastOpenState::NO_COOKIE)
    }

    /// `defer_connect`: the SYN waits for [`Endpoint::connect_with_data`]; poll(2) says that it can be written.
    pub fn is_deferred(&self) -> bool {
        self.state == State::SynSent && self.neg.fast_open.intersects(FastOpenState::DEFERRED)
    }

    /// `sk_write_pending`: somebody waits until the connection stands, and will write then; the ACK of the SYN-ACK goes
    /// with these data.
    pub fn set_write_pending(&mut self, on: bool) {
        self.neg.fast_open.set(FastOpenState::WRITER, on);
    }

    /// The check of `tcp_fastopen_defer_connect()`: whether connect(2) may wait for data. It notes a missing cookie.
    pub(crate) fn may_defer(&mut self, cx: &Cx<'_>) -> bool {
        self.fast_open_connect() && self.check_cookie(cx).data
    }

    /// Data will come with the SYN (MSG_FASTOPEN), whether there is a cookie or not.
    pub(crate) fn will_bring_data(&mut self) {
        self.neg.fast_open.set(FastOpenState::DEFERRED, true);
    }

    /// The SYN will come with the first write; `mtu` is the route's.
    pub(crate) fn defer(&mut self, mtu: u32) {
        self.neg.fast_open.set(FastOpenState::DEFERRED, true);
        let s = &mut self.snd;
        s.pmtu = mtu;
        s.snd_una = s.write_seq;
        s.snd_nxt = s.write_seq;
    }

    /// Sends the SYN of a deferred connection with as much of `bytes` as it takes, or asks for a cookie
    /// (`tcp_connect()` of `tcp_sendmsg_fastopen()`). Gives the bytes that went; 0: none did, and the caller waits for
    /// the connection.
    pub fn connect_with_data(&mut self, cx: &mut Cx<'_>, bytes: u64) -> u64 {
        self.connect_deferred(cx, Some(bytes))
    }

    /// The same of a write whose buffer cannot be read: the SYN asks for a cookie instead.
    pub fn connect_without_data(&mut self, cx: &mut Cx<'_>) {
        self.connect_deferred(cx, None);
    }

    fn connect_deferred(&mut self, cx: &mut Cx<'_>, bytes: Option<u64>) -> u64 {
        if !self.is_deferred() {
            return 0;
        }
        self.neg.fast_open.set(FastOpenState::DEFERRED, false);
        let mtu = self.snd.pmtu;
        self.connect_init(cx, mtu);
        u64::from(self.send_fast_syn(cx, bytes))
    }

    fn cache_ends(&self) -> (u16, u16) {
        (self.local.host, self.remote.host)
    }

    /// `tcp_fastopen_cookie_check()`.
    fn check_cookie(&mut self, cx: &Cx<'_>) -> Plan {
        let known = cx.metrics.fast_open.get(self.cache_ends());
        let mut plan = Plan {
            data: false,
            option: None,
            mss: known.mss,
        };
        if cx.metrics.fast_open.is_disabled(cx) {
            return plan;
        }
        let sysctl = &cx.host.sysctl;
        let again = sysctl.tcp_fastopen_blackhole_timeout_sec != 0
            && cx.metrics.fast_open.times_disabled() > 0;
        if again {
            self.neg.fast_open.set(FastOpenState::TRIES_AGAIN, true);
        }
        if sysctl.tcp_fastopen & Bits::CLIENT_NO_COOKIE != 0 || self.fast_open_no_cookie() {
            plan.data = true;
            return plan;
        }
        plan.option = Some(known.option);
        plan.data = !known.option.is_request();
        if !plan.data {
            self.neg.fast_open.set_failure(Failure::CookieUnavailable);
        }
        plan
    }

    /// `tcp_connect()` with `tcp_send_syn_data()`: the SYN with data, or with a request; the bytes that went. None: there
    /// is nothing that can be read.
    pub(crate) fn send_fast_syn(&mut self, cx: &mut Cx<'_>, bytes: Option<u64>) -> u32 {
        let syn = self.queue_syn(cx);
        self.snd.mss_clamp = self.rcv.advmss;
        let plan = self.check_cookie(cx);
        if let Some(mss) = plan.mss {
            self.snd.mss_clamp = mss;
        }
        let mut copied = 0;
        match bytes.filter(|_| plan.data) {
            Some(bytes) => copied = self.send_syn_data(cx, syn, plan.option, bytes),
            None => {
                let request = |cookie: FastOpen| FastOpen::request(cookie.is_experimental());
                self.transmit_syn_with(cx, syn, 0, plan.option.map(request));
            }
        }
        self.syn_is_out(cx);
        copied
    }

    /// One packet, two segments of the queue: should the SYN be lost, it is sent again alone.
    fn send_syn_data(
        &mut self,
        cx: &mut Cx<'_>,
        syn: Id,
        option: Option<FastOpen>,
        bytes: u64,
    ) -> u32 {
        self.snd.mss_clamp = self.clamp_advmss(self.snd.mss_clamp);
        let pmtu = self.snd.pmtu;
        self.sync_mss(cx, pmtu);
        let room = self.mtu_to_mss(cx, pmtu).saturating_sub(OPTION_SPACE);
        let most = match cx.host.profile.syn_data_beyond_page {
            true => room,
            false => room.min(ONE_PAGE),
        };
        let len = u64::from(most).min(bytes) as u32;
        self.transmit_syn_with(cx, syn, len, option);
        let truesize = cx.host.profile.tx_truesize + len;
        let mut skb = Skb::new(self.snd.write_seq, len, SkbFlags::PSH, truesize);
        skb.xmit_ns = self.queue.get(syn).map_or(0, |syn| syn.xmit_ns);
        skb.pcount = 1;
        self.queue.push(skb);
        self.queue.advance_send_head();
        if let Some(data) = self.queue.last_sent() {
            self.queue.list_last(data);
        }
        self.snd.wmem_add(&mut self.rcv, truesize);
        self.loss.packets_out += 1;
        self.snd.write_seq = self.snd.write_seq + len;
        self.neg.fast_open.set(FastOpenState::SYN_DATA, len > 0);
        if len > 0 {
            self.stats.chrono.start(cx, Busy::Sends);
        }
        cx.count(Counter::OrigDataSent);
        len
    }

    /// Data went with the SYN, and it is not answered yet.
    pub(crate) fn is_syn_data_out(&self) -> bool {
        self.state == State::SynSent && self.neg.fast_open.intersects(FastOpenState::SYN_DATA)
    }

    /// What the SYN-ACK says of Fast Open; true: data of the SYN were sent again, so no ACK is needed.
    #[cold]
    pub(crate) fn fast_open_answered(&mut self, cx: &mut Cx<'_>, seg: &Segment) -> bool {
        let sent_data = self.neg.fast_open.intersects(FastOpenState::SYN_DATA);
        let unacked = sent_data && self.queue.first_sent().is_some();
        let again = self.stats.total_retrans > 0;
        let mut mss = self.snd.mss_clamp;
        if mss == self.options.user_mss {
            // TCP_MAXSEG hides the server's own.
            mss = seg.options.mss.unwrap_or(0);
        }
        let mut seen = Seen {
            cookie: seg.options.fast_open(),
            mss,
            syn_lost: false,
            try_experimental: 0,
        };
        if !self.neg.fast_open.intersects(FastOpenState::OPTION) {
            // Nobody asked for it.
            seen.cookie = None;
        } else if again {
            // The server saw the second SYN only: the first one, or its answer, was lost.
            seen.syn_lost = seen.cookie.is_none() && unacked;
        } else if seen.cookie.is_none() && !sent_data {
            seen.try_experimental = match self.neg.fast_open.intersects(FastOpenState::EXPERIMENTAL)
            {
                true => 2,
                false => 1,
            };
        }
        cx.metrics.fast_open.set(self.cache_ends(), seen);
        if unacked {
            self.neg.fast_open.set_failure(match again {
                true => Failure::SynRetransmitted,
                false => Failure::DataNotAcked,
            });
            self.resend_syn_data(cx);
            return true;
        }
        self.neg.fast_open.set(FastOpenState::DATA_ACKED, sent_data);
        if sent_data {
            cx.count(Counter::FastOpenActive);
            // SYN and data were one packet.
            if self.stats.delivered > 1 {
                self.stats.delivered -= 1;
            }
        }
        self.take_syn_payload(cx, seg);
        false
    }

    fn resend_syn_data(&mut self, cx: &mut Cx<'_>) {
        let at_once = cx.host.profile.resends_syn_data_at_once;
        let mut at = self.queue.first_sent();
        while let Some(id) = at {
            at = self.queue.next_sent(id);
            match at_once {
                true if !self.resend(cx, id, 1) => break,
                true => {}
                false => self.loss.mark_lost(cx, &mut self.queue, id),
            }
        }
        match at_once {
            true => self.rearm_rto(cx),
            false => self.loss_without_congestion(cx),
        }
        cx.count(Counter::FastOpenActiveFail);
    }
}
