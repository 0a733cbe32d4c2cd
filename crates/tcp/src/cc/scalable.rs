//! Scalable TCP (Kelly 2003; Linux tcp_scalable.c): the window grows by a hundredth of the delivered segments, and
//! falls by an eighth at a loss, at any window size.

use super::{CongestionControl, Control, RateSample};
use crate::pack::packed;

/// Delivered packets for one more, at most.
const AI_COUNT: u32 = 100;
/// A loss takes 2^-3 of the window.
const DECREASE_SHIFT: u32 = 3;

/// It has no state of its own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scalable;

packed!(Scalable);

impl CongestionControl for Scalable {
    /// `tcp_scalable_ssthresh()`.
    fn ssthresh(&mut self, c: &Control<'_, '_>) -> u32 {
        (c.snd.snd_cwnd - (c.snd.snd_cwnd >> DECREASE_SHIFT)).max(2)
    }

    /// `tcp_scalable_cong_avoid()`.
    fn cong_avoid(&mut self, c: &mut Control<'_, '_>, acked: u32, _: &RateSample) {
        let acked = c.snd.slow_start_first(acked);
        if acked > 0 {
            c.snd.cong_avoid_ai(c.snd.snd_cwnd.min(AI_COUNT), acked);
        }
    }
}
