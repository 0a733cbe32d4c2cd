//! The packets of which nothing is to be said: data in order, and ACKs that go on, which are nearly all.
//!
//! The rules of [`super::flow`] say so as well, in twice the time; a debug build asks them each time.

use tcplab_base::{Instant, Seq};
use tcplab_wire::{Standing, TcpFlags, TcpPacket};

use super::flow::Flow;
use super::{Compat, MIN_HEADER};

/// The flags that the rules look at.
const JUDGED: u16 = TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST | TcpFlags::ACK;

impl Compat {
    /// Takes a packet that goes on where its sender was. False: it is another one, and nothing has changed.
    #[inline]
    pub(super) fn goes_on(
        &mut self,
        time: Instant,
        number: u64,
        from_a: bool,
        p: &TcpPacket,
    ) -> bool {
        let timed = self.first_rtt_ns != 0 || self.syn_time_ns == 0;
        let mptcp = self.mptcp;
        let (fwd, rev) = self.flows(from_a);
        let steady = timed && is_plain(p) && fwd.is_next(rev, p);
        if steady {
            fwd.unscaled = false;
            fwd.goes_on(rev, p, (time, number));
            fwd.mptcp = mptcp;
        }
        steady
    }
}

/// A whole packet without anything but data, an ACK and time stamps or SACK blocks.
#[inline]
fn is_plain(p: &TcpPacket) -> bool {
    let o = &p.options;
    p.flags.0 & JUDGED == TcpFlags::ACK
        && usize::from(p.header_len) >= MIN_HEADER
        && p.standing == Standing::Whole
        && !p.header_truncated
        && p.window != 0
        && p.payload_len != 1
        && o.window_scale.is_none()
        && o.mptcp == 0
}

impl Flow {
    /// The packet begins where this direction ended, without a hole, and ACKs what the capture has.
    #[inline]
    fn is_next(&self, rev: &Flow, p: &TcpPacket) -> bool {
        let end = p.seq + p.payload_len;
        let in_order = p.seq == self.next_seq && p.seq == self.contiguous && p.seq != Seq(0);
        let known = rev.base_seq.is_some()
            && (rev.contiguous == Seq(0) || p.ack.at_or_before(rev.contiguous));
        let new = if p.payload_len == 0 {
            p.ack != self.last_ack
        } else {
            end.after(self.next_seq)
                && (rev.last_ack == Seq(0) || end.after(rev.last_ack))
                && !self.unacked.is_full()
                && rev.window_edge() != Some(end)
        };
        in_order && known && new
    }

    /// What the rules change for such a packet.
    #[inline]
    fn goes_on(&mut self, rev: &mut Flow, p: &TcpPacket, (time, number): (Instant, u64)) {
        if p.payload_len > 0 {
            let end = p.seq + p.payload_len;
            self.unacked.add(end);
            (self.next_seq, self.contiguous) = (end, end);
            self.next_seq_time_ns = time.as_nanos();
        }
        if p.ack != self.last_ack {
            self.last_new_ack = number as u32;
            self.dup_acks = 0;
            self.last_ack = p.ack;
        }
        self.window = u32::from(p.window);
        self.last_time_ns = time.as_nanos();
        self.last_probe = 0;
        rev.unacked.acked(p.ack, rev.next_seq);
    }
}
