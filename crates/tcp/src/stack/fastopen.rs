//! Fast Open at a listener: which clients get a cookie, which data are accepted, and the limit of children without an
//! ACK (RFC 7413 4.2.2, 5.1; Linux `tcp_try_fastopen()`, `tcp_fastopen_queue_check()`, `struct fastopen_queue`).

use std::collections::VecDeque;

use tcplab_base::Instant;
use tcplab_wire::FastOpen;

use super::listener::Listener;
use super::request::Request;
use super::secret::siphash;
use super::table::{Conn, Holder, Record};
use super::{Event, ListenId, Stack, child};
use crate::cx::Cx;
use crate::fastopen::{Bits, FastOpenKey, FastOpenKeys};
use crate::mib::Counter;
use crate::options::FastOpenState;
use crate::segment::Segment;
use crate::sysctl::Sysctl;

/// The children of Fast Open of one listener.
#[derive(Clone, Debug, Default)]
pub(crate) struct FastQueue {
    /// TCP_FASTOPEN: most of them; 0: Fast Open is off.
    most: u32,
    /// Those whose handshake is not over, and those in `reset`.
    pending: u32,
    /// Jiffies until which those count that were reset after they were accepted.
    reset: VecDeque<u64>,
    /// TCP_FASTOPEN_KEY.
    keys: Option<FastOpenKeys>,
}

/// What a SYN gets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    /// A SYN-ACK as without Fast Open.
    Plain,
    /// A SYN-ACK with a cookie.
    Cookie(FastOpen),
    /// A connection, and a SYN-ACK that takes the data; with a cookie when the peer's is an old one.
    Child(Option<FastOpen>),
}

impl FastQueue {
    /// As listen(2) leaves it.
    pub(crate) fn of(sysctl: &Sysctl, backlog: u32) -> Self {
        let all = Bits::EVERY_LISTENER | Bits::SERVER;
        let most = match sysctl.tcp_fastopen & all == all {
            true => backlog.min(sysctl.somaxconn),
            false => 0,
        };
        Self {
            most,
            ..Self::default()
        }
    }

    /// `tcp_fastopen_queue_check()`.
    fn make_room(&mut self, cx: &mut Cx<'_>) -> bool {
        if self.most == 0 {
            return false;
        }
        if self.pending >= self.most {
            // One that was reset long enough ago makes room.
            if self.reset.front().is_none_or(|&until| until > cx.jiffies()) {
                cx.count(Counter::FastOpenListenOverflow);
                return false;
            }
            self.reset.pop_front();
            self.pending = self.pending.saturating_sub(1);
        }
        true
    }
}

/// The keys of a host: its sysctl's, or one that comes from its secret.
fn host_keys(cx: &Cx<'_>) -> FastOpenKeys {
    let own = |n: u64| siphash(cx.host.secret, [n, 7]);
    cx.host.sysctl.tcp_fastopen_key.unwrap_or(FastOpenKeys {
        primary: FastOpenKey([own(0), own(1)]),
        backup: None,
    })
}

impl Listener {
    /// `tcp_try_fastopen()`.
    pub(super) fn fast_open(&mut self, cx: &mut Cx<'_>, seg: &Segment) -> Answer {
        let asked = seg.options.fast_open();
        let data = seg.end_seq() != seg.seq + 1;
        if asked.is_none() && !data {
            return Answer::Plain;
        }
        if asked.is_some_and(|option| option.is_request()) {
            cx.count(Counter::FastOpenCookieReqd);
        }
        let bits = cx.host.sysctl.tcp_fastopen;
        if bits & Bits::SERVER == 0 || !self.fast_open.make_room(cx) {
            return Answer::Plain;
        }
        let own = self.socket.as_ref();
        let no_cookie =
            own.is_some_and(|own| own.neg.fast_open.intersects(FastOpenState::NO_COOKIE));
        if bits & Bits::SERVER_NO_COOKIE != 0 || no_cookie {
            cx.count(Counter::FastOpenPassive);
            return Answer::Child(None);
        }
        let Some(asked) = asked else {
            return Answer::Plain;
        };
        self.judge_cookie(cx, seg, asked)
    }

