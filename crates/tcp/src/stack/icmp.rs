//! What ICMP says of a connection: the peer cannot be reached, or the path takes only smaller packets (RFC 5927, RFC
//! 1191; Linux `tcp_v4_err()`, `tcp_v4_mtu_reduced()`).

use tcplab_base::{Instant, Seq};

use super::table::Record;
use super::{Stack, Watch, follow};
use crate::cx::Cx;
use crate::endpoint::{SocketError, State};
use crate::mib::Counter;
use crate::segment::Addr;

/// `ip_rt_min_pmtu`: no path is believed to take less.
const MIN_PMTU: u32 = 552;

/// What a message says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IcmpError {
    /// Net or host unreachable.
    HostUnreachable,
    /// Fragmentation needed: the next link's MTU in bytes.
    FragmentationNeeded(u32),
}

impl Stack {
    /// An ICMP message about a segment of ours from `local` to `remote` with this sequence number. Only one about what
    /// is in flight counts (RFC 5927 4.1).
    pub fn on_icmp(&mut self, now: Instant, local: Addr, remote: Addr, seq: Seq, what: IcmpError) {
        let Some(number) = self.table.find(local, remote) else {
            return;
        };
        if let Some(Record::Request(req)) = self.table.get(number) {
            if seq != req.snt_isn {
                self.mib.add(Counter::OutOfWindowIcmps, 1);
            } else if what == IcmpError::HostUnreachable {
                self.drop_request(number);
                self.mib.add(Counter::ListenDrops, 1);
            }
            return;
        }
        let Some(conn) = self.table.conn_mut(number) else {
            return;
        };
        let ep = &mut conn.ep;
        let una = ep
            .request
            .as_ref()
            .map_or(ep.snd.snd_una, |req| req.snt_isn);
        if seq.before(una) || seq.after(ep.snd.snd_nxt) {
            self.mib.add(Counter::OutOfWindowIcmps, 1);
            return;
        }
        let watch = Watch::of(ep);
        let mut cx = cx!(self, now);
        match what {
            IcmpError::FragmentationNeeded(mtu) => {
                let mtu = mtu.max(MIN_PMTU);
                if ep.snd.pmtu > mtu {
                    ep.path_shrinks(&cx, mtu);
                    ep.sync_mss(&mut cx, mtu);
                    ep.simple_retransmit(&mut cx);
                }
            }
            IcmpError::HostUnreachable => match ep.state {
                // A child of Fast Open that was accepted is a connection as others.
                State::SynSent | State::SynRecv if !ep.is_taken_child() => {
                    ep.fail(&mut cx, SocketError::HostUnreach, false);
                }
                // It may pass: the error of a later time-out.
                _ => ep.error_soft = Some(SocketError::HostUnreach),
            },
        }
        watch.tell(conn, number, &mut self.events);
        if follow(&conn.ep, number, &mut self.deadlines) {
            self.ended(now, number);
        }
    }
}
