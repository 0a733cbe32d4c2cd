//! How many quick ACKs a Linux receiver can have sent before its first delayed one.
//!
//! `tcp_incr_quickack()` gives min(16, window / (2 * rcv_mss)) credits with the first data and
//! after each pause longer than the RTO; each growth of the window gives one more; each ACK takes
//! one. A first delayed ACK at another place has another reason: a longer path, jitter, a program
//! that reads late.

use tcplab_base::{Duration, Instant};

use super::moment::Moment;
use crate::trace::AckClass;

/// A pause of this length may give new credits: no RTO is shorter.
const PAUSE: Duration = Duration::from_millis(200);

/// What was seen until the first delayed ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QuickModel {
    credits: u32,
    first_window: u32,
    last_window: u32,
    rcv_mss: u32,
    /// ACKs of all classes.
    acks: u32,
    last: Moment,
    paused: bool,
    decided: bool,
}

impl QuickModel {
    /// An ACK for new data leaves; the newest of that data came at `data`.
    pub(crate) fn on_ack(&mut self, window: u32, rcv_mss: u32, class: AckClass, data: Instant) {
        if self.decided {
            return;
        }
        if self.acks == 0 {
            self.credits = (window / (2 * rcv_mss.max(1))).min(16);
            self.first_window = window;
        }
        self.paused |= self.last.get().is_some_and(|l| data.since(l) > PAUSE);
        self.last.set(data);
        if class == AckClass::Delayed {
            self.decided = true;
            return;
        }
        (self.last_window, self.rcv_mss) = (window, rcv_mss);
        self.acks = self.acks.saturating_add(1);
    }

    /// Whether the first delayed ACK came where the credits end. `handshake` tells that the
    /// connection was seen from its start; up to `hidden` ACKs are not in the capture.
    pub(crate) fn explains(&self, handshake: bool, hidden: u32) -> bool {
        if !handshake || self.paused {
            return true;
        }
        let growth = self.last_window.saturating_sub(self.first_window);
        let given = growth / self.rcv_mss.max(1);
        let most = self.credits.max(2) + given + 1;
        self.acks + hidden >= self.credits.saturating_sub(1) && self.acks <= most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(quick: u32, windows: impl Fn(u32) -> u32) -> QuickModel {
        let mut m = QuickModel::default();
        for i in 0..=quick {
            let class = if i == quick {
                AckClass::Delayed
            } else {
                AckClass::Immediate
            };
            m.on_ack(
                windows(i),
                1024,
                class,
                Instant::from_nanos(i64::from(i) * 100_000_000),
            );
        }
        m
    }

    #[test]
    fn sixteen_without_growth() {
        assert!(after(16, |_| 64_128).explains(true, 0));
        assert!(!after(29, |_| 64_128).explains(true, 0));
        assert!(!after(6, |_| 64_128).explains(true, 0));
        assert!(after(13, |_| 64_128).explains(true, 2));
        assert!(
            after(29, |_| 64_128).explains(false, 0),
            "credits before the capture are not known"
        );
    }

    #[test]
    fn window_growth_gives_more() {
        let grows = |i: u32| 29_312 + 2048 * i.min(77);
        assert!(after(91, grows).explains(true, 0));
        assert!(!after(6, grows).explains(true, 0));
    }
}
