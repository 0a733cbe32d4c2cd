//! A segment arrives at a host: whose it is, and what the listener and small records do with it (Linux `tcp_v4_rcv()`,
//! `tcp_conn_request()`, `tcp_child_process()`).

use tcplab_base::{Instant, Seq};
use tcplab_wire::TcpFlags;

use super::fastopen::Answer;
use super::request::{self, Request};
use super::reset::reply_reset;
use super::secret::seq_and_ts_off;
use super::table::{Conn, Holder, Record};
use super::{Event, ListenId, Stack, Watch, child, cookie, follow, timewait};
use crate::cx::Cx;
use crate::mib::Counter;
use crate::segment::Segment;

impl Stack {
    /// A segment for this host arrived.
    pub fn on_segment(&mut self, now: Instant, seg: &Segment) {
        self.mib.add(Counter::InSegs, 1);
        self.table.set_now(now);
        let Some(number) = self.table.find(seg.dst, seg.src) else {
            self.without_connection(now, seg);
            return;
        };
        match self.table.get(number) {
            Some(Record::Conn(_) | Record::Packed(_)) => self.conn_segment(now, number, seg),
            Some(Record::Request(_)) => self.request_segment(now, number, seg),
            Some(Record::TimeWait(_)) => self.time_wait_segment(now, number, seg),
            Some(Record::Free(_)) | None => {}
        }
    }

    #[inline]
    fn conn_segment(&mut self, now: Instant, number: u32, seg: &Segment) {
        let Some(conn) = self.table.conn_mut(number) else {
            return;
        };
        // tcp_segs_in().
        let packets = seg.wire_packets();
        let stats = &mut conn.ep.stats;
        stats.segs_in = stats.segs_in.wrapping_add(packets);
        if seg.len > 0 {
            stats.data_segs_in = stats.data_segs_in.wrapping_add(packets);
        }
        let watch = Watch::of(&conn.ep);
        let before = self.out.len();
        let mut cx = cx!(self, now);
        conn.ep.on_segment(&mut cx, seg);
        let told_first = cx.told == before;
        let events = self.events.len();
        watch.tell(conn, number, &mut self.events);
        if before == self.taken && self.out.len() > before {
            // The first segment to leave.
            self.ahead = match told_first {
                true => self.events.len(),
                false => events,
            };
        }
        if follow(&conn.ep, number, &mut self.deadlines) {
            self.ended(now, number);
        }
    }

    /// No connection, request or TIME-WAIT record has these ends.
    fn without_connection(&mut self, now: Instant, seg: &Segment) {
        match self.ports.get(&(seg.dst.host, seg.dst.port)).copied() {
            Some(listener) => self.listener_segment(now, listener, seg, None),
            None => {
                let (mut cx, ..) = self.parts(now);
                reply_reset(&mut cx, seg);
            }
        }
    }

    /// A segment for a listener (`tcp_rcv_state_process()` in LISTEN). `isn`: a TIME-WAIT record chose it.
    fn listener_segment(&mut self, now: Instant, number: u32, seg: &Segment, isn: Option<Seq>) {
        let flags = seg.flags;
        if flags.has(TcpFlags::ACK) {
            if !flags.has(TcpFlags::SYN) && self.cookie(now, number, seg) {
                return;
            }
            let (mut cx, ..) = self.parts(now);
            reply_reset(&mut cx, seg);
            return;
        }
        let plain_syn = flags.has(TcpFlags::SYN) && !flags.has(TcpFlags::RST | TcpFlags::FIN);
        if plain_syn {
            self.conn_request(now, number, seg, isn);
        }
    }

    /// A SYN asks for a connection (`tcp_conn_request()`).
    fn conn_request(&mut self, now: Instant, number: u32, seg: &Segment, tw_isn: Option<Seq>) {
        let secret = self.host.secret;
        let stamps = self.host.sysctl.tcp_timestamps;
        self.settle_fast_open();
        let (mut cx, listeners, _) = self.parts(now);
        let Some(Some(listener)) = listeners.get_mut(number as usize) else {
            return;
        };
        let cookies = cx.host.sysctl.tcp_syncookies;
        let full = cookies == 2 || listener.is_syn_queue_full(&cx.host.profile);
        let want_cookie = full && tw_isn.is_none();
        if want_cookie {
            cx.count(match cookies {
                0 => Counter::ReqQFullDrop,
                _ => Counter::ReqQFullDoCookies,
            });
        }
        if (want_cookie && cookies == 0) || listener.is_accept_queue_full() {
            if !want_cookie || cookies != 0 {
                cx.count(Counter::ListenOverflows);
            }
            cx.count(Counter::ListenDrops);
            return;
        }
        let mut req = Request::of(&cx, number, listener, seg);
        let (isn, ts_off) = seq_and_ts_off(secret, seg.dst, seg.src, now, stamps);
        if req.tstamp_ok {
            req.ts_off = ts_off;
        }
        let most = i64::from(cx.host.sysctl.tcp_max_syn_backlog);
        let nearly_full = most - i64::from(listener.requests) < most >> 2;
        let proven = cx.metrics.get(seg.dst.host, seg.src.host).rtt_us != 0;
        if cookies == 0 && tw_isn.is_none() && nearly_full && !proven {
            // The last quarter is for peers that answered before.
            cx.count(Counter::ListenDrops);
            return;
        }
        req.snt_isn = tw_isn.unwrap_or(isn);
        req.negotiate_ecn(&cx, seg, listener.needs_ecn);
        if !want_cookie {
            // A cookie has no room for it.
            req.negotiate_caqm(&cx, seg, listener);
        }
        if want_cookie {
            if !req.tstamp_ok {
                // Nothing could carry these options back.
                req.sack_ok = false;
                req.wscale_ok = false;
                req.snd_wscale = 0;
                req.ecn_ok = false;
            }
            let stamp = cookie::make(&cx, &mut req, seg);
            req.init_window(&cx, listener);
            listener.overflowed = Some(cx.jiffies32());
            req.send_synack(&mut cx, Some(stamp), None);
            cx.count(Counter::SyncookiesSent);
            return;
        }
        req.init_window(&cx, listener);
        let cookie = match listener.fast_open(&mut cx, seg) {
            Answer::Plain => None,
            Answer::Cookie(cookie) => Some(cookie),
            Answer::Child(cookie) => return self.fast_child(now, req, seg, cookie),
        };
        listener.requests += 1;
        listener.young += 1;
        req.arm(&cx);
        req.send_synack(&mut cx, None, cookie);
        let fires = req.fires;
        let slot = self.table.insert(Record::Request(Box::new(req)));
        self.table.hash(seg.dst, seg.src, slot);
        self.deadlines.set(slot, Some(fires));
    }