    fn judge_cookie(&self, cx: &mut Cx<'_>, seg: &Segment, asked: FastOpen) -> Answer {
        let addresses = &cx.host.addresses;
        let (src, dst) = (addresses.of(seg.src.host), addresses.of(seg.dst.host));
        let keys = self.fast_open.keys.unwrap_or_else(|| host_keys(cx));
        let cookie = |key: FastOpenKey| key.cookie(src, dst, asked.is_experimental());
        let Some(good) = cookie(keys.primary) else {
            return Answer::Plain;
        };
        if asked.is_request() {
            return Answer::Cookie(good);
        }
        if asked == good {
            cx.count(Counter::FastOpenPassive);
            Answer::Child(None)
        } else if keys.backup.and_then(cookie) == Some(asked) {
            cx.count(Counter::FastOpenPassiveAltKey);
            cx.count(Counter::FastOpenPassive);
            Answer::Child(Some(good))
        } else {
            cx.count(Counter::FastOpenPassiveFail);
            Answer::Cookie(good)
        }
    }
}

impl Stack {
    /// setsockopt(TCP_FASTOPEN) of a listener: so many connections may wait for the ACK of their SYN-ACK, at most
    /// net.core.somaxconn; 0: Fast Open is off.
    pub fn set_fast_open(&mut self, id: ListenId, most: u32) {
        let most = most.min(self.host.sysctl.somaxconn);
        if let Some(Some(listener)) = self.listeners.get_mut(id.0 as usize) {
            listener.fast_open.most = most;
        }
    }

    /// getsockopt(TCP_FASTOPEN) of a listener.
    pub fn fast_open(&self, id: ListenId) -> u32 {
        let listener = self.listeners.get(id.0 as usize).and_then(Option::as_ref);
        listener.map_or(0, |listener| listener.fast_open.most)
    }

    /// setsockopt(TCP_FASTOPEN_KEY) of a listener; none: the host's keys.
    pub fn set_fast_open_keys(&mut self, id: ListenId, keys: Option<FastOpenKeys>) {
        if let Some(Some(listener)) = self.listeners.get_mut(id.0 as usize) {
            listener.fast_open.keys = keys;
        }
    }

    /// Whether sendmsg(2) may send data with a SYN (bit 1 of net.ipv4.tcp_fastopen).
    pub fn may_fast_open(&self) -> bool {
        self.host.sysctl.tcp_fastopen & Bits::CLIENT != 0
    }

    /// `sysctl -w NAME=VALUE`, with what writing does beside setting it.
    ///
    /// # Errors
    /// See [`Sysctl::set`].
    pub fn set_sysctl(&mut self, name: &str, text: &str) -> Result<(), String> {
        self.host.sysctl.set(name, text)?;
        if name == "net.ipv4.tcp_fastopen_blackhole_timeout_sec" {
            self.metrics.fast_open.enable();
        }
        Ok(())
    }

    /// `ip tcp_metrics flush`: what is known of peers is forgotten.
    pub fn forget_peers(&mut self) {
        self.metrics.clear();
    }

    /// Listeners count the children whose handshake is over no more.
    pub(super) fn settle_fast_open(&mut self) {
        for over in self.metrics.fast_open.over.drain(..) {
            if let Some(Some(listener)) = self.listeners.get_mut(over.listener as usize) {
                let queue = &mut listener.fast_open;
                match over.until {
                    Some(until) => queue.reset.push_back(until),
                    None => queue.pending = queue.pending.saturating_sub(1),
                }
            }
        }
    }

    /// A SYN makes a connection, which waits for accept(2) at once (`tcp_fastopen_create_child()`).
    #[cold]
    pub(super) fn fast_child(
        &mut self,
        now: Instant,
        req: Request,
        seg: &Segment,
        cookie: Option<FastOpen>,
    ) {
        let (mut cx, listeners, table) = self.parts(now);
        let owner = req.listener;
        let Some(Some(listener)) = listeners.get_mut(owner as usize) else {
            return;
        };
        let (local, remote) = (req.local, req.remote);
        let mut ep = child::make(&mut cx, &req, listener, seg);
        listener.fast_open.pending += 1;
        ep.begin_fast_child(&mut cx, Box::new(req), seg, cookie);
        let next = ep.next_timer();
        let number = table.insert(Record::Conn(Box::new(Conn {
            ep,
            holder: Holder::Queue(owner),
            hashed: true,
        })));
        table.hash(local, remote, number);
        listener.waiting.push_back(number);
        self.deadlines.set(number, next);
        self.events.push_back(Event::Acceptable(ListenId(owner)));
    }
}
