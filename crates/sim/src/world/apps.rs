//! Applications: they connect, are accepted, step, sleep and close.

use tcplab_apps::{Awaited, BACKLOG, Doing, Result as Went, Stepped, Wants};
use tcplab_base::{Duration, Instant};
use tcplab_plan::outcome::TCP_INFO_SERIES;
use tcplab_plan::point::{QuickAck, SocketOptions};
use tcplab_tcp::{Addr, ConnId, State};

use super::World;
use crate::end::{Call, Socket, UNKNOWN, Watch};
use crate::events::Wake;
use crate::host::Host;
use crate::info;

impl World {
    /// Listeners and first events.
    pub(super) fn begin(&mut self) {
        for index in 0..self.point.apps.len() {
            let app = &self.point.apps[index];
            if app.does.is_udp() {
                if !app.does.is_icmp() && !app.does.is_replay() {
                    self.bind(index);
                }
                continue;
            }
            if self.is_outside(app.server) {
                continue;
            }
            let app = &self.point.apps[index];
            let at = Addr {
                host: app.server as u16,
                port: app.port,
            };
            let mtu = self.network.mtu(app.server, app.client);
            let options = &self.apps.all[index].server_options;
            let stack = &mut self.hosts[app.server].stack;
            let listener = stack.listen(at, options, BACKLOG.into(), mtu);
            self.apps.all[index].listener = Some(listener);
        }
        for (index, app) in self.point.apps.iter().enumerate() {
            let first = self.apps.first(index) as u32;
            if app.connections > 0 && !self.is_outside(app.client) {
                self.events
                    .set(Instant::from_nanos(app.start_ns), Wake::Connect(first));
            }
        }
        if let Some(every) = self.point.tcp_info_every_ns {
            self.events.set(Instant::from_nanos(every), Wake::Sample);
        }
        if let Some(every) = self.point.link_every_ns {
            let first = Instant::from_nanos(every);
            self.events.set(first, Wake::SampleLinks);
        }
        self.events
            .set(Instant::from_nanos(self.point.max_ns), Wake::Stop);
    }

    /// One datagram socket serves all clients: the first flow's server end has it.
    fn bind(&mut self, app: usize) {
        let (port, host) = (self.point.apps[app].port, self.point.apps[app].server);
        let server = self.apps.first(app) + 1;
        self.hosts[host].udp.bind(port, server as u32);
        let end = &mut self.apps.ends[server];
        end.socket = Socket::Udp(port, None);
        end.doing = Doing::Next(Went::Done);
        self.step(server, false);
    }

    fn host_of(&self, end: usize) -> usize {
        let end = &self.apps.ends[end];
        let app = &self.point.apps[end.app as usize];
        match end.is_client {
            true => app.client,
            false => app.server,
        }
    }

    /// The time of a client's first connection has come; that of the next client is set.
    #[inline(never)]
    pub(super) fn start(&mut self, index: usize) {
        let number = self.apps.ends[index].app as usize;
        let app = &self.point.apps[number];
        let n = (index - self.apps.first(number)) as i64 / 2 + 1;
        if n < i64::from(app.connections) {
            let at = app.start_ns + app.stagger_ns.saturating_mul(n);
            self.events
                .set(Instant::from_nanos(at), Wake::Connect(index as u32 + 2));
        }
        if self.point.apps[number].does.is_replay() {
            return self.replays_from(index);
        }
        self.connect(index);
    }

    /// The time of a replay's first frame has come.
    #[cold]
    fn replays_from(&mut self, index: usize) {
        self.apps.ends[index].opened = self.now;
        if !self.replay(index) {
            self.warnings.push("a replay got no frames".into());
            self.apps.ends[index].doing = Doing::Over;
            self.apps.changed(index);
        }
    }

