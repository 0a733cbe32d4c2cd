//! Time stamps of arriving segments (RFC 7323 4, 5; Linux `tcp_fast_parse_options()`,
//! `tcp_paws_discard()`, `tcp_replace_ts_recent()`).

use tcplab_base::Seq;

use crate::cx::Cx;
use crate::endpoint::{Endpoint, Rcv};
use crate::options::Negotiated;
use crate::segment::Segment;

/// `TCP_PAWS_24DAYS` in seconds: a value that old says nothing any more (RFC 7323 5.5).
const OUTDATED: u32 = 24 * 24 * 60 * 60;
/// `TCP_PAWS_WINDOW`: a value may be older by this.
const WINDOW: i32 = 1;

impl Negotiated {
    /// Reads the time stamps of a segment on a connection that uses them.
    #[inline]
    pub(crate) fn parse_time_stamp(&mut self, seg: &Segment) {
        let Some((tsval, tsecr)) = seg.options.timestamps else {
            return;
        };
        self.saw_tstamp = true;
        self.rcv_tsval = tsval;
        self.rcv_tsecr = match tsecr {
            0 => 0,
            echo => echo.wrapping_sub(self.tsoffset),
        };
    }

    /// `tcp_paws_check()`.
    pub(crate) fn paws_check(&self, cx: &Cx<'_>, window: i32) -> bool {
        let older = self.ts_recent.wrapping_sub(self.rcv_tsval) as i32;
        older <= window || self.is_ts_recent_void(cx)
    }

    #[cold]
    #[inline(never)]
    fn is_ts_recent_void(&self, cx: &Cx<'_>) -> bool {
        seconds(cx).wrapping_sub(self.ts_recent_stamp) as i32 >= OUTDATED as i32
            // Some send 0 in the SYN and real values later.
            || self.ts_recent == 0
    }

    /// `tcp_store_ts_recent()`.
    #[inline]
    pub(crate) fn store_ts_recent(&mut self, cx: &Cx<'_>) {
        self.ts_recent = self.rcv_tsval;
        self.ts_recent_stamp = seconds(cx);
    }

    /// `tcp_replace_ts_recent()`: only a segment that the last ACK sent did not pass may set the echo (RFC 7323 4.3).
    #[inline]
    pub(crate) fn replace_ts_recent(&mut self, cx: &mut Cx<'_>, rcv: &Rcv, seq: Seq) {
        if self.saw_tstamp && seq.at_or_before(rcv.rcv_wup) && self.paws_check(cx, 0) {
            self.store_ts_recent(cx);
        }
    }
}

impl Rcv {
    /// A pure ACK that data have overtaken (`SKB_DROP_REASON_TCP_RFC7323_PAWS_ACK`).
    #[cold]
    #[inline(never)]
    pub(super) fn is_old_ack(&self, seg: &Segment) -> bool {
        use tcplab_wire::TcpFlags;
        seg.flags.has(TcpFlags::ACK) && seg.seq == seg.end_seq() && seg.seq.before(self.rcv_nxt)
    }
}

impl Endpoint {
    /// `tcp_paws_discard()`.
    pub(super) fn paws_discard(&self, cx: &Cx<'_>, seg: &Segment) -> bool {
        !self.neg.paws_check(cx, WINDOW) && !self.disordered_ack(cx, seg)
    }

    /// `tcp_disordered_ack()`: a pure duplicate ACK that was overtaken within about one RTO.
    #[cold]
    #[inline(never)]
    fn disordered_ack(&self, cx: &Cx<'_>, seg: &Segment) -> bool {
        use tcplab_wire::TcpFlags;
        let window = u32::from(seg.window) << self.snd.snd_wscale;
        let updates_window = self.snd.may_update_window(cx, seg, window);
        let older = self.neg.ts_recent.wrapping_sub(self.neg.rcv_tsval) as i32;
        let ticks = match cx.host.profile.long_replay_window {
            true => 1200,
            false => 1024,
        };
        let replay = u64::from(self.rtt.rto) * ticks / u64::from(cx.host.clock.hz);
        seg.flags.has(TcpFlags::ACK)
            && seg.seq == seg.end_seq()
            && seg.seq == self.rcv.rcv_nxt
            && seg.ack == self.snd.snd_una
            && !updates_window
            && i64::from(older) <= replay as i64
    }
}

/// Seconds since the host's boot (`ktime_get_seconds()`).
#[inline]
fn seconds(cx: &Cx<'_>) -> u32 {
    (cx.now_us() / 1_000_000) as u32
}
