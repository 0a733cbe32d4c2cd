//! ECN at the receiver (RFC 3168 6.1.3; Linux `tcp_ecn_check_ce()`).

use crate::cc::{CaEvent, CongestionControl, Echo};
use crate::cx::Cx;
use crate::endpoint::{AckPending, Endpoint};
use crate::options::Ecn;
use crate::segment::Segment;

/// Credits for the ACKs after a mark: the sender's window may be very small.
const QUICK: u32 = 2;

impl Endpoint {
    /// `tcp_ecn_check_ce()`: a mark is echoed until the sender says that its window was reduced.
    #[inline]
    pub(crate) fn ecn_check_ce(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        if self.neg.ecn_flags.intersects(Ecn::OK) {
            self.ecn_mark(cx, seg);
        }
    }

    #[inline(never)]
    fn ecn_mark(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        match seg.ecn() {
            Segment::NOT_ECT => {
                // Retransmissions are not ECN-capable: this is probably one.
                if self.neg.ecn_flags.intersects(Ecn::SEEN) {
                    self.ack.enter_quickack_mode(cx, &self.rcv, QUICK);
                }
            }
            Segment::CE => {
                if self.cc.needs_ecn() {
                    self.cc_event(cx, CaEvent::EcnIsCe);
                }
                if !self.neg.ecn_flags.intersects(Ecn::DEMAND_CWR) {
                    self.ack.enter_quickack_mode(cx, &self.rcv, QUICK);
                    self.neg.ecn_flags |= Ecn::DEMAND_CWR;
                }
                self.neg.ecn_flags |= Ecn::SEEN;
            }
            _ => {
                if self.cc.needs_ecn() {
                    self.cc_event(cx, CaEvent::EcnNoCe);
                }
                self.neg.ecn_flags |= Ecn::SEEN;
            }
        }
    }

    /// RFC 8257 3.2: what waits for an ACK since before marks began or ended is ACKed as it came.
    #[cold]
    #[inline(never)]
    pub(crate) fn ecn_echo(&mut self, cx: &mut Cx<'_>, echo: Echo) {
        if let Some(before) = echo.turns {
            if self.ack.pending.intersects(AckPending::TIMER) {
                self.neg.ecn_flags.set(Ecn::DEMAND_CWR, !echo.ce);
                self.send_ack_of(cx, before);
            }
            self.ack.pending |= AckPending::NOW;
        }
        self.neg.ecn_flags.set(Ecn::DEMAND_CWR, echo.ce);
    }
}