    #[inline(never)]
    fn connect(&mut self, index: usize) {
        let app = &self.point.apps[self.apps.ends[index].app as usize];
        let host = app.client;
        let remote = Addr {
            host: app.server as u16,
            port: app.port,
        };
        let mtu = self.network.mtu(host, app.server);
        let end = &mut self.apps.ends[index];
        end.program.connects(self.now);
        let mut call = Call::new(self.now, &mut self.hosts[host], host, self.point.log);
        end.log(&mut call, "connect", 0);
        self.work.connections += u64::from(!end.is_udp);
        if end.is_udp {
            let is_echo = app.does.is_icmp();
            let Some(port) = call.host.udp.connect(index as u32, is_echo) else {
                end.fail(&mut call, "EAGAIN");
                self.apps.changed(index);
                return self.close(index);
            };
            end.socket = match is_echo {
                true => Socket::Echo(port, remote),
                false => Socket::Udp(port, Some(remote)),
            };
            self.apps.has_port(index, port);
            return self.connected(index);
        }
        let options = &self.apps.all[end.app as usize].client_options;
        let opened = (call.host.stack).connect(self.now, host as u16, remote, options, mtu);
        match opened {
            Ok((id, local)) => {
                call.host.owns(id, index as u32);
                end.socket = Socket::Tcp(id);
                end.doing = Doing::Connecting;
                end.watch = Watch::Writable;
                self.gives_up_after(index, |_, now, timeout| Some(now + timeout));
                self.apps.has_port(index, local.port);
                self.apps.changed(index);
                self.after_tcp(host);
            }
            Err(e) => {
                self.warnings.push(e.0);
                end.fail(&mut call, "EADDRNOTAVAIL");
                self.apps.changed(index);
                self.close(index);
            }
        }
    }

    #[inline(never)]
    fn connected(&mut self, index: usize) {
        let host = self.host_of(index);
        let quickack = self.apps.options(&self.apps.ends[index]).quickack;
        let end = &mut self.apps.ends[index];
        let mut call = Call::new(self.now, &mut self.hosts[host], host, self.point.log);
        call.quickack = quickack;
        if let Socket::Tcp(id) = end.socket {
            let error = (call.host.stack).with(self.now, id, |e, _| info::error(e));
            if let Some(e) = error.flatten() {
                end.fail(&mut call, e.name());
                self.apps.changed(index);
                return self.close(index);
            }
            if let QuickAck::Once(value) = quickack {
                (call.host.stack).with(self.now, id, |e, cx| e.set_quickack(cx, value));
            }
        }
        if end.opened == UNKNOWN {
            end.opened = self.now;
        }
        end.log_state(&mut call, "connected", 0);
        end.doing = Doing::Next(Went::Done);
        self.apps.changed(index);
        self.step(index, true);
    }

    #[inline(never)]
    pub(super) fn accept(&mut self, app: usize) {
        let host = self.point.apps[app].server;
        let Some(listener) = self.apps.all[app].listener else {
            return;
        };
        while let Some((id, remote)) = self.hosts[host].stack.accept(self.now, listener) {
            let known = self.apps.all[app].ports.get(&remote.port).copied();
            let client = match self.outside {
                None => known,
                Some(_) => self.client_from_outside(app, remote),
            };
            let Some(client) = client else {
                if self.outside.is_some() {
                    self.hosts[host].close(self.now, id);
                }
                continue;
            };
            let index = client as usize + 1;
            if self.apps.ends[index].socket != Socket::None {
                // A reconnecting client was quicker than the server's last step.
                self.close(index);
            }
            let options: &SocketOptions = &self.apps.all[app].server_options;
            if let QuickAck::Once(value) = options.quickack {
                (self.hosts[host].stack).with(self.now, id, |e, cx| e.set_quickack(cx, value));
            }
            self.hosts[host].owns(id, index as u32);
            let end = &mut self.apps.ends[index];
            end.socket = Socket::Tcp(id);
            end.program.restart(&self.point.apps[app].does, false);
            end.doing = Doing::Next(Went::Done);
            if end.opened == UNKNOWN {
                end.opened = self.now;
            }
            let mut call = Call::new(self.now, &mut self.hosts[host], host, self.point.log);
            end.log_state(&mut call, "accept", 0);
            self.apps.changed(index);
            self.step(index, false);
        }
    }

