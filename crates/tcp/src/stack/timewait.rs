//! TIME-WAIT, and FIN-WAIT-2 without an owner, in a small record (RFC 9293 3.10.7.4; RFC 6191; Linux
//! `tcp_timewait_state_process()`).

use tcplab_base::{Instant, Seq};
use tcplab_wire::TcpFlags;

use super::reset::{SmallAck, oow_limited, reply_ack};
use crate::cc::CongestionControl;
use crate::cx::Cx;
use crate::endpoint::{Endpoint, TIMEWAIT_S, TimeWaitNeeds};
use crate::input::{in_window, paws_reject};
use crate::mib::Counter;
use crate::segment::{Addr, Segment};

/// A record.
#[derive(Clone, Debug)]
pub(crate) struct TimeWait {
    pub(crate) local: Addr,
    pub(crate) remote: Addr,
    /// The peer's FIN is still to come.
    pub(crate) fin_wait_2: bool,
    pub(crate) rcv_nxt: Seq,
    pub(crate) snd_nxt: Seq,
    pub(crate) rcv_wnd: u32,
    pub(crate) rcv_wscale: u8,
    pub(crate) ts_recent: u32,
    /// 0: no time stamps.
    pub(crate) ts_recent_stamp: u32,
    pub(crate) ts_offset: u32,
    /// Millisecond since boot in which it began (`tw_entry_stamp`).
    pub(crate) entry_ms: u32,
    pub(crate) last_oow_ack_time: u32,
    pub(crate) tos: u8,
    pub(crate) fires: Instant,
}

/// What a segment means for a record (`enum tcp_tw_status`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// All is done.
    Done,
    /// The record is dropped.
    Kill,
    /// ACK the segment.
    Ack,
    /// ACK the segment, which has no place here.
    AckOow,
    /// Reset it, and drop the record.
    Reset,
    /// A new connection may begin with this sequence number.
    Syn(Seq),
}

impl TimeWait {
    /// The record of a connection that is over (`tcp_time_wait()`).
    pub(crate) fn of(cx: &mut Cx<'_>, ep: &Endpoint, needs: TimeWaitNeeds) -> Self {
        let mut record = Self {
            local: ep.local,
            remote: ep.remote,
            fin_wait_2: !needs.is_time_wait,
            rcv_nxt: ep.rcv.rcv_nxt,
            snd_nxt: ep.snd.snd_nxt,
            rcv_wnd: ep.rcv.receive_window(),
            rcv_wscale: ep.snd.rcv_wscale,
            ts_recent: ep.neg.ts_recent,
            ts_recent_stamp: ep.neg.ts_recent_stamp,
            ts_offset: ep.neg.tsoffset,
            entry_ms: cx.host.clock.millis(cx.now),
            last_oow_ack_time: 0,
            tos: ep.options.tos | (u8::from(ep.cc.needs_ecn()) * Segment::ECT_0),
            fires: cx.now,
        };
        record.arm(cx, needs.timeout);
        // __inet_twsk_schedule(): a short wait counts as killed.
        let short = needs.timeout <= 4 * cx.host.clock.hz;
        cx.count(match short {
            true => Counter::TWKilled,
            false => Counter::TW,
        });
        record
    }

    fn arm(&mut self, cx: &Cx<'_>, wait: u32) {
        let at = cx.jiffies() + u64::from(wait);
        self.fires = cx.wheel.place_new(cx, at).at;
    }

    fn wait_anew(&mut self, cx: &Cx<'_>) {
        self.arm(cx, TIMEWAIT_S * cx.host.clock.hz);
    }

    /// A segment for this record.
    pub(crate) fn on_segment(&mut self, cx: &mut Cx<'_>, seg: &Segment) -> Verdict {
        let stamps = seg
            .options
            .timestamps
            .filter(|_| cx.host.sysctl.tcp_timestamps != 0 && self.ts_recent_stamp != 0);
        let rst = seg.flags.has(TcpFlags::RST);
        let old = stamps.is_some_and(|(tsval, _)| {
            paws_reject(
                self.ts_recent,
                self.ts_recent_stamp,
                tsval,
                rst,
                cx.seconds(),
            )
        });
        let tsval = stamps.map(|(tsval, _)| tsval);
        match self.fin_wait_2 {
            true => self.in_fin_wait_2(cx, seg, tsval, old),
            false => self.in_time_wait(cx, seg, tsval, old),
        }
    }

