//! Reno (RFC 5681 3.1, RFC 6582; Linux `tcp_reno_cong_avoid()` and its kin of tcp_cong.c).

use super::{CongestionControl, Control};
use crate::endpoint::Snd;
use crate::pack::packed;

/// It has no state of its own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reno;

packed!(Reno);

impl CongestionControl for Reno {
    /// `tcp_reno_ssthresh()`: half of the window, at least two.
    fn ssthresh(&mut self, c: &Control<'_, '_>) -> u32 {
        (c.snd.snd_cwnd >> 1).max(2)
    }
}

/// `tcp_reno_cong_avoid()`: slow start, then one packet a window.
#[inline(never)]
pub(super) fn cong_avoid(snd: &mut Snd, acked: u32) {
    let acked = snd.slow_start_first(acked);
    if acked > 0 {
        snd.cong_avoid_ai(snd.snd_cwnd, acked);
    }
}

/// `tcp_reno_undo_cwnd()`.
pub(super) fn undo_cwnd(snd: &Snd) -> u32 {
    snd.snd_cwnd.max(snd.prior_cwnd)
}