    #[inline(never)]
    pub(super) fn app_wakes(&mut self, index: usize) {
        if !self.replays.is_empty() && self.replay(index) {
            return;
        }
        let end = &mut self.apps.ends[index];
        if end.wake_at != self.now {
            return;
        }
        end.wake_at = UNKNOWN;
        end.doing = match end.doing {
            Doing::Sleeping => Doing::Next(Went::Done),
            Doing::Receiving(_) => Doing::Next(Went::TimedOut),
            _ => return,
        };
        self.step(index, false);
    }

    /// Whether the socket of an end has what the end waits for, or is broken.
    pub(super) fn is_socket_ready(&mut self, index: usize) -> bool {
        let host = self.host_of(index);
        let end = &self.apps.ends[index];
        let host = &mut self.hosts[host];
        match (end.watch, end.socket) {
            (Watch::Readable, Socket::Tcp(id)) => {
                let endpoint = host.stack.get(id);
                endpoint.is_none_or(|e| e.is_readable() || e.is_closed())
            }
            (watch, socket) => is_other_ready(host, self.now, watch, socket),
        }
    }

    pub(super) fn socket_is_ready(&mut self, index: usize) {
        match self.apps.ends[index].doing {
            Doing::Connecting => self.connected(index),
            // A reset while the application sleeps: it will see it at its next read or write.
            Doing::Sleeping | Doing::Nothing | Doing::Over => {}
            _ => self.step(index, true),
        }
    }

    /// Lets an end go on, and arranges what it waits for. `reported`: its socket's event is why.
    pub(super) fn step(&mut self, index: usize, reported: bool) {
        let host = self.host_of(index);
        let before = self.apps.ends[index].watch;
        let options = self.apps.options(&self.apps.ends[index]);
        let (quickack, tos) = (options.quickack, options.tos);
        let end = &mut self.apps.ends[index];
        let mut call = Call::new(self.now, &mut self.hosts[host], host, self.point.log);
        (call.quickack, call.tos) = (quickack, tos.unwrap_or(0));
        let (read, written) = (end.read, end.written);
        let wants = end.go(&mut call);
        end.wake_at = UNKNOWN;
        if let Some(responses) = &mut self.responses
            && !end.is_client
            && end.written > written
        {
            responses.wrote(index as u32, self.now, end.written - written);
        }
        self.apps.changed(index);
        self.after_tcp(host);
        match wants {
            Wants::Readable(None) => self.apps.ends[index].watch = Watch::Readable,
            Wants::Writable => self.apps.ends[index].watch = Watch::Writable,
            _ => self.steps_off(index, wants),
        }
        if self.point.apps[self.apps.ends[index].app as usize].has_timeout() {
            self.stepped(index, wants, before, (read, written));
        }
        let end = &self.apps.ends[index];
        if end.is_full && (reported || end.watch != before) {
            self.polls(index);
        }
    }

    /// What a step means for the time that an end waits. `watched`, and the bytes read and written, are those before it.
    #[cold]
    #[inline(never)]
    fn stepped(&mut self, index: usize, wants: Wants, watched: Watch, bytes: (u64, u64)) {
        if wants == Wants::Reconnect {
            // A new connection waits already.
            return;
        }
        let end = &self.apps.ends[index];
        let step = Stepped {
            before: match watched {
                Watch::Readable => Awaited::Data,
                Watch::Writable => Awaited::Room,
                Watch::Absent | Watch::Nothing => Awaited::Nothing,
            },
            after: wants.awaited(),
            read: end.read > bytes.0,
            wrote: end.written > bytes.1,
            is_owed: end.program.is_owed(),
        };
        self.gives_up_after(index, |old, now, timeout| {
            step.gives_up_at(old, now, timeout)
        });
    }