    fn in_fin_wait_2(
        &mut self,
        cx: &mut Cx<'_>,
        seg: &Segment,
        tsval: Option<u32>,
        old: bool,
    ) -> Verdict {
        let end = seg.end_seq();
        if old || !in_window(seg.seq, end, self.rcv_nxt, self.rcv_nxt + self.rcv_wnd) {
            return self.ack_unless_limited(cx, seg, Counter::ACKSkippedFinWait2);
        }
        let flags = seg.flags;
        if flags.has(TcpFlags::RST) {
            return Verdict::Kill;
        }
        if flags.has(TcpFlags::SYN) && !seg.seq.before(self.rcv_nxt) {
            return Verdict::Reset;
        }
        if !flags.has(TcpFlags::ACK) || !end.after(self.rcv_nxt) || end == seg.seq {
            return Verdict::Done;
        }
        // New data after a close: nobody will read it.
        if !flags.has(TcpFlags::FIN) || end != self.rcv_nxt + 1 {
            return Verdict::Reset;
        }
        self.fin_wait_2 = false;
        self.rcv_nxt = end;
        if tsval.is_some() {
            self.entry_ms = cx.host.clock.millis(cx.now);
        }
        self.note_stamp(cx, tsval);
        self.wait_anew(cx);
        Verdict::Ack
    }

    fn in_time_wait(
        &mut self,
        cx: &mut Cx<'_>,
        seg: &Segment,
        tsval: Option<u32>,
        old: bool,
    ) -> Verdict {
        let rst = seg.flags.has(TcpFlags::RST);
        if !old && seg.seq == self.rcv_nxt && (seg.seq == seg.end_seq() || rst) {
            if rst {
                // RFC 1337: with the sysctl a reset does not end TIME-WAIT.
                if !cx.host.sysctl.tcp_rfc1337 {
                    return Verdict::Kill;
                }
            } else {
                self.wait_anew(cx);
            }
            self.note_stamp(cx, tsval);
            return Verdict::Done;
        }
        let syn = seg.flags.has(TcpFlags::SYN) && !rst && !seg.flags.has(TcpFlags::ACK);
        let newer = tsval.is_some_and(|tsval| (self.ts_recent.wrapping_sub(tsval) as i32) < 0);
        if syn && !old && (seg.seq.after(self.rcv_nxt) || newer) {
            // RFC 9293 3.10.7.4: beyond all that the last connection could have sent.
            let isn = self.snd_nxt + (65_535 + 2);
            return Verdict::Syn(Seq(isn.0.max(1)));
        }
        if old {
            cx.count(match cx.host.profile.drops_old_acks {
                true => Counter::PAWSTimewait,
                false => Counter::PAWSEstab,
            });
        }
        if rst {
            return Verdict::Done;
        }
        if old || seg.flags.has(TcpFlags::ACK) {
            self.wait_anew(cx);
        }
        self.ack_unless_limited(cx, seg, Counter::ACKSkippedTimeWait)
    }

    fn note_stamp(&mut self, cx: &Cx<'_>, tsval: Option<u32>) {
        if let Some(tsval) = tsval {
            self.ts_recent = tsval;
            self.ts_recent_stamp = cx.seconds();
        }
    }

    fn ack_unless_limited(&mut self, cx: &mut Cx<'_>, seg: &Segment, skipped: Counter) -> Verdict {
        match oow_limited(cx, seg, skipped, &mut self.last_oow_ack_time) {
            true => Verdict::Done,
            false => Verdict::AckOow,
        }
    }

    /// `tcp_v4_timewait_ack()`. `oow`: the segment has no place here.
    pub(crate) fn send_ack(&self, cx: &mut Cx<'_>, seg: &Segment, oow: bool) {
        let keeps_ecn = cx.host.profile.tw_ack_keeps_ecn && !oow;
        let small = SmallAck {
            seq: self.snd_nxt,
            ack: self.rcv_nxt,
            window: self.rcv_wnd >> self.rcv_wscale.min(14),
            tsval: cx.host.clock.millis(cx.now).wrapping_add(self.ts_offset),
            tsecr: self.ts_recent,
            tos: if keeps_ecn { self.tos } else { self.tos & !3 },
        };
        reply_ack(cx, seg, &small);
    }
}
