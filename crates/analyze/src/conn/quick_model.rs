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

/// Linux `TCP_MAX_QUICKACKS`.
const MOST: u32 = 16;

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
    /// Packets until then that the capture does not show.
    hidden: u8,
    decided: bool,
}

impl QuickModel {
    /// An ACK for new data leaves; the newest of that data came at `data`.
    /// The capture has missed `hidden` packets so far.
    pub(crate) fn on_ack(
        &mut self,
        (window, rcv_mss): (u32, u32),
        class: AckClass,
        data: Instant,
        hidden: u8,
    ) {
        if self.decided {
            return;
        }
        if self.acks == 0 {
            self.credits = (window / (2 * rcv_mss.max(1))).min(MOST);
            self.first_window = window;
        }
        // A packet that the capture missed makes no pause.
        let whole = hidden == std::mem::replace(&mut self.hidden, hidden);
        self.paused |= whole && self.last.get().is_some_and(|l| data.since(l) > PAUSE);
        self.last.set(data);
        if class == AckClass::Delayed {
            self.decided = true;
            return;
        }
        (self.last_window, self.rcv_mss) = (window, rcv_mss);
        self.acks = self.acks.saturating_add(1);
    }

    /// Whether the first delayed ACK came where the credits end. `handshake` tells that the
    /// connection was seen from its start.
    pub(crate) fn explains(&self, handshake: bool) -> bool {
        if self.paused {
            return true;
        }
        if !handshake {
            // The largest number, unless the window grew by an unknown amount.
            return self.last_window > self.first_window || self.acks <= MOST + 1;
        }
        let growth = self.last_window.saturating_sub(self.first_window);
        let given = growth / self.rcv_mss.max(1);
        let most = self.credits.max(2) + given + 1;
        self.acks + u32::from(self.hidden) >= self.credits.saturating_sub(1) && self.acks <= most
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
            let at = Instant::from_nanos(i64::from(i) * 100_000_000);
            m.on_ack((windows(i), 1024), class, at, 0);
        }
        m
    }

    #[test]
    fn sixteen_without_growth() {
        assert!(after(16, |_| 64_128).explains(true));
        assert!(!after(29, |_| 64_128).explains(true));
        assert!(!after(6, |_| 64_128).explains(true));
        assert!(!after(13, |_| 64_128).explains(true));
        assert!(
            after(6, |_| 64_128).explains(false),
            "credits before the capture are not known"
        );
        assert!(
            !after(29, |_| 64_128).explains(false),
            "there are never so many"
        );
    }

    #[test]
    fn window_growth_gives_more() {
        let grows = |i: u32| 29_312 + 2048 * i.min(77);
        assert!(after(91, grows).explains(true));
        assert!(!after(6, grows).explains(true));
    }
}
