//! A connection's end: shutdown(2), close(2), aborts, orphans, TIME-WAIT (RFC 9293 3.6; Linux `__tcp_close()`,
//! `tcp_shutdown()`, `tcp_disconnect()`, `tcp_done()`, `tcp_time_wait()`).

use super::{Endpoint, Owner, RcvSkb, Shutdown, SocketError, State, TimeWaitNeeds};
use crate::cx::Cx;
use crate::mib::Counter;
use crate::queue::Id;
use crate::rtt::Rtt;
use crate::timers::Timers;

/// `TCP_TIMEWAIT_LEN` in seconds: twice the maximum segment lifetime.
pub(crate) const TIMEWAIT_S: u32 = 60;

impl Rtt {
    fn three_and_a_half_rto(&self) -> u32 {
        (self.rto << 2) - (self.rto >> 1)
    }
}

impl Timers {
    /// `tcp_clear_xmit_timers()`.
    fn stop(&mut self) {
        *self = Self::default();
    }
}

impl Endpoint {
    /// Closes the sending direction (shutdown(2) with SHUT_WR; `inet_shutdown()`).
    ///
    /// # Errors
    /// [`SocketError::NotConnected`] when the connection is over or never stood.
    pub fn shutdown_write(&mut self, cx: &mut Cx<'_>) -> Result<(), SocketError> {
        match self.state {
            State::Close => Err(SocketError::NotConnected),
            State::SynSent => {
                self.disconnect(cx);
                Ok(())
            }
            _ => {
                self.shutdown |= Shutdown::SEND;
                self.tcp_shutdown(cx);
                Ok(())
            }
        }
    }

    /// `tcp_shutdown()` with Shutdown::SEND: the FIN goes behind what is queued. In SYN-RECEIVED it waits for the
    /// connection to stand.
    pub(crate) fn tcp_shutdown(&mut self, cx: &mut Cx<'_>) {
        if matches!(self.state, State::Established | State::CloseWait) && self.close_state(cx) {
            self.send_fin(cx);
        }
    }

    /// `tcp_close_state()`: the next state when we close; true when a FIN must be sent.
    fn close_state(&mut self, cx: &mut Cx<'_>) -> bool {
        let (next, fin) = match self.state {
            State::Established | State::SynRecv => (State::FinWait1, true),
            State::CloseWait => (State::LastAck, true),
            State::SynSent | State::Close | State::TimeWait => (State::Close, false),
            closing => (closing, false),
        };
        self.set_state(cx, next);
        fin
    }

    /// close(2): with unread data a reset, else a FIN after what is queued; SO_LINGER 0 resets. The connection goes on
    /// without its owner.
    pub fn close(&mut self, cx: &mut Cx<'_>) {
        self.shutdown = Shutdown::all();
        let unread = self.drop_receive_queue();
        let before = self.state;
        if before != State::Close {
            if unread {
                cx.count(Counter::AbortOnClose);
                self.set_state(cx, State::Close);
                self.send_active_reset(cx);
            } else if self.options.linger == Some(0) {
                self.disconnect(cx);
                cx.count(Counter::AbortOnData);
            } else if self.close_state(cx) {
                self.send_fin(cx);
            }
        }
        self.owner = Owner::Nobody;
        self.adjudge(cx);
    }

    /// What becomes of an orphan.
    fn adjudge(&mut self, cx: &mut Cx<'_>) {
        if self.state == State::FinWait2 {
            if self.options.linger2 < 0 {
                self.set_state(cx, State::Close);
                self.send_active_reset(cx);
                cx.count(Counter::AbortOnLinger);
            } else {
                let wait = self.fin_time(cx);
                self.wait_in_fin_wait_2(cx, wait, false);
            }
        }
        if self.state == State::Close {
            self.forget_request(cx, false);
            self.free(cx);
        }
    }

    /// A FIN-WAIT-2 without an owner: what is longer than TIME-WAIT stays here, the rest is a small record's. `stay`:
    /// the record would lose a FIN that is being handled.
    pub(crate) fn wait_in_fin_wait_2(&mut self, cx: &mut Cx<'_>, wait: u32, stay: bool) {
        let most = TIMEWAIT_S * cx.host.clock.hz;
        if wait > most {
            self.timers.arm_keepalive(cx, wait - most);
        } else if stay {
            self.timers.arm_keepalive(cx, wait);
        } else {
            self.enter_time_wait(cx, false, wait);
        }
    }

    /// `tcp_fin_time()` in jiffies: tcp_fin_timeout or TCP_LINGER2, at least 3.5 RTO.
    pub(crate) fn fin_time(&self, cx: &Cx<'_>) -> u32 {
        let hz = cx.host.clock.hz;
        let own = match self.options.linger2 {
            0 => cx.host.sysctl.tcp_fin_timeout.saturating_mul(hz),
            jiffies => jiffies.unsigned_abs(),
        };
        own.max(self.rtt.three_and_a_half_rto())
    }