    fn request_segment(&mut self, now: Instant, number: u32, seg: &Segment) {
        let (mut cx, listeners, table) = self.parts(now);
        let Some(req) = table.request_mut(number) else {
            return;
        };
        let owner = req.listener;
        let Some(Some(listener)) = listeners.get_mut(owner as usize) else {
            // Nobody listens any more: the segment finds nothing.
            self.drop_request(number);
            self.without_connection(now, seg);
            return;
        };
        let verdict = req.check(&mut cx, listener, seg);
        let fires = req.fires;
        match verdict {
            request::Verdict::Done => self.deadlines.no_later(number, fires),
            request::Verdict::ToListener => self.listener_segment(now, owner, seg, None),
            request::Verdict::Drop => drop(self.drop_request(number)),
            request::Verdict::Stands => {
                if let Some(req) = self.drop_request(number) {
                    self.make_child(now, owner, &req, seg);
                }
            }
        }
    }

    /// Takes a request out of its listener's queue.
    pub(crate) fn drop_request(&mut self, number: u32) -> Option<Box<Request>> {
        let Some(Record::Request(req)) = self.table.remove(number) else {
            return None;
        };
        self.table.unhash(req.local, req.remote, number);
        self.deadlines.forget(number);
        if let Some(Some(listener)) = self.listeners.get_mut(req.listener as usize) {
            listener.forget(req.num_timeout == 0);
        }
        Some(req)
    }

    /// The handshake is over: the connection is made and handles the segment (`tcp_child_process()`).
    fn make_child(&mut self, now: Instant, owner: u32, req: &Request, seg: &Segment) {
        let (mut cx, listeners, table) = self.parts(now);
        let Some(Some(listener)) = listeners.get_mut(owner as usize) else {
            return;
        };
        let ep = child::make(&mut cx, req, listener, seg);
        let number = table.insert(Record::Conn(Box::new(Conn {
            ep,
            holder: Holder::Queue(owner),
            hashed: true,
        })));
        table.hash(req.local, req.remote, number);
        listener.waiting.push_back(number);
        self.conn_segment(now, number, seg);
        // sk_data_ready() of the listener, when the child left SYN-RECEIVED.
        let left = self
            .table
            .conn_mut(number)
            .is_none_or(|conn| conn.ep.state() != crate::endpoint::State::SynRecv);
        if left {
            self.events.push_back(Event::Acceptable(ListenId(owner)));
        }
    }

    /// Whether an ACK carries a cookie of ours; the connection stands then.
    fn cookie(&mut self, now: Instant, number: u32, seg: &Segment) -> bool {
        let stamps = self.host.sysctl.tcp_timestamps;
        let (_, ts_off) = seq_and_ts_off(self.host.secret, seg.dst, seg.src, now, stamps);
        let (mut cx, listeners, _) = self.parts(now);
        let Some(Some(listener)) = listeners.get_mut(number as usize) else {
            return false;
        };
        let Some(req) = cookie::check(&mut cx, number, listener, seg, ts_off) else {
            return false;
        };
        if listener.is_accept_queue_full() {
            cx.count(Counter::ListenOverflows);
            cx.count(Counter::ListenDrops);
            return true;
        }
        self.make_child(now, number, &req, seg);
        true
    }

    fn time_wait_segment(&mut self, now: Instant, number: u32, seg: &Segment) {
        let listener = self.ports.get(&(seg.dst.host, seg.dst.port)).copied();
        let (mut cx, _, table) = self.parts(now);
        let Some(tw) = table.time_wait_mut(number) else {
            return;
        };
        let verdict = tw.on_segment(&mut cx, seg);
        let fires = tw.fires;
        match verdict {
            timewait::Verdict::Done => {}
            timewait::Verdict::Ack => tw.send_ack(&mut cx, seg, false),
            timewait::Verdict::AckOow => tw.send_ack(&mut cx, seg, true),
            timewait::Verdict::Kill => return self.drop_time_wait(number),
            timewait::Verdict::Reset => {
                reply_reset(&mut cx, seg);
                return self.drop_time_wait(number);
            }
            timewait::Verdict::Syn(isn) => match listener {
                Some(listener) => {
                    self.drop_time_wait(number);
                    return self.listener_segment(now, listener, seg, Some(isn));
                }
                None => tw.send_ack(&mut cx, seg, false),
            },
        }
        self.deadlines.set(number, Some(fires));
    }

    pub(crate) fn drop_time_wait(&mut self, number: u32) {
        if let Some(Record::TimeWait(tw)) = self.table.remove(number) {
            self.table.unhash(tw.local, tw.remote, number);
            self.deadlines.forget(number);
        }
    }
}
