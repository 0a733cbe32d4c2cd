//! ICMP errors about a connection: the peer is unreachable, or the path takes only smaller packets (RFC 5927, RFC
//! 1191; Linux `tcp_v4_err()`, `tcp_v6_err()`, `tcp_req_err()`, `tcp_v4_mtu_reduced()`).

use tcplab_base::{Instant, Seq};

use super::table::Record;
use super::{Stack, Watch, follow};
use crate::cx::Cx;
use crate::endpoint::{Endpoint, SocketError, State};
use crate::mib::Counter;
use crate::segment::Addr;

/// `ip_rt_min_pmtu`: no path is believed to take less.
const MIN_PMTU: u32 = 552;

/// What a message says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IcmpError {
    /// The peer cannot be reached, or not so.
    Unreachable(Unreachable),
    /// Fragmentation needed: the next link's MTU in bytes.
    FragmentationNeeded(u32),
}

/// A message that is an error of the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unreachable {
    /// What it is as an error of a call.
    pub error: SocketError,
    /// A connection request is given up (`abort` of `tcp_req_err()`).
    pub ends_request: bool,
    /// The message says that the path is broken (RFC 6069 3): net or host unreachable, ICMPv6 no route.
    pub path_broken: bool,
    /// It was ICMPv6.
    pub is_v6: bool,
    /// The socket has IP_RECVERR: the error is told at once, not only after a timeout.
    pub at_once: bool,
}

impl IcmpError {
    /// ICMP "host unreachable".
    pub const fn host_unreachable() -> Self {
        Self::Unreachable(Unreachable {
            error: SocketError::HostUnreach,
            ends_request: true,
            path_broken: true,
            is_v6: false,
            at_once: false,
        })
    }
}

impl Stack {
    /// An ICMP message about a segment of ours from `local` to `remote` with this sequence number. Only one about what
    /// is in flight counts (RFC 5927 4.1). True: it ended a connection that was being opened.
    pub fn on_icmp(
        &mut self,
        now: Instant,
        local: Addr,
        remote: Addr,
        seq: Seq,
        what: IcmpError,
    ) -> bool {
        let Some(number) = self.table.find(local, remote) else {
            return false;
        };
        if let Some(Record::Request(req)) = self.table.get(number) {
            if seq != req.snt_isn {
                self.mib.add(Counter::OutOfWindowIcmps, 1);
            } else if matches!(what, IcmpError::Unreachable(what) if what.ends_request) {
                self.drop_request(number);
                self.mib.add(Counter::ListenDrops, 1);
            }
            return false;
        }
        let Some(conn) = self.table.conn_mut(number) else {
            return false;
        };
        let ep = &mut conn.ep;
        let una = ep
            .request
            .as_ref()
            .map_or(ep.snd.snd_una, |req| req.snt_isn);
        if seq.before(una) || seq.after(ep.snd.snd_nxt) {
            self.mib.add(Counter::OutOfWindowIcmps, 1);
            return false;
        }
        let watch = Watch::of(ep);
        let opening = ep.is_opening();
        let least = if self.host.ip_header == 20 {
            MIN_PMTU
        } else {
            1_280
        };
        if let IcmpError::FragmentationNeeded(mtu) = what
            && ep.snd.pmtu > mtu.max(least)
            && local.host != remote.host
        {
            self.host.paths.learn(remote.host, mtu.max(least), now);
        }
        let mut cx = cx!(self, now);
        match what {
            IcmpError::FragmentationNeeded(mtu) => {
                let mtu = mtu.max(least);
                if ep.snd.pmtu > mtu {
                    ep.mtu_reduced(&mut cx, mtu);
                }
            }
            IcmpError::Unreachable(what) => ep.unreachable(&mut cx, seq, what),
        }
        watch.tell(conn, number, &mut self.events);
        let ends = follow(&conn.ep, number, &mut self.deadlines);
        if ends {
            self.ended(now, number);
        }
        ends && opening
    }
}

impl Endpoint {
    fn is_opening(&self) -> bool {
        matches!(self.state, State::SynSent | State::SynRecv)
    }

    fn unreachable(&mut self, cx: &mut Cx<'_>, seq: Seq, what: Unreachable) {
        let opening = self.is_opening();
        // tcp_v6_err() leaves the timer of an opening connection alone.
        if what.path_broken && self.request.is_none() && !(what.is_v6 && opening) {
            self.revert_backoff(cx, seq);
        }
        // A child of Fast Open that was accepted is a connection as others.
        if opening && !self.is_taken_child() {
            self.fail(cx, what.error, false);
        } else if what.at_once {
            self.error = Some(what.error);
        } else {
            // It may pass: the error of a later time-out.
            self.error_soft = Some(what.error);
        }
    }
}
