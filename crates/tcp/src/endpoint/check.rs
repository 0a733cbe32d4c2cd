//! The invariants of a connection, for tests and fuzzing.

use super::Endpoint;

impl Endpoint {
    /// States what must hold between two calls.
    ///
    /// # Panics
    /// When something does not hold: that is a defect of ours, whatever came in.
    pub fn check(&self) {
        let (s, l) = (&self.snd, &self.loss);
        assert!(
            s.snd_una.at_or_before(s.snd_nxt),
            "snd_una is after snd_nxt"
        );
        assert!(
            s.snd_nxt.at_or_before(s.write_seq),
            "snd_nxt is after write_seq"
        );
        assert!(
            l.sacked_out + l.lost_out <= l.packets_out,
            "more packets judged than are out"
        );
        assert!(
            l.retrans_out <= l.packets_out,
            "more retransmissions than packets are out"
        );
        assert!(
            self.rcv.copied_seq.at_or_before(self.rcv.rcv_nxt + 1),
            "more was read than came"
        );
        let out: u32 = self
            .queue
            .iter_sent()
            .map(|skb| u32::from(skb.pcount))
            .sum();
        assert_eq!(out, l.packets_out, "packets_out");
    }
}
