//! The chronograph of a sender: busy, limited by the peer's window, limited by the send buffer (Linux
//! `tcp_chrono_start()`, `tcp_chrono_stop()`; `tcpi_busy_time` and its kin).

use crate::cx::Cx;
use crate::endpoint::{Busy, Chrono};

impl Chrono {
    #[cold]
    #[inline(never)]
    fn set(&mut self, cx: &Cx<'_>, kind: Busy) {
        let now = cx.jiffies32();
        let at = (self.kind as usize).checked_sub(1);
        if let Some(stat) = at.and_then(|at| self.stat.get_mut(at)) {
            *stat = stat.wrapping_add(now.wrapping_sub(self.start));
        }
        self.start = now;
        self.kind = kind;
    }

    /// `tcp_chrono_start()`.
    #[inline]
    pub(crate) fn start(&mut self, cx: &Cx<'_>, kind: Busy) {
        if kind > self.kind {
            self.set(cx, kind);
        }
    }

    /// `tcp_chrono_stop()`; `idle`: nothing is queued.
    #[inline]
    pub(crate) fn stop(&mut self, cx: &Cx<'_>, idle: bool, kind: Busy) {
        if idle {
            self.set(cx, Busy::Not);
        } else if kind == self.kind {
            self.set(cx, Busy::Sends);
        }
    }
}
