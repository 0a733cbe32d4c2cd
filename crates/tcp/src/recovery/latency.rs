//! How long recoveries take: TCPRecovLat and TCPRecovCnt, TCPRecovLat2 and TCPRecovCnt2. No release of Linux has these
//! counters; a message on netdev (June 2016, on the RTO of RFC 6298) defines them, and the kernel edit `recovlat`
//! counts them on kernels in the same way.
//!
//! A recovery begins with a fast retransmission or a timeout, and its time with the first transmission of the first
//! segment that is not ACKed then. It ends with the ACK of all data sent before it began, independent of the
//! congestion state meanwhile. One that its connection does not live to see ended counts in the second pair.

use tcplab_base::Seq;

use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::mib::Counter;
use crate::queue::{Id, Sacked, Skb};

/// The recovery in progress, and data for the next one.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecoveryLatency {
    /// Since when, in microseconds since boot, and the sequence number that ends it.
    open: Option<(u64, Seq)>,
    /// Segments that were sent again and are not ACKed: begin, end, first transmission in microseconds since boot.
    resent: Vec<(Seq, Seq, u64)>,
}

impl RecoveryLatency {
    /// When a segment of the queue was sent for the first time. It may be a part of what was sent again.
    fn first_sent(&self, skb: &Skb) -> u64 {
        let holds =
            |&&(begin, end, _): &&(Seq, Seq, u64)| !begin.after(skb.seq) && end.after(skb.seq);
        let found = self.resent.iter().find(holds);
        found.map_or(skb.xmit_us(), |(_, _, us)| *us)
    }
}

impl Endpoint {
    /// This segment is about to be sent again, which changes its time.
    pub(crate) fn remember_first(&mut self, id: Id) {
        let Some(skb) = self.queue.get(id).filter(|s| !s.is(Sacked::EVER_RETRANS)) else {
            return;
        };
        let first = (skb.seq, skb.end_seq(), skb.xmit_us());
        self.latency.get_or_insert_default().resent.push(first);
    }

    /// A fast retransmission or a timeout is next.
    pub(super) fn recovery_begins(&mut self) {
        let Some(head) = self.queue.first_sent().and_then(|id| self.queue.get(id)) else {
            return;
        };
        let latency = self.latency.get_or_insert_default();
        if latency.open.is_none() {
            latency.open = Some((latency.first_sent(head), self.snd.snd_nxt));
        }
    }

    /// An ACK came; the left edge of the window has moved already.
    #[cold]
    #[inline(never)]
    pub(super) fn recovery_acked(&mut self, cx: &mut Cx<'_>) {
        let Some(latency) = &mut self.latency else {
            return;
        };
        let una = self.snd.snd_una;
        if let Some((since, _)) = latency.open.take_if(|(_, end)| !una.before(*end)) {
            let us = (cx.now_ns() / 1000).saturating_sub(since);
            cx.mib.recovered(us);
        }
        latency.resent.retain(|(_, end, _)| end.after(una));
        if latency.open.is_none() && latency.resent.is_empty() {
            self.latency = None;
        }
    }

    /// The connection is over.
    #[cold]
    #[inline(never)]
    pub(crate) fn recovery_fails(&mut self, cx: &mut Cx<'_>) {
        if let Some((since, _)) = self.latency.take().and_then(|latency| latency.open) {
            cx.count(Counter::RecovCnt2);
            let us = (cx.now_ns() / 1000).saturating_sub(since);
            cx.mib.add(Counter::RecovLat2, us);
        }
    }
}