    /// Sets when an end gives up. One event is set for each end; when it comes too early it is set again.
    fn gives_up_after(
        &mut self,
        index: usize,
        at: impl FnOnce(Option<Instant>, Instant, Duration) -> Option<Instant>,
    ) {
        let end = &mut self.apps.ends[index];
        let app = &self.point.apps[end.app as usize];
        let Some(timeout) = app.timeout_ns(end.is_client) else {
            return;
        };
        let old = Some(end.gives_up_at).filter(|at| *at != UNKNOWN);
        let at = at(old, self.now, Duration::from_nanos(timeout));
        end.gives_up_at = at.unwrap_or(UNKNOWN);
        if let Some(at) = at
            && !std::mem::replace(&mut end.is_timed, true)
        {
            self.events.set(at, Wake::Idle(index as u32));
        }
    }

    /// An end gives up when it has waited for its socket until now.
    #[cold]
    #[inline(never)]
    pub(super) fn may_give_up(&mut self, index: usize) {
        let end = &mut self.apps.ends[index];
        end.is_timed = false;
        if end.gives_up_at == UNKNOWN {
            return;
        }
        if end.gives_up_at > self.now {
            end.is_timed = true;
            let at = end.gives_up_at;
            return self.events.set(at, Wake::Idle(index as u32));
        }
        let host = self.host_of(index);
        let end = &mut self.apps.ends[index];
        let mut call = Call::new(self.now, &mut self.hosts[host], host, self.point.log);
        end.fail(&mut call, "ETIME");
        self.apps.changed(index);
        self.close(index);
    }

    /// epoll asks the socket whether it takes more, whatever the end waits for: when its watch changes
    /// (`ep_modify()`), and after each event that was reported (`ep_send_events()`: level triggered). A socket that says
    /// no tells of room from then on, and its buffer grows meanwhile (`tcp_poll()` sets SOCK_NOSPACE).
    #[inline(never)]
    fn polls(&mut self, index: usize) {
        let host = self.host_of(index);
        let end = &mut self.apps.ends[index];
        end.is_full = false;
        if let Socket::Tcp(id) = end.socket {
            (self.hosts[host].stack).with(self.now, id, |e, cx| e.poll_writable(cx));
        }
    }

    /// An end wants more than its socket, or nothing of it.
    #[inline(never)]
    fn steps_off(&mut self, index: usize, wants: Wants) {
        match wants {
            Wants::Until(when) => {
                self.wake_app(index, when);
                // What epoll does not watch yet it does not watch now.
                let end = &mut self.apps.ends[index];
                if end.watch != Watch::Absent {
                    end.watch = Watch::Nothing;
                }
            }
            Wants::Reconnect => {
                self.close(index);
                self.apps.ends[index].closed = UNKNOWN;
                self.connect(index);
            }
            Wants::Close => {
                self.apps.ends[index].doing = Doing::Over;
                self.apps.changed(index);
                self.close(index);
            }
            Wants::Readable(until) => {
                if let Some(until) = until {
                    self.wake_app(index, until);
                }
                self.apps.ends[index].watch = Watch::Readable;
            }
            Wants::Writable => {}
        }
    }

    /// Segments have come to servers: which responses were ACKed whole?
    #[inline(never)]
    pub(super) fn time_open_responses(&mut self) {
        let Some(responses) = &mut self.responses else {
            return;
        };
        for place in (0..responses.open.len()).rev() {
            let index = responses.open[place].end as usize;
            let end = &self.apps.ends[index];
            let host = self.point.apps[end.app as usize].server;
            let Socket::Tcp(id) = end.socket else {
                // Nobody waits for it any more.
                responses.open.swap_remove(place);
                continue;
            };
            let space = self.hosts[host].stack.get(id).map(|e| e.send_space());
            let is_written = !matches!(end.doing, Doing::Writing(_));
            if is_written && space.is_some_and(|(una, _, written)| una == written) {
                responses.is_acked(place, self.now);
            }
        }
    }

