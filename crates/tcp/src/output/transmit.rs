//! Builds the header of a segment and hands it on (RFC 9293 3.10; Linux `__tcp_transmit_skb()`,
//! `tcp_established_options()`, `tcp_ecn_send()`, `tcp_update_skb_after_send()`). A SYN is built in `endpoint/`.

use tcplab_base::Seq;
use tcplab_wire::{TcpFlags, TcpOptions};

use crate::cc::{CaEvent, CongestionControl};
use crate::cx::Cx;
use crate::endpoint::{Endpoint, RcvQueue, Snd};
use crate::host::DeviceQueue;
use crate::mib::Counter;
use crate::options::{Ecn, Negotiated};
use crate::queue::{Id, SkbFlags};
use crate::segment::{Caqm, Segment};

/// What differs from one segment to the next.
#[derive(Clone, Copy)]
struct Build {
    seq: Seq,
    len: u32,
    flags: u16,
    pcount: u32,
    gso_size: u16,
    /// `rcv_nxt`, or an older one in an ACK that DCTCP sends late.
    ack: Seq,
    /// The tag of CAQM.
    caqm: Caqm,
    /// Departure in ns since boot: the time stamp option shows it.
    stamp_ns: u64,
}

/// Bytes that the options of a segment of an established connection take, SACK blocks counted.
const TIMESTAMPS: u32 = 12;

impl Negotiated {
    /// `tp->tcp_header_len`: the header with the options that each segment has.
    #[inline]
    pub(crate) fn header_len(&self) -> u32 {
        match self.tstamp_ok {
            true => 20 + TIMESTAMPS,
            false => 20,
        }
    }

    /// Our time stamp of a departure: milliseconds and the connection's offset (`tcp_skb_timestamp()`).
    #[inline]
    pub(crate) fn tsval(&self, stamp_ns: u64) -> u32 {
        ((stamp_ns / 1_000_000) as u32).wrapping_add(self.tsoffset)
    }

    #[inline(never)]
    fn ecn_marks(&mut self, snd: &Snd, b: &Build, flags: &mut u16, mut ecn: u8) -> u8 {
        // RFC 3168 6.1.5: retransmissions are not ECN-capable.
        if b.len > 0 && b.seq.at_or_after(snd.snd_nxt) {
            ecn = Segment::ECT_0;
            if self.ecn_flags.intersects(Ecn::QUEUE_CWR) {
                self.ecn_flags &= !Ecn::QUEUE_CWR;
                *flags |= TcpFlags::CWR;
            }
        }
        if self.ecn_flags.intersects(Ecn::DEMAND_CWR) {
            *flags |= TcpFlags::ECE;
        }
        ecn
    }
}

impl RcvQueue {
    /// How many SACK blocks a segment would carry now: a DSACK first, three beside time stamps, else four.
    #[inline]
    pub(crate) fn sack_blocks_out(&self, neg: &Negotiated) -> u32 {
        let have = u32::from(self.num_sacks) + u32::from(self.dsack.is_some());
        have.min(if neg.tstamp_ok { 3 } else { 4 })
    }

    fn established_options(&mut self, neg: &Negotiated, stamp_ns: u64) -> TcpOptions {
        let mut options = TcpOptions::default();
        if neg.tstamp_ok {
            options.timestamps = Some((neg.tsval(stamp_ns), neg.ts_recent));
        }
        if self.num_sacks > 0 || self.dsack.is_some() {
            self.put_sacks(neg, &mut options);
        }
        options
    }

    #[cold]
    fn put_sacks(&mut self, neg: &Negotiated, options: &mut TcpOptions) {
        let blocks = self.sack_blocks_out(neg) as usize;
        let own = self.sacks.iter().take(usize::from(self.num_sacks));
        // RFC 2883 4: the DSACK stands first, and is told once.
        for &(left, right) in self.dsack.iter().chain(own).take(blocks) {
            options.sack.push(left, right);
        }
        self.dsack = None;
    }
}

impl Snd {
    /// The urgent pointer of a segment before `snd_up` (RFC 9293 3.8.5, RFC 6093).
    #[cold]
    fn urgent_pointer(&self, seq: Seq, flags: &mut u16) -> u16 {
        if !seq.before(self.snd_up) {
            return 0;
        }
        let ahead = self.snd_up - seq;
        if ahead < 0x1_0000 {
            *flags |= TcpFlags::URG;
            return ahead as u16;
        }
        if (seq + 0xffff).after(self.snd_nxt) {
            *flags |= TcpFlags::URG;
            return 0xffff;
        }
        0
    }
}

impl Endpoint {
    /// `tcp_ecn_send()`: ECT on new data, CWR once after a reduction, ECE while the peer was not told.
    fn ecn_send(&mut self, cx: &Cx<'_>, b: &Build, flags: &mut u16) -> u8 {
        let ecn = match self.cc.needs_ecn() {
            true => Segment::ECT_0,
            false => Segment::NOT_ECT,
        };
        if !self.neg.ecn_flags.intersects(Ecn::OK) {
            return ecn;
        }
        let ecn = self.neg.ecn_marks(&self.snd, b, flags, ecn);
        if cx.host.profile.tw_ack_keeps_ecn {
            // INET_ECN_xmit(), INET_ECN_dontxmit(): the socket keeps them.
            self.options.tos = self.options.tos & !3 | ecn;
        }
        ecn
    }

