//! Opening: listen, accept, connect; the port of a connection (RFC 6056; Linux `inet_csk_listen_start()`,
//! `__inet_hash_connect()`, `tcp_twsk_unique()`).

use tcplab_base::{Instant, Seq};
use tcplab_plan::point::Route;

use super::fastopen::FastQueue;
use super::listener::Listener;
use super::ports::Walk;
use super::secret::{port_offset, seq_and_ts_off, siphash};
use super::table::{Conn, Holder, Record};
use super::{ConnId, ListenId, Stack};
use crate::cc::CongestionControl;
use crate::cc::caqm::negotiate;
use crate::cx::Cx;
use crate::endpoint::{Endpoint, OpenError, Owner};
use crate::mib::Counter;
use crate::options::OpenOptions;
use crate::segment::Addr;

/// `INET_TABLE_PERTURB_SIZE` is 65,536 on Linux; fewer entries only make ports less even.
const PERTURB: usize = 256;

/// A search that has looked at so many ports goes on by the bits of `ports.rs`.
const FAR: u32 = 64;

impl Stack {
    /// Listens at a port of `addr` with this backlog (at most net.core.somaxconn); `options` apply to accepted
    /// sockets; `mtu` is the path's towards clients.
    pub fn listen(
        &mut self,
        addr: Addr,
        options: &OpenOptions,
        backlog: u32,
        mtu: u32,
    ) -> ListenId {
        let number = self.listeners.len() as u32;
        let mut cx = cx!(self, Instant::from_nanos(0));
        // DST_FEATURE_ECN_CA: a route's algorithm asks for ECN as the socket's does.
        let name = Endpoint::wanted_cc(&cx, options).to_owned();
        let mut probe = Endpoint::new(&mut cx, (addr, addr), options);
        probe.cc_init(&cx, &name);
        self.listeners.push(Some(Listener {
            local: addr,
            buffers: Endpoint::buffers(&cx, options),
            reordering: cx.host.sysctl.tcp_reordering,
            options: options.clone(),
            socket: None,
            backlog: backlog.min(self.host.sysctl.somaxconn),
            mtu,
            needs_ecn: probe.cc.needs_ecn(),
            speaks_caqm: negotiate::speaks(&cx, &name),
            caqm_asked: false,
            waiting: std::collections::VecDeque::new(),
            requests: 0,
            young: 0,
            defer_accept: 0,
            syn_retries: options.syncnt.map_or(0, |n| n.clamp(1, 127) as u8),
            overflowed: None,
            fast_open: FastQueue::of(&self.host.sysctl, backlog),
        }));
        self.ports.insert((addr.host, addr.port), number);
        ListenId(number)
    }

    /// A socket that is not connected: its options can be set before [`Stack::listen_socket`] or
    /// [`Stack::connect_socket`] takes it.
    pub fn socket(&mut self, now: Instant, local_host: u16, options: &OpenOptions) -> Endpoint {
        let nowhere = Addr {
            host: local_host,
            port: 0,
        };
        let mut cx = cx!(self, now);
        let mut ep = Endpoint::new(&mut cx, (nowhere, nowhere), options);
        let name = Endpoint::wanted_cc(&cx, options).to_owned();
        ep.cc_init(&cx, &name);
        ep
    }

