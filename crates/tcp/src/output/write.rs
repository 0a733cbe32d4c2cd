//! Writing (RFC 9293 3.10.2; Linux `tcp_sendmsg_locked()`, `tcp_push()`, `tcp_skb_entail()`).

use super::xmit::Push;
use crate::cx::Cx;
use crate::endpoint::{Busy, Endpoint, Shutdown, Snd, SocketError, State};
use crate::options::Nagle;
use crate::queue::{Id, SendQueue, Skb, SkbFlags};

/// Flags of a write.
#[derive(Clone, Copy)]
struct How {
    /// MSG_MORE.
    more: bool,
    /// MSG_OOB.
    urgent: bool,
    /// MSG_EOR.
    eor: bool,
}

impl Snd {
    /// `forced_push()`: half of the largest window that the peer has offered was written without PSH.
    #[inline]
    fn forced_push(&self) -> bool {
        self.write_seq
            .after(self.pushed_seq + (self.max_window >> 1))
    }
}

impl SendQueue {
    /// Bytes that the last unsent segment still takes; 0: a new one is needed.
    #[inline]
    fn room_in_tail(&mut self, goal: u32) -> u32 {
        match self.unsent_tail() {
            Some(skb) if !skb.eor => goal.saturating_sub(skb.len),
            _ => 0,
        }
    }

    #[inline]
    fn tail_len(&mut self) -> u32 {
        self.unsent_tail().map_or(0, |skb| skb.len)
    }

    /// `tcp_mark_push()`.
    #[inline]
    fn mark_push(&mut self, snd: &mut Snd) {
        if let Some(skb) = self.unsent_tail() {
            skb.flags |= SkbFlags::PSH;
        }
        snd.pushed_seq = snd.write_seq;
    }

    /// The last queued segment, for [`Endpoint::send_fin`].
    #[inline]
    pub(super) fn unsent_last(&self) -> Option<Id> {
        match self.has_unsent() {
            true => self.last(),
            false => None,
        }
    }
}

impl Endpoint {
    /// One write (`tcp_sendmsg()`): takes what fits into the send buffer; [`SocketError::Again`]: nothing fitted.
    /// `more`: MSG_MORE.
    pub fn write(&mut self, cx: &mut Cx<'_>, bytes: u64, more: bool) -> Result<u64, SocketError> {
        self.write_record(cx, bytes, more, false)
    }

    /// As [`Endpoint::write`]; `eor`: MSG_EOR, nothing is appended to its last segment.
    pub fn write_record(
        &mut self,
        cx: &mut Cx<'_>,
        bytes: u64,
        more: bool,
        eor: bool,
    ) -> Result<u64, SocketError> {
        self.rate_check_app_limited();
        self.may_write()?;
        let mss = self.current_mss();
        let goal = self.snd.size_goal(cx, &self.neg, mss);
        let how = How {
            more,
            urgent: false,
            eor,
        };
        self.put(cx, bytes, (mss, goal), how)
    }

    /// One write with MSG_OOB: its last byte that fits is urgent (RFC 9293 3.8.5) until it is ACKed.
    #[cold]
    pub fn write_urgent(&mut self, cx: &mut Cx<'_>, bytes: u64) -> Result<u64, SocketError> {
        self.rate_check_app_limited();
        self.may_write()?;
        let mss = self.current_mss();
        let how = How {
            more: false,
            urgent: true,
            eor: false,
        };
        // No super-segments: each one would carry another pointer.
        self.put(cx, bytes, (mss, mss), how)
    }

    /// The loop of `tcp_sendmsg_locked()`; MSS and bytes of a full segment.
    #[inline]
    fn put(
        &mut self,
        cx: &mut Cx<'_>,
        bytes: u64,
        (mss, goal): (u32, u32),
        how: How,
    ) -> Result<u64, SocketError> {
        let mut copied = 0;
        while copied < bytes {
            let room = match self.queue.room_in_tail(goal) {
                0 if !self.snd.memory_free(cx, &self.options) => {
                    return self.full(cx, copied, mss, how);
                }
                0 => {
                    self.entail(cx);
                    goal
                }
                room => room,
            };
            let len = u64::from(room).min(bytes - copied) as u32;
            self.append(len, copied == 0);
            copied += u64::from(len);
            if copied < bytes && self.queue.tail_len() >= goal && !how.urgent {
                self.push_full(cx, mss);
            }
        }
        if copied > 0 {
            if how.eor
                && let Some(skb) = self.queue.unsent_tail()
            {
                skb.eor = true;
            }
            self.push(cx, how, mss, self.options.nonagle);
        }
        Ok(copied)
    }

