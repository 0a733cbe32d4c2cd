//! Reno (RFC 5681 3.1, RFC 6582; Linux `tcp_reno_cong_avoid()` and its kin of tcp_cong.c).

use crate::endpoint::Endpoint;

impl Endpoint {
    /// `tcp_reno_cong_avoid()`: slow start, then one packet a window.
    #[inline(never)]
    pub(super) fn reno_cong_avoid(&mut self, acked: u32) {
        if !self.is_cwnd_limited() {
            return;
        }
        let mut acked = acked;
        if self.snd.in_slow_start() {
            acked = self.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        self.cong_avoid_ai(self.snd.snd_cwnd, acked);
    }

    /// `tcp_reno_ssthresh()`: half of the window, at least two.
    pub(super) fn reno_ssthresh(&self) -> u32 {
        (self.snd.snd_cwnd >> 1).max(2)
    }

    /// `tcp_reno_undo_cwnd()`.
    pub(super) fn reno_undo_cwnd(&self) -> u32 {
        self.snd.snd_cwnd.max(self.snd.prior_cwnd)
    }
}
