//! Nagle's algorithm as Minshall changed it (RFC 9293 3.7.4; Linux `tcp_nagle_test()`): a short segment waits while
//! an earlier short one is not ACKed, full ones in flight do not matter.

use crate::endpoint::Snd;
use crate::options::Nagle;
use crate::queue::{Skb, SkbFlags};
use crate::recovery::Loss;

impl Snd {
    /// `tcp_minshall_check()`: a short segment is in flight.
    #[inline]
    fn short_in_flight(&self) -> bool {
        self.snd_sml.after(self.snd_una) && !self.snd_sml.after(self.snd_nxt)
    }

    /// `tcp_nagle_check()`: a segment that is `partial` must wait.
    #[inline]
    pub(crate) fn nagle_holds(&self, loss: &Loss, partial: bool, nonagle: Nagle) -> bool {
        partial
            && (nonagle.intersects(Nagle::CORK)
                || (nonagle.is_empty() && loss.packets_out > 0 && self.short_in_flight()))
    }

    /// `tcp_nagle_test()`: whether the segment may go now.
    #[inline]
    pub(crate) fn nagle_test(&self, loss: &Loss, skb: &Skb, mss: u32, nonagle: Nagle) -> bool {
        nonagle.intersects(Nagle::PUSH)
            || skb.flags.intersects(SkbFlags::FIN)
            || self.in_urg_mode()
            || !self.nagle_holds(loss, skb.len < mss, nonagle)
    }
}