    #[inline(never)]
    fn wake_app(&mut self, index: usize, at: Instant) {
        let at = at.max(self.now);
        self.apps.ends[index].wake_at = at;
        self.events.set(at, Wake::App(index as u32));
    }

    #[inline(never)]
    pub(super) fn close(&mut self, index: usize) {
        self.take_info(index);
        let host = self.host_of(index);
        let end = &mut self.apps.ends[index];
        let mut call = Call::new(self.now, &mut self.hosts[host], host, self.point.log);
        (end.watch, end.is_full) = (Watch::Absent, false);
        (end.gives_up_at, end.closed) = (UNKNOWN, self.now);
        match std::mem::replace(&mut end.socket, Socket::None) {
            Socket::None => return,
            Socket::Tcp(id) => call.host.close(self.now, id),
            Socket::Udp(port, _) | Socket::Echo(port, _) => call.host.udp.close(port),
        }
        end.log(&mut call, "close", 0);
        let is_served = !end.is_client && self.outside.is_some();
        self.after_tcp(host);
        if is_served {
            self.client_is_served(index);
        }
    }

    #[inline(never)]
    pub(super) fn take_info(&mut self, index: usize) {
        if !self.point.tcp_info {
            return;
        }
        let host = self.host_of(index);
        let end = &mut self.apps.ends[index];
        let Socket::Tcp(id) = end.socket else {
            return;
        };
        let info = (self.hosts[host].stack).with(self.now, id, |e, cx| info::of(e, cx));
        if let Some(info) = info {
            let named = info.into_iter().map(|(name, v)| (name.to_owned(), v));
            end.extra.get_or_insert_default().tcp_info = named.collect();
        }
    }

    #[inline(never)]
    pub(super) fn sample(&mut self) {
        for index in 0..self.apps.ends.len() {
            let host = self.host_of(index);
            let end = &mut self.apps.ends[index];
            let Socket::Tcp(id) = end.socket else {
                continue;
            };
            let info = (self.hosts[host].stack).with(self.now, id, |e, cx| info::of(e, cx));
            if let Some(info) = info {
                let get =
                    |name: &&str| info.iter().find(|(n, _)| n == name).map_or(-1, |(_, v)| *v);
                let values = TCP_INFO_SERIES.iter().map(get);
                let line = (self.now.as_nanos(), values.collect());
                end.extra.get_or_insert_default().tcp_info_series.push(line);
                self.hosts[host].noted += 1;
            }
        }
        if let Some(every) = self.point.tcp_info_every_ns {
            let next = self.now + Duration::from_nanos(every);
            self.events.set(next, Wake::Sample);
        }
    }

    #[inline(never)]
    pub(super) fn sample_links(&mut self) {
        self.network.sample(self.now);
        self.sample_replays();
        if let Some(every) = self.point.link_every_ns {
            let next = self.now + Duration::from_nanos(every);
            self.events.set(next, Wake::SampleLinks);
        }
    }
}

#[inline(never)]
fn is_other_ready(host: &mut Host, now: Instant, watch: Watch, socket: Socket) -> bool {
    match (watch, socket) {
        (Watch::Absent | Watch::Nothing, _) | (_, Socket::None) => false,
        (Watch::Readable, Socket::Udp(port, _) | Socket::Echo(port, _)) => {
            host.udp.is_readable(port)
        }
        (Watch::Writable, Socket::Udp(..) | Socket::Echo(..)) => true,
        (_, Socket::Tcp(id)) => is_writable(host, now, id),
    }
}

/// An event has come, and epoll asks whether it still holds (`ep_item_poll()`): the room of which it told may be gone,
/// taken by what a cut segment needs beside its bytes. Then the socket is to tell again.
fn is_writable(host: &mut Host, now: Instant, id: ConnId) -> bool {
    let ready = |e: &mut tcplab_tcp::Endpoint, cx: &mut tcplab_tcp::Cx<'_>| {
        e.is_closed() || (e.state() != State::SynSent && e.poll_writable(cx))
    };
    host.stack.with(now, id, ready).unwrap_or(true)
}
