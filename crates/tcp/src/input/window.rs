//! The window to offer (RFC 9293 3.8.6.2; Linux `tcp_select_window()`, `__tcp_select_window()`,
//! `tcp_select_initial_window()`, `tcp_receive_window()`).

use crate::cx::Cx;
use crate::endpoint::{AckPending, AckState, Endpoint, Rcv, Snd};
use crate::mib::Counter;

/// `TCP_MAX_WSCALE`: RFC 7323 2.3.
const MAX_WSCALE: u32 = 14;
/// `MAX_TCP_WINDOW`: for stacks that take the field as signed.
const SIGNED_WINDOW: u32 = 32_767;
/// The largest window field.
const MAX_FIELD: u32 = 65_535;

/// `ALIGN()`: up to a multiple of `1 << scale`.
#[inline]
fn round_up(value: u32, scale: u8) -> u32 {
    let unit = (1_u32 << scale) - 1;
    value.saturating_add(unit) & !unit
}

/// `tcp_default_init_rwnd()` of old kernels: 20 segments, fewer of large ones.
pub(super) fn old_init_rwnd(mss: u32) -> u32 {
    match mss {
        ..=1460 => 20,
        _ => (1460 * 20 / mss).max(2),
    }
}

impl Rcv {
    /// `tcp_receive_window()`: what is left of the offered window.
    #[inline]
    pub(crate) fn receive_window(&self) -> u32 {
        let left = (self.rcv_wup + self.rcv_wnd).distance(self.rcv_nxt);
        left.max(0) as u32
    }

    /// `tcp_win_from_space()`: the window that so much memory allows.
    #[inline]
    pub(super) fn win_from_space(&self, cx: &Cx<'_>, space: i64) -> i64 {
        cx.host.window_share(self.scaling_ratio, space)
    }

    /// `tcp_space()`.
    #[inline]
    pub(super) fn space(&self, cx: &Cx<'_>) -> i64 {
        self.win_from_space(cx, i64::from(self.rcvbuf) - i64::from(self.rmem_alloc))
    }

    /// `tcp_full_space()`.
    #[inline]
    pub(crate) fn full_space(&self, cx: &Cx<'_>) -> u32 {
        self.win_from_space(cx, i64::from(self.rcvbuf)) as u32
    }

    #[cold]
    #[inline(never)]
    fn zero_window_offered(&mut self, cx: &mut Cx<'_>, field: u16, old: u32) {
        if field != 0 {
            return cx.count(Counter::FromZeroWindowAdv);
        }
        // Only the slow path handles window probes.
        self.pred = false;
        if old != 0 {
            cx.count(Counter::ToZeroWindowAdv);
        }
    }

    /// `__tcp_select_window()`: the window that memory allows now, not scaled. The receiver's silly-window rule is in
    /// it: small growth is kept back.
    pub(crate) fn window_to_offer(&mut self, cx: &Cx<'_>, ack: &mut AckState, snd: &Snd) -> u32 {
        let scale = snd.rcv_wscale;
        let unit = 1_i64 << scale;
        let mut free = self.space(cx);
        let allowed = i64::from(self.full_space(cx));
        let full = allowed.min(i64::from(self.window_clamp));
        let mut mss = i64::from(ack.rcv_mss);
        if mss > full {
            mss = full;
            if mss <= 0 {
                return 0;
            }
        }
        let may_shrink = cx.host.sysctl.tcp_shrink_window && scale > 0;
        if may_shrink {
            free &= !(unit - 1);
        }
        if free < full >> 1 {
            ack.quick = 0;
            free &= !(unit - 1);
            if free < allowed >> 4 || free < mss || (may_shrink && free < unit) {
                return 0;
            }
        }
        free = free.min(i64::from(self.rcv_ssthresh));
        if may_shrink {
            free = free.max(0) as u32 as i64;
            return round_up(free as u32, scale);
        }
        if scale > 0 {
            return round_up(free as u32, scale);
        }
        let mut window = i64::from(self.rcv_wnd);
        if window <= free - mss || window > free {
            window = free - free % mss;
        } else if mss == full && free > window + (full >> 1) {
            window = free;
        }
        window as u32
    }
}

impl Rcv {
    /// No memory is left for data.
    #[cold]
    #[inline(never)]
    fn close_window(&mut self, cx: &Cx<'_>) {
        self.pred = false;
        self.window_taken_back(cx, 0);
        self.rcv_wnd = 0;
        self.rcv_wup = self.rcv_nxt;
    }

