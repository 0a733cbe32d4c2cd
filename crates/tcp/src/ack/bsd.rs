//! The ACKs of BSD: at once for every second segment, else after 40 ms (FreeBSD `DELAY_ACK()` in tcp_input.c, sysctl
//! net.inet.tcp.delacktime). No credits, no guess of an interval, nothing sent by a read but window updates.

use super::ato_min;
use crate::cx::Cx;
use crate::endpoint::{AckPending, Endpoint};

impl Endpoint {
    /// What BSD does where Linux decides in `__tcp_ack_snd_check()`.
    #[inline(never)]
    pub(super) fn ack_every_second(&mut self, cx: &mut Cx<'_>) {
        let waits = self.ack.pending.intersects(AckPending::TIMER);
        let large = self.rcv.rcv_nxt - self.rcv.rcv_wup > u32::from(self.rcv.advmss);
        let now = self.ack.pending.intersects(AckPending::NOW) || !self.rcvq.ofo.is_empty();
        if waits || large || now {
            return self.send_ack(cx);
        }
        self.ack.pending |= AckPending::SCHED | AckPending::TIMER;
        let wait = match cx.host.profile.delack_ms {
            0 => ato_min(cx.host.clock.hz),
            ms => cx.host.clock.from_micros(u64::from(ms) * 1000),
        };
        let timeout = cx.jiffies() + u64::from(wait);
        self.timers.arm_delack(cx, timeout);
    }
}
