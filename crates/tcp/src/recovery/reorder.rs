//! How far the path reorders (Linux `tcp_check_sack_reordering()`), and duplicate ACKs counted as SACKs
//! where there is no SACK (`tcp_add_reno_sack()`).

use tcplab_base::Seq;

use crate::cx::Cx;
use crate::endpoint::{Endpoint, Stats};
use crate::mib::Counter;
use crate::recovery::Loss;

impl Loss {
    /// `tcp_limit_reno_sacked()`: at least one segment is missing; true when the count was too high.
    pub(super) fn limit_reno_sacked(&mut self) -> bool {
        let holes = self.lost_out.max(1).min(self.packets_out);
        if self.sacked_out + holes <= self.packets_out {
            return false;
        }
        self.sacked_out = self.packets_out - holes;
        true
    }

    /// `tcp_check_reno_reordering()`: more duplicates than segments that can cause them.
    fn check_reno_reordering(&mut self, cx: &mut Cx<'_>, stats: &mut Stats, acked: u32) {
        if !self.limit_reno_sacked() {
            return;
        }
        self.reordering = (self.packets_out + acked).min(cx.host.sysctl.tcp_max_reordering);
        stats.reord_seen = stats.reord_seen.wrapping_add(1);
        cx.count(Counter::RenoReorder);
    }

    /// `tcp_add_reno_sack()`.
    pub(super) fn add_reno_sack(
        &mut self,
        cx: &mut Cx<'_>,
        stats: &mut Stats,
        dupacks: u32,
        ece: bool,
    ) {
        if dupacks == 0 {
            return;
        }
        let before = self.sacked_out;
        self.sacked_out += dupacks;
        self.check_reno_reordering(cx, stats, 0);
        let more = self.sacked_out.saturating_sub(before);
        if more > 0 {
            stats.count_delivered(more, ece);
        }
    }

    /// `tcp_remove_reno_sacks()`: one segment filled the hole, the others were the duplicates.
    pub(super) fn remove_reno_sacks(
        &mut self,
        cx: &mut Cx<'_>,
        stats: &mut Stats,
        acked: u32,
        ece: bool,
    ) {
        if acked > 0 {
            let sacked = self.sacked_out;
            stats.count_delivered(acked.saturating_sub(sacked).max(1), ece);
            self.sacked_out = sacked.saturating_sub(acked - 1);
        }
        self.check_reno_reordering(cx, stats, acked);
    }
}

impl Endpoint {
    /// `tcp_check_sack_reordering()`: `low` was delivered after something higher; `by_timestamp`: an echoed
    /// time stamp showed it.
    #[cold]
    #[inline(never)]
    pub(super) fn check_sack_reordering(&mut self, cx: &mut Cx<'_>, low: Seq, by_timestamp: bool) {
        let fack = self.loss.highest_sack_seq(&self.queue, &self.snd);
        if !low.before(fack) {
            return;
        }
        let metric = fack - low;
        let mss = self.snd.mss_cache;
        if mss > 0 && metric > self.loss.reordering.saturating_mul(mss) {
            self.loss.reordering = metric.div_ceil(mss).min(cx.host.sysctl.tcp_max_reordering);
            self.loss.fack_off = true;
        }
        self.stats.reord_seen = self.stats.reord_seen.wrapping_add(1);
        cx.count(match by_timestamp {
            true => Counter::TSReorder,
            false => Counter::SACKReorder,
        });
    }
}