    /// Header, window, events and counters of one segment.
    fn build_and_send(&mut self, cx: &mut Cx<'_>, b: Build) -> bool {
        let mut flags = b.flags;
        let options = self.rcvq.established_options(&self.neg, b.stamp_ns);
        let urgent = match self.snd.in_urg_mode() {
            true => self.snd.urgent_pointer(b.seq, &mut flags),
            false => 0,
        };
        let window = self.select_window(cx);
        let ecn = self.ecn_send(cx, &b, &mut flags);
        // An ACK that is older than rcv_nxt (DCTCP) pays for nothing.
        if b.ack == self.rcv.rcv_nxt {
            self.ack.sent(cx, &mut self.timers, b.pcount);
        }
        if b.len > 0 {
            self.event_data_sent(cx);
            self.stats.data_segs_out = self.stats.data_segs_out.wrapping_add(b.pcount);
            self.stats.bytes_sent += u64::from(b.len);
        }
        let end = b.seq + (b.len + u32::from(flags & TcpFlags::FIN != 0));
        if end.after(self.snd.snd_nxt) || end == b.seq {
            cx.mib.add(Counter::OutSegs, u64::from(b.pcount));
        }
        self.stats.segs_out = self.stats.segs_out.wrapping_add(b.pcount);
        if cx.host.queue == DeviceQueue::Drops {
            return self.dropped(cx);
        }
        cx.out.push(Segment {
            src: self.local,
            dst: self.remote,
            seq: b.seq,
            ack: b.ack,
            len: b.len,
            window,
            urgent,
            flags: TcpFlags(flags),
            gso_size: b.gso_size,
            tos: (self.options.tos & !3) | ecn,
            caqm: b.caqm,
            options,
        });
        true
    }

    /// NET_XMIT_DROP: the device's queue did not take a segment, which is congestion; false.
    #[cold]
    pub(crate) fn dropped(&mut self, cx: &mut Cx<'_>) -> bool {
        self.enter_cwr(cx);
        false
    }

    /// `tcp_event_data_sent()`.
    #[inline]
    fn event_data_sent(&mut self, cx: &mut Cx<'_>) {
        if self.loss.in_flight() == 0 {
            self.tx_starts(cx);
        }
        self.snd.lsndtime = cx.jiffies32();
        self.ack.data_sent(cx, &self.snd);
    }

    /// A SYN leaves with so many bytes of data.
    #[cold]
    pub(crate) fn syn_data_sent(&mut self, cx: &mut Cx<'_>, len: u32) {
        self.event_data_sent(cx);
        self.stats.data_segs_out = self.stats.data_segs_out.wrapping_add(1);
        self.stats.bytes_sent += u64::from(len);
    }

    #[inline(never)]
    fn tx_starts(&mut self, cx: &mut Cx<'_>) {
        self.cc_event(cx, CaEvent::TxStart);
    }

    /// Sends a segment of the queue, for the first time or again (`tcp_transmit_skb()` with a clone). False: the
    /// device's queue dropped it.
    pub(crate) fn transmit(&mut self, cx: &mut Cx<'_>, id: Id) -> bool {
        let prior_wstamp = self.tune.wstamp_ns;
        let stamp_ns = prior_wstamp.max(cx.now_ns());
        let ack = self.rcv.rcv_nxt;
        let caqm = self.caqm_tag(cx, id);
        let Some(skb) = self.queue.get_mut(id) else {
            return false;
        };
        if skb.flags.intersects(SkbFlags::SYN) {
            return self.transmit_syn(cx, id);
        }
        self.tune.wstamp_ns = stamp_ns;
        skb.xmit_ns = stamp_ns;
        // PSH makes the receiver's GRO hand the train on at once. A retransmitted part of the train lacks
        // this flag.
        let mut flags = u16::from(skb.flags.bits()) | TcpFlags::ACK;
        if skb.pcount > 1 {
            flags |= TcpFlags::PSH;
        }
        let (len, pcount) = (skb.len, u32::from(skb.pcount));
        let build = Build {
            seq: skb.seq,
            len,
            flags,
            pcount,
            gso_size: if skb.pcount > 1 { skb.gso_size } else { 0 },
            ack,
            caqm,
            stamp_ns,
        };
        if !self.build_and_send(cx, build) {
            return false;
        }
        if self.tune.pacing_needed {
            self.tune.pace_after(&self.stats, prior_wstamp, len);
        }
        self.queue.list_last(id);
        self.rate_skb_sent(id);
        true
    }

    /// Sends a segment without payload that is not queued. False: the device's queue dropped it.
    pub(crate) fn transmit_control(
        &mut self,
        cx: &mut Cx<'_>,
        seq: Seq,
        flags: u16,
        ack: Seq,
    ) -> bool {
        let stamp_ns = self.tune.wstamp_ns.max(cx.now_ns());
        self.tune.wstamp_ns = stamp_ns;
        let caqm = self.caqm_control_tag(cx);
        let build = Build {
            seq,
            len: 0,
            flags,
            pcount: 1,
            gso_size: 0,
            ack,
            caqm,
            stamp_ns,
        };
        self.build_and_send(cx, build)
    }
}
