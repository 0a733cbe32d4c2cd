//! The invariants of a connection, for tests and fuzzing.

use tcplab_base::Seq;

use super::{Endpoint, State};
use crate::queue::Sacked;
use crate::timers::{NEVER, Pending};

impl Endpoint {
    /// Checks the invariants that hold between two calls.
    ///
    /// # Panics
    /// An invariant is broken: a defect of ours, for any input.
    pub fn check(&self) {
        let s = &self.snd;
        assert!(
            s.snd_una.at_or_before(s.snd_nxt),
            "snd_una is after snd_nxt"
        );
        assert!(
            s.snd_nxt.at_or_before(s.write_seq),
            "snd_nxt is after write_seq"
        );
        assert!(
            self.rcv.copied_seq.at_or_before(self.rcv.rcv_nxt + 1),
            "more was read than came"
        );
        if self.state != State::Close {
            self.check_scoreboard();
            self.check_send_queue();
            self.check_receive_queue();
        }
    }

    /// The send queue holds what lies between `snd_una` and `write_seq` without a gap, and a timer watches what is out.
    fn check_send_queue(&self) {
        let mut at: Option<Seq> = None;
        let mut memory = 0;
        for skb in self.queue.iter_sent().chain(self.queue.iter_unsent()) {
            assert!(at.is_none_or(|at| at == skb.seq), "a gap in the send queue");
            at = Some(skb.end_seq());
            memory += skb.truesize;
        }
        let end = at.unwrap_or(self.snd.write_seq);
        assert_eq!(end, self.snd.write_seq, "the send queue's end");
        assert_eq!(memory, self.snd.wmem_queued, "wmem_queued");
        let first = self.queue.iter_sent().next();
        assert!(
            first.is_none_or(|skb| skb.seq.at_or_before(self.snd.snd_una)),
            "what is not ACKed has left the queue"
        );
        let watched = self.timers.pending != Pending::None && self.timers.rexmit_at != NEVER;
        assert!(first.is_none() || watched, "no timer watches what is out");
    }

    /// The receive queue ends at `rcv_nxt`, what lies beyond it is sorted, and all of it is accounted for.
    fn check_receive_queue(&self) {
        let mut at: Option<Seq> = None;
        let mut memory = 0;
        for skb in &self.rcvq.ready {
            // They may overlap: what came out of order may begin before what then filled the gap ends.
            let joins = |at: Seq| skb.seq.at_or_before(at) && skb.end_seq.at_or_after(at);
            assert!(at.is_none_or(joins), "a gap in the receive queue");
            at = Some(skb.end_seq);
            memory += skb.truesize;
        }
        assert!(
            at.is_none_or(|at| at == self.rcv.rcv_nxt),
            "the receive queue's end"
        );
        // Neighbours may overlap there too, or cover each other: tcp_ooo_try_coalesce() does not look behind.
        let mut start = self.rcv.copied_seq;
        for skb in &self.rcvq.ofo {
            assert!(start.at_or_before(skb.seq), "out of order and not sorted");
            let ahead = skb.end_seq.after(self.rcv.rcv_nxt);
            assert!(ahead, "kept out of order, and behind rcv_nxt");
            start = skb.seq;
            memory += skb.truesize;
        }
        assert_eq!(memory, self.rcv.rmem_alloc, "rmem_alloc");
    }

    /// The counts of the scoreboard match its segments.
    fn check_scoreboard(&self) {
        let l = &self.loss;
        let count = |bits: Sacked| -> u32 {
            let marked = self
                .queue
                .iter_sent()
                .filter(|skb| bits.is_empty() || skb.is(bits));
            marked.map(|skb| u32::from(skb.pcount)).sum()
        };
        assert_eq!(count(Sacked::empty()), l.packets_out, "packets_out");
        assert!(
            l.sacked_out + l.lost_out <= l.packets_out,
            "more packets judged than are out"
        );
        assert_eq!(count(Sacked::LOST), l.lost_out, "lost_out");
        assert_eq!(count(Sacked::RETRANS), l.retrans_out, "retrans_out");
        if self.neg.sack_ok {
            assert_eq!(count(Sacked::ACKED), l.sacked_out, "sacked_out");
        }
    }
}