    /// A call on a socket that is not connected, or on a listener's.
    pub fn with_socket<R>(
        &mut self,
        now: Instant,
        socket: &mut Endpoint,
        call: impl FnOnce(&mut Endpoint, &mut Cx<'_>) -> R,
    ) -> R {
        call(socket, &mut cx!(self, now))
    }

    /// As [`Stack::listen`], with a socket whose options accepted ones inherit; [`Stack::listener`] changes them.
    pub fn listen_socket(
        &mut self,
        addr: Addr,
        socket: Endpoint,
        backlog: u32,
        mtu: u32,
    ) -> ListenId {
        let options = OpenOptions {
            congestion: Some(socket.congestion_name().to_owned()),
            ..OpenOptions::default()
        };
        let id = self.listen(addr, &options, backlog, mtu);
        if let Some(Some(listener)) = self.listeners.get_mut(id.0 as usize) {
            listener.socket = Some(Box::new(socket));
        }
        id
    }

    /// A call on the socket of a listener. None: it is closed, or has no socket.
    pub fn listener<R>(
        &mut self,
        now: Instant,
        id: ListenId,
        call: impl FnOnce(&mut Endpoint, &mut Cx<'_>) -> R,
    ) -> Option<R> {
        let (mut cx, listeners, _) = self.parts(now);
        let socket = listeners
            .get_mut(id.0 as usize)?
            .as_mut()?
            .socket
            .as_mut()?;
        Some(call(socket, &mut cx))
    }

    /// listen(2) again: another backlog.
    pub fn set_backlog(&mut self, id: ListenId, backlog: u32) {
        let most = self.host.sysctl.somaxconn;
        if let Some(Some(listener)) = self.listeners.get_mut(id.0 as usize) {
            listener.backlog = backlog.min(most);
        }
    }

    /// Connections that wait for accept(2).
    pub fn waiting(&self, id: ListenId) -> usize {
        let listener = self.listeners.get(id.0 as usize).and_then(Option::as_ref);
        listener.map_or(0, |listener| listener.waiting.len())
    }

    /// TCP_DEFER_ACCEPT in seconds: a bare ACK of the SYN-ACK does not make a connection, until data come or the time
    /// is over.
    pub fn defer_accept(&mut self, listener: ListenId, seconds: u32) {
        // secs_to_retrans() with a first time-out of 1 s.
        let mut retransmits = 0_u8;
        let (mut period, mut timeout) = (1_u32, 1_u32);
        if seconds > 0 {
            retransmits = 1;
            while seconds > period && retransmits < 255 {
                retransmits += 1;
                timeout = (timeout << 1).min(120);
                period += timeout;
            }
        }
        if let Some(Some(l)) = self.listeners.get_mut(listener.0 as usize) {
            l.defer_accept = retransmits;
        }
    }

    /// Takes the first connection that waits, with the peer's end.
    pub fn accept(&mut self, _now: Instant, listener: ListenId) -> Option<(ConnId, Addr)> {
        let waiting = &mut self
            .listeners
            .get_mut(listener.0 as usize)?
            .as_mut()?
            .waiting;
        let number = waiting.pop_front()?;
        let conn = self.table.conn_mut(number)?;
        conn.holder = Holder::Application;
        conn.ep.owner = Owner::Application;
        if let Some(req) = &mut conn.ep.request {
            req.taken = true;
        }
        Some((ConnId(number), conn.ep.remote))
    }

    /// Stops listening: connections that wait are reset, requests are forgotten (`inet_csk_listen_stop()`).
    pub fn close_listener(&mut self, now: Instant, listener: ListenId) {
        let Some(slot) = self.listeners.get_mut(listener.0 as usize) else {
            return;
        };
        let Some(closed) = slot.take() else {
            return;
        };
        let port = (closed.local.host, closed.local.port);
        if self.ports.get(&port) == Some(&listener.0) {
            self.ports.remove(&port);
        }
        for number in closed.waiting {
            self.on_conn(now, number, |ep, cx| {
                ep.disconnect(cx);
                ep.owner = Owner::Nobody;
            });
            self.release(number);
        }
    }

    /// Opens a connection from a free port; the SYN leaves at once. `mtu` is that of the path.
    ///
    /// # Errors
    /// No port is free for this peer.
    pub fn connect(
        &mut self,
        now: Instant,
        local_host: u16,
        remote: Addr,
        options: &OpenOptions,
        mtu: u32,
    ) -> Result<(ConnId, Addr), OpenError> {
        let (local, reused) = self.free_port(now, local_host, remote)?;
        Ok((self.open(now, local, remote, options, mtu, reused), local))
    }

    /// Opens a connection from a given port (bind(2), then connect(2)).
    ///
    /// # Errors
    /// There is a connection between these ends.
    pub fn connect_from(
        &mut self,
        now: Instant,
        local: Addr,
        remote: Addr,
        options: &OpenOptions,
        mtu: u32,
    ) -> Result<ConnId, OpenError> {
        match self.port_use(now, local, remote, false) {
            PortUse::Taken => Err(OpenError(format!(
                "port {} has a connection to {}:{}",
                local.port, remote.host, remote.port
            ))),
            PortUse::Free => Ok(self.open(now, local, remote, options, mtu, None)),
            PortUse::Reuse(last) => Ok(self.open(now, local, remote, options, mtu, Some(last))),
        }
    }

    /// As [`Stack::connect_socket`], for sendmsg(2) with MSG_FASTOPEN: the SYN waits for
    /// [`Endpoint::connect_with_data`].
    ///
    /// # Errors
    /// As there.
    pub fn connect_deferred(
        &mut self,
        now: Instant,
        mut socket: Endpoint,
        local: Addr,
        remote: Addr,
        mtu: u32,
    ) -> Result<(ConnId, Addr), OpenError> {
        socket.will_bring_data();
        self.connect_socket(now, socket, local, remote, mtu)
    }

    /// `ip route change`: other metrics for the paths to all peers; `mtu` is the first link's. Connections follow with
    /// the next packet that they send.
    pub fn set_route(&mut self, now: Instant, route: Route, mtu: u32) {
        self.host.route = route;
        for number in 0..self.table.records.len() as u32 {
            self.on_conn(now, number, |ep, cx| ep.path_changes(cx, mtu));
        }
    }

    /// Opens a connection with this socket and its options, from its own port or, 0, from a free one.
    ///
    /// # Errors
    /// No port is free for this peer, or the socket's own is in use.
    pub fn connect_socket(
        &mut self,
        now: Instant,
        mut socket: Endpoint,
        local: Addr,
        remote: Addr,
        mtu: u32,
    ) -> Result<(ConnId, Addr), OpenError> {
        let (local, reused) = match local.port {
            0 => self.free_port(now, local.host, remote)?,
            _ => match self.port_use(now, local, remote, false) {
                PortUse::Taken => return Err(OpenError("the address is in use".into())),
                PortUse::Free => (local, None),
                PortUse::Reuse(last) => (local, Some(last)),
            },
        };
        (socket.local, socket.remote) = (local, remote);
        let options = OpenOptions {
            congestion: Some(socket.congestion_name().to_owned()),
            ..OpenOptions::default()
        };
        Ok((self.begin(now, socket, &options, mtu, reused), local))
    }

    fn open(
        &mut self,
        now: Instant,
        local: Addr,
        remote: Addr,
        options: &OpenOptions,
        mtu: u32,
        reused: Option<LastUse>,
    ) -> ConnId {
        let ep = Endpoint::new(&mut cx!(self, now), (local, remote), options);
        self.begin(now, ep, options, mtu, reused)
    }

    /// The SYN of a new endpoint leaves.
    fn begin(
        &mut self,
        now: Instant,
        mut ep: Endpoint,
        options: &OpenOptions,
        mtu: u32,
        reused: Option<LastUse>,
    ) -> ConnId {
        let (local, remote) = (ep.local, ep.remote);
        let stamps = self.host.sysctl.tcp_timestamps;
        let (isn, ts_off) = seq_and_ts_off(self.host.secret, local, remote, now, stamps);
        let mut cx = cx!(self, now);
        let mut first = isn;
        if let Some(last) = reused {
            first = last.isn;
            ep.neg.ts_recent = last.ts_recent;
            ep.neg.ts_recent_stamp = last.ts_recent_stamp;
            cx.count(Counter::TWRecycled);
            self.table.remove(last.number);
            self.deadlines.set(last.number, None);
        }
        // tcp_v4_connect(): 0 means that none was chosen.
        let first = Seq(first.0.max(1));
        ep.begin(&mut cx, options, mtu, first, ts_off);
        let next = ep.next_timer();
        let number = self.table.insert(Record::Conn(Box::new(Conn {
            ep,
            holder: Holder::Application,
            hashed: true,
        })));
        self.table.hash(local, remote, number);
        self.deadlines.set(number, next);
        ConnId(number)
    }

    /// The port that Linux would look at first from a hash of both ends, and every second one after it: connect(2)
    /// takes those of the range's first parity.
    fn free_port(
        &mut self,
        now: Instant,
        local_host: u16,
        remote: Addr,
    ) -> Result<(Addr, Option<LastUse>), OpenError> {
        let [low, high] = self.host.sysctl.ip_local_port_range.map(u32::from);
        let count = (high + 1).saturating_sub(low);
        let count = if count > 1 { count & !1 } else { count };
        let clock = &self.host.clock;
        let hash = port_offset(
            self.host.secret,
            local_host,
            remote,
            clock.jiffies(now),
            clock.hz,
        );
        let index = hash as usize % PERTURB;
        self.perturb.resize(PERTURB, 0);
        let base = (hash >> 32) as u32;
        let offset = (base.wrapping_add(self.perturb[index]) % count.max(1)) & !1;
        let found = (0..2_u32.min(count)).find_map(|parity| {
            let start = offset + parity;
            self.search(now, local_host, remote, Walk { low, count, start })
        });
        let Some((step, local, reused)) = found else {
            return Err(OpenError(format!(
                "no free port from {low} to {high} for {}:{}",
                remote.host, remote.port
            )));
        };
        let draw = siphash(self.host.secret, [hash, u64::from(self.perturb[index])]);
        let more = step.max((draw % 8) as u32 * 2) + 2;
        self.perturb[index] = self.perturb[index].wrapping_add(more);
        Ok((local, reused))
    }

    /// The first free port of a walk, with its step.
    fn search(
        &mut self,
        now: Instant,
        host: u16,
        remote: Addr,
        walk: Walk,
    ) -> Option<(u32, Addr, Option<LastUse>)> {
        // With tcp_tw_reuse a port in use may do.
        let skips = self.host.sysctl.tcp_tw_reuse != 1;
        let (mut step, mut walked) = (0, 0);
        while step < walk.count {
            if skips && let Some(used) = self.table.used_ports(host, remote) {
                step = used.next(walk, step)?;
            }
            let port = walk.port(step);
            let local = Addr { host, port };
            if !self.ports.contains_key(&(host, port)) {
                match self.port_use(now, local, remote, true) {
                    PortUse::Taken => {}
                    PortUse::Free => return Some((step, local, None)),
                    PortUse::Reuse(last) => return Some((step, local, Some(last))),
                }
            }
            step += 2;
            walked += 1;
            if skips && walked == FAR {
                let range = self.host.sysctl.ip_local_port_range;
                self.table.keep_used_ports(host, remote, range);
            }
        }
        None
    }

    /// Whether a connection may use these ends. `search`: the port is not the caller's wish.
    fn port_use(&mut self, now: Instant, local: Addr, remote: Addr, search: bool) -> PortUse {
        let Some(number) = self.table.find(local, remote) else {
            return PortUse::Free;
        };
        let seconds = (now.as_nanos() + self.host.clock.boot_ns) / 1_000_000_000;
        let Some(tw) = self.table.time_wait_mut(number) else {
            return PortUse::Taken;
        };
        // tcp_tw_reuse 2 is for the loopback device, which model hosts lack.
        let reuse = self.host.sysctl.tcp_tw_reuse == 1 && !tw.fin_wait_2;
        let later = match self.host.profile.tw_reuse_by_delay {
            true => {
                let since = self.host.clock.millis(now).wrapping_sub(tw.entry_ms);
                since.wrapping_sub(self.host.sysctl.tcp_tw_reuse_delay) as i32 > 0
            }
            false => (seconds as u32).wrapping_sub(tw.ts_recent_stamp) as i32 > 0,
        };
        if tw.ts_recent_stamp != 0 && (!search || (reuse && later)) {
            return PortUse::Reuse(LastUse {
                number,
                isn: tw.snd_nxt + (65_535 + 2),
                ts_recent: tw.ts_recent,
                ts_recent_stamp: tw.ts_recent_stamp,
            });
        }
        PortUse::Taken
    }
}

/// What a TIME-WAIT record leaves to the next connection between its ends.
#[derive(Clone, Copy, Debug)]
struct LastUse {
    number: u32,
    isn: Seq,
    ts_recent: u32,
    ts_recent_stamp: u32,
}

/// See [`Stack::port_use`].
#[derive(Clone, Copy, Debug)]
enum PortUse {
    Free,
    Taken,
    Reuse(LastUse),
}