    /// `tcp_max_receive_window()`: what the peer may still send, by the largest window that was ever offered
    /// (RFC 7323 2.4).
    #[inline]
    pub(super) fn largest_window(&self) -> u32 {
        let left = (self.rcv_wup + self.rcv_wnd + self.taken_back).distance(self.rcv_nxt);
        left.max(0) as u32
    }

    /// `tcp_update_max_rcv_wnd_seq()`, before `window` is offered: by how much that is less than what was.
    #[cold]
    #[inline(never)]
    fn window_taken_back(&mut self, cx: &Cx<'_>, window: u32) {
        if cx.host.profile.keeps_largest_edge {
            let largest = self.rcv_wup + self.rcv_wnd + self.taken_back;
            self.taken_back = largest.distance(self.rcv_nxt + window).max(0) as u32;
        }
    }
}

impl Endpoint {
    /// `tcp_select_initial_window()`: (rcv_wnd, window_clamp, rcv_wscale).
    pub(crate) fn select_initial_window(
        cx: &Cx<'_>,
        space: u32,
        mss: u32,
        clamp: u32,
        wscale_ok: bool,
        init_rcv_wnd: u32,
    ) -> (u32, u32, u8) {
        let sysctl = &cx.host.sysctl;
        let clamp = match clamp {
            0 => MAX_FIELD << MAX_WSCALE,
            set => set,
        };
        let mut space = space.min(clamp);
        let mss = mss.max(1);
        if space > mss {
            space -= space % mss;
        }
        let mut rcv_wnd = match sysctl.tcp_workaround_signed_windows {
            true => space.min(SIGNED_WINDOW),
            false if cx.host.profile.whole_first_window => space,
            false => space.min(MAX_FIELD),
        };
        let init = match init_rcv_wnd {
            0 if cx.host.profile.rcvbuf_fixup => old_init_rwnd(mss),
            set => set,
        };
        if init > 0 {
            rcv_wnd = rcv_wnd.min(init.saturating_mul(mss));
        }
        let mut wscale = 0;
        if wscale_ok {
            // For the largest window that the buffer may ever have.
            let [_, _, rmem_max] = sysctl.tcp_rmem;
            let largest = space.max(rmem_max).max(sysctl.rmem_max).min(clamp);
            wscale = largest
                .checked_ilog2()
                .unwrap_or(0)
                .saturating_sub(15)
                .min(MAX_WSCALE);
        }
        let clamp = clamp.min(MAX_FIELD << wscale);
        (rcv_wnd, clamp, wscale as u8)
    }

    /// `tcp_select_window()`: the window field of a segment that leaves now, and moves `rcv_wnd`, `rcv_wup`.
    pub(crate) fn select_window(&mut self, cx: &mut Cx<'_>) -> u16 {
        if self.ack.pending.intersects(AckPending::NO_MEMORY) {
            self.rcv.close_window(cx);
            return 0;
        }
        let old = self.rcv.rcv_wnd;
        let left = self.rcv.receive_window();
        let scale = self.snd.rcv_wscale;
        let mut window = self.rcv.window_to_offer(cx, &mut self.ack, &self.snd);
        if window < left && !(cx.host.sysctl.tcp_shrink_window && scale > 0) {
            window = Self::window_offered(cx, window, round_up(left, scale));
        }
        if self.rcv.taken_back != 0 || window < left {
            self.rcv.window_taken_back(cx, window);
        }
        self.rcv.rcv_wnd = window;
        self.rcv.rcv_wup = self.rcv.rcv_nxt;
        let most = if scale == 0 && cx.host.sysctl.tcp_workaround_signed_windows {
            SIGNED_WINDOW
        } else {
            MAX_FIELD << scale
        };
        let field = (window.min(most) >> scale) as u16;
        if field == 0 || old == 0 {
            self.rcv.zero_window_offered(cx, field, old);
        }
        field
    }

    /// RFC 9293 3.8.6: never take back what was offered.
    #[cold]
    #[inline(never)]
    fn window_offered(cx: &mut Cx<'_>, window: u32, before: u32) -> u32 {
        if window == 0 {
            cx.count(Counter::WantZeroWindowAdv);
        }
        before
    }
}
