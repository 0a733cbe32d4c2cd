//! Urgent data as Linux takes it (RFC 9293 3.8.5, RFC 6093; Linux `tcp_urg()`, `tcp_check_urg()`).
//!
//! The pointer names the urgent byte itself unless `tcp_stdurg` is set, and only one such byte is kept. A reader
//! without SO_OOBINLINE steps over it.

use tcplab_wire::TcpFlags;

use crate::cx::Cx;
use crate::endpoint::{Endpoint, Rcv, RcvQueue, Shutdown, SocketError, Urgent};
use crate::segment::Segment;

/// The bit of `sk_shutdown` after a FIN.
impl Rcv {
    /// `tcp_urg()`.
    #[inline]
    pub(super) fn urgent(&mut self, cx: &Cx<'_>, rcvq: &mut RcvQueue, seg: &Segment) {
        if seg.flags.has(TcpFlags::URG) {
            self.check_urgent(cx, rcvq, seg);
        }
        if self.urg_data == Urgent::NotYet && self.urg_seq - seg.seq < seg.len {
            self.urg_data = Urgent::Valid;
        }
    }

    /// `tcp_check_urg()`: a new urgent pointer.
    #[cold]
    #[inline(never)]
    fn check_urgent(&mut self, cx: &Cx<'_>, rcvq: &mut RcvQueue, seg: &Segment) {
        let mut pointer = u32::from(seg.urgent);
        if pointer > 0 && !cx.host.sysctl.tcp_stdurg {
            pointer -= 1;
        }
        let pointer = seg.seq + pointer;
        let seen = self.copied_seq.after(pointer)
            || pointer.before(self.rcv_nxt)
            || (self.urg_data != Urgent::None && pointer.at_or_before(self.urg_seq));
        if seen {
            return;
        }
        if self.urg_seq == self.copied_seq
            && self.urg_data != Urgent::None
            && self.copied_seq != self.rcv_nxt
        {
            // The byte that was urgent before is skipped like a read one.
            self.copied_seq = self.copied_seq + 1;
            rcvq.drop_read(self);
        }
        self.urg_data = Urgent::NotYet;
        self.urg_seq = pointer;
        self.pred = false;
    }
}

impl Endpoint {
    /// recv(2) with MSG_OOB (`tcp_recv_urg()`): true when the urgent byte is there, which `peek` leaves; false at the
    /// end of the data. It never waits.
    ///
    /// # Errors
    /// `Invalid` if no byte is urgent or it was read; `Again` if it is still to come.
    pub fn read_urgent(&mut self, peek: bool) -> Result<bool, SocketError> {
        match self.rcv.urg_data {
            Urgent::None | Urgent::Read => Err(SocketError::Invalid),
            Urgent::Valid => {
                if !peek {
                    self.rcv.urg_data = Urgent::Read;
                }
                Ok(true)
            }
            _ if self.is_closed() || self.shutdown_bits().intersects(Shutdown::RECEIVE) => {
                Ok(false)
            }
            _ => Err(SocketError::Again),
        }
    }
}