    /// Whether the state lets the application write.
    fn may_write(&mut self) -> Result<(), SocketError> {
        let refused = match self.state {
            State::Established | State::CloseWait if !self.shutdown.intersects(Shutdown::SEND) => {
                None
            }
            // A child of Fast Open may answer before its handshake is over.
            State::SynRecv
                if self.request.is_some() && !self.shutdown.intersects(Shutdown::SEND) =>
            {
                None
            }
            State::SynRecv if self.request.is_some() => Some(SocketError::Pipe),
            State::SynSent | State::SynRecv => Some(SocketError::Again),
            _ => Some(SocketError::Pipe),
        };
        match (self.error.take(), refused) {
            (Some(error), _) | (None, Some(error)) => Err(error),
            (None, None) => Ok(()),
        }
    }

    /// `tcp_skb_entail()`: an empty segment at the queue's end.
    fn entail(&mut self, cx: &mut Cx<'_>) {
        let truesize = cx.host.profile.tx_truesize;
        self.queue_skb(
            cx,
            Skb::new(self.snd.write_seq, 0, SkbFlags::empty(), truesize),
        );
        self.options.nonagle &= !Nagle::PUSH;
        self.slow_start_after_idle_check(cx);
    }

    /// `tcp_add_write_queue_tail()`: appends a segment and counts its memory.
    pub(crate) fn queue_skb(&mut self, cx: &Cx<'_>, skb: Skb) {
        self.snd.wmem_add(&mut self.rcv, skb.truesize);
        let first = !self.queue.has_unsent();
        self.queue.push(skb);
        if first {
            self.stats.chrono.start(cx, Busy::Sends);
        }
    }

    #[inline]
    fn append(&mut self, len: u32, first: bool) {
        let Some(skb) = self.queue.unsent_tail() else {
            return;
        };
        if first {
            skb.flags &= !SkbFlags::PSH;
        }
        skb.len += len;
        skb.truesize += len;
        skb.pcount = 0;
        self.snd.write_seq = self.snd.write_seq + len;
        self.snd.wmem_add(&mut self.rcv, len);
    }

    /// The segment is full and the write goes on: it may leave already.
    fn push_full(&mut self, cx: &mut Cx<'_>, mss: u32) {
        if self.snd.forced_push() {
            self.queue.mark_push(&mut self.snd);
            self.push_frames(cx, mss, Nagle::PUSH);
        } else if self.queue.send_head() == self.queue.last() {
            // `tcp_push_one()`
            self.write_xmit(cx, mss, Nagle::PUSH, Push::One);
        }
    }

    /// `tcp_push()` at a write's end.
    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, how: How, mss: u32, nonagle: Nagle) {
        if !self.queue.has_unsent() {
            return;
        }
        if !how.more || self.snd.forced_push() {
            self.queue.mark_push(&mut self.snd);
        }
        if how.urgent {
            self.snd.snd_up = self.snd.write_seq;
        }
        let nonagle = if how.more { Nagle::CORK } else { nonagle };
        self.push_frames(cx, mss, nonagle);
    }

    /// No memory for one more segment: what was taken is pushed, and the writer waits to be told.
    fn full(
        &mut self,
        cx: &mut Cx<'_>,
        copied: u64,
        mss: u32,
        how: How,
    ) -> Result<u64, SocketError> {
        self.snd.nospace = true;
        if copied > 0 {
            let how = How { more: false, ..how };
            self.push(cx, how, mss, Nagle::PUSH);
        }
        // On a socket that must not sleep, sk_stream_wait_memory() says EAGAIN even if the push has freed
        // memory.
        self.snd.nospace = true;
        if copied == 0 {
            return Err(SocketError::Again);
        }
        self.push(cx, how, mss, self.options.nonagle);
        Ok(copied)
    }

    /// setsockopt(TCP_CORK): taken off, what waits goes out as with TCP_NODELAY's push.
    pub fn set_cork(&mut self, cx: &mut Cx<'_>, on: bool) {
        let o = &mut self.options.nonagle;
        if on {
            *o |= Nagle::CORK;
            return;
        }
        *o &= !Nagle::CORK;
        if o.intersects(Nagle::OFF) {
            *o |= Nagle::PUSH;
        }
        self.push_pending_frames(cx);
    }

    /// setsockopt(TCP_NODELAY): switched on, what waits goes out now.
    pub fn set_nodelay(&mut self, cx: &mut Cx<'_>, on: bool) {
        let o = &mut self.options.nonagle;
        if on {
            *o |= Nagle::OFF | Nagle::PUSH;
            self.push_pending_frames(cx);
        } else {
            *o &= !Nagle::OFF;
        }
    }
}
