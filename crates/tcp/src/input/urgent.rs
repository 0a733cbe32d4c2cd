//! Urgent data as Linux takes it (RFC 9293 3.8.5, RFC 6093; Linux `tcp_urg()`, `tcp_check_urg()`).
//!
//! The pointer names the urgent byte itself unless `tcp_stdurg` is set, and only one such byte is kept. A reader
//! without SO_OOBINLINE steps over it.

use tcplab_wire::TcpFlags;

use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::segment::Segment;

/// `TCP_URG_NOTYET`: the pointer came, its byte did not.
pub(super) const NOT_YET: u16 = 0x0200;
/// `TCP_URG_VALID`.
pub(super) const VALID: u16 = 0x0100;

impl Endpoint {
    /// `tcp_urg()`.
    #[inline]
    pub(super) fn urgent(&mut self, cx: &Cx<'_>, seg: &Segment) {
        if seg.flags.has(TcpFlags::URG) {
            self.check_urgent(cx, seg);
        }
        if self.rcv.urg_data == NOT_YET && self.rcv.urg_seq - seg.seq < seg.len {
            self.rcv.urg_data = VALID;
        }
    }

    /// `tcp_check_urg()`: a new urgent pointer.
    #[cold]
    #[inline(never)]
    fn check_urgent(&mut self, cx: &Cx<'_>, seg: &Segment) {
        let mut pointer = u32::from(seg.urgent);
        if pointer > 0 && !cx.host.sysctl.tcp_stdurg {
            pointer -= 1;
        }
        let pointer = seg.seq + pointer;
        let seen = self.rcv.copied_seq.after(pointer)
            || pointer.before(self.rcv.rcv_nxt)
            || (self.rcv.urg_data != 0 && pointer.at_or_before(self.rcv.urg_seq));
        if seen {
            return;
        }
        if self.rcv.urg_seq == self.rcv.copied_seq
            && self.rcv.urg_data != 0
            && self.rcv.copied_seq != self.rcv.rcv_nxt
        {
            // The byte that was urgent before is skipped like a read one.
            self.rcv.copied_seq = self.rcv.copied_seq + 1;
            self.drop_read();
        }
        self.rcv.urg_data = NOT_YET;
        self.rcv.urg_seq = pointer;
        self.rcv.pred = false;
    }
}
