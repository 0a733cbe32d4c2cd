//! The socket's side of the receive queue (Linux `tcp_recvmsg()`, `tcp_epollin_ready()`).

use crate::cx::Cx;
use crate::endpoint::{Endpoint, ReadOutcome, Shutdown, SocketError, State};

impl Endpoint {
    /// One read of at most `most` bytes (`tcp_recvmsg()`): TCP_QUICKACK and window updates follow from it.
    pub fn read(&mut self, cx: &mut Cx<'_>, most: u64) -> ReadOutcome {
        let mut copied = 0_u64;
        let mut end = false;
        while copied < most {
            if self.at_urgent() && copied > 0 {
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
            let used = self.take(has.min(most - copied));
            if used > 0 {
                copied += used;
                self.rcv_space_adjust(cx);
            }
            if self.rcv.urg_data != 0 {
                self.urgent_is_read();
            }
            if self.rcv.copied_seq.before(last) {
                continue;
            }
            if skb.fin {
                self.rcv.copied_seq = self.rcv.copied_seq + 1;
                end = true;
            }
            self.drop_read();
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

    #[cold]
    #[inline(never)]
    fn urgent_is_read(&mut self) {
        if self.rcv.copied_seq.after(self.rcv.urg_seq) {
            self.rcv.urg_data = 0;
            self.fast_path_check();
        }
    }

    /// The next byte is the urgent one.
    fn at_urgent(&self) -> bool {
        self.rcv.urg_data != 0 && self.rcv.urg_seq == self.rcv.copied_seq
    }

    /// Moves `copied_seq` over at most `bytes`, up to the urgent byte, and over that one; how many were read.
    fn take(&mut self, bytes: u64) -> u64 {
        let mut used = bytes as u32;
        if self.rcv.urg_data != 0 {
            used = self.up_to_urgent(used);
        }
        self.rcv.copied_seq = self.rcv.copied_seq + used;
        u64::from(used)
    }

    #[cold]
    #[inline(never)]
    fn up_to_urgent(&mut self, used: u32) -> u32 {
        match self.rcv.urg_seq - self.rcv.copied_seq {
            0 if used > 0 => {
                self.rcv.copied_seq = self.rcv.copied_seq + 1;
                used - 1
            }
            ahead if ahead < used => ahead,
            _ => used,
        }
    }

    /// Frames that were read give their memory back (`tcp_eat_recv_skb()`).
    pub(super) fn drop_read(&mut self) {
        while let Some(skb) = self.rcvq.ready.front() {
            if self.rcv.copied_seq.before(skb.end_seq) {
                return;
            }
            let truesize = skb.truesize;
            self.rcvq.ready.pop_front();
            self.uncharge(truesize);
        }
        if self.rcvq.ready.capacity() > 64 {
            self.free_ready();
        }
    }

    /// An idle connection holds no memory of the time when it was busy.
    #[cold]
    #[inline(never)]
    fn free_ready(&mut self) {
        self.rcvq.ready = std::collections::VecDeque::new();
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
        self.epollin_ready()
            || self.shutdown.intersects(Shutdown::RECEIVE)
            || self.error.is_some()
            || self.state == State::Close
    }

    /// `tcp_epollin_ready()`: enough for SO_RCVLOWAT, or no more will come before a read.
    pub(crate) fn epollin_ready(&self) -> bool {
        let queued = self.rcv.rcv_nxt.distance(self.rcv.copied_seq);
        // tcp_poll(): the urgent byte is not read with the others.
        let target = self.options.rcvlowat.max(1) + u32::from(self.at_urgent());
        let pressure = self.rcv.rcvbuf - (self.rcv.rcvbuf >> 3);
        queued > 0
            && (queued as u32 >= target
                || self.rcv.rmem_alloc > pressure
                || self.receive_window() <= u32::from(self.ack.rcv_mss))
    }
}
