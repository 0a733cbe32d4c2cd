//! The socket's side of the receive queue (Linux `tcp_recvmsg()`, `tcp_epollin_ready()`).

use crate::cx::Cx;
use crate::endpoint::{
    AckState, Endpoint, Rcv, RcvQueue, ReadOutcome, Shutdown, SocketError, State, Urgent,
};
use crate::options::SocketState;

impl Rcv {
    #[cold]
    #[inline(never)]
    fn urgent_is_read(&mut self, rcvq: &RcvQueue) {
        if self.copied_seq.after(self.urg_seq) {
            self.urg_data = Urgent::None;
            self.fast_path_check(rcvq);
        }
    }

    /// The next byte is the urgent one.
    fn at_urgent(&self) -> bool {
        self.urg_data != Urgent::None && self.urg_seq == self.copied_seq
    }

    /// Moves `copied_seq` over at most `bytes`, up to the urgent byte, and over that one; how many were read.
    fn take(&mut self, bytes: u64) -> u64 {
        let mut used = bytes as u32;
        if self.urg_data != Urgent::None {
            used = self.up_to_urgent(used);
        }
        self.copied_seq = self.copied_seq + used;
        u64::from(used)
    }

    #[cold]
    #[inline(never)]
    fn up_to_urgent(&mut self, used: u32) -> u32 {
        match self.urg_seq - self.copied_seq {
            0 if used > 0 => {
                self.copied_seq = self.copied_seq + 1;
                used - 1
            }
            ahead if ahead < used => ahead,
            _ => used,
        }
    }

    /// `tcp_epollin_ready()`: enough for SO_RCVLOWAT, or no more will come before a read.
    pub(crate) fn is_enough(&self, ack: &AckState, options: &SocketState) -> bool {
        let queued = self.rcv_nxt.distance(self.copied_seq);
        // tcp_poll(): the urgent byte is not read with the others.
        let target = options.rcvlowat.max(1) + u32::from(self.at_urgent());
        let pressure = self.rcvbuf - (self.rcvbuf >> 3);
        queued > 0
            && (queued as u32 >= target
                || self.rmem_alloc > pressure
                || self.receive_window() <= u32::from(ack.rcv_mss))
    }
}

impl RcvQueue {
    /// Frames that were read give their memory back (`tcp_eat_recv_skb()`).
    pub(super) fn drop_read(&mut self, rcv: &mut Rcv) {
        while let Some(skb) = self.ready.front() {
            if rcv.copied_seq.before(skb.end_seq) {
                return;
            }
            let truesize = skb.truesize;
            self.ready.pop_front();
            rcv.uncharge(truesize);
        }
        if self.ready.capacity() > 64 {
            self.free_ready();
        }
    }

    /// An idle connection holds no memory of the time when it was busy.
    #[cold]
    #[inline(never)]
    fn free_ready(&mut self) {
        self.ready = std::collections::VecDeque::new();
    }
}

impl Endpoint {
    /// One read of at most `most` bytes (`tcp_recvmsg()`): TCP_QUICKACK and window updates follow from it.
    pub fn read(&mut self, cx: &mut Cx<'_>, most: u64) -> ReadOutcome {
        let mut copied = 0_u64;
        let mut end = false;
        while copied < most {
            if self.rcv.at_urgent() && copied > 0 {
                break;
            }
            let Some(skb) = self.rcvq.ready.front().copied() else {
                break;
            };
            let last = if skb.fin {
                skb.end_seq - 1
            } else {
                skb.end_seq
            };
            let has = last.distance(self.rcv.copied_seq).max(0) as u64;
            let used = self.rcv.take(has.min(most - copied));
            if used > 0 {
                copied += used;
                self.rcv.space_adjust(cx, &self.ack, &self.rcvq);
            }
            if self.rcv.urg_data != Urgent::None {
                self.rcv.urgent_is_read(&self.rcvq);
            }
            if self.rcv.copied_seq.before(last) {
                continue;
            }
            if skb.fin {
                self.rcv.copied_seq = self.rcv.copied_seq + 1;
                end = true;
            }
            self.rcvq.drop_read(&mut self.rcv);
            if end {
                break;
            }
        }
        let outcome = self.read_outcome(copied, end);
        if !matches!(outcome, ReadOutcome::Failed(_)) {
            self.cleanup_rbuf(cx, copied);
        }
        outcome
    }

    fn read_outcome(&mut self, copied: u64, end: bool) -> ReadOutcome {
        match copied {
            0 => self.nothing_read(end),
            _ => ReadOutcome::Got(copied),
        }
    }

    #[inline(never)]
    fn nothing_read(&mut self, end: bool) -> ReadOutcome {
        if end || self.rcv.fin_seq.is_some() {
            return ReadOutcome::End;
        }
        if let Some(error) = self.error.take() {
            return ReadOutcome::Failed(error);
        }
        if self.shutdown.intersects(Shutdown::RECEIVE) {
            return ReadOutcome::End;
        }
        if self.state == State::Close {
            return ReadOutcome::Failed(SocketError::NotConnected);
        }
        ReadOutcome::Again
    }

    /// Bytes that a read would give now (SIOCINQ).
    pub fn readable_bytes(&self) -> u64 {
        let fin = match self.rcvq.ready.back() {
            Some(last) => u64::from(last.fin),
            None => 0,
        };
        let queued = self.rcv.rcv_nxt.distance(self.rcv.copied_seq).max(0) as u64;
        match self.rcvq.ready.is_empty() {
            true => 0,
            false => queued - fin.min(queued),
        }
    }

    /// Whether poll(2) says POLLIN: enough bytes for SO_RCVLOWAT, a FIN, an error.
    #[inline]
    pub fn is_readable(&self) -> bool {
        self.rcv.is_enough(&self.ack, &self.options)
            || self.shutdown.intersects(Shutdown::RECEIVE)
            || self.error.is_some()
            || self.state == State::Close
    }
}