    /// FIN-WAIT-2 without an owner took too long.
    pub(crate) fn fin_wait_2_over(&mut self, cx: &mut Cx<'_>) {
        if self.options.linger2 >= 0 {
            let most = TIMEWAIT_S * cx.host.clock.hz;
            let rest = self.fin_time(cx).saturating_sub(most);
            if rest > 0 {
                self.enter_time_wait(cx, false, rest);
                return;
            }
        }
        self.send_active_reset(cx);
        self.done(cx);
    }

    /// `tcp_time_wait()`: the rest is a TIME-WAIT record's, `is_time_wait` or else FIN-WAIT-2 for `wait` jiffies; this
    /// endpoint is over.
    pub(crate) fn enter_time_wait(&mut self, cx: &mut Cx<'_>, is_time_wait: bool, wait: u32) {
        let timeout = match is_time_wait {
            true => TIMEWAIT_S * cx.host.clock.hz,
            false => wait.max(self.rtt.three_and_a_half_rto()),
        };
        self.time_wait = Some(TimeWaitNeeds {
            is_time_wait,
            timeout,
        });
        self.update_metrics(cx);
        self.done(cx);
    }

    /// `tcp_disconnect()`: abort, with a reset where the peer must be told.
    pub(crate) fn disconnect(&mut self, cx: &mut Cx<'_>) {
        let before = self.state;
        if before != State::Close {
            self.set_state(cx, State::Close);
        }
        let unsent = self.snd.snd_nxt != self.snd.write_seq;
        let reset = match before {
            State::Established
            | State::CloseWait
            | State::FinWait1
            | State::FinWait2
            | State::SynRecv => true,
            State::Closing | State::LastAck => unsent,
            _ => false,
        };
        if reset {
            self.send_active_reset(cx);
        }
        if reset || before == State::SynSent {
            self.error = Some(SocketError::ConnReset);
        }
        self.forget_request(cx, false);
        self.free(cx);
        self.neg.fast_open.forget();
        self.shutdown = Shutdown::empty();
    }

    /// Ends the connection at once with this error; `reset`: tell the peer (`tcp_done_with_error()`).
    pub(crate) fn fail(&mut self, cx: &mut Cx<'_>, error: SocketError, reset: bool) {
        if self.state == State::Close {
            return;
        }
        if reset {
            self.send_active_reset(cx);
        }
        self.error = Some(error);
        self.purge_write_queue();
        self.done(cx);
    }

    /// `tcp_done()`: the state becomes CLOSE, all timers are off; an orphan is freed.
    pub(crate) fn done(&mut self, cx: &mut Cx<'_>) {
        if matches!(self.state, State::SynSent | State::SynRecv) {
            cx.count(Counter::AttemptFails);
        }
        self.set_state(cx, State::Close);
        self.timers.stop();
        self.forget_request(cx, false);
        self.shutdown = Shutdown::all();
        if self.is_orphan() {
            self.free(cx);
        }
    }

    /// `inet_csk_destroy_sock()`: nothing is kept.
    fn free(&mut self, cx: &mut Cx<'_>) {
        self.timers.stop();
        self.purge_write_queue();
        self.fast_open_ends(cx);
        self.drop_receive_queue();
        self.rcvq.ofo = std::collections::VecDeque::new();
    }

    /// `tcp_write_queue_purge()`: tcp_info goes on saying what was lost when it ended.
    fn purge_write_queue(&mut self) {
        self.queue.clear();
        self.snd.wmem_queued = 0;
        let l = &mut self.loss;
        l.packets_out = 0;
        l.highest_sack = Id::NONE;
        l.retransmit_hint = Id::NONE;
        l.lost_hint = Id::NONE;
        self.rtt.backoff = 0;
    }

    /// Empties the receive queue; true when it held bytes that nobody read.
    fn drop_receive_queue(&mut self) -> bool {
        let read = self.rcv.copied_seq;
        let unread = |skb: &RcvSkb| (skb.end_seq - u32::from(skb.fin)).after(read);
        let unread = self.rcvq.ready.iter().any(unread);
        for skb in std::mem::take(&mut self.rcvq.ready) {
            self.rcv.rmem_alloc = self.rcv.rmem_alloc.saturating_sub(skb.truesize);
        }
        unread
    }

    /// `tcp_set_state()`: keeps TcpCurrEstab and TcpEstabResets.
    pub(crate) fn set_state(&mut self, cx: &mut Cx<'_>, state: State) {
        let before = std::mem::replace(&mut self.state, state);
        if state == State::Close && self.latency.is_some() {
            self.recovery_fails(cx);
        }
        let stands = |s: State| matches!(s, State::Established | State::CloseWait);
        match state {
            State::Established if before != State::Established => cx.count(Counter::CurrEstab),
            State::CloseWait if before == State::SynRecv => cx.count(Counter::CurrEstab),
            State::Established | State::CloseWait => {}
            _ => {
                if state == State::Close && stands(before) {
                    cx.count(Counter::EstabResets);
                }
                if stands(before) {
                    cx.mib.sub(Counter::CurrEstab, 1);
                }
            }
        }
    }
}
