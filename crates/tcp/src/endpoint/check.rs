//! The invariants of a connection, for tests and fuzzing.

use super::{Endpoint, State};
use crate::queue::Sacked;

impl Endpoint {
    /// States what must hold between two calls.
    ///
    /// # Panics
    /// When something does not hold: that is a defect of ours, whatever came in.
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
        }
    }

    /// The counts of the scoreboard are those of its segments.
    fn check_scoreboard(&self) {
        let l = &self.loss;
        let count = |bits: u8| -> u32 {
            let marked = self
                .queue
                .iter_sent()
                .filter(|skb| bits == 0 || skb.is(bits));
            marked.map(|skb| u32::from(skb.pcount)).sum()
        };
        assert_eq!(count(0), l.packets_out, "packets_out");
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
