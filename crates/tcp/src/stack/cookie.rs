//! SYN cookies: a full SYN queue keeps no requests, the ACK brings back what a request would have known (RFC 4987 3.6;
//! Linux `cookie_v4_init_sequence()`, `cookie_v4_check()`).

use tcplab_base::Seq;
use tcplab_wire::TcpFlags;

use super::listener::Listener;
use super::request::{Request, own_mss};
use super::secret::{ends, siphash};
use crate::cx::Cx;
use crate::mib::Counter;
use crate::segment::Segment;

/// MSS values that a cookie can say: `msstab` of IPv4, and of IPv6.
const MSS_TABLES: [[u16; 4]; 2] = [
    [536, 1300, 1440, 1460],
    [1280 - 60, 1480 - 60, 1500 - 60, 9000 - 60],
];

fn mss_table(cx: &Cx<'_>) -> [u16; 4] {
    MSS_TABLES[usize::from(cx.host.ip_header != 20)]
}
/// Minutes for which a cookie is good (`MAX_SYNCOOKIE_AGE`).
const MAX_AGE: u32 = 2;
const COOKIE_BITS: u32 = 24;
const COOKIE_MASK: u32 = (1 << COOKIE_BITS) - 1;
/// Low bits of the time stamp that carry options.
const TS_BITS: u32 = 6;
const TS_NO_SCALE: u32 = 15;
const TS_SACK: u32 = 16;
const TS_ECN: u32 = 32;

/// Minutes of the host's clock (`tcp_cookie_time()`).
fn minutes(cx: &Cx<'_>) -> u32 {
    (cx.jiffies() / (60 * u64::from(cx.host.clock.hz))) as u32
}

fn hash(cx: &Cx<'_>, seg: &Segment, count: u32, which: u64) -> u32 {
    let word = u64::from(count) << 32 | which << 8 | 3;
    siphash(cx.host.secret, [ends(seg.dst, seg.src), word]) as u32
}

/// Turns a request into a cookie: sets its sequence number and the MSS as the cookie says it, and gives the time stamp
/// of the SYN-ACK.
pub(crate) fn make(cx: &Cx<'_>, req: &mut Request, seg: &Segment) -> u32 {
    let table = mss_table(cx);
    let index = table.iter().rposition(|&mss| req.mss >= mss).unwrap_or(0);
    req.mss = table[index];
    let count = minutes(cx);
    let value = hash(cx, seg, 0, 0)
        .wrapping_add(seg.seq.0)
        .wrapping_add(count << COOKIE_BITS)
        .wrapping_add(hash(cx, seg, count, 1).wrapping_add(index as u32) & COOKIE_MASK);
    req.snt_isn = Seq(value);
    time_stamp(cx, req)
}

/// `cookie_init_timestamp()`: the options in the low bits, never later than now.
fn time_stamp(cx: &Cx<'_>, req: &Request) -> u32 {
    let mut options = match req.wscale_ok {
        true => u32::from(req.snd_wscale),
        false => TS_NO_SCALE,
    };
    options |= (u32::from(req.sack_ok) * TS_SACK) | (u32::from(req.ecn_ok) * TS_ECN);
    let now = cx.host.clock.millis(cx.now);
    let stamp = (now >> TS_BITS << TS_BITS) | options;
    match stamp > now {
        true => stamp.wrapping_sub(1 << TS_BITS),
        false => stamp,
    }
}

/// The MSS in a cookie; `None` if the cookie is not ours.
fn mss_of(cx: &Cx<'_>, seg: &Segment) -> Option<u16> {
    let syn = seg.seq - 1;
    let rest = (seg.ack - 1)
        .0
        .wrapping_sub(hash(cx, seg, 0, 0))
        .wrapping_sub(syn.0);
    let count = minutes(cx);
    let age = count.wrapping_sub(rest >> COOKIE_BITS) & (u32::MAX >> COOKIE_BITS);
    if age >= MAX_AGE {
        return None;
    }
    let index = rest.wrapping_sub(hash(cx, seg, count.wrapping_sub(age), 1)) & COOKIE_MASK;
    mss_table(cx).get(index as usize).copied()
}

/// The request that an ACK's cookie encodes; `None` without a valid cookie, and the listener then
/// handles the segment. `ts_off` is the offset of the connection's time stamps.
pub(crate) fn check(
    cx: &mut Cx<'_>,
    number: u32,
    listener: &Listener,
    seg: &Segment,
    ts_off: u32,
) -> Option<Request> {
    let ack = seg.flags.has(TcpFlags::ACK) && !seg.flags.has(TcpFlags::RST);
    if cx.host.sysctl.tcp_syncookies == 0 || !ack || !recently_full(cx, listener) {
        return None;
    }
    let Some(mss) = mss_of(cx, seg) else {
        cx.count(Counter::SyncookiesFailed);
        return None;
    };
    cx.count(Counter::SyncookiesRecv);
    let mut req = Request::of(cx, number, listener, seg);
    req.rcv_isn = seg.seq - 1;
    req.rcv_nxt = seg.seq;
    req.snt_isn = seg.ack - 1;
    req.mss = mss.min(own_mss(listener));
    if req.tstamp_ok {
        let echo = seg.options.timestamps.map_or(0, |(_, tsecr)| tsecr);
        let options = echo.wrapping_sub(ts_off);
        let scale = options & TS_NO_SCALE;
        req.sack_ok = options & TS_SACK != 0;
        req.wscale_ok = scale != TS_NO_SCALE;
        req.snd_wscale = if req.wscale_ok {
            scale.min(14) as u8
        } else {
            0
        };
        req.ecn_ok = options & TS_ECN != 0 && cx.host.sysctl.tcp_ecn != 0;
        req.ts_off = ts_off;
        let sysctl = &cx.host.sysctl;
        if (req.sack_ok && !sysctl.tcp_sack) || (req.wscale_ok && !sysctl.tcp_window_scaling) {
            return None;
        }
    }
    // cookie_v4_check(): of the cookie's MSS, without room for time stamps.
    req.select_window(cx, listener, mss);
    Some(req)
}

/// `tcp_synq_no_recent_overflow()`: cookies were sent in the last two minutes.
fn recently_full(cx: &Cx<'_>, listener: &Listener) -> bool {
    let valid = MAX_AGE * 60 * cx.host.clock.hz;
    listener
        .overflowed
        .is_some_and(|at| cx.jiffies32().wrapping_sub(at) <= valid)
}
