//! The chronograph of a sender: busy, limited by the peer's window, limited by the send buffer (Linux
//! `tcp_chrono_start()`, `tcp_chrono_stop()`; `tcpi_busy_time` and its kin).

use crate::cx::Cx;
use crate::endpoint::Endpoint;

/// `enum tcp_chrono`; a greater one stands before a smaller one.
pub(crate) const BUSY: u8 = 1;
pub(crate) const RWND_LIMITED: u8 = 2;
pub(crate) const SNDBUF_LIMITED: u8 = 3;

impl Endpoint {
    #[cold]
    #[inline(never)]
    fn chrono_set(&mut self, cx: &Cx<'_>, kind: u8) {
        let now = cx.jiffies32();
        let c = &mut self.stats.chrono;
        if let Some(stat) = usize::from(c.kind)
            .checked_sub(1)
            .and_then(|at| c.stat.get_mut(at))
        {
            *stat = stat.wrapping_add(now.wrapping_sub(c.start));
        }
        c.start = now;
        c.kind = kind;
    }

    /// `tcp_chrono_start()`.
    #[inline]
    pub(crate) fn chrono_start(&mut self, cx: &Cx<'_>, kind: u8) {
        if kind > self.stats.chrono.kind {
            self.chrono_set(cx, kind);
        }
    }

    /// `tcp_chrono_stop()`.
    #[inline]
    pub(crate) fn chrono_stop(&mut self, cx: &Cx<'_>, kind: u8) {
        if self.queue.is_empty() {
            self.chrono_set(cx, 0);
        } else if kind == self.stats.chrono.kind {
            self.chrono_set(cx, BUSY);
        }
    }
}
