//! Middle boxes that let a connection of Fast Open begin and then swallow it: it is not used for an hour, then two, and
//! so on (Linux `tcp_fastopen_active_disable()`, `tcp_fastopen_active_disable_ofo_check()`,
//! `tcp_fastopen_active_detect_blackhole()`).

use crate::cx::Cx;
use crate::endpoint::{Endpoint, State};
use crate::mib::Counter;
use crate::options::FastOpenState;

impl Endpoint {
    /// `tcp_fastopen_active_disable()`.
    fn disable_fast_open(&self, cx: &mut Cx<'_>) {
        if cx.host.sysctl.tcp_fastopen_blackhole_timeout_sec != 0 {
            let now = cx.jiffies();
            cx.metrics.fast_open.disable(now);
            cx.count(Counter::FastOpenBlackhole);
        }
    }

    /// A RST that is not at `rcv_nxt`, and nothing else came.
    #[cold]
    pub(crate) fn reset_out_of_order(&self, cx: &mut Cx<'_>) {
        if self.neg.fast_open.intersects(FastOpenState::OPTION)
            && self.stats.data_segs_in == 0
            && self.state == State::Established
        {
            self.disable_fast_open(cx);
        }
    }

    /// A FIN behind data that did not come, after close(2).
    #[cold]
    pub(crate) fn fin_out_of_order(&self, cx: &mut Cx<'_>) {
        if self.neg.fast_open.intersects(FastOpenState::OPTION) {
            self.disable_fast_open(cx);
        }
    }

    /// The connection ends: a FIN is all that came, and out of order; or data came, so the first try after a black hole
    /// went well.
    pub(crate) fn fast_open_ends(&self, cx: &mut Cx<'_>) {
        if !self.neg.fast_open.intersects(FastOpenState::OPTION) {
            return;
        }
        if self.stats.data_segs_in == 0 {
            if self.rcvq.ofo.len() == 1 && self.rcvq.ofo.iter().all(|skb| skb.fin) {
                self.disable_fast_open(cx);
            }
        } else if self.neg.fast_open.intersects(FastOpenState::TRIES_AGAIN)
            && cx.metrics.fast_open.times_disabled() > 0
        {
            cx.metrics.fast_open.enable();
        }
    }

    /// The third time-out in a row, or the last one, of a connection that used Fast Open.
    pub(crate) fn detect_black_hole(&self, cx: &mut Cx<'_>, expired: bool) {
        let used = FastOpenState::OPTION | FastOpenState::SYN_DATA | FastOpenState::DATA_ACKED;
        let timeouts = self.loss.retransmits;
        if self.neg.fast_open.intersects(used) && (timeouts == 2 || (timeouts < 2 && expired)) {
            self.disable_fast_open(cx);
            cx.count(Counter::FastOpenActiveFail);
        }
    }
}
